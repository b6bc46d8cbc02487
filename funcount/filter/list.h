/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * list.h: a list of functions: names as the assembler knows them (mangled), separated by blanks or
 * lines, `#` begins a comment that ends with the line, and shell patterns (`*`, `?`, `[…]`). It
 * counts what each of them matched, so that a name of no function can be reported.
 */
#ifndef EPITAPH_FILTER_LIST_H
#define EPITAPH_FILTER_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "coredump/util/array.h"
#include "coredump/util/error.h"

struct ep_pattern {
	char *text;
	unsigned file; /* index in the list's files */
	unsigned line; /* from 1 */
	bool glob;
	size_t matched; /* how often it was asked for and found */
};

struct ep_list {
	EP_ARRAY(struct ep_pattern) patterns; /* names in order, then globs */
	EP_ARRAY(char *) files;
	size_t names; /* of the patterns, once sealed */
	bool sealed;  /* in order */
};

/* What one file may hold; far more than any program has functions. */
#define EP_LIST_FILE_MAX ((size_t)64 << 20)

/* Adds what the file says; may be called again for other files. EP_E_IO, EP_E_FORMAT (a NUL byte:
 * not text), EP_E_LIMIT; the list is as before then. */
int ep_list_read(struct ep_list *list, const char *path, struct ep_err *err);

/* The same with a text; `path` is what messages call it. */
int ep_list_add(struct ep_list *list, const char *path, const char *text, size_t size,
		struct ep_err *err);
void ep_list_deinit(struct ep_list *list);

/* The pattern that `name` matches, counted; the name itself before any glob. NULL: none. Borrowed
 * until the list changes. */
const struct ep_pattern *ep_list_find(struct ep_list *list, const char *name);

/* The file that a pattern stands in. */
const char *ep_list_file(const struct ep_list *list, const struct ep_pattern *pattern);

#endif
