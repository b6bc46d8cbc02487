/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scheduling.h: a schedule while it is made, and the steps that make it.
 *
 *   section → chunks (schedule.c) → pages (ftrace_pages.c) or records
 *   (perf_records.c) → events, by time → slices (schedule_slices.c) → those
 *   that the records do not contradict (schedule_records.c)
 *
 * All bytes are untrusted; nothing here reads outside of what it was given.
 */
#ifndef EPITAPH_SCHEDULING_H
#define EPITAPH_SCHEDULING_H

#include "coredump/util/array.h"
#include "coredump/util/hash.h"
#include "decoder/kernel/schedule.h"
#include "decoder/trace/trace.h"

/* Up to a slice's begin, TSC. */
struct ep_slice_sum {
	uint64_t running, ready, blocked;
};

/* A task being made. */
struct ep_task_builder {
	struct ep_task task;
	uint64_t named; /* time stamp of its name */
	EP_ARRAY(struct ep_slice) slices;
	unsigned confronted; /* with so many threads' records */
};

/* A schedule being made. */
struct ep_scheduling {
	struct ep_schedule *schedule;
	const struct ep_trace *trace;
	EP_ARRAY(struct ep_sched_event) events;
	EP_ARRAY(struct ep_kernel_event) kernel_events;
	EP_ARRAY(struct ep_occupation) occupations;
	EP_ARRAY(struct ep_naming) namings;
	EP_ARRAY(struct ep_task_builder) rows;
	struct ep_hash by_tid; /* of rows */
	uint64_t perf_until;   /* TSC when perf's records were copied last; 0: never */
};

/* Fields of an event that are asked for, by kind; see ftrace_formats.c. */
#define EP_FORMAT_FIELDS 7

enum ep_format_kind {
	EP_FORMAT_NONE,
	EP_FORMAT_SWITCH,
	EP_FORMAT_WAKING,
	EP_FORMAT_NEWTASK,
	EP_FORMAT_RENAME,
	EP_FORMAT_SYS_ENTER,
	EP_FORMAT_SYS_EXIT,
	EP_FORMAT_IRQ_ENTRY,
	EP_FORMAT_IRQ_EXIT,
	EP_FORMAT_SOFTIRQ_ENTRY,
	EP_FORMAT_SOFTIRQ_EXIT,
	EP_FORMAT_FAULT_USER,
	EP_FORMAT_FAULT_KERNEL,
	EP_FORMAT_KINDS
};

struct ep_format_field {
	uint32_t offset, size; /* size 0: there is none of that name */
};

struct ep_format {
	enum ep_format_kind kind;
	uint32_t id;
	/* common_type, common_flags, common_pid */
	struct ep_format_field type, flags, pid;
	struct ep_format_field fields[EP_FORMAT_FIELDS];
};

struct ep_formats {
	struct ep_format list[EP_FORMAT_KINDS];
	size_t count;
};

/* Takes the section's formats apart, by libtraceevent. Returns how many made no sense. */
unsigned ep_formats_read(struct ep_formats *formats, const uint8_t *bytes, size_t size);

/* One page: its events are added; 0 *last: none of this CPU came before, else the time of the one
 * before. False: it makes no sense from some point on. */
bool ep_ftrace_page(struct ep_scheduling *s, const struct ep_formats *formats, const uint8_t *page,
		    size_t size, unsigned cpu, uint64_t *last);

/* The same for a chunk of perf's records. */
bool ep_perf_records(struct ep_scheduling *s, const uint8_t *bytes, size_t size, unsigned cpu);

void ep_scheduling_add(struct ep_scheduling *s, const struct ep_sched_event *event);
/* The thread's name at `tsc`: at most 16 bytes, NUL-padded. In any order: the latest is kept.
 * `given`: it was given to it then, not only met. */
void ep_scheduling_name(struct ep_scheduling *s, uint32_t tid, uint64_t tsc, const uint8_t *name,
			size_t size, bool given);
/* Made if need be; borrowed until the next one is made. */
struct ep_task_builder *ep_scheduling_row(struct ep_scheduling *s, uint32_t tid);
/* NULL: it was not met. */
struct ep_task_builder *ep_scheduling_known(const struct ep_scheduling *s, uint32_t tid);

/* Slices are there, and their ends: none in which a thread that made a timed record is said to have
 * been off its CPU (schedule_records.c). */
void ep_scheduling_confront(struct ep_scheduling *s);

/* All events are there: makes the schedule's tasks and the rest of it. What `s` held goes. */
void ep_scheduling_finish(struct ep_scheduling *s);

#endif
