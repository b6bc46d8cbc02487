/* SPDX-License-Identifier: BSD-2-Clause */
/* build_watchdogs.h: watchdogs, and stacks of a miss, for an arena of build_arena.h. Before the
 * first thread has a ring. */
#ifndef EPITAPH_TESTS_BUILD_WATCHDOGS_H
#define EPITAPH_TESTS_BUILD_WATCHDOGS_H

#include "runtime/format_watchdogs.h"
#include "tests/unit/build_arena.h"

/* `count` that are set, of 1 ms, fed at the start by thread 101: "dog 1", whose id is 1, and so
 * on. */
struct ep_watchdog *build_watchdogs(struct build_arena *b, unsigned count);

/* What threads 101, 102, … left when "dog 1" was missed: `size` bytes each. */
struct ep_stacks *build_stacks(struct build_arena *b, unsigned count, uint64_t size);
/* Entry `index` of them. */
struct ep_stack_taken *build_stack_at(struct ep_stacks *stacks, unsigned index);

#endif
