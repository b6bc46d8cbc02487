/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * switches.h: functions whose hooks were switched off in the code, and when; and the times when
 * everything was (format_switches.h). The process writes these without a lock: what the order of an
 * interval's times does not allow has not happened yet.
 */
#ifndef EPITAPH_DECODER_SWITCHES_H
#define EPITAPH_DECODER_SWITCHES_H

#include "decoder/trace/trace.h"
#include "runtime/format_switches.h"

/*
 * Hooks went off between `begin` and `end` and came back between `on_begin` and `on_end`, in TSC;
 * UINT64_MAX: not yet. `begin` 0: it is not told when, nor how often, between then and `end`, which
 * all others are then: intervals before the ones that are kept.
 */
struct ep_trace_off {
	uint64_t begin, end, on_begin, on_end;
};

/* Counters of two processors differ by less, and a time has a grain: cycles. */
#define EP_SWITCH_SLACK (UINT64_C(1) << 14)

struct ep_trace_switched {
	uint64_t start, end; /* [start, end) code, process virtual */
	uint64_t rate;       /* calls a second when the budget switched it off last; 0 unknown */
	uint32_t count;      /* times that it went off */
	uint8_t reasons;     /* EP_SWITCH_, now */
	bool outside;        /* `epitaph control` did it */
	unsigned off_count;
	struct ep_trace_off off[EP_SWITCHED_OFF + 1]; /* ascending */
};

struct ep_function;

struct ep_switched_part {
	const struct ep_function *function;
	const struct ep_trace_switched *entry;
};

struct ep_trace_switches {
	struct ep_switches head;        /* as written */
	struct ep_trace_switched *list; /* ascending start; with an interval each, or a reason */
	size_t count;
	struct ep_trace_off all[EP_ALL_OFF]; /* when everything was off, ascending; the latest */
	unsigned all_count;
	/* Times in which something went off, ascending and apart: begin and end. */
	struct ep_trace_off *moves;
	size_t move_count;
	/* Parts of functions that lie elsewhere (.cold), by function; by whom: calls/identity.c's.
	 */
	struct ep_switched_part *parts;
	size_t part_count;
	const void *named_by;
};

/* The next entry that shares bytes with [start, end); *at begins with SIZE_MAX. NULL: no more. */
const struct ep_trace_switched *ep_switched_next(const struct ep_trace_switches *switches,
						 uint64_t start, uint64_t end, size_t *at);

/* Did a function go off in [low, high], or near it? */
bool ep_switches_moved(const struct ep_trace_switches *switches, uint64_t low, uint64_t high);

/* The one that is off now and holds `address`; NULL: none is. */
const struct ep_trace_switched *ep_switched_now(const struct ep_trace *trace, uint64_t address);

/* Was the function at `address` ever off? */
bool ep_switched_ever(const struct ep_trace *trace, uint64_t address);

/* Since when it is off: TSC, 0 unknown or it is not. */
uint64_t ep_switched_since(const struct ep_trace_switched *one);

/* Since when everything is off; 0: it is not. */
uint64_t ep_all_off_since(const struct ep_trace *trace);

/* Of the block that was just decoded: which hooks go off when everything does is not told of each,
 * so what is not certain to be from before or after is left out, and a pause stands in its place.
 */
struct ep_records;
void ep_switches_tell_pauses(const struct ep_trace_switches *switches, struct ep_records *records);

/* Everything that is off is so as tracing cost too much. */
static inline bool ep_all_off_for_budget(const struct ep_switches *head)
{
	return head->all_budget && head->all_budget == head->all_count;
}

/* A part of what tracing cost, in percent of what the program would take without tracing: what the
 * budget is of. All in cycles; 0 where that is not known. */
double ep_switches_share(uint64_t part, uint64_t cost, uint64_t cpu);

#endif
