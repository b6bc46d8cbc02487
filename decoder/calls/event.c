/* SPDX-License-Identifier: BSD-2-Clause */
/* event.c: what follows from an event alone (event.h). */
#include "decoder/calls/event.h"
#include "decoder/kernel/schedule.h"

const char *ep_point_word(enum ep_point point)
{
	static const char *const words[] = {
		[EP_POINT_THROW] = "throw",           [EP_POINT_RETHROW] = "rethrow",
		[EP_POINT_CATCH] = "catch",           [EP_POINT_LONGJMP] = "longjmp",
		[EP_POINT_STACK] = "stack",           [EP_POINT_NOTE] = "note",
		[EP_POINT_SPAN_BEGIN] = "span-begin", [EP_POINT_SPAN_END] = "span-end",
		[EP_POINT_WATCHDOG] = "watchdog",
	};

	return (size_t)point < sizeof(words) / sizeof(*words) ? words[point] : "unknown";
}

unsigned ep_event_open(const struct ep_event *event, struct ep_open out[2])
{
	const struct ep_time *begin = &event->begin, *end = &event->end;
	bool one_run = begin->open && begin->low == end->low;
	uint64_t from = end->low > begin->best ? end->low : begin->best;
	unsigned count = 0;

	if (begin->open)
		out[count++] = (struct ep_open){
			begin, ep_time_open_part(begin, (one_run ? end->best : begin->high) -
								begin->best)};
	if (end->open && !one_run)
		out[count++] = (struct ep_open){end, ep_time_open_part(end, end->best - from)};
	return count;
}

bool ep_event_took(const struct ep_trace *trace, const struct ep_event *event, struct ep_took *out)
{
	struct ep_open open[2];

	if (event->kind != EP_EVENT_END || event->flags & (EP_CALL_BEFORE | EP_CALL_STRAY) ||
	    event->end.high == EP_TIME_UNKNOWN)
		return false;
	out->likely = out->least = out->most =
		ep_trace_ns(trace, event->begin.best, event->end.best);
	for (unsigned i = ep_event_open(event, open); i-- > 0;) {
		out->least = ep_ns_add(out->least, -ep_trace_ns(trace, 0, open[i].part));
		out->most = ep_ns_add(out->most,
				      ep_trace_ns(trace, 0, open[i].time->open - open[i].part));
	}
	return true;
}

bool ep_event_times(const struct ep_trace *trace, const struct ep_event *event,
		    struct ep_slice_times *out)
{
	const struct ep_task *task = ep_schedule_task(trace->schedule, event->thread->tid);
	int64_t astray;

	if (event->kind != EP_EVENT_END || event->flags & (EP_CALL_BEFORE | EP_CALL_STRAY) ||
	    !ep_task_times(trace, task, event->begin.best, event->end.best, out))
		return false;
	if (!(event->flags & EP_CALL_UNSURE_WAIT))
		return true;
	astray = ep_trace_ns(trace, 0, event->astray);
	if (astray > out->ready + out->blocked)
		astray = out->ready + out->blocked;
	if (astray) { /* of which of the two it is part is not known */
		out->blocked += out->ready - astray;
		out->ready = 0;
	}
	out->unknown += astray ? astray : 1;
	return true;
}
