/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * alloc.h: memory of the tools. Nothing here returns NULL: memory that runs out ends the tool, with
 * a message on stderr and exit status 3, as it ends git. Sizes that come from input are held
 * against the input before they get here. What is allocated is freed by free(3). Thread safe.
 *
 * The runtime never comes here, nor does what must go on whatever happens: the relay of `epitaph
 * catch` (handler/relay.h).
 */
#ifndef EPITAPH_ALLOC_H
#define EPITAPH_ALLOC_H

#include <stddef.h>
#include <stdio.h>

#define EP_EXIT_MEMORY 3

/* exit(3), so that what atexit(3) knows of is cleaned up. */
_Noreturn void ep_out_of_memory(void);

/* Contents: undefined. A size of 0 gives memory of 1 byte. */
void *ep_malloc(size_t size) __attribute__((malloc, returns_nonnull, alloc_size(1)));

/* Contents: zero. A product that overflows is memory that runs out. */
void *ep_calloc(size_t count, size_t size)
	__attribute__((malloc, returns_nonnull, alloc_size(1, 2)));
void *ep_reallocarray(void *old, size_t count, size_t size)
	__attribute__((returns_nonnull, warn_unused_result, alloc_size(2, 3)));

char *ep_strdup(const char *text) __attribute__((malloc, returns_nonnull));
char *ep_strndup(const char *text, size_t most) __attribute__((malloc, returns_nonnull));

/* printf(3) into memory of its own. */
char *ep_asprintf(const char *format, ...)
	__attribute__((format(printf, 1, 2), malloc, returns_nonnull));

/* open_memstream(3). Closed by ep_close_memstream: a stream that ran out of memory says so only
 * there. */
FILE *ep_open_memstream(char **text, size_t *size) __attribute__((returns_nonnull));
void ep_close_memstream(FILE *stream);

#endif
