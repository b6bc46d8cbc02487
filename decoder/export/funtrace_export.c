/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * funtrace_export.c: calls as a funtrace.raw. Nothing is invented for it: a call that did not
 * return has no return there either, and funtrace2viz ends it where its caller is seen to go on.
 */
#include "decoder/export/funtrace_export.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/funtrace/funtrace.h"
#include "coredump/util/utf8.h"

struct open_call {
	uint64_t call;
	const struct ep_function *function;
};

/* What one thread's TRACEBUF will be. */
struct track {
	struct ep_funtrace_entry *list;
	size_t count, capacity;
	struct open_call *open; /* outermost first */
	size_t open_count, open_capacity;
	bool begins; /* the first entry is the thread's first event */
	bool lost;   /* history is missing in between */
};

struct writer {
	const struct ep_trace *trace;
	struct track *tracks; /* by index of the thread */
};

/* ---- gathering ---- */

static void *grow(void *list, size_t count, size_t *capacity, size_t size)
{
	size_t more = *capacity ? *capacity + *capacity / 2 : 256;

	if (count < *capacity)
		return list;
	list = reallocarray(list, more, size);
	if (list)
		*capacity = more;
	return list;
}

static int out_of_memory(struct ep_err *err)
{
	return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
}

static int entry_add(struct track *track, uint64_t address, uint64_t flags,
		     const struct ep_time *when, struct ep_err *err)
{
	struct ep_funtrace_entry *list =
		grow(track->list, track->count, &track->capacity, sizeof(*list));
	uint64_t least = 1;

	if (!list)
		return out_of_memory(err);
	track->list = list;
	/* funtrace2viz nests calls by their times: no two share one. */
	if (track->count)
		least = list[track->count - 1].tsc + 1;
	list[track->count++] = (struct ep_funtrace_entry){address | flags,
							  when->best > least ? when->best : least};
	return EP_OK;
}

static int take_begin(struct track *track, const struct ep_event *event, struct ep_err *err)
{
	struct open_call *open =
		grow(track->open, track->open_count, &track->open_capacity, sizeof(*open));

	if (!open)
		return out_of_memory(err);
	track->open = open;
	open[track->open_count++] = (struct open_call){event->call, event->function};
	if (track->count == 0)
		track->begins = event->call == 0 && event->thread->from_start;
	return entry_add(track, event->address, 0, &event->begin, err);
}

static int take_end(struct track *track, const struct ep_event *event, struct ep_err *err)
{
	size_t i = track->open_count;

	if (!(event->flags & (EP_CALL_BEFORE | EP_CALL_STRAY)))
		while (i > 0)
			if (track->open[--i].call == event->call) {
				track->open_count--;
				memmove(&track->open[i], &track->open[i + 1],
					(track->open_count - i) * sizeof(*track->open));
				break;
			}
	if (event->flags & EP_CALL_ABANDONED)
		return EP_OK;
	return entry_add(track, event->address, EP_FUNTRACE_RETURN, &event->end, err);
}

/* funtrace2viz ends all calls up to the one that catches; where that is not open it would end all
 * there are. */
static int take_catch(struct track *track, const struct ep_event *event, struct ep_err *err)
{
	for (size_t i = track->open_count; i > 0; i--)
		if (track->open[i - 1].function == event->function)
			return entry_add(track, event->address, EP_FUNTRACE_CATCH, &event->begin,
					 err);
	return EP_OK;
}

static int take(void *context, const struct ep_event *event, struct ep_err *err)
{
	struct writer *writer = context;
	struct track *track = &writer->tracks[event->thread - writer->trace->threads];

	if (event->kind == EP_EVENT_BEGIN)
		return take_begin(track, event, err);
	if (event->kind == EP_EVENT_END)
		return take_end(track, event, err);
	if (event->kind == EP_EVENT_GAP && event->gap & ~EP_GAP_UNKNOWN_ESCAPE)
		track->lost = true;
	if (event->kind == EP_EVENT_POINT && event->point == EP_POINT_CATCH && event->function)
		return take_catch(track, event, err);
	return EP_OK;
}

/* ---- writing ---- */

static void put_chunk(struct ep_outbuf *out, const char *magic, const void *bytes, size_t size)
{
	uint64_t length = size;

	ep_outbuf_put(out, magic, EP_FUNTRACE_MAGIC_SIZE);
	ep_outbuf_put(out, (const char *)&length, sizeof(length));
	if (size)
		ep_outbuf_put(out, bytes, size);
}

/* funtrace2viz stops at what is no UTF-8, and a path must not end its line. */
static void put_text(FILE *text, const char *bytes)
{
	char *tame = ep_utf8_escape(bytes, strlen(bytes));

	fputs(tame ? tame : "?", text);
	free(tame);
}

/* The runtime's modules begin where the file does; one that a funtrace.raw told of, and whose file
 * is not here, where its map had it. */
static void put_module(FILE *text, const struct ep_trace_module *module)
{
	uint64_t offset = module->flags & EP_MODULE_NO_HEADER ? module->start - module->bias : 0;

	fprintf(text, "%" PRIx64 "-%" PRIx64 " r-xp %08" PRIx64 " 00:00 0 ", module->start,
		module->end, offset);
	put_text(text, module->path);
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

static void put_maps(FILE *text, const struct ep_trace *trace)
{
	for (size_t i = 0; i < trace->module_count; i++)
		if (is_listed(trace, &trace->modules[i]))
			put_module(text, &trace->modules[i]);
}

static void put_ids(FILE *text, const struct ep_trace *trace)
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

static void put_words(FILE *text, const struct ep_trace *trace)
{
	const struct ep_trace_process *process = &trace->process;

	put_text(text, *process->command_line ? process->command_line : process->executable);
}

/* A chunk whose text `put` makes. */
static int put_texts(struct ep_outbuf *out, const char *magic,
		     void (*put)(FILE *, const struct ep_trace *), const struct ep_trace *trace,
		     struct ep_err *err)
{
	char *bytes = NULL;
	size_t size = 0;
	FILE *text = open_memstream(&bytes, &size);

	if (!text)
		return out_of_memory(err);
	put(text, trace);
	if (fclose(text) || !bytes) {
		free(bytes);
		return out_of_memory(err);
	}
	put_chunk(out, magic, bytes, size);
	free(bytes);
	return EP_OK;
}

/* funtrace2viz divides by it: an unknown rate makes a tick a nanosecond. */
static void put_rate(struct ep_outbuf *out, const struct ep_trace *trace)
{
	const struct ep_trace_clock *clock = &trace->clock;
	double hz = clock->known ? 1e9 / clock->ns_per_tick : 1e9;
	uint64_t rate = hz >= 1 && hz < 1e18 ? (uint64_t)(hz + 0.5) : 1000000000;

	put_chunk(out, "FUNTRACE", &rate, sizeof(rate));
}

/* As much of the name as fits in whole characters. */
static void put_thread(struct ep_outbuf *out, const struct ep_trace *trace,
		       const struct ep_trace_thread *thread)
{
	struct ep_funtrace_id id = {.pid = trace->process.pid, .tid = thread->tid};
	char *tame = ep_utf8_escape(thread->name, strlen(thread->name));
	size_t size = 0, length = 0;

	while (tame && tame[size]) {
		length = ep_utf8_length(tame + size, strlen(tame + size));
		if (length == 0 || size + length >= sizeof(id.name))
			break;
		size += length;
	}
	if (tame)
		memcpy(id.name, tame, size);
	free(tame);
	put_chunk(out, "THREADID", &id, sizeof(id));
}

/* An entry of zeroes, which readers skip, says that nothing was overwritten. */
static void put_track(struct ep_outbuf *out, const struct track *track)
{
	static const struct ep_funtrace_entry unused;
	bool whole = track->begins && !track->lost;
	uint64_t size = (track->count + whole) * sizeof(unused);

	ep_outbuf_put(out, "TRACEBUF", EP_FUNTRACE_MAGIC_SIZE);
	ep_outbuf_put(out, (const char *)&size, sizeof(size));
	ep_outbuf_put(out, (const char *)track->list, track->count * sizeof(*track->list));
	if (whole)
		ep_outbuf_put(out, (const char *)&unused, sizeof(unused));
}

static int put_all(struct ep_outbuf *out, const struct writer *writer, struct ep_err *err)
{
	const struct ep_trace *trace = writer->trace;
	int rc = put_texts(out, "PROCMAPS", put_maps, trace, err);

	rc = rc ? rc : put_texts(out, "BUILDIDS", put_ids, trace, err);
	if (rc)
		return rc;
	put_rate(out, trace);
	rc = put_texts(out, "CMD LINE", put_words, trace, err);
	for (size_t i = 0; i < trace->thread_count && !rc; i++) {
		if (!writer->tracks[i].count)
			continue;
		put_thread(out, trace, &trace->threads[i]);
		put_track(out, &writer->tracks[i]);
	}
	put_chunk(out, "ENDTRACE", NULL, 0);
	return rc;
}

static int write_out(FILE *file, const struct writer *writer, struct ep_err *err)
{
	struct ep_outbuf *out = malloc(sizeof(*out));
	int rc;

	if (!out)
		return out_of_memory(err);
	ep_outbuf_init(out, file);
	rc = put_all(out, writer, err);
	rc = ep_export_finish(out, rc, err);
	free(out);
	return rc;
}

int ep_funtrace_write(FILE *out, const struct ep_export *export, uint64_t *shown,
		      struct ep_err *err)
{
	struct writer writer = {export->trace,
				calloc(export->trace->thread_count + 1, sizeof(struct track))};
	const struct ep_sink sink = {.context = &writer, .event = take};
	int rc = writer.tracks ? ep_stream(export->trace, export->names, export->selection, &sink,
					   shown, err)
			       : out_of_memory(err);

	if (!rc && *shown)
		rc = write_out(out, &writer, err);
	for (size_t i = 0; writer.tracks && i < export->trace->thread_count; i++) {
		free(writer.tracks[i].list);
		free(writer.tracks[i].open);
	}
	free(writer.tracks);
	return rc;
}
