/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * export.h: calls as files for other programs: one function a format, each in a file of its name,
 * and what they share. All read the stream; memory is bounded by open calls, functions and threads
 * (collapsed, dot: and distinct stacks, pairs). Every text of a function or a thread is made once.
 *
 * A format writes nothing at all when nothing is selected. Each yields EP_OK and the number of
 * calls in *shown, or EP_E_IO with errno's words.
 */
#ifndef EPITAPH_EXPORT_H
#define EPITAPH_EXPORT_H

#include <stdio.h>

#include "coredump/funtrace/funtrace.h"
#include "decoder/names/embedded.h"
#include "decoder/stream/nest.h"
#include "decoder/stream/stream.h"
#include "decoder/util/outbuf.h"

struct ep_export {
	const struct ep_trace *trace;
	struct ep_names *names;
	const struct ep_selection *selection;     /* NULL: all */
	const struct ep_funtrace_facts *funtrace; /* NULL: it is none */
	struct ep_embedded *embedded; /* viztracer: source files whose texts may come along, and
					 which of them did; NULL: none */
	bool raw_times;           /* viztracer, chrome: the TSC's own, not since the first record */
	bool count_calls;         /* collapsed: weights are calls, else self ns */
	bool merge_threads;       /* collapsed: those of one name are one */
	struct ep_source *source; /* tables: stacks are unwound from it; NULL: none are */
	const struct ep_names_options *naming; /* of these */
	double min_percent;                    /* dot: of the time; less is left out */
	const char *page;                      /* html: the report on one screen; NULL: none */
	const char *report;                    /* html: all of it; NULL: none */
	const char *death;  /* html: what the process died of; NULL: it did not, as far as known */
	uint32_t death_tid; /* html: the thread that did; 0 unknown */
};

/* Trace Event Format (JSON), for Perfetto, chrome://tracing and others. */
int ep_chrome_write(FILE *out, const struct ep_export *export, uint64_t *shown, struct ep_err *err);
/* Perfetto's own, binary: a packet for each begin and each end. */
int ep_perfetto_write(FILE *out, const struct ep_export *export, uint64_t *shown,
		      struct ep_err *err);
/* One JSON object a line: a header, then calls as they end. */
int ep_jsonl_write(FILE *out, const struct ep_export *export, uint64_t *shown, struct ep_err *err);
/* "thread;outer;inner 123", for flame graphs. */
int ep_collapsed_write(FILE *out, const struct ep_export *export, uint64_t *shown,
		       struct ep_err *err);
/* speedscope's own JSON: an evented profile for each thread. */
int ep_speedscope_write(FILE *out, const struct ep_export *export, uint64_t *shown,
			struct ep_err *err);
/* A page for a browser, with all in it (html/html.h). */
int ep_html_write(FILE *out, const struct ep_export *export, uint64_t *shown, struct ep_err *err);
/* Who called whom, for Graphviz. */
int ep_dot_write(FILE *out, const struct ep_export *export, uint64_t *shown, struct ep_err *err);

/* ---- what they share ---- */

/* collapsed and speedscope: deeper frames are one, with the words. A folded line is as long as its
 * stack is deep, and speedscope's own recursion breaks down between 4,000 and 6,000; no screen
 * shows as many. */
#define EP_EXPORT_DEPTH_MAX 1000u
#define EP_EXPORT_TOO_DEEP  "[deeper than 1000 frames]"

/* A wait in the call that has this frame, or in one that it called: not known which (placing.h). */
#define EP_EXPORT_INSIDE "[waited somewhere inside]"

struct ep_function_text {
	char *bytes; /* owned; NULL: not made */
	size_t size;
};

/* One text for each function, made when it is first asked for. */
struct ep_texts {
	char *(*make)(void *context, const struct ep_function *function);
	void *context;
	EP_ARRAY(struct ep_function_text) made; /* by id of the function */
};

/* Borrowed until the next function is asked for. */
const struct ep_function_text *ep_texts_get(struct ep_texts *texts,
					    const struct ep_function *function);
void ep_texts_deinit(struct ep_texts *texts);

/* As a JSON string with its quotes; each byte that is no UTF-8 is U+FFFD. The caller frees it. */
char *ep_export_quote(const char *text);

/* The threads' ids as viewers want them: no two are equal, though the system gave one twice, or
 * none. By index of the thread, from malloc. */
uint32_t *ep_export_tids(const struct ep_trace *trace);

/* What viztracer and chrome add to times since the first record: ns. */
int64_t ep_export_zero(const struct ep_export *export);

/* The executable's path, or "unknown". */
const char *ep_export_program(const struct ep_trace *trace);

/* "3 blocks of history are gone, tracing was paused", in quotes as JSON has them; the caller frees
 * it. */
char *ep_export_gap(const struct ep_event *gap);

/* What a POINT is called as an instant: the words of the program alone. From malloc. */
char *ep_export_point(const struct ep_event *point);

/* "main > work", as far as it is certain where a WAIT was. From malloc. */
char *ep_export_certain_chain(const struct ep_nest_thread *thread,
			      const struct ep_wait_place *place);

/* One end of a span whose begin is known. */
static inline bool ep_export_is_span(const struct ep_event *event)
{
	return event->kind == EP_EVENT_POINT &&
	       (event->point == EP_POINT_SPAN_BEGIN ||
		(event->point == EP_POINT_SPAN_END && !(event->flags & EP_CALL_BEFORE)));
}

/* What a sink returns: a file that takes no more ends the reading. */
static inline int ep_export_status(const struct ep_outbuf *out)
{
	return out->failed ? EP_E_IO : EP_OK;
}

/* After the last byte. EP_OK, or EP_E_IO when the buffer's file failed, which errno then says. */
int ep_export_finish(struct ep_outbuf *out, struct ep_err *err);

#endif
