/* SPDX-License-Identifier: BSD-2-Clause */
/* pattern.h: the name of a snapshot: %p pid, %e executable, %h host, %t time,
 * %n a number that makes the name new, %% itself. */
#ifndef EPITAPH_RUNTIME_PATTERN_H
#define EPITAPH_RUNTIME_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/text.h"

/* Whether ep_path_pattern_expand knows every % of it. */
bool ep_path_pattern_good(const char *pattern);

/* Whether it has a %n. */
bool ep_path_pattern_numbered(const char *pattern);

/* Appends the name with `number` for %n; facts come from the arena. Check
 * out->cut. Async-signal-safe. */
void ep_path_pattern_expand(const char *pattern, uint64_t number,
			    struct ep_text *out);

#endif
