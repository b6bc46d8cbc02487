/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * funtrace_export.c: calls as a funtrace.raw. Its readers keep one stack a thread: a call pushes, a
 * return pops down to its function (or, where that isn't there, everything), a catch pops what lies
 * above its function. So that all of them nest as the stream does, each call that ends, or whose
 * stack another one takes the place of, has its return, innermost first, and nothing else pops. A
 * call that did not return has none.
 */
#include "decoder/export/funtrace_export.h"

#include <inttypes.h>
#include <stdlib.h>

#include "coredump/funtrace/funtrace.h"
#include "coredump/util/alloc.h"
#include "coredump/util/utf8.h"
#include "decoder/export/systrace.h"

/* What one thread's TRACEBUF will be. */
struct track {
	EP_ARRAY(struct ep_funtrace_entry) entries;
	/* Returns of calls that were left and whose callers return right after: that return pops
	 * them, and says by it that they had none of their own. */
	EP_ARRAY(struct ep_funtrace_entry) held;
	uint64_t now; /* TSC of the last event */
	bool begins;  /* the first entry is the thread's first event */
	bool lost;    /* history is missing in between */
};

struct writer {
	const struct ep_trace *trace;
	const struct ep_funtrace_facts *funtrace; /* NULL: the trace is none */
	struct track *tracks;                     /* by index of the thread */
};

/* ---- gathering ---- */

static void add_entry(struct track *track, uint64_t address, uint64_t flags, uint64_t tsc)
{
	uint64_t least = 1;

	/* funtrace2viz nests calls by their times: no two share one. */
	if (track->entries.count)
		least = track->entries.list[track->entries.count - 1].tsc + 1;
	ep_array_push(&track->entries,
		      ((struct ep_funtrace_entry){address | flags, tsc > least ? tsc : least}));
}

static void release(struct track *track)
{
	for (size_t i = 0; i < track->held.count; i++)
		add_entry(track, track->held.list[i].code, 0, track->held.list[i].tsc);
	track->held.count = 0;
}

/* The frame's mark says that its call is in the file. One from before the history is not while
 * nothing is: a return that meets no call says what is known of it. */
static void add_begin(struct track *track, const struct ep_event *event,
		      struct ep_nest_frame *frame)
{
	bool resumed = event->kind == EP_EVENT_RESUME;
	bool before = !resumed && frame->flags & EP_CALL_BEFORE;

	release(track);
	if (before && track->entries.count == 0)
		return;
	if (track->entries.count == 0)
		track->begins = frame->call == 0 && event->thread->from_start;
	frame->mark = 1;
	if (!resumed && frame->begin.best > track->now)
		track->now = frame->begin.best;
	add_entry(track, frame->address, 0, track->now);
}

/* The address is the one that the call began with, where that is known: no reader can think that it
 * is another function's, as of a return in a part that was split off (.cold), or behind a label. */
static void add_end(struct track *track, const struct ep_event *event, struct ep_nest_frame *frame)
{
	bool suspended = event->kind == EP_EVENT_SUSPEND;
	bool left = !suspended && event->flags & EP_CALL_ABANDONED;
	uint64_t flags = EP_FUNTRACE_RETURN | (left ? EP_FUNTRACE_UNWOUND : 0);
	if (!suspended && event->end.best > track->now)
		track->now = event->end.best;
	if (left && !(event->flags & EP_CALL_UNWOUND)) {
		if (frame->mark)
			ep_array_push(&track->held, ((struct ep_funtrace_entry){
							    frame->address | flags, track->now}));
		return;
	}
	/* Those that this return pops, at the same time. */
	if (!suspended && !left && frame->mark && track->held.count &&
	    track->held.list[0].tsc == track->now)
		track->held.count = 0;
	release(track);
	add_entry(track, frame->address, flags, track->now);
	frame->mark = 0;
}

/* Readers pop what lies above the call that catches; where that is not open, everything. */
static void add_catch(struct track *track, const struct ep_event *event,
		      const struct ep_nest_thread *nest)
{
	const struct ep_nest_frame *top = nest->count ? &nest->frames[nest->count - 1] : NULL;

	release(track);
	if (top && top->mark && top->function == event->function)
		add_entry(track, top->address, EP_FUNTRACE_CATCH, track->now);
}

/* A sink. */
static int funtrace_event(void *context, const struct ep_event *event,
			  const struct ep_nest_thread *nest)
{
	struct writer *writer = context;
	struct track *track = &writer->tracks[nest->index];

	switch (event->kind) {
	case EP_EVENT_BEGIN:
	case EP_EVENT_RESUME:
		add_begin(track, event, nest->frame);
		break;
	case EP_EVENT_END:
	case EP_EVENT_SUSPEND:
		/* A return of no call would pop everything. */
		if (!(event->flags & EP_CALL_STRAY))
			add_end(track, event, nest->frame);
		break;
	case EP_EVENT_GAP:
		release(track);
		track->lost |= (event->gap & ~EP_GAP_UNKNOWN_ESCAPE) != 0;
		if (event->end.best > track->now)
			track->now = event->end.best;
		break;
	case EP_EVENT_POINT:
		if (event->begin.best > track->now)
			track->now = event->begin.best;
		if (event->point == EP_POINT_CATCH && event->function)
			add_catch(track, event, nest);
		break;
	default:
		break;
	}
	return EP_OK;
}

/* ---- writing ---- */

static void write_chunk(struct ep_outbuf *out, const char *magic, const void *bytes, size_t size)
{
	uint64_t length = size;

	ep_outbuf_put(out, magic, EP_FUNTRACE_MAGIC_SIZE);
	ep_outbuf_put(out, (const char *)&length, sizeof(length));
	if (size)
		ep_outbuf_put(out, bytes, size);
}

/* funtrace2viz stops at what is no UTF-8, and a path must not end its line. */
static void write_text(FILE *text, const char *bytes)
{
	char *shown = ep_utf8_escape(bytes, strlen(bytes));

	fputs(shown, text);
	free(shown);
}

/* The runtime's modules begin where the file does; one that a funtrace.raw told of, and whose file
 * is not here, where its map had it. */
static void write_module(FILE *text, const struct ep_trace_module *module)
{
	uint64_t offset = module->flags & EP_MODULE_NO_HEADER ? module->start - module->bias : 0;

	fprintf(text, "%" PRIx64 "-%" PRIx64 " r-xp %08" PRIx64 " 00:00 0 ", module->start,
		module->end, offset);
	write_text(text, module->path);
	fputc('\n', text);
}

/* At the end of the trace: a later one at the same place hides it. */
static bool is_hidden(const struct ep_trace *trace, const struct ep_trace_module *module)
{
	if (module->unload_tsc == 0)
		return false;
	for (size_t i = 0; i < trace->module_count; i++) {
		const struct ep_trace_module *other = &trace->modules[i];

		if (other != module && other->start < module->end && module->start < other->end &&
		    (other->unload_tsc == 0 || other->unload_tsc > module->unload_tsc ||
		     (other->unload_tsc == module->unload_tsc && other > module)))
			return true;
	}
	return false;
}

static bool is_listed(const struct ep_trace *trace, const struct ep_trace_module *module)
{
	return module->path[0] && module->path[0] != '[' && !(module->flags & EP_MODULE_VDSO) &&
	       !is_hidden(trace, module);
}

static void write_maps(FILE *text, const struct ep_trace *trace)
{
	for (size_t i = 0; i < trace->module_count; i++)
		if (is_listed(trace, &trace->modules[i]))
			write_module(text, &trace->modules[i]);
}

static void write_ids(FILE *text, const struct ep_trace *trace)
{
	for (size_t i = 0; i < trace->module_count; i++) {
		const struct ep_trace_module *module = &trace->modules[i];

		if (!is_listed(trace, module) || module->build_id_size == 0)
			continue;
		fprintf(text, "%" PRIx64 " ", module->start);
		for (uint32_t n = 0; n < module->build_id_size; n++)
			fprintf(text, "%02x", module->build_id[n]);
		fputc('\n', text);
	}
}

static void write_words(FILE *text, const struct ep_trace *trace)
{
	const struct ep_trace_process *process = &trace->process;

	write_text(text, *process->command_line ? process->command_line : process->executable);
}

/* A chunk whose text `make` writes. */
static void write_texts(struct ep_outbuf *out, const char *magic,
			void (*make)(FILE *, const struct ep_trace *), const struct ep_trace *trace)
{
	char *bytes;
	size_t size;
	FILE *text = ep_open_memstream(&bytes, &size);

	make(text, trace);
	ep_close_memstream(text);
	write_chunk(out, magic, bytes, size);
	free(bytes);
}

/* funtrace2viz divides by it: an unknown rate makes a tick a nanosecond. */
static void write_rate(struct ep_outbuf *out, const struct ep_trace *trace)
{
	const struct ep_trace_clock *clock = &trace->clock;
	double hz = clock->known ? 1e9 / clock->ns_per_tick : 1e9;
	uint64_t rate = hz >= 1 && hz < 1e18 ? (uint64_t)(hz + 0.5) : 1000000000;

	write_chunk(out, "FUNTRACE", &rate, sizeof(rate));
}

/* As much of the name as fits in whole characters. */
static void write_thread(struct ep_outbuf *out, const struct ep_trace *trace,
			 const struct ep_trace_thread *thread)
{
	struct ep_funtrace_id id = {.pid = trace->process.pid, .tid = thread->tid};
	char *shown = ep_utf8_escape(thread->name, strlen(thread->name));
	size_t size = 0, length = 0;

	while (shown[size]) {
		length = ep_utf8_length(shown + size, strlen(shown + size));
		if (length == 0 || size + length >= sizeof(id.name))
			break;
		size += length;
	}
	memcpy(id.name, shown, size);
	free(shown);
	write_chunk(out, "THREADID", &id, sizeof(id));
}

/* An entry of zeroes, which readers skip, says that nothing was overwritten. */
static void write_track(struct ep_outbuf *out, const struct track *track)
{
	static const struct ep_funtrace_entry unused;
	bool whole = track->begins && !track->lost;
	uint64_t size = (track->entries.count + whole) * sizeof(unused);

	ep_outbuf_put(out, "TRACEBUF", EP_FUNTRACE_MAGIC_SIZE);
	ep_outbuf_put(out, (const char *)&size, sizeof(size));
	ep_outbuf_put(out, (const char *)track->entries.list,
		      track->entries.count * sizeof(unused));
	if (whole)
		ep_outbuf_put(out, (const char *)&unused, sizeof(unused));
}

/* The kernel's events from the first entry on: lines of ftrace, whose times are the TSC. */
static void write_scheduling(struct ep_outbuf *out, const struct writer *writer)
{
	uint64_t since = UINT64_MAX;
	size_t size;
	char *text;

	for (size_t i = 0; i < writer->trace->thread_count; i++)
		if (writer->tracks[i].entries.count &&
		    writer->tracks[i].entries.list[0].tsc < since)
			since = writer->tracks[i].entries.list[0].tsc;
	text = ep_systrace_tsc(writer->trace, writer->funtrace, since, &size);
	if (size)
		write_chunk(out, "FTRACETX", text, size);
	free(text);
}

static void write_all(struct ep_outbuf *out, const struct writer *writer)
{
	const struct ep_trace *trace = writer->trace;

	write_texts(out, "PROCMAPS", write_maps, trace);
	write_texts(out, "BUILDIDS", write_ids, trace);
	write_rate(out, trace);
	write_texts(out, "CMD LINE", write_words, trace);
	for (size_t i = 0; i < trace->thread_count; i++) {
		release(&writer->tracks[i]);
		if (!writer->tracks[i].entries.count)
			continue;
		write_thread(out, trace, &trace->threads[i]);
		write_track(out, &writer->tracks[i]);
	}
	write_scheduling(out, writer);
	write_chunk(out, "ENDTRACE", NULL, 0);
}

static int write_file(FILE *file, const struct writer *writer, struct ep_err *err)
{
	struct ep_outbuf *out = ep_malloc(sizeof(*out));
	int rc;

	ep_outbuf_init(out, file);
	write_all(out, writer);
	rc = ep_export_finish(out, err);
	free(out);
	return rc;
}

int ep_funtrace_write(FILE *out, const struct ep_export *export, uint64_t *shown,
		      struct ep_err *err)
{
	const struct ep_trace *trace = export->trace;
	struct writer writer = {trace, export->funtrace,
				ep_calloc(trace->thread_count, sizeof(struct track))};
	const struct ep_sink sink = {
		.context = &writer, .event = funtrace_event, .any_order = true, .nested = true};
	int rc = EP_OK;

	ep_stream(trace, export->names, export->selection, &sink, shown);
	if (*shown)
		rc = write_file(out, &writer, err);
	for (size_t i = 0; i < trace->thread_count; i++) {
		ep_array_deinit(&writer.tracks[i].entries);
		ep_array_deinit(&writer.tracks[i].held);
	}
	free(writer.tracks);
	return rc;
}
