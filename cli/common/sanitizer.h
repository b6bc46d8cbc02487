/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sanitizer.h: run-time libraries of the compilers that leave no core by their own defaults: they
 * take the fatal signals, print a report and exit, and set RLIMIT_CORE to 0 (seen with gcc 12 and
 * clang 14; common flags disable_coredump and abort_on_error of compiler-rt's sanitizer_flags.inc).
 */
#ifndef EPITAPH_CLI_SANITIZER_H
#define EPITAPH_CLI_SANITIZER_H

#include <stdbool.h>

struct ep_sanitizer {
	const char *name;     /* "AddressSanitizer" */
	const char *symbol;   /* in each program that has it */
	const char *variable; /* of its options, with the = */
	bool defined; /* only where the symbol is the program's own: gcc's library of it takes no
			 signals */
};

/* What a program's symbol says of it; NULL: nothing. */
const struct ep_sanitizer *ep_sanitizer_of_symbol(const char *symbol, bool defined);

/* Do these options, as after ASAN_OPTIONS=, leave a core? */
bool ep_sanitizer_leaves_core(const char *options);

#endif
