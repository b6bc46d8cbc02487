/* SPDX-License-Identifier: BSD-2-Clause */
/* patterns.h: names that the user asked for, by shell patterns, of which any may match. */
#ifndef EPITAPH_PATTERNS_H
#define EPITAPH_PATTERNS_H

#include <stdbool.h>
#include <stddef.h>

#define EP_PATTERNS_MAX 64

struct ep_patterns {
	const char *list[EP_PATTERNS_MAX]; /* borrowed */
	size_t count;                      /* 0: every name is wanted */
};

bool ep_patterns_match(const struct ep_patterns *patterns, const char *name);

#endif
