/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ftrace_pages.c: a page of the kernel's ring buffer (kernel: include/linux/ring_buffer.h,
 * Documentation/trace/ring-buffer-design.rst):
 *
 *   time stamp (8), bytes of data and flags (8), then data: entries of a word
 *   (5 bits type or length, 27 bits time since the entry before) and more.
 */
#include <string.h>

#include "coredump/util/cursor.h"
#include "decoder/kernel/scheduling.h"

#define TYPE_PADDING     29u
#define TYPE_TIME_EXTEND 30u
#define TYPE_TIME_STAMP  31u
#define DELTA_BITS       27
#define COMMIT_MASK      0x0fffffffu
#define COMMIT_MISSED    0x80000000u            /* events before it were overwritten */
#define STAMP_HIGH       (UINT64_C(0xf8) << 56) /* what a TIME_STAMP leaves */

#define FLAG_HARDIRQ 0x08u /* common_flags (kernel: TRACE_FLAG_) */
#define FLAG_SOFTIRQ 0x10u
#define STATE_MASK   0xffu /* prev_state: above, R+: it was preempted */

static const char state_letters[] = "SDTtXZPI";

/* An event's bytes; 0 for fields that are not there. */
struct raw {
	uint64_t after; /* events up to then were told already; 0: none */
	const uint8_t *bytes;
	size_t size;
	const struct ep_format *format;
	uint64_t tsc;
	unsigned cpu;
};

static const uint8_t *field_bytes(const struct raw *raw, struct ep_format_field field)
{
	if (field.size == 0 || field.offset > raw->size || field.size > raw->size - field.offset)
		return NULL;
	return raw->bytes + field.offset;
}

static uint64_t number(const struct raw *raw, struct ep_format_field field)
{
	const uint8_t *bytes = field_bytes(raw, field);
	uint64_t value = 0;

	if (bytes && field.size <= sizeof(value))
		memcpy(&value, bytes, field.size); /* little endian */
	return value;
}

static void add_name(struct ep_scheduling *s, const struct raw *raw, uint64_t tid,
		     struct ep_format_field field)
{
	const uint8_t *bytes = field_bytes(raw, field);
	bool given =
		raw->format->kind == EP_FORMAT_NEWTASK || raw->format->kind == EP_FORMAT_RENAME;

	if (bytes && tid)
		ep_scheduling_name(s, (uint32_t)tid, raw->tsc, bytes, field.size, given);
}

static void add_switch(struct ep_scheduling *s, const struct raw *raw)
{
	const struct ep_format_field *f = raw->format->fields;
	uint64_t prev = number(raw, f[0]), next = number(raw, f[2]);
	uint64_t state = number(raw, f[1]);
	struct ep_sched_event event = {
		.tsc = raw->tsc,
		.kind = EP_SCHED_SWITCH,
		.tid = (uint32_t)prev,
		.other = (uint32_t)next,
		.cpu = (uint16_t)raw->cpu,
	};

	/* Lowest bit: the kernel shows one letter. 0: it could go on. */
	if (state & STATE_MASK && !(state & ~(uint64_t)STATE_MASK))
		event.value = (uint8_t)state_letters[__builtin_ctzll(state)];
	add_name(s, raw, prev, f[3]);
	add_name(s, raw, next, f[4]);
	s->schedule->switches++;
	ep_scheduling_add(s, &event);
}

static void add_waking(struct ep_scheduling *s, const struct raw *raw)
{
	const struct ep_format_field *f = raw->format->fields;
	uint64_t flags = number(raw, raw->format->flags);
	struct ep_sched_event event = {
		.tsc = raw->tsc,
		.kind = EP_SCHED_WAKING,
		.tid = (uint32_t)number(raw, f[0]),
		.other = (uint32_t)number(raw, raw->format->pid),
		.cpu = (uint16_t)raw->cpu,
		.flags = flags & FLAG_HARDIRQ   ? EP_WAKER_IRQ
			 : flags & FLAG_SOFTIRQ ? EP_WAKER_SOFT
						: EP_WAKER_THREAD,
	};

	add_name(s, raw, event.tid, f[1]);
	s->schedule->wakings++;
	ep_scheduling_add(s, &event);
}

/* What becomes a kernel event, and the field that is its `what`. */
static const struct {
	bool is_one;
	enum ep_kernel_event_kind kind;
	unsigned what;
} kernel_kinds[EP_FORMAT_KINDS] = {
	[EP_FORMAT_SYS_ENTER] = {true, EP_KERNEL_SYSCALL, 0},
	[EP_FORMAT_SYS_EXIT] = {true, EP_KERNEL_SYSCALL_END, 1},
	[EP_FORMAT_IRQ_ENTRY] = {true, EP_KERNEL_IRQ, 0},
	[EP_FORMAT_IRQ_EXIT] = {true, EP_KERNEL_IRQ_END, 0},
	[EP_FORMAT_SOFTIRQ_ENTRY] = {true, EP_KERNEL_SOFTIRQ, 0},
	[EP_FORMAT_SOFTIRQ_EXIT] = {true, EP_KERNEL_SOFTIRQ_END, 0},
	[EP_FORMAT_FAULT_USER] = {true, EP_KERNEL_FAULT, 0},
	[EP_FORMAT_FAULT_KERNEL] = {true, EP_KERNEL_FAULT, 0},
};

static void add_kernel_event(struct ep_scheduling *s, const struct raw *raw)
{
	const struct ep_format_field *f = raw->format->fields;
	enum ep_kernel_event_kind kind = kernel_kinds[raw->format->kind].kind;
	struct ep_kernel_event *event = ep_array_add(&s->kernel_events);
	const uint8_t *arguments = kind == EP_KERNEL_SYSCALL ? field_bytes(raw, f[1]) : NULL;

	*event = (struct ep_kernel_event){
		.tsc = raw->tsc,
		.what = number(raw, f[kernel_kinds[raw->format->kind].what]),
		.tid = (uint32_t)number(raw, raw->format->pid),
		.cpu = (uint16_t)raw->cpu,
		.kind = kind,
	};
	if (arguments && f[1].size == sizeof(event->arguments))
		memcpy(event->arguments, arguments, f[1].size);
}

static void read_event(struct ep_scheduling *s, const struct raw *raw)
{
	const struct ep_format_field *f = raw->format->fields;
	enum ep_format_kind kind = raw->format->kind;

	if (kind == EP_FORMAT_SWITCH)
		add_switch(s, raw);
	else if (kind == EP_FORMAT_WAKING)
		add_waking(s, raw);
	else if (kind == EP_FORMAT_NEWTASK || kind == EP_FORMAT_RENAME)
		add_name(s, raw, number(raw, f[0]), f[1]);
	else if (kernel_kinds[kind].is_one)
		add_kernel_event(s, raw);
}

static void read_data(struct ep_scheduling *s, const struct ep_formats *formats, struct raw *raw)
{
	for (size_t i = 0; i < formats->count; i++) {
		raw->format = &formats->list[i];
		if (raw->size >= 8 && number(raw, raw->format->type) == raw->format->id) {
			read_event(s, raw);
			return;
		}
	}
}

/* An entry behind its first word. EP_END: the rest of the page is empty. */
static int next_entry(struct ep_cursor *cursor, uint32_t word, uint64_t *tsc, const uint8_t **data,
		      uint32_t *size)
{
	uint32_t type = word & 31, delta = word >> 5, more = 0;

	*size = 0;
	if (type == TYPE_PADDING && delta == 0)
		return EP_END;
	if ((type == 0 || type >= TYPE_PADDING) &&
	    ep_cursor_take(cursor, &more, sizeof(more)) != EP_OK)
		return EP_E_TRUNCATED;
	if (type == TYPE_TIME_STAMP) {
		*tsc = (*tsc & STAMP_HIGH) | (((uint64_t)more << DELTA_BITS | delta) & ~STAMP_HIGH);
		return EP_OK;
	}
	*tsc += delta;
	if (type == TYPE_TIME_EXTEND) {
		*tsc += (uint64_t)more << DELTA_BITS;
		return EP_OK;
	}
	if (type == TYPE_PADDING) /* discarded; `more` counts itself not */
		return ep_cursor_skip(cursor, more < 4 ? 0 : more - 4);
	if (type == 0 && more < 4)
		return EP_E_CORRUPT;
	*size = type ? type * 4 : more - 4;
	return ep_cursor_view(cursor, data, (*size + 3ull) & ~3ull);
}

static bool read_entries(struct ep_scheduling *s, const struct ep_formats *formats,
			 struct ep_cursor *cursor, struct raw *raw)
{
	uint32_t word, size;
	int rc = EP_OK;

	while (rc == EP_OK && ep_cursor_take(cursor, &word, sizeof(word)) == EP_OK) {
		rc = next_entry(cursor, word, &raw->tsc, &raw->bytes, &size);
		raw->size = size;
		if (rc == EP_OK && size && raw->tsc > raw->after)
			read_data(s, formats, raw);
	}
	return rc == EP_OK || rc == EP_END;
}

bool ep_ftrace_page(struct ep_scheduling *s, const struct ep_formats *formats, const uint8_t *page,
		    size_t size, unsigned cpu, uint64_t *last)
{
	struct raw raw = {.cpu = cpu};
	struct ep_cursor cursor;
	uint64_t head[2];
	bool good;

	ep_cursor_init(&cursor, page, size);
	if (ep_cursor_take(&cursor, head, sizeof(head)) != EP_OK)
		return false;
	raw.tsc = head[0];
	raw.after = *last;
	if ((head[1] & COMMIT_MASK) > ep_cursor_left(&cursor))
		return false;
	cursor.end = cursor.at + (head[1] & COMMIT_MASK);
	if (head[1] & COMMIT_MISSED) {
		struct ep_sched_event lost = {.tsc = *last ? *last : raw.tsc,
					      .kind = EP_SCHED_LOST,
					      .cpu = (uint16_t)cpu};

		s->schedule->losses++;
		ep_scheduling_add(s, &lost);
	}
	good = read_entries(s, formats, &cursor, &raw);
	if (raw.tsc > *last)
		*last = raw.tsc;
	return good;
}
