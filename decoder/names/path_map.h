/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * path_map.h: where a program was built is not where its sources are: the beginnings of paths are
 * replaced, whole components only, by the first of the rules that fits (as gdb's substitute-path
 * does).
 */
#ifndef EPITAPH_PATH_MAP_H
#define EPITAPH_PATH_MAP_H

#include <stdbool.h>
#include <stddef.h>

#include "coredump/util/array.h"

struct ep_path_rule {
	char *from; /* without the slashes at its end; "" for / */
	char *to;
};

/* An answer that was given. */
struct ep_path_known {
	const char *path; /* borrowed */
	char *mapped;     /* NULL: no rule fits */
};

struct ep_path_map {
	EP_ARRAY(struct ep_path_rule) rules;
	EP_ARRAY(struct ep_path_known) known;
};

/* Is it OLD=NEW? OLD must not be empty. */
bool ep_path_rule_valid(const char *text);

/* All zero is a map without rules. `text` is valid. */
void ep_path_map_add(struct ep_path_map *map, const char *text);
void ep_path_map_deinit(struct ep_path_map *map);

/*
 * The path to use for `path`, which must stay as it is: the answer is kept by its address. Borrowed
 * until deinit; `path` itself when no rule fits, or when it is NULL.
 */
const char *ep_path_map_find(struct ep_path_map *map, const char *path);

#endif
