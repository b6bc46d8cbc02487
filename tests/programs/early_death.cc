/* SPDX-License-Identifier: BSD-2-Clause */
/* early_death.cc: dies before main or after it, as the environment says. */
#include <cstdlib>

extern "C" int early_library(void);

static volatile int done;

__attribute__((noinline)) void die(const char *when)
{
	done++;
	if (getenv(when))
		*(volatile int *)8 = 1;
}

struct object {
	object()
	{
		die("DIES_STATIC");
	}
	~object()
	{
		die("DIES_STATIC_END");
	}
} instance;

static void at_exit()
{
	die("DIES_AT_EXIT");
}

__attribute__((constructor(101))) static void first()
{
	die("DIES_FIRST");
}

int main()
{
	atexit(at_exit);
	return early_library() == 77;
}
