/* SPDX-License-Identifier: BSD-2-Clause */
/* asked.c: which records were asked for, and where those before them lie. */
#include "decoder/trace/asked.h"

void ep_asked_begin(struct ep_asked *asked, const struct ep_trace_thread *thread,
		    const struct ep_trace_block *block)
{
	asked->on = ep_thread_is_asked(thread) && !block->over_count;
	asked->count = 0;
}

static bool is_timed_event(uint64_t word)
{
	return word >> EP_STAMP_SHIFT && (word & EP_ADDRESS_MASK) >= EP_ESCAPE_LIMIT;
}

/* One that was due is not followed by another that is timed, unless the kernel asked. */
bool ep_asked_word(const struct ep_asked *asked, const struct ep_trace_block *block, uint32_t at,
		   unsigned escapes)
{
	uint32_t every = block->block->every, place = EP_BLOCK_HEADER / 8 + at;

	if (!asked->on || escapes)
		return asked->on && escapes > 1;
	if (every && place % every)
		return true;
	return at + 1 < block->words && is_timed_event(block->block->records[at + 1]);
}

void ep_asked_add(struct ep_asked *asked, struct ep_asked_window window)
{
	if (asked->on && window.first < window.end &&
	    asked->count < sizeof(asked->windows) / sizeof(*asked->windows))
		asked->windows[asked->count++] = window;
}

static void set_pace(struct ep_records *records, const struct ep_asked_window *window)
{
	if (window->high - window->low > EP_LONG_GAP_CYCLES) /* of a block that is not sound */
		return;
	records->pace_cycles = window->high - window->low;
	records->pace_steps = window->end - window->first + 1;
}

void ep_asked_settle(const struct ep_asked *asked, struct ep_records *records)
{
	for (unsigned i = 0; i < asked->count; i++) {
		const struct ep_asked_window *one = &asked->windows[i];

		for (unsigned next = i; !records->pace_steps && next < asked->count; next++)
			if (!asked->windows[next].asked)
				set_pace(records, &asked->windows[next]);
		if (!one->asked)
			set_pace(records, one);
		for (unsigned n = one->first; one->asked && records->pace_steps && n < one->end;
		     n++) {
			uint64_t steps = n - one->first + 1;
			uint64_t time =
				one->low + records->pace_cycles * steps / records->pace_steps;

			if (time < records->decoded[n].time)
				records->decoded[n].time = time;
		}
	}
}
