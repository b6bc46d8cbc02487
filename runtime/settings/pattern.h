/* SPDX-License-Identifier: BSD-2-Clause */
/* pattern.h: the name of a snapshot: %p pid, %e executable, %h host, %t time, %n a number that
 * makes the name new, %% itself. */
#ifndef EPITAPH_RUNTIME_PATTERN_H
#define EPITAPH_RUNTIME_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/lib/text.h"

/* Asks the kernel for what %e and %h mean; once, before the first expansion. */
void ep_path_pattern_start(void);

/* Whether ep_path_pattern_expand knows every % of it. */
bool ep_path_pattern_good(const char *pattern);

/* Whether it has a % and that letter, 'n' or 'p' for instance. */
bool ep_path_pattern_has(const char *pattern, char letter);

/* Appends the name with `number` for %n; check
 * out->cut. Async-signal-safe. */
void ep_path_pattern_expand(const char *pattern, uint64_t number, struct ep_text *out);

#endif
