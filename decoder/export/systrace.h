/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * systrace.h: scheduling events as the text that ftrace shows, in the member systemTraceEvents that
 * viewers of Chrome's trace format look for. Times count as those of the calls do.
 */
#ifndef EPITAPH_SYSTRACE_H
#define EPITAPH_SYSTRACE_H

#include "coredump/funtrace/funtrace.h"
#include "decoder/util/json.h"
#include "decoder/trace/trace.h"

/* Writes the member where there are events from the first record on, else nothing. `zero` ns are
 * added to times since that record. */
void ep_systrace_write(struct ep_json *json, const struct ep_trace *trace, int64_t zero);

/* The same of the text that a funtrace.raw has; NULL: it is none. */
void ep_systrace_write_text(struct ep_json *json, const struct ep_trace *trace,
			    const struct ep_funtrace_facts *facts, int64_t zero);

/*
 * Those from `since` (TSC) on as lines by themselves, *size bytes from malloc, 0: there are none.
 * Times are the TSC's own, and task_rename says what each thread is called, as the lines of a
 * funtrace.raw have it. `facts`: those of a funtrace.raw, all of whose lines are copied; NULL: it
 * is none.
 */
char *ep_systrace_tsc(const struct ep_trace *trace, const struct ep_funtrace_facts *facts,
		      uint64_t since, size_t *size);

#endif
