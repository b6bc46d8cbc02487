// SPDX-License-Identifier: BSD-2-Clause
/*
 * flipstorm.cc: seven threads call, throw, longjmp, take signals, fork, and open and close a
 * library while another one switches their functions off and on at random, and while others may
 * switch everything from outside. Each result is compared with one that was computed without a
 * call. Arguments: how many switches, the library, and a file whose name makes an eighth thread
 * close and reopen, for it, all descriptors from 40 on. Prints how many results were wrong, waits
 * for a line or the end of its standard input, and dies; the file must be what it was.
 */
#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <epitaph.h>

#define KEEP    __attribute__((noinline))
#define THREADS 7
#define NUMBERS 100000

/* What is switched; C names, so that a pattern is simple. */
extern "C" {
KEEP int storm_next(int x)
{
	asm volatile("");
	return x + 1;
}
KEEP int storm_triple(int x)
{
	asm volatile("");
	return storm_next(x) * 3;
}
KEEP int storm_branch(int x)
{
	asm volatile("");
	return x & 1 ? storm_triple(x) : storm_next(x);
}
KEEP int storm_throw(int x)
{
	if (x % 3 == 0)
		throw x;
	return storm_branch(x);
}
KEEP int storm_catch(int x)
{
	try {
		return storm_throw(x) + storm_next(x);
	} catch (int thrown) {
		return thrown * 7;
	}
}
KEEP void storm_jump(jmp_buf where, int x)
{
	storm_triple(x);
	if (x & 1)
		longjmp(where, 5);
	storm_next(x);
}
KEEP int storm_land(int x)
{
	jmp_buf where;
	int got = setjmp(where);

	if (got)
		return got + x;
	storm_jump(where, x);
	return x;
}
KEEP int storm_deep(int x)
{
	return x ? storm_deep(x - 1) + storm_next(x) : 0;
}
KEEP int storm_all(int x)
{
	return storm_branch(x) + storm_catch(x) + storm_land(x) + storm_deep(x % 20);
}
}

static const char *const names[] = {"storm_next",  "storm_triple", "storm_branch", "storm_throw",
				    "storm_catch", "storm_jump",   "storm_land",   "storm_deep",
				    "storm_*",     "storm_[a-l]*"};
#define NAMES (sizeof(names) / sizeof(*names))

/* The same without a call. */
static inline __attribute__((always_inline)) int truth(int x)
{
	int branch = x & 1 ? (x + 1) * 3 : x + 1, depth = x % 20, sum = branch;

	sum += x % 3 == 0 ? x * 7 : branch + x + 1;
	sum += x & 1 ? 5 + x : x;
	return sum + depth * (depth + 1) / 2 + depth;
}

static std::atomic<bool> over;
static std::atomic<long> wrong, rounds;
static const char *library, *victim;

static void on_signal(int)
{
	storm_branch(4);
}

static void open_library()
{
	void *handle = dlopen(library, RTLD_NOW);
	int (*work)(int) = handle ? (int (*)(int))dlsym(handle, "work") : nullptr;

	if (!work || work(2) != 19)
		wrong++;
	if (handle)
		dlclose(handle);
}

static void fork_child()
{
	int status = 0, bad = 0;
	pid_t child = fork();

	if (!child) {
		alarm(60); /* one that hangs is wrong */
		for (int x = 0; x < 500; x++)
			bad |= storm_all(x) != truth(x);
		epitaph_trace("storm_next");
		for (int x = 0; x < 500; x++)
			bad |= storm_all(x) != truth(x);
		_exit(bad);
	}
	if (child > 0 && (waitpid(child, &status, 0) != child || status))
		wrong++;
}

static void *run(void *number)
{
	int first = (int)(long)number;

	for (int x = first; !over; x = (x + 1) % NUMBERS) {
		if (storm_all(x) != truth(x))
			wrong++;
		rounds++;
		if (x % 5000 == first)
			open_library();
		if (x % 20000 == first)
			fork_child();
	}
	return nullptr;
}

static void *take_descriptors(void *)
{
	for (int fd = 40; !over; fd = fd < 200 ? fd + 1 : 40) {
		int made = open(victim, O_RDWR);

		if (made >= 0 && made != fd)
			dup2(made, fd), close(made);
	}
	return nullptr;
}

int main(int count, char **arguments)
{
	pthread_t threads[THREADS], taker;
	unsigned seed = 7;
	long switched = 0, wanted = count > 1 ? atol(arguments[1]) : 1000;

	library = count > 2 ? arguments[2] : "./libwork.so";
	victim = count > 3 ? arguments[3] : nullptr;
	signal(SIGUSR1, on_signal);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], nullptr, run, (void *)i);
	if (victim)
		pthread_create(&taker, nullptr, take_descriptors, nullptr);
	while (switched < wanted) {
		unsigned chance = (unsigned)rand_r(&seed);
		const char *name = names[chance / 2 % NAMES];
		int got = chance & 1 ? epitaph_untrace(name) : epitaph_trace(name);

		if (got < 0)
			break;
		switched += got ? got : 1;
		if (chance % 16 < 3)
			pthread_kill(threads[chance % THREADS], SIGUSR1);
	}
	over = true;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], nullptr);
	if (victim)
		pthread_join(taker, nullptr);
	printf("%ld functions were switched\n%ld wrong\n", switched, (long)wrong);
	fflush(stdout);
	while (getchar() != '\n' && !feof(stdin))
		;
	epitaph_trace("storm_*");
	storm_all(6);
	abort();
}
