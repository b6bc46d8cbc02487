/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * life.h: of an arena file, which outlives its process: whether that still runs, and what is known
 * of its end, in words.
 */
#ifndef EPITAPH_REPORT_LIFE_H
#define EPITAPH_REPORT_LIFE_H

#include "coredump/kinds/arena_file.h"
#include "decoder/trace/trace.h"

/* Its state, in one line. `ended`: when it ended, ns since 1970; 0 unknown. */
void ep_life_state_text(char *out, size_t size, const struct ep_arena_file *file,
			const struct ep_trace *trace, uint64_t ended);

/* Why, as far as the kernel's records tell: "" nothing to add. */
void ep_life_cause_text(char *out, size_t size, const struct ep_arena_file *file);

#endif
