/* SPDX-License-Identifier: BSD-2-Clause */
/* exclude.h: what the exclude command worked out, and its ways to print it. */
#ifndef EPITAPH_CLI_EXCLUDE_H
#define EPITAPH_CLI_EXCLUDE_H

#include <stdio.h>

#include "funcount/exclude/exclude.h"

struct ep_exclude_result {
	const struct ep_called *called;
	const struct ep_exclusion *exclusion;
	const struct ep_exclude_limits *limits;
	const char *words; /* the limits as they were given */
	uint64_t ring;     /* bytes of the ring that the history is of */
};

/* `format` is one: list, gcc, source, json. */
void ep_exclude_print(const struct ep_exclude_result *result, const char *format, FILE *out);
/* Whether there is such a format. */
bool ep_exclude_format(const char *format);

struct ep_arguments;
/* Warns of names in the lists (operands) that no function of the file has. EP_EXIT_NOTHING: only
 * names of exported functions are there. */
int ep_exclude_check(const char *path, const struct ep_arguments *arguments);

#endif
