/* SPDX-License-Identifier: BSD-2-Clause */
/* slurp.h: a whole file as text. */
#ifndef EPITAPH_FILTER_SLURP_H
#define EPITAPH_FILTER_SLURP_H

#include <stddef.h>

#include "coredump/util/error.h"

/*
 * All of `path` (NULL: standard input) in *text, which the caller frees; a NUL follows it, that
 * *size does not count. EP_E_IO; EP_E_LIMIT: more than `most` bytes; EP_E_MEMORY.
 */
int ep_slurp(char **text, size_t *size, const char *path, size_t most, struct ep_err *err);

struct stat;

/* The same, with what is known of the very file that was read. */
int ep_slurp_facts(char **text, size_t *size, struct stat *facts, const char *path, size_t most,
		   struct ep_err *err);

#endif
