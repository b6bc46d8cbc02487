/* SPDX-License-Identifier: BSD-2-Clause */
/* trace_threads.c: the thread table. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"
#include "decoder/trace/trace_parts.h"
#include "coredump/util/utf8.h"

static const char *thread_fault(const struct ep_thread *from)
{
	if (from->state != EP_THREAD_LIVE && from->state != EP_THREAD_DEAD)
		return "its state is unknown";
	if (from->serial == 0)
		return "it has no serial number";
	return NULL;
}

static void read_name(struct ep_trace_thread *to, const struct ep_thread *from)
{
	char *shown = ep_utf8_escape(from->name, strnlen(from->name, sizeof(from->name)));

	static_assert(sizeof(to->name) == 4 * sizeof(from->name) + 1, "fits");
	strcpy(to->name, shown);
	free(shown);
}

/* Unknown where another thread may have it, and of one that changed rings under a runtime that did
 * not note when. */
static void read_ring(struct ep_trace_thread *to, const struct ep_thread *from)
{
	if (!from->ring_offset || from->flags & EP_THREAD_RING_GIVEN ||
	    (from->flags & EP_THREAD_OWN_RING && !from->ring_first))
		return;
	to->ring_blocks = from->ring_size / EP_BLOCK_SIZE;
	to->ring_first = from->ring_first ? from->ring_first : 1;
}

static void add_thread(struct ep_trace *trace, const struct ep_thread *from)
{
	struct ep_trace_thread *to = &trace->threads[trace->thread_count++];

	to->serial = from->serial;
	to->known = true;
	to->tid = from->tid;
	to->state = from->state;
	to->flags = from->flags;
	trace->damage.shared_threads += (from->flags & EP_THREAD_SHARED) != 0;
	trace->damage.other_stacks += (from->flags & EP_THREAD_OTHER_STACKS) != 0;
	read_name(to, from);
	to->start_tsc = from->start_tsc;
	to->end_tsc = from->end_tsc;
	to->gate = from->gate;
	to->timing = from->timing;
	to->lost_records = from->lost;
	to->blocks_entered = from->blocks;
	read_ring(to, from);
}

static void read_entry(struct ep_trace *trace, uint64_t offset, uint64_t index)
{
	const void *bytes = ep_trace_view(trace, offset, sizeof(struct ep_thread));
	struct ep_thread from;
	const char *fault;

	/* A page that was not saved may well have held no thread. */
	if (!bytes)
		return;
	memcpy(&from, bytes, sizeof(from));
	if (from.state == EP_THREAD_FREE)
		return;
	fault = thread_fault(&from);
	if (!fault) {
		add_thread(trace, &from);
		return;
	}
	trace->damage.threads_corrupt++;
	ep_trace_warn(trace, "entry %" PRIu64 " of the thread table is left out: %s", index, fault);
}

static int compare_threads(const void *a, const void *b)
{
	const struct ep_trace_thread *x = a, *y = b;

	if (x->serial != y->serial)
		return x->serial < y->serial ? -1 : 1;
	return (x->start_tsc < y->start_tsc) - (x->start_tsc > y->start_tsc);
}

/* A serial that is there twice: the entry that started last is kept. */
static void drop_twins(struct ep_trace *trace)
{
	size_t kept = 0;

	for (size_t i = 0; i < trace->thread_count; i++) {
		if (kept && trace->threads[kept - 1].serial == trace->threads[i].serial)
			trace->damage.threads_corrupt++;
		else
			trace->threads[kept++] = trace->threads[i];
	}
	if (kept != trace->thread_count)
		ep_trace_warn(trace, "the thread table has %zu entries that are there twice",
			      trace->thread_count - kept);
	trace->thread_count = kept;
}

static bool any_live(const struct ep_trace *trace, const struct ep_trace_section *section,
		     uint64_t index)
{
	uint32_t state = EP_THREAD_FREE;
	const void *bytes =
		ep_trace_view(trace, section->offset + index * section->entry_size, sizeof(state));

	if (bytes)
		memcpy(&state, bytes, sizeof(state));
	return state != EP_THREAD_FREE;
}

void ep_trace_read_threads(struct ep_trace *trace, const struct ep_trace_section *section)
{
	uint64_t count = section->there ? section->size / section->entry_size : 0, used = 0;

	for (uint64_t i = 0; i < count; i++)
		used += any_live(trace, section, i);
	trace->threads = ep_calloc(used, sizeof(*trace->threads));
	for (uint64_t i = 0; i < count; i++)
		read_entry(trace, section->offset + i * section->entry_size, i);
	if (trace->thread_count)
		qsort(trace->threads, trace->thread_count, sizeof(*trace->threads),
		      compare_threads);
	drop_twins(trace);
}
