/* SPDX-License-Identifier: BSD-2-Clause */
/* observed.c: what was seen of tracing while a test ran. */
#include "funcount/budget/observed.h"

#include <math.h>

#include "coredump/kinds/open.h"
#include "coredump/snapshot/image.h"
#include "decoder/trace/trace.h"

static void add_thread(struct ep_observed *observed, const struct ep_trace *trace,
		       const struct ep_trace_thread *thread)
{
	int64_t ns = ep_trace_ns(trace, thread->first_tsc, thread->last_tsc);

	observed->lost += thread->lost_records;
	if (thread->block_count && !thread->from_start && !thread->forked)
		observed->history = fmin(observed->history, (double)ns / 1e9);
}

static void add_trace(struct ep_observed *observed, const struct ep_trace *trace)
{
	observed->processes++;
	observed->lost += trace->damage.holes;
	for (size_t i = 0; i < trace->thread_count; i++)
		add_thread(observed, trace, &trace->threads[i]);
}

static int add_source(struct ep_observed *observed, struct ep_source *source, struct ep_err *err)
{
	struct ep_root_found found;
	struct ep_image image = {0};
	struct ep_trace *trace = NULL;
	int rc = ep_root_find(source, &found, err);

	if (!rc)
		rc = ep_image_read(&image, source, &found, err);
	if (!rc)
		rc = ep_trace_create(&trace, &image, err);
	if (!rc)
		add_trace(observed, trace);
	ep_trace_destroy(trace);
	ep_image_deinit(&image);
	return rc;
}

int ep_observed_add_file(struct ep_observed *observed, const char *path, struct ep_err *err)
{
	struct ep_source *source;
	int rc = ep_source_open(&source, path, err);

	if (rc)
		return rc;
	rc = add_source(observed, source, err);
	ep_source_close(source);
	return rc;
}

void ep_observed_add(struct ep_observed *observed, const struct ep_observed *more)
{
	observed->history = observed->runs ? fmin(observed->history, more->history) : more->history;
	observed->runs += more->runs;
	observed->processes += more->processes;
	observed->lost += more->lost;
}
