/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * end.h: the process's end, from which ages, --last and --since count back: the last record, or
 * later where more is known. A program that calls nothing records nothing: `f(); sleep(1); crash`
 * has its last record a second earlier.
 */
#ifndef EPITAPH_END_H
#define EPITAPH_END_H

#include "coredump/memory/source.h"
#include "decoder/util/json.h"
#include "decoder/trace/trace.h"
#include "decoder/util/timetext.h"

/*
 * Sets trace->end by what the source, the scheduling events and the file's time tell. `ended`: when
 * somebody saw that it had ended, ns since 1970; 0 nobody did. Of a live process the last record
 * stays the end.
 */
void ep_end_find(struct ep_trace *trace, const struct ep_source *source, uint64_t ended);

/* "no record in the last 1.000 s, by the snapshot's clock"; false: it is not worth a line. */
bool ep_end_text(const struct ep_trace_end *end, char *out, size_t size);

/* How long ago the moment was at the end: "1.234 us", "at least 1.234 us" where the end is known to
 * be then or later, "some time" where that says nothing. Returns `out`. */
#define EP_END_AGO_SIZE (EP_TIMETEXT_SIZE + 16)
const char *ep_end_ago_text(const struct ep_trace *trace, uint64_t tsc, char out[EP_END_AGO_SIZE]);
/* The same between both bounds: "up to 1.007 s before the end". Returns `out`. */
const char *ep_end_before_text(const struct ep_trace *trace, uint64_t tsc,
			       char out[2 * EP_END_AGO_SIZE]);
/* By how much later than trace->end.tsc it may have ended, ns: 0 none, EP_TRACE_END_UNKNOWN. */
int64_t ep_end_uncertain(const struct ep_trace_end *end);

/* What trace->end.tsc is, where it is not the end itself: "the earliest end, up to 1.007 s before
 * the real one". False: it is. */
#define EP_END_LATER_SIZE (EP_TIMETEXT_SIZE + 48)
bool ep_end_later_text(const struct ep_trace_end *end, char out[EP_END_LATER_SIZE]);

/* A member "silence" of the object; none where nothing is known. */
void ep_end_json(const struct ep_trace_end *end, struct ep_json *json);

#endif
