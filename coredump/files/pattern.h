/* SPDX-License-Identifier: BSD-2-Clause */
/* pattern.h: file name patterns: %p pid, %e executable, %h host, %t time, %n a number that makes
 * the name new, %% itself. */
#ifndef EPITAPH_PATTERN_H
#define EPITAPH_PATTERN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "coredump/util/error.h"

struct ep_pattern_facts {
	pid_t pid;
	const char *executable; /* base name is used; NULL: "unknown" */
	const char *host;
	uint64_t time; /* seconds since 1970 */
};

/* Expands `pattern` into `out` (NUL-terminated). %n is the smallest number from 1 whose file does
 * not exist yet. */
int ep_pattern_expand(const char *pattern, const struct ep_pattern_facts *facts, char *out,
		      size_t size, struct ep_err *err);

#endif
