/* SPDX-License-Identifier: BSD-2-Clause */
/* build_switches.h: functions that were switched off, by runtime/format_switches.h. */
#ifndef EPITAPH_TESTS_BUILD_SWITCHES_H
#define EPITAPH_TESTS_BUILD_SWITCHES_H

#include "runtime/format_switches.h"
#include "tests/unit/build_arena.h"

/* The section, with room for entries of the process and from outside. Before the first thread has a
 * ring. */
struct ep_switches *build_switches(struct build_arena *b, uint32_t capacity,
				   uint32_t control_capacity);

/* A new entry of the process, or from outside. */
struct ep_switched *build_switched(struct ep_switches *switches, bool outside, uint64_t start,
				   uint64_t end);

/* One interval more, in the place of the oldest that is kept; times as in struct ep_off_interval.
 */
void build_off(struct ep_switched *one, uint64_t off_begin, uint64_t off_end, uint64_t on_begin,
	       uint64_t on_end);

#endif
