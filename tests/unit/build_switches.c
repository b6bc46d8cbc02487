/* SPDX-License-Identifier: BSD-2-Clause */
/* build_switches.c: entries one after the other, as the runtime and `epitaph control` write them.
 */
#include "tests/unit/build_switches.h"

#include <stdlib.h>

struct ep_switches *build_switches(struct build_arena *b, uint32_t capacity,
				   uint32_t control_capacity)
{
	uint64_t entries = (uint64_t)capacity + control_capacity;
	struct ep_switches *switches =
		build_arena_section(b, EP_SECTION_SWITCHES, sizeof(struct ep_switched),
				    sizeof(*switches) + entries * sizeof(struct ep_switched));

	switches->capacity = capacity;
	switches->control_capacity = control_capacity;
	return switches;
}

struct ep_switched *build_switched(struct ep_switches *switches, bool outside, uint64_t start,
				   uint64_t end)
{
	struct ep_switched *entries = (struct ep_switched *)(switches + 1);
	struct ep_switched *one = outside ? &entries[switches->capacity + switches->control_count]
					  : &entries[switches->count];

	if (outside ? switches->control_count++ >= switches->control_capacity
		    : switches->count++ >= switches->capacity)
		abort();
	one->start = start;
	one->end = end;
	one->reasons = outside ? EP_SWITCH_CONTROL : EP_SWITCH_NAME;
	return one;
}

void build_off(struct ep_switched *one, uint64_t off_begin, uint64_t off_end, uint64_t on_begin,
	       uint64_t on_end)
{
	one->off[one->count++ % EP_SWITCHED_OFF] =
		(struct ep_off_interval){off_begin, off_end, on_begin, on_end};
}
