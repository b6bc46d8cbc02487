/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * html.h: what the page of `export -f html` holds, and the parts that write it.
 *
 * The file is page.html with page.css and page.js in it, and between them one element a chunk:
 *
 *   <script type="epitaph/1">BASE64</script>
 *
 * BASE64 is of one zlib stream (RFC 1950). No text of the program or of the source stands in the
 * file but in there: nothing of it is ever HTML. What a chunk is, its first byte says. `uint` is a
 * LEB128 varint, `int` is one with zigzag, `text` is a uint and so many bytes of UTF-8. Times are
 * ns since the trace's first record.
 *
 * 'C', calls: events of one thread, in order; of a thread's chunks, each goes on where the one
 * before ends.
 *   uint thread (index in the facts), uint events, uint size of `codes`, of `times`, of `more`
 *   codes: a uint an event: code * 4 + how well its time is known (EP_HTML_TIME_)
 *   times: a uint an event: ns since the thread's event before; its first: since 0
 *   more:  by event: with EP_HTML_TIME_NEW first the interval: int low - time, uint 0 when it has
 *          no upper end, else high - low + 1; then what the code says:
 *     EP_HTML_END        -                       the innermost call returns
 *     EP_HTML_END_MORE   uint EP_CALL_ flags     it ends, and not plainly
 *     EP_HTML_OPEN       uint EP_CALL_ flags     it did not return; last known of the thread
 *     EP_HTML_SUSPEND    uint number             the thread leaves the stack that it is on; of the
 *                                                thread's calls that were suspended, from 1
 *     EP_HTML_POINT      uint enum ep_point (EP_HTML_STRAY: a return that is no call's),
 *                        uint function + 1, text
 *     EP_HTML_GAP        uint ns missing, text why
 *     EP_HTML_SPAN       uint number, text name  a span begins
 *     EP_HTML_SPAN_END   uint number             it ends
 *     EP_HTML_WAIT       uint ns, uint frames that it was in for certain * 4 + 2 if it was ready
 *                        to run + 1 if in the innermost of them itself (0: somewhere inside)
 *     EP_HTML_BEGIN_MORE uint function, uint EP_CALL_ flags   (BEFORE)
 *     EP_HTML_RESUME     uint function, number   the thread comes back to it
 *     EP_HTML_BEGIN + f  -                       function f is called
 *
 * 'S', scheduling: uint thread, uint slices; by slice: int begin (since the end of the one before;
 * the first: since 0), uint ns, uint state + 4 * waker kind (enum ep_slice_state, ep_waker_kind) +
 * 16 if it had not ended, then RUNNING: uint CPU + 1 (0 unknown); BLOCKED: uint letter, and uint
 * tid of a waker that is a THREAD.
 *
 * 'O', who ran on one CPU, of the whole machine: uint CPU, uint count; each: int begin, uint ns, as
 * above, uint tid. Times when it idled are left out.
 *
 * 'F', facts: JSON, the last chunk: see facts.c.
 */
#ifndef EPITAPH_HTML_H
#define EPITAPH_HTML_H

#include "decoder/calls/placing.h"
#include "decoder/export/export.h"
#include "decoder/util/json.h"

enum ep_html_time {
	EP_HTML_TIME_EXACT,
	EP_HTML_TIME_SAME, /* somewhere in the interval that was given last */
	EP_HTML_TIME_NEW,  /* in a new one */
};

enum ep_html_code {
	EP_HTML_END,
	EP_HTML_END_MORE,
	EP_HTML_OPEN,
	EP_HTML_SUSPEND,
	EP_HTML_POINT,
	EP_HTML_GAP,
	EP_HTML_SPAN,
	EP_HTML_SPAN_END,
	EP_HTML_WAIT,
	EP_HTML_BEGIN_MORE,
	EP_HTML_RESUME,
	EP_HTML_BEGIN,
};

#define EP_HTML_STRAY 15u /* a point */

/* ---- chunks ---- */

struct ep_html_bytes {
	uint8_t *list;
	size_t count, capacity;
};

void ep_html_uint(struct ep_html_bytes *bytes, uint64_t value);
void ep_html_int(struct ep_html_bytes *bytes, int64_t value);
void ep_html_put(struct ep_html_bytes *bytes, const void *from, size_t size);
void ep_html_text(struct ep_html_bytes *bytes, const char *text);

/* The element that holds them. */
void ep_html_chunk(struct ep_outbuf *out, const struct ep_html_bytes *bytes);

/* ---- one thread's calls ---- */

/* Functions as the page counts them, in the order in which they were met. */
struct ep_html_functions {
	EP_ARRAY(const struct ep_function *) list;
	EP_ARRAY(uint32_t) numbers; /* by id: number + 1 */
};

uint32_t ep_html_function(struct ep_html_functions *functions, const struct ep_function *function);

/* What the facts have of a thread whose calls were written. */
struct ep_html_thread {
	EP_ARRAY(uint32_t) levels; /* by depth: calls */
	int64_t last;              /* ns, of its last event */
	uint64_t points, waits, gaps, spans;
	bool there;
};

/* Writes the thread's events; EP_OK, or EP_E_IO. *shown: its calls. */
int ep_html_calls_write(struct ep_outbuf *out, const struct ep_export *export, size_t index,
			struct ep_html_functions *functions, struct ep_html_thread *thread,
			uint64_t *shown);

/* ---- the rest ---- */

void ep_html_schedule_write(struct ep_outbuf *out, const struct ep_trace *trace,
			    const struct ep_html_thread *threads);

void ep_html_facts_write(struct ep_outbuf *out, const struct ep_export *export,
			 const struct ep_html_functions *functions,
			 const struct ep_html_thread *threads);

/* page.html up to the chunks (with the style in it), and from them on (with the script). */
extern const char ep_html_page[], ep_html_style[], ep_html_script[];

#endif
