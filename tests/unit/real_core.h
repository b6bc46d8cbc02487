/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * real_core.h: a core that the kernel wrote, of a program that the test brings as C source:
 * synthetic cores only show what their author thought of.
 */
#ifndef EPITAPH_TESTS_REAL_CORE_H
#define EPITAPH_TESTS_REAL_CORE_H

#include <stdbool.h>
#include <sys/types.h>

struct real_core {
	char dir[64];     /* holds program, core and all */
	char program[96]; /* path */
	char core[128];   /* path; "" when there is none */
	pid_t pid;
};

/* Compiles `source` with cc and `flags`. */
void real_core_compile(struct real_core *real, const char *source, const char *flags);
/* Runs it with `argument` until it dies, with a core of at most `limit` bytes (0: no limit). False:
 * this system sends cores elsewhere (core_pattern); the test cannot be made here and says so. */
bool real_core_run(struct real_core *real, const char *argument, unsigned long limit);
/* Starts it and comes back once it has written a line. */
pid_t real_core_start(struct real_core *real, const char *argument);
void real_core_remove(struct real_core *real);

#endif
