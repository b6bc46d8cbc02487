/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * thinned.cc: storms of exceptions (`throws`) or jumps (`jumps`) through calls that the budget
 * switches off, then the same once more in calls that are new, and a death inside of them:
 * thinned_last is in thinned_end, in thinned_main; nothing else is open.
 */
#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <ctime>

#define CALL __attribute__((noinline))

static volatile long done;
static jmp_buf buffer;

CALL static void thinned_throw()
{
	done = done + 1;
	throw 1;
}

CALL static void thinned_try()
{
	try {
		thinned_throw();
	} catch (int) {
		done = done + 1;
	}
}

CALL static void thinned_leap()
{
	done = done + 1;
	longjmp(buffer, 1);
}

CALL static void thinned_set()
{
	if (!setjmp(buffer))
		thinned_leap();
}

CALL static void thinned_left(bool throws)
{
	done = done + 1;
	if (throws)
		thinned_throw();
	thinned_leap();
}

CALL static void thinned_last()
{
	abort();
}

CALL static void thinned_end(bool throws)
{
	if (throws) {
		try {
			thinned_left(true);
		} catch (int) {
			thinned_last();
		}
	} else if (!setjmp(buffer)) {
		thinned_left(false);
	} else {
		thinned_last();
	}
}

CALL static void thinned_main(bool throws)
{
	/* CPU time, for that is what the budget counts; the storm is far above it. */
	do
		for (int i = 0; i < 10000; i++)
			throws ? thinned_try() : thinned_set();
	while (clock() < CLOCKS_PER_SEC / 4);
	thinned_end(throws);
}

int main(int argc, char **argv)
{
	thinned_main(argc > 1 && strcmp(argv[1], "throws") == 0);
}
