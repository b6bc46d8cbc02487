/* SPDX-License-Identifier: BSD-2-Clause */
/* build_watchdogs.c: watchdogs for tests, by runtime/format_watchdogs.h. */
#include "tests/unit/build_watchdogs.h"

#include <stdio.h>
#include <string.h>

struct ep_watchdog *build_watchdogs(struct build_arena *b, unsigned count)
{
	struct ep_watchdog *dogs =
		build_arena_section(b, EP_SECTION_WATCHDOGS, sizeof(*dogs), count * sizeof(*dogs));

	for (unsigned i = 0; i < count; i++) {
		dogs[i] = (struct ep_watchdog){
			.state = EP_WATCHDOG_SET,
			.action = EP_WATCHDOG_ABORT,
			.id = i + 1,
			.deadline = 1000000,
			.created_tsc = b->process->start_tsc,
			.fed_tsc = b->process->start_tsc,
			.created_by = 101,
			.fed_by = 101,
		};
		snprintf(dogs[i].name, sizeof(dogs[i].name), "dog %u", i + 1);
	}
	return dogs;
}

struct ep_stack_taken *build_stack_at(struct ep_stacks *stacks, unsigned index)
{
	return (struct ep_stack_taken *)(stacks + 1) + index;
}

struct ep_stacks *build_stacks(struct build_arena *b, unsigned count, uint64_t size)
{
	uint64_t bytes = sizeof(struct ep_stacks) + count * (uint64_t)sizeof(struct ep_stack_taken);
	struct ep_stacks *stacks = build_arena_section(
		b, EP_SECTION_STACKS, sizeof(struct ep_stack_taken), bytes + count * size);

	*stacks = (struct ep_stacks){
		.tsc = b->process->start_tsc + 6000000,
		.watchdog = 1,
		.capacity = count,
		.count = count,
		.room = (uint32_t)size,
	};
	for (unsigned i = 0; i < count; i++) {
		*build_stack_at(stacks, i) = (struct ep_stack_taken){
			.tid = 101 + i,
			.state = 1,
			.tsc = stacks->tsc,
			.address = UINT64_C(0x7ff000000000) + i * 65536,
			.offset = bytes + i * size,
			.size = size,
		};
		memset((char *)stacks + bytes + i * size, 'a' + (int)i, size);
	}
	return stacks;
}
