/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perfetto.c: calls as Perfetto's track events. A call is a packet when it begins and one when it
 * ends, so the order alone nests them: times that are equal, or that are not exact, cut nothing. A
 * call that did not return has no end, which Perfetto shows as unfinished.
 *
 * Calls are most of the file, so their packets hold what differs and no more: what passed since the
 * thread's last event, and the number of a name. The name, file, line, module and address of a
 * function come with its first call in each thread. Threads follow one another, so that the calls
 * of no more than one are in memory at a time: Perfetto sorts the packets of different sequences.
 */
#include "decoder/export/perfetto/perfetto.h"

#include <stdlib.h>

#include "coredump/util/alloc.h"
#include "decoder/calls/placing.h"
#include "decoder/export/replay.h"
#include "decoder/kernel/end.h"

/* Categories, the same of each thread; 0 is none. Of a call: none, or the second. */
enum category {
	CATEGORY_NONE,
	CATEGORY_APPROXIMATE,
	CATEGORY_POINT,
	CATEGORY_NOTE,
	CATEGORY_SPAN,
	CATEGORY_WATCHDOG,
	CATEGORY_GAP,
	CATEGORY_WAIT,
	CATEGORY_STRAY,
	CATEGORY_DEEP,
	CATEGORIES,
};

static const char *const categories[CATEGORIES] = {
	[CATEGORY_APPROXIMATE] = "approximate",
	[CATEGORY_POINT] = "point",
	[CATEGORY_NOTE] = "note",
	[CATEGORY_SPAN] = "span",
	[CATEGORY_WATCHDOG] = "watchdog",
	[CATEGORY_GAP] = "gap",
	[CATEGORY_WAIT] = "wait",
	[CATEGORY_STRAY] = "stray",
	[CATEGORY_DEEP] = "deep",
};

/* What is said of a call beside its times; 0 is none. */
enum call_word {
	WORD_NONE,
	WORD_BEFORE,
	WORD_RESUMED,
	WORD_SUSPENDED,
	WORD_UNWOUND,
	WORD_ABANDONED,
	WORD_SWITCHED,
	WORD_GAP,
	WORD_AMBIGUOUS,
	WORD_WAIT,
	WORD_END,
	WORDS,
};

static const struct {
	const char *key, *value;
} words[WORDS] = {
	[WORD_BEFORE] = {"began", "before the history: begin unknown"},
	[WORD_RESUMED] = {"resumed", "execution came back to this stack"},
	[WORD_SUSPENDED] = {"suspended", "execution went on upon another stack"},
	[WORD_UNWOUND] = {"ended", "left without a return, by an exception or longjmp"},
	[WORD_ABANDONED] = {"ended", "left without a return"},
	[WORD_SWITCHED] = {"switched",
			   "its hooks were switched off: when it returned is not known"},
	[WORD_GAP] = {"gap", "history is missing inside"},
	[WORD_AMBIGUOUS] = {"ambiguous", "the return may be of an outer call of it"},
	[WORD_WAIT] = {"wait", "it may have waited, or a call near it: not known which"},
	[WORD_END] = {"end", "approximate"},
};

/* ---- the beginning of the file ---- */

static void write_clock(struct ep_protobuf *packet, uint64_t id, uint64_t time, bool incremental)
{
	ep_protobuf_open(packet, EP_PB_SNAPSHOT_CLOCK);
	ep_protobuf_uint(packet, EP_PB_CLOCK_ID, id);
	ep_protobuf_uint(packet, EP_PB_CLOCK_TIMESTAMP, time);
	if (incremental)
		ep_protobuf_uint(packet, EP_PB_CLOCK_INCREMENTAL, 1);
	ep_protobuf_close(packet);
}

/* The trace's clock counts from the first record, which was at this time of day. */
static void write_process(struct ep_perfetto *perfetto)
{
	const struct ep_trace *trace = perfetto->export->trace;
	uint64_t realtime = ep_trace_realtime(trace, trace->first_tsc);
	struct ep_protobuf *packet = &perfetto->packet;

	ep_perfetto_begin(perfetto);
	ep_protobuf_open(packet, EP_PB_PACKET_CLOCK_SNAPSHOT);
	write_clock(packet, EP_PB_CLOCK_BOOTTIME, 0, false);
	if (realtime)
		write_clock(packet, EP_PB_CLOCK_REALTIME, realtime, false);
	ep_perfetto_end(perfetto);
	ep_perfetto_track(perfetto, perfetto->process, 0, NULL);
	ep_protobuf_open(packet, EP_PB_TRACK_PROCESS);
	ep_protobuf_uint(packet, EP_PB_PROCESS_PID, trace->process.pid);
	ep_protobuf_text(packet, EP_PB_PROCESS_NAME, ep_export_program(trace));
	ep_perfetto_end(perfetto);
}

/* Where the process ended is not known to the ns: a mark where it did at the earliest. */
static void write_end_mark(struct ep_perfetto *perfetto)
{
	const struct ep_trace *trace = perfetto->export->trace;
	char later[EP_END_LATER_SIZE];

	if (!ep_end_later_text(&trace->end, later))
		return;
	ep_perfetto_event(perfetto, perfetto->process,
			  ep_trace_ns(trace, trace->first_tsc, trace->end.tsc), EP_PB_TYPE_INSTANT);
	ep_protobuf_text(&perfetto->packet, EP_PB_TRACK_EVENT_CATEGORY_NAME, "end");
	ep_protobuf_text(&perfetto->packet, EP_PB_TRACK_EVENT_NAME, later);
	ep_perfetto_end(perfetto);
}

static void write_interned(struct ep_protobuf *packet, uint32_t field, uint64_t iid,
			   const char *text)
{
	ep_protobuf_open(packet, field);
	ep_protobuf_uint(packet, EP_PB_INTERNED_IID, iid);
	ep_protobuf_text(packet, EP_PB_INTERNED_TEXT, text);
	ep_protobuf_close(packet);
}

/* What holds for all packets of the thread's sequence. */
static void write_sequence(struct ep_perfetto *perfetto, const struct ep_perfetto_thread *thread)
{
	struct ep_protobuf *packet = &perfetto->packet;

	ep_protobuf_reset(packet);
	ep_protobuf_open(packet, EP_PB_TRACE_PACKET);
	ep_protobuf_uint(packet, EP_PB_PACKET_SEQUENCE_ID, thread->sequence);
	ep_protobuf_uint(packet, EP_PB_PACKET_SEQUENCE_FLAGS, EP_PB_SEQUENCE_CLEARED);
	ep_protobuf_open(packet, EP_PB_PACKET_CLOCK_SNAPSHOT);
	write_clock(packet, EP_PB_CLOCK_BOOTTIME, 0, false);
	write_clock(packet, EP_PB_CLOCK_OWN, 0, true);
	ep_protobuf_close(packet);
	ep_protobuf_open(packet, EP_PB_PACKET_DEFAULTS);
	ep_protobuf_uint(packet, EP_PB_DEFAULTS_CLOCK_ID, EP_PB_CLOCK_OWN);
	ep_protobuf_open(packet, EP_PB_DEFAULTS_TRACK_EVENT);
	ep_protobuf_uint(packet, EP_PB_TRACK_EVENT_TRACK, thread->track);
	ep_protobuf_close(packet);
	ep_protobuf_close(packet);
	ep_protobuf_open(packet, EP_PB_PACKET_INTERNED_DATA);
	for (unsigned i = 1; i < CATEGORIES; i++)
		write_interned(packet, EP_PB_INTERNED_CATEGORY, i, categories[i]);
	for (unsigned i = 1; i < WORDS; i++) {
		write_interned(packet, EP_PB_INTERNED_KEY, i, words[i].key);
		write_interned(packet, EP_PB_INTERNED_VALUE, i, words[i].value);
	}
	ep_perfetto_end(perfetto);
}

static void write_thread(struct ep_perfetto *perfetto, size_t index)
{
	const struct ep_trace *trace = perfetto->export->trace;
	const struct ep_trace_thread *thread = &trace->threads[index];
	struct ep_perfetto_thread *own = &perfetto->threads[index];
	struct ep_protobuf *packet = &perfetto->packet;

	own->track = ep_perfetto_uuid(trace, EP_TRACK_OF_THREAD, index, 0);
	own->sequence = (uint32_t)index + 2;
	ep_perfetto_track(perfetto, own->track, perfetto->process, NULL);
	ep_protobuf_open(packet, EP_PB_TRACK_THREAD);
	ep_protobuf_uint(packet, EP_PB_THREAD_PID, trace->process.pid);
	ep_protobuf_uint(packet, EP_PB_THREAD_TID, perfetto->tids[index]);
	ep_protobuf_text(packet, EP_PB_THREAD_NAME, thread->name[0] ? thread->name : "thread");
	ep_perfetto_end(perfetto);
	write_sequence(perfetto, own);
}

static void write_head(struct ep_perfetto *perfetto)
{
	const struct ep_export *export = perfetto->export;
	const struct ep_trace *trace = export->trace;

	perfetto->begun = true;
	perfetto->process = ep_perfetto_uuid(trace, EP_TRACK_OF_PROCESS, 0, 0);
	write_process(perfetto);
	for (size_t i = 0; i < trace->thread_count; i++)
		if (trace->threads[i].block_count &&
		    (!export->selection ||
		     ep_selection_wants_thread(export->selection, &trace->threads[i])))
			write_thread(perfetto, i);
}

/* ---- events of threads ---- */

/* The message is left open. */
static void event_begin(struct ep_perfetto *perfetto, struct ep_perfetto_thread *thread, int64_t ns,
			unsigned type)
{
	struct ep_protobuf *packet = &perfetto->packet;
	uint64_t passed = 0;

	if (ns > thread->last) {
		passed = (uint64_t)(ns - thread->last);
		thread->last = ns;
	}
	ep_protobuf_reset(packet);
	ep_protobuf_open(packet, EP_PB_TRACE_PACKET);
	ep_protobuf_uint(packet, EP_PB_PACKET_TIMESTAMP, passed);
	ep_protobuf_uint(packet, EP_PB_PACKET_SEQUENCE_ID, thread->sequence);
	ep_protobuf_uint(packet, EP_PB_PACKET_SEQUENCE_FLAGS, EP_PB_SEQUENCE_NEEDS);
	ep_protobuf_open(packet, EP_PB_PACKET_TRACK_EVENT);
	ep_protobuf_uint(packet, EP_PB_TRACK_EVENT_TYPE, type);
}

static void event_end(struct ep_perfetto *perfetto)
{
	struct ep_protobuf *packet = &perfetto->packet;

	ep_protobuf_close(packet);
	ep_protobuf_close(packet);
	ep_outbuf_put(&perfetto->out, packet->bytes, packet->used);
}

static struct ep_perfetto_thread *own_thread(struct ep_perfetto *perfetto,
					     const struct ep_nest_thread *thread)
{
	return &perfetto->threads[thread->index];
}

static void category(struct ep_perfetto *perfetto, enum category is)
{
	ep_protobuf_uint(&perfetto->packet, EP_PB_TRACK_EVENT_CATEGORY, is);
}

static void word(struct ep_perfetto *perfetto, bool on, enum call_word is)
{
	struct ep_protobuf *packet = &perfetto->packet;

	if (!on)
		return;
	ep_protobuf_open(packet, EP_PB_TRACK_EVENT_ANNOTATION);
	ep_protobuf_uint(packet, EP_PB_ANNOTATION_NAME_IID, is);
	ep_protobuf_uint(packet, EP_PB_ANNOTATION_TEXT_IID, is);
	ep_protobuf_close(packet);
}

static void address(struct ep_perfetto *perfetto, uint64_t address)
{
	ep_perfetto_number(perfetto, EP_PB_ANNOTATION_POINTER, "address", address);
}

/* A slice of which all is known. */
static void write_slice(struct ep_perfetto *perfetto, const struct ep_nest_thread *thread,
			enum category is, const char *name, const char *key, const char *text)
{
	struct ep_perfetto_thread *own = own_thread(perfetto, thread);
	int64_t begin = thread->now > own->last ? thread->now : own->last;

	event_begin(perfetto, own, begin, EP_PB_TYPE_BEGIN);
	category(perfetto, is);
	ep_protobuf_text(&perfetto->packet, EP_PB_TRACK_EVENT_NAME, name);
	ep_perfetto_text(perfetto, key, text);
	event_end(perfetto);
	event_begin(perfetto, own, ep_ns_add(begin, thread->gap), EP_PB_TYPE_END);
	event_end(perfetto);
}

/* ---- calls ---- */

/* A function's first call in the thread. */
static void write_function(struct ep_perfetto *perfetto, const struct ep_function *function)
{
	struct ep_line line = ep_names_function_line(perfetto->export->names, function);

	if (line.file)
		ep_perfetto_text(perfetto, "file", line.file);
	if (line.file && line.line)
		ep_perfetto_number(perfetto, EP_PB_ANNOTATION_UINT, "line", line.line);
	ep_perfetto_text(perfetto, "module", function->module);
	ep_perfetto_number(perfetto, EP_PB_ANNOTATION_POINTER, "function", function->start);
}

/* True once for each function. */
static bool is_first_call(struct ep_perfetto_thread *thread, uint32_t id)
{
	while (thread->named.count <= id / 8)
		ep_array_push(&thread->named, (uint8_t)0);
	if (thread->named.list[id / 8] >> id % 8 & 1)
		return false;
	thread->named.list[id / 8] |= (uint8_t)(1u << id % 8);
	return true;
}

static bool begin_is_approximate(const struct ep_nest_frame *frame)
{
	return !frame->begin.exact && !(frame->flags & EP_CALL_BEFORE);
}

static void write_begin(struct ep_perfetto *perfetto, const struct ep_nest_thread *thread,
			const struct ep_event *event)
{
	struct ep_perfetto_thread *own = own_thread(perfetto, thread);
	const struct ep_nest_frame *frame = thread->frame;
	struct ep_protobuf *packet = &perfetto->packet;
	bool first = is_first_call(own, frame->function->id);

	event_begin(perfetto, own, thread->now, EP_PB_TYPE_BEGIN);
	ep_protobuf_uint(packet, EP_PB_TRACK_EVENT_NAME_IID, (uint64_t)frame->function->id + 1);
	if (begin_is_approximate(frame))
		category(perfetto, CATEGORY_APPROXIMATE);
	word(perfetto, frame->flags & EP_CALL_BEFORE, WORD_BEFORE);
	word(perfetto, event->kind == EP_EVENT_RESUME, WORD_RESUMED);
	if (first)
		write_function(perfetto, frame->function);
	ep_protobuf_close(packet);
	if (first) {
		ep_protobuf_open(packet, EP_PB_PACKET_INTERNED_DATA);
		write_interned(packet, EP_PB_INTERNED_NAME, (uint64_t)frame->function->id + 1,
			       frame->function->name);
		ep_protobuf_close(packet);
	}
	ep_protobuf_close(packet);
	ep_outbuf_put(&perfetto->out, packet->bytes, packet->used);
}

/* What the numbers don't say. */
static void write_flags_slow(struct ep_perfetto *perfetto, const struct ep_event *event,
			     const struct ep_nest_frame *frame)
{
	uint32_t known = frame->flags;
	bool unwound = known & EP_CALL_UNWOUND, ended = event->kind == EP_EVENT_END;

	word(perfetto, !ended, WORD_SUSPENDED);
	word(perfetto, ended && unwound, WORD_UNWOUND);
	word(perfetto, ended && !unwound && known & EP_CALL_ABANDONED, WORD_ABANDONED);
	word(perfetto, known & EP_CALL_SWITCHED, WORD_SWITCHED);
	word(perfetto, known & EP_CALL_ACROSS_GAP, WORD_GAP);
	word(perfetto, ended && known & EP_CALL_AMBIGUOUS, WORD_AMBIGUOUS);
	word(perfetto, known & EP_CALL_UNSURE_WAIT, WORD_WAIT);
	word(perfetto, ended && !event->end.exact && !begin_is_approximate(frame), WORD_END);
}

static void write_end(struct ep_perfetto *perfetto, const struct ep_nest_thread *thread,
		      const struct ep_event *event)
{
	const struct ep_nest_frame *frame = thread->frame;
	bool plain = event->kind == EP_EVENT_END && !(frame->flags & ~(uint32_t)EP_CALL_BEFORE) &&
		     (event->end.exact || begin_is_approximate(frame));

	event_begin(perfetto, own_thread(perfetto, thread), thread->now, EP_PB_TYPE_END);
	if (!plain)
		write_flags_slow(perfetto, event, frame);
	event_end(perfetto);
}

/* One slice for all that is too deep. */
static void write_deep_slow(struct ep_perfetto *perfetto, const struct ep_nest_thread *thread,
			    bool begins)
{
	if (thread->count - 1 > EP_PERFETTO_DEPTH_MAX)
		return;
	event_begin(perfetto, own_thread(perfetto, thread), thread->now,
		    begins ? EP_PB_TYPE_BEGIN : EP_PB_TYPE_END);
	if (begins) {
		category(perfetto, CATEGORY_DEEP);
		ep_protobuf_text(&perfetto->packet, EP_PB_TRACK_EVENT_NAME, EP_PERFETTO_TOO_DEEP);
	}
	event_end(perfetto);
}

static void write_call(struct ep_perfetto *perfetto, const struct ep_nest_thread *thread,
		       const struct ep_event *event, bool begins)
{
	if (thread->count > EP_PERFETTO_DEPTH_MAX)
		write_deep_slow(perfetto, thread, begins);
	else if (begins)
		write_begin(perfetto, thread, event);
	else
		write_end(perfetto, thread, event);
}

/* ---- moments ---- */

static enum category category_of(enum ep_point point)
{
	switch (point) {
	case EP_POINT_NOTE:
		return CATEGORY_NOTE;
	case EP_POINT_SPAN_BEGIN:
	case EP_POINT_SPAN_END:
		return CATEGORY_SPAN;
	case EP_POINT_WATCHDOG:
		return CATEGORY_WATCHDOG;
	default:
		return CATEGORY_POINT;
	}
}

/* Instants, on the thread's track. */
static void write_point(struct ep_perfetto *perfetto, const struct ep_nest_thread *thread,
			const struct ep_event *event)
{
	char *name = ep_export_point(event);

	event_begin(perfetto, own_thread(perfetto, thread), thread->now, EP_PB_TYPE_INSTANT);
	category(perfetto, category_of(event->point));
	if (!event->begin.exact)
		category(perfetto, CATEGORY_APPROXIMATE);
	ep_protobuf_text(&perfetto->packet, EP_PB_TRACK_EVENT_NAME, name);
	address(perfetto, event->address);
	event_end(perfetto);
	free(name);
}

/* Spans are none of the calls', and may overlap: each has a track of its own beside the calls. */
static void write_span(struct ep_perfetto *perfetto, const struct ep_nest_thread *thread,
		       const struct ep_event *event)
{
	struct ep_perfetto_thread *own = own_thread(perfetto, thread);
	bool begins = event->point == EP_POINT_SPAN_BEGIN;
	uint64_t track = ep_perfetto_uuid(perfetto->export->trace, EP_TRACK_OF_SPAN, thread->index,
					  event->call);

	if (begins) {
		ep_perfetto_track(perfetto, track, own->track, "spans");
		ep_perfetto_end(perfetto);
	}
	event_begin(perfetto, own, thread->now, begins ? EP_PB_TYPE_BEGIN : EP_PB_TYPE_END);
	ep_protobuf_uint(&perfetto->packet, EP_PB_TRACK_EVENT_TRACK, track);
	if (begins) {
		category(perfetto, CATEGORY_SPAN);
		ep_protobuf_text(&perfetto->packet, EP_PB_TRACK_EVENT_NAME, event->text);
		address(perfetto, event->address);
	}
	word(perfetto, event->flags & EP_CALL_ACROSS_GAP, WORD_GAP);
	event_end(perfetto);
}

static void write_stray(struct ep_perfetto *perfetto, const struct ep_nest_thread *thread,
			const struct ep_event *event)
{
	event_begin(perfetto, own_thread(perfetto, thread), thread->now, EP_PB_TYPE_INSTANT);
	category(perfetto, CATEGORY_STRAY);
	ep_protobuf_text(&perfetto->packet, EP_PB_TRACK_EVENT_NAME, event->function->name);
	ep_perfetto_text(perfetto, "stray", "a return that belongs to no call");
	event_end(perfetto);
}

static void write_gap(struct ep_perfetto *perfetto, const struct ep_nest_thread *thread,
		      const struct ep_event *event)
{
	char why[EP_REPLAY_GAP_SIZE];

	write_slice(perfetto, thread, CATEGORY_GAP, "history is missing", "why",
		    ep_replay_gap(why, event));
}

/* A wait that may not be of the call that it is drawn in; the others are seen where the threads'
 * states are. */
static void write_wait(struct ep_perfetto *perfetto, const struct ep_nest_thread *thread,
		       const struct ep_event *event)
{
	char *chain;

	if (ep_place_is_certain(event->place))
		return;
	chain = ep_export_certain_chain(thread, event->place);
	write_slice(perfetto, thread, CATEGORY_WAIT, EP_EXPORT_INSIDE, "certain", chain);
	free(chain);
}

/* ---- the sink ---- */

static int perfetto_event(void *context, const struct ep_event *event,
			  const struct ep_nest_thread *thread)
{
	struct ep_perfetto *perfetto = context;

	if (!perfetto->begun)
		write_head(perfetto);
	switch (event->kind) {
	case EP_EVENT_BEGIN:
	case EP_EVENT_RESUME:
		write_call(perfetto, thread, event, true);
		break;
	case EP_EVENT_END:
		if (event->flags & EP_CALL_STRAY)
			write_stray(perfetto, thread, event);
		else
			write_call(perfetto, thread, event, false);
		break;
	case EP_EVENT_SUSPEND:
		write_call(perfetto, thread, event, false);
		break;
	case EP_EVENT_GAP:
		write_gap(perfetto, thread, event);
		break;
	case EP_EVENT_POINT:
		if (ep_export_is_span(event))
			write_span(perfetto, thread, event);
		else
			write_point(perfetto, thread, event);
		break;
	case EP_EVENT_WAIT:
		write_wait(perfetto, thread, event);
		break;
	case EP_EVENT_OPEN:
	case EP_EVENT_LEFT:
	case EP_EVENT_OPEN_SPAN:
		break;
	}
	return ep_export_status(&perfetto->out);
}

/* ---- the whole ---- */

static void perfetto_deinit(struct ep_perfetto *perfetto)
{
	for (size_t i = 0; i < perfetto->export->trace->thread_count; i++)
		ep_array_deinit(&perfetto->threads[i].named);
	free(perfetto->threads);
	free(perfetto->tids);
	ep_protobuf_deinit(&perfetto->packet);
	free(perfetto);
}

int ep_perfetto_write(FILE *out, const struct ep_export *export, uint64_t *shown,
		      struct ep_err *err)
{
	struct ep_perfetto *perfetto = ep_calloc(1, sizeof(*perfetto));
	const struct ep_sink sink = {.context = perfetto,
				     .event = perfetto_event,
				     .waits = true,
				     .any_order = true,
				     .nested = true};
	int rc;

	perfetto->export = export;
	perfetto->tids = ep_export_tids(export->trace);
	perfetto->threads = ep_calloc(export->trace->thread_count, sizeof(*perfetto->threads));
	ep_outbuf_init(&perfetto->out, out);
	ep_stream(export->trace, export->names, export->selection, &sink, shown);
	if (perfetto->begun) {
		ep_perfetto_kernel(perfetto);
		ep_perfetto_wakings(perfetto);
		ep_perfetto_counters(perfetto);
		write_end_mark(perfetto);
	}
	rc = ep_export_finish(&perfetto->out, err);
	perfetto_deinit(perfetto);
	return rc;
}
