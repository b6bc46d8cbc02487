/* SPDX-License-Identifier: BSD-2-Clause */
/* early_library.c: dies in its constructor or destructor, as the environment says. */
#include <stdlib.h>

static volatile int done;

__attribute__((noinline)) void inside(const char *when)
{
	done++;
	if (getenv(when))
		*(volatile int *)8 = 1;
}

__attribute__((constructor)) static void come(void)
{
	inside("DIES_LOADED");
}

__attribute__((destructor)) static void leave(void)
{
	inside("DIES_UNLOADED");
}

int early_library(void)
{
	return done;
}
