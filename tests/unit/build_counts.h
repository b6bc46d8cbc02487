/* SPDX-License-Identifier: BSD-2-Clause */
/* build_counts.h: counts for tests, a line each. Anything that fails ends the test. */
#ifndef EPITAPH_TESTS_BUILD_COUNTS_H
#define EPITAPH_TESTS_BUILD_COUNTS_H

#include "funcount/counts/counts.h"

/* A module by a build-id of `id_size` bytes, each `id`; 0: none. */
size_t build_counts_module(struct ep_counts *counts, const char *path, uint8_t id, size_t id_size);
void build_counts_add(struct ep_counts *counts, size_t module, uint64_t address, uint64_t calls);
/* A run that took `duration` ns of time, and as much of one processor. */
void build_counts_run(struct ep_counts *counts, uint64_t identity, uint64_t duration);
/* The counts file's text; the caller frees it. */
char *build_counts_text(const struct ep_counts *counts, size_t *size);
/* What ep_counts_parse makes of it, which must succeed. */
struct ep_counts *build_counts_parse(const char *text, size_t size);

#endif
