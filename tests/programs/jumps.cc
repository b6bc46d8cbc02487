/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jumps.cc: functions that call each other and themselves by chance and are
 * left by exceptions and longjmp, with a log of their own. Unlike in truth.cc
 * the same few functions recurse, so that no name tells which level it was
 * that caught. The log is written to the file "truth" before main aborts: one
 * line an event, tid, B (call), E (return), U (left), T (throws), R (throws
 * again), C (catches) or J (longjmp), name.
 */
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>
#include <stdexcept>
#include <sys/syscall.h>
#include <unistd.h>

#define QUIET   __attribute__((no_instrument_function, always_inline)) inline
#define OUTLINE __attribute__((noinline))
#define EVENTS  40000
#define THREADS 2
#define DEEPEST 40

struct log {
	long tid;
	unsigned count, state, depth;
	const char *open[DEEPEST + 200];
	struct {
		char kind;
		const char *name;
	} entries[EVENTS + 1000];
};

static log logs[THREADS + 1];
static __thread log *mine;

QUIET static void note(char kind, const char *name)
{
	mine->entries[mine->count++] = {kind, name};
}

QUIET static void enter(const char *name)
{
	note('B', name);
	mine->open[mine->depth++] = name;
}

QUIET static void leave(char kind)
{
	note(kind, mine->open[--mine->depth]);
}

/* After a longjmp: all above `depth` were left. */
QUIET static void left(unsigned depth)
{
	while (mine->depth > depth)
		leave('U');
}

QUIET static unsigned chance(unsigned n)
{
	mine->state = mine->state * 1103515245 + 12345;
	return (mine->state >> 16) % n;
}

QUIET static bool go_on(int n)
{
	return n > 0 && mine->count < EVENTS;
}

struct scope {
	bool returns = false;

	QUIET scope(const char *name)
	{
		enter(name);
	}
	QUIET ~scope()
	{
		leave(returns ? 'E' : 'U');
	}
	QUIET void done()
	{
		returns = true;
	}
};

namespace flow
{
struct odd : std::runtime_error {
	int n;
	__attribute__((no_instrument_function)) odd(int n)
	    : std::runtime_error("odd"), n(n)
	{
	}
};

OUTLINE void any(int n);

OUTLINE void leaf()
{
	scope s("leaf");
	s.done();
}

/* Clean-up code that calls, and throws within itself. */
struct cleaner {
	int n;
	__attribute__((no_instrument_function)) cleaner(int n) : n(n) {}
	OUTLINE ~cleaner();
};

cleaner::~cleaner()
{
	scope s("clean");
	leaf();
	if (n % 3 == 0) {
		try {
			if (n % 2 == 0) {
				note('T', "clean");
				throw n;
			}
			leaf();
		} catch (int) {
			note('C', "clean");
			leaf();
		}
	}
	s.done();
}

OUTLINE void plain(int n)
{
	scope s("plain");
	if (go_on(n) && chance(12) == 0) {
		note('T', "plain");
		throw odd(n);
	}
	any(n - 1);
	s.done();
}

OUTLINE void cleans(int n)
{
	scope s("cleans");
	cleaner c(n);
	if (go_on(n) && chance(15) == 0) {
		note('T', "cleans");
		throw n;
	}
	any(n - 1);
	s.done();
}

OUTLINE void catches(int n)
{
	scope s("catches");
	try {
		any(n - 1);
	} catch (const odd &) {
		note('C', "catches");
		leaf();
	}
	s.done();
}

OUTLINE void catches_all(int n)
{
	scope s("catches_all");
	try {
		any(n - 1);
		any(n - 2);
	} catch (...) {
		note('C', "catches_all");
		leaf();
	}
	s.done();
}

OUTLINE void rethrows(int n)
{
	scope s("rethrows");
	try {
		any(n - 1);
	} catch (...) {
		note('C', "rethrows");
		leaf();
		if (n % 4) {
			note('R', "rethrows");
			throw;
		}
	}
	s.done();
}

/* Not traced, and catches. */
__attribute__((noinline, no_instrument_function)) void unseen(int n)
{
	try {
		any(n - 1);
	} catch (const std::exception &) {
		note('C', "unseen");
		leaf();
	}
}

/* ---- longjmp: no destructors in between ---- */

OUTLINE void jumps(int n, jmp_buf *to)
{
	enter("jumps");
	leaf();
	if (n == 0) {
		note('J', "jumps");
		longjmp(*to, 1);
	}
	jumps(n - 1, to);
	leaf();
	leave('E');
}

OUTLINE void sets(int n)
{
	volatile unsigned depth = mine->depth + 1;
	volatile int inner = n % 5;
	jmp_buf here;

	enter("sets");
	if (setjmp(here) == 0) {
		jumps(n % 7, &here);
	} else {
		left(depth);
		leaf();
		if (inner > 0) {
			inner = inner - 1;
			jumps(inner, &here);
		}
	}
	leave('E');
}

static __thread sigjmp_buf *target;

OUTLINE void handler(int)
{
	enter("handler");
	leaf();
	note('J', "handler");
	siglongjmp(*target, 1);
}

OUTLINE void raises(int n)
{
	enter("raises");
	if (n > 0)
		raises(n - 1);
	raise(SIGUSR1);
	leave('E');
}

OUTLINE void interrupted(int n)
{
	volatile unsigned depth = mine->depth + 1;
	sigjmp_buf here;

	enter("interrupted");
	target = &here;
	if (sigsetjmp(here, 1) == 0)
		raises(n % 3);
	left(depth);
	leave('E');
}

/* ---- by chance ---- */

OUTLINE void any(int n)
{
	scope s("any");
	if (go_on(n)) {
		switch (chance(9)) {
		case 0:
			plain(n);
			break;
		case 1:
			cleans(n);
			break;
		case 2:
			catches(n);
			break;
		case 3:
			catches_all(n);
			break;
		case 4:
			rethrows(n);
			break;
		case 5:
			unseen(n);
			break;
		case 6:
			sets(n);
			break;
		case 7:
			interrupted(n);
			break;
		default:
			leaf();
			any(n - 1);
			break;
		}
	}
	s.done();
}

OUTLINE void run(unsigned until)
{
	scope s("run");
	while (mine->count < until) {
		try {
			any(DEEPEST);
		} catch (...) {
			note('C', "run");
			leaf();
		}
	}
	s.done();
}

OUTLINE void last()
{
	enter("last");
	FILE *file = fopen("truth", "w");

	for (const log &one : logs)
		for (unsigned i = 0; i < one.count; i++)
			fprintf(file, "%ld %c %s\n", one.tid,
				one.entries[i].kind, one.entries[i].name);
	fclose(file);
	abort();
}
} // namespace flow

static void *worker(void *argument)
{
	static char stacks[THREADS][65536];
	stack_t stack = {};

	mine = static_cast<log *>(argument);
	mine->tid = syscall(SYS_gettid);
	stack.ss_sp = stacks[mine - logs];
	stack.ss_size = sizeof stacks[0];
	sigaltstack(&stack, nullptr);
	flow::run(EVENTS);
	return nullptr;
}

int main()
{
	struct sigaction action = {};
	pthread_t threads[THREADS];

	action.sa_handler = flow::handler;
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR1, &action, nullptr);
	for (int i = 0; i < THREADS; i++) {
		logs[i].state = 7 + i;
		pthread_create(&threads[i], nullptr, worker, &logs[i]);
	}
	for (pthread_t thread : threads)
		pthread_join(thread, nullptr);
	logs[THREADS].state = 99;
	mine = &logs[THREADS];
	mine->tid = getpid();
	flow::run(2000);
	flow::last();
}
