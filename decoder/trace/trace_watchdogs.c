/* SPDX-License-Identifier: BSD-2-Clause */
/* trace_watchdogs.c: watchdogs, and the stacks that were taken at a miss. Both sections are
 * optional: what is not there, or makes no sense, is left out. */
#include <string.h>

#include "coredump/util/alloc.h"
#include "decoder/trace/trace_parts.h"
#include "runtime/format_watchdogs.h"

static void add_watchdog(struct ep_trace *trace, const uint8_t *bytes)
{
	struct ep_trace_watchdog *to = &trace->watchdogs[trace->watchdog_count];
	struct ep_watchdog from;

	memcpy(&from, bytes, sizeof(from));
	if (from.state != EP_WATCHDOG_SET && from.state != EP_WATCHDOG_PAUSED)
		return;
	trace->watchdog_count++;
	to->id = from.id;
	to->paused = from.state == EP_WATCHDOG_PAUSED;
	to->action = from.action;
	to->deadline = from.deadline < INT64_MAX ? (int64_t)from.deadline : INT64_MAX;
	to->created_by = from.created_by;
	to->fed_by = from.fed_by;
	to->fed_tsc = from.fed_tsc;
	to->misses = from.missed_tsc ? from.misses : 0;
	to->missed_tsc = from.missed_tsc;
	to->missed_fed = from.missed_fed;
	to->missed_by = from.missed_by;
	to->name = ep_trace_keep_text(trace, from.name, strnlen(from.name, sizeof(from.name)));
}

static void read_watchdogs(struct ep_trace *trace)
{
	struct ep_section section;
	const uint8_t *bytes = ep_trace_section_bytes(trace, EP_SECTION_WATCHDOGS,
						      sizeof(struct ep_watchdog), &section);
	uint64_t count = bytes ? section.size / section.entry_size : 0;

	trace->watchdogs = ep_calloc(EP_WATCHDOGS + 1, sizeof(*trace->watchdogs));
	for (uint64_t i = 0; i < count && i < EP_WATCHDOGS; i++)
		add_watchdog(trace, bytes + i * section.entry_size);
}

static void add_stack(struct ep_trace *trace, const uint8_t *section, uint64_t size,
		      const struct ep_stack_taken *from)
{
	struct ep_trace_stack *to = &trace->stacks[trace->stack_count];

	if (from->state != 1 || from->offset > size || from->size > size - from->offset ||
	    from->address > UINT64_MAX - from->size)
		return;
	trace->stack_count++;
	to->tid = from->tid;
	to->tsc = from->tsc;
	to->address = from->address;
	to->size = from->size;
	to->bytes = section + from->offset;
	memcpy(to->registers, from->registers, sizeof(to->registers));
}

static void read_stacks(struct ep_trace *trace)
{
	struct ep_section section;
	const uint8_t *bytes = ep_trace_section_bytes(trace, EP_SECTION_STACKS,
						      sizeof(struct ep_stack_taken), &section);
	struct ep_stack_taken entry;
	struct ep_stacks head;
	uint64_t room;

	/* Behind a head, and followed by what they are of. */
	if (!bytes || section.size < sizeof(head))
		return;
	memcpy(&head, bytes, sizeof(head));
	room = (section.size - sizeof(head)) / sizeof(entry);
	if (!head.tsc || head.count > room)
		return;
	trace->stacks = ep_calloc(head.count + 1, sizeof(*trace->stacks));
	trace->stacks_tsc = head.tsc;
	trace->stacks_watchdog = head.watchdog;
	trace->stacks_missing = head.unasked;
	for (uint32_t i = 0; i < head.count; i++) {
		memcpy(&entry, bytes + sizeof(head) + i * sizeof(entry), sizeof(entry));
		add_stack(trace, bytes, section.size, &entry);
	}
	trace->stacks_missing += head.count - trace->stack_count;
}

/* The thread that copies scheduling events. */
static void read_drain(struct ep_trace *trace)
{
	struct ep_section section;
	const uint8_t *bytes =
		ep_trace_section_bytes(trace, EP_SECTION_SCHED, sizeof(struct ep_sched), &section);

	if (bytes && section.size >= sizeof(struct ep_sched))
		memcpy(&trace->drain, bytes + offsetof(struct ep_sched, tid), sizeof(trace->drain));
}

void ep_trace_read_watchdogs(struct ep_trace *trace)
{
	read_drain(trace);
	read_watchdogs(trace);
	read_stacks(trace);
}

bool ep_trace_is_helper(const struct ep_trace *trace, uint32_t tid)
{
	return tid && (trace->arena.watcher == tid || trace->arena.changer == tid ||
		       trace->arena.looker == tid || trace->drain == tid);
}

int64_t ep_trace_watchdog_late(const struct ep_trace *trace,
			       const struct ep_trace_watchdog *watchdog)
{
	int64_t unfed;

	if (watchdog->paused)
		return 0;
	unfed = ep_trace_ns(trace, watchdog->fed_tsc, trace->end.tsc);
	if (watchdog->missed_tsc && watchdog->missed_fed == watchdog->fed_tsc) {
		int64_t seen = ep_trace_ns(trace, watchdog->fed_tsc, watchdog->missed_tsc);

		unfed = unfed > seen ? unfed : seen;
	}
	return unfed > watchdog->deadline ? unfed - watchdog->deadline : 0;
}
