/* SPDX-License-Identifier: BSD-2-Clause */
/* export.c: texts of functions and threads, each made once. */
#include "decoder/export/export.h"

#include <errno.h>
#include <stdlib.h>

#include "coredump/util/alloc.h"
#include "decoder/util/json.h"
#include "decoder/calls/placing.h"
#include "decoder/export/replay.h"

/* Ids of threads whose tid is unknown, or another thread's, begin here. */
#define STRANGE_TID 10000000u

const struct ep_function_text *ep_texts_get(struct ep_texts *texts,
					    const struct ep_function *function)
{
	struct ep_function_text *text;

	while (texts->made.count <= function->id)
		ep_array_add(&texts->made);
	text = &texts->made.list[function->id];
	if (!text->bytes) {
		text->bytes = texts->make(texts->context, function);
		text->size = strlen(text->bytes);
	}
	return text;
}

void ep_texts_deinit(struct ep_texts *texts)
{
	for (size_t i = 0; i < texts->made.count; i++)
		free(texts->made.list[i].bytes);
	ep_array_deinit(&texts->made);
}

char *ep_export_quote(const char *text)
{
	struct ep_json json;
	char *quoted;
	size_t size;
	FILE *file = ep_open_memstream(&quoted, &size);

	ep_json_init(&json, file);
	ep_json_string(&json, text);
	ep_close_memstream(file);
	return quoted;
}

static int compare_tids(const void *a, const void *b, void *context)
{
	const struct ep_trace_thread *threads = context;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;

	if (threads[i].tid != threads[j].tid)
		return threads[i].tid < threads[j].tid ? -1 : 1;
	return i < j ? -1 : i > j;
}

int64_t ep_export_zero(const struct ep_export *export)
{
	return export->raw_times ? ep_trace_ns(export->trace, 0, export->trace->first_tsc) : 0;
}

uint32_t *ep_export_tids(const struct ep_trace *trace)
{
	size_t count = trace->thread_count;
	uint32_t *tids = ep_calloc(count, sizeof(*tids));
	uint32_t *order = ep_calloc(count, sizeof(*order));

	for (size_t i = 0; i < count; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, count, sizeof(*order), compare_tids, trace->threads);
	/* Of several with one tid, the last one keeps it. */
	for (size_t i = 0; i < count; i++) {
		const struct ep_trace_thread *thread = &trace->threads[order[i]];
		bool again = i + 1 < count && trace->threads[order[i + 1]].tid == thread->tid;

		tids[order[i]] = thread->tid && !again ? thread->tid : STRANGE_TID + thread->serial;
	}
	free(order);
	return tids;
}

const char *ep_export_program(const struct ep_trace *trace)
{
	const char *program = trace->process.executable;

	return program && *program ? program : "unknown";
}

char *ep_export_gap(const struct ep_event *gap)
{
	char text[EP_REPLAY_GAP_SIZE];

	return ep_export_quote(ep_replay_gap(text, gap));
}

char *ep_export_point(const struct ep_event *point)
{
	bool own_words = point->point == EP_POINT_NOTE && *point->text;

	return ep_asprintf("%s%s%s",
			   own_words                           ? ""
			   : point->point == EP_POINT_STACK    ? "another stack"
			   : point->point == EP_POINT_SPAN_END ? "end of a span that began before:"
							       : ep_point_word(point->point),
			   !own_words && *point->text ? " " : "", point->text);
}

char *ep_export_certain_chain(const struct ep_nest_thread *thread,
			      const struct ep_wait_place *place)
{
	char *text;
	size_t size;
	FILE *file = ep_open_memstream(&text, &size);

	fputs(thread->own ? thread->frames[thread->own - 1].function->name : "", file);
	for (unsigned i = 0; i < place->path_count; i++)
		fprintf(file, "%s%s", thread->own || i ? " > " : "", place->path[i]->name);
	ep_close_memstream(file);
	return text;
}

int ep_export_finish(struct ep_outbuf *out, struct ep_err *err)
{
	int rc = EP_OK;

	if (ep_outbuf_finish(out) != 0)
		rc = ep_fail(err, EP_E_IO, 0, "%s", strerror(errno));
	errno = out->failed;
	return rc;
}
