/* SPDX-License-Identifier: BSD-2-Clause */
/* heirs.cc: two children at once do all the work of a server, in 512 functions, and end; then a
 * third is forked. Says how many of the functions both had switched off, and how many of these were
 * on in the third one's first moment. */
#include <cstdint>
#include <cstdio>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

static const int functions = 512, rounds = 60000;
static volatile unsigned sink;

template <int N> __attribute__((noinline)) static void work()
{
	sink = sink + N;
}

typedef void (*work_fn)();

template <int... N> static const work_fn *list_of(std::integer_sequence<int, N...>)
{
	static const work_fn list[] = {work<N>...};

	return list;
}

/* The hook's call comes first: e8, behind 67 where the linker has made it, or a9 when it is off. */
static bool is_off(work_fn work)
{
	const volatile uint8_t *code = reinterpret_cast<const volatile uint8_t *>(work);

	return code[code[0] == 0x67] == 0xa9;
}

static void serve(const work_fn *list, bool *off)
{
	for (int round = 0; round < rounds; round++)
		for (int i = 0; i < functions; i++)
			list[i]();
	for (int i = 0; i < functions; i++)
		off[i] = is_off(list[i]);
}

int main()
{
	const work_fn *list = list_of(std::make_integer_sequence<int, functions>());
	bool(*off)[functions] = static_cast<bool(*)[functions]>(
		mmap(nullptr, 3 * sizeof(*off), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		     -1, 0));
	int both = 0, lost = 0;

	if (off == MAP_FAILED)
		return 1;
	for (int child = 0; child < 2; child++)
		if (fork() == 0) {
			serve(list, off[child]);
			_exit(0);
		}
	while (wait(nullptr) > 0)
		;
	if (fork() == 0) {
		for (int i = 0; i < functions; i++)
			off[2][i] = is_off(list[i]);
		_exit(0);
	}
	wait(nullptr);
	for (int i = 0; i < functions; i++) {
		both += off[0][i] && off[1][i];
		lost += off[0][i] && off[1][i] && !off[2][i];
	}
	std::printf("both had %d off, the next one lacks %d\n", both, lost);
	return 0;
}
