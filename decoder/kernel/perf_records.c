/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf_records.c: records of perf_event_open(2), each ended by what sample_id_all with TID, TIME
 * and CPU adds. Times are CLOCK_MONOTONIC_RAW, in ns.
 */
#include <linux/perf_event.h>
#include <string.h>

#include "coredump/util/cursor.h"
#include "decoder/kernel/scheduling.h"

struct ending {
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
};

/* 0: the clock is not known. */
static uint64_t to_tsc(const struct ep_trace *trace, uint64_t time)
{
	const struct ep_trace_clock *clock = &trace->clock;
	double ticks = ((double)(int64_t)(time - clock->monotonic_raw)) / clock->ns_per_tick;

	if (!clock->known || !clock->monotonic_raw || ticks > 4e18 || ticks < -(double)clock->tsc)
		return 0;
	return clock->tsc + (uint64_t)(int64_t)ticks;
}

static void read_record(struct ep_scheduling *s, const struct perf_event_header *header,
			const uint8_t *body, size_t size, const struct ending *ending)
{
	bool out = header->misc & PERF_RECORD_MISC_SWITCH_OUT;
	struct ep_sched_event event = {
		.tsc = to_tsc(s->trace, ending->time),
		.kind = out ? EP_SCHED_OUT : EP_SCHED_IN,
		.tid = ending->tid,
		.cpu = (uint16_t)ending->cpu,
		.flags = (header->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0,
	};

	switch (header->type) {
	case PERF_RECORD_LOST:
		event.kind = EP_SCHED_LOST;
		s->schedule->losses++;
		ep_scheduling_add(s, &event);
		break;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		s->schedule->switches++;
		if (event.tsc)
			ep_scheduling_add(s, &event);
		break;
	case PERF_RECORD_COMM:
		if (size > 8)
			ep_scheduling_name(s, ending->tid, event.tsc, body + 8, size - 8, true);
		break;
	default:
		break;
	}
}

bool ep_perf_records(struct ep_scheduling *s, const uint8_t *bytes, size_t size, unsigned cpu)
{
	struct perf_event_header header;
	struct ep_cursor cursor;
	struct ending ending;
	const uint8_t *body;

	(void)cpu;
	ep_cursor_init(&cursor, bytes, size);
	while (ep_cursor_take(&cursor, &header, sizeof(header)) == EP_OK) {
		size_t rest = header.size - sizeof(header);

		if (header.size < sizeof(header) + sizeof(ending) ||
		    ep_cursor_view(&cursor, &body, rest) != EP_OK)
			return false;
		rest -= sizeof(ending);
		memcpy(&ending, body + rest, sizeof(ending));
		read_record(s, &header, body, rest, &ending);
	}
	return ep_cursor_left(&cursor) == 0;
}
