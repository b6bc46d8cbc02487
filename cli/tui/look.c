/* SPDX-License-Identifier: BSD-2-Clause */
/* look.c: the arena of a running process, again and again. */
#include "cli/tui/look.h"

#include <stdlib.h>
#include <string.h>
#include <x86intrin.h>

#include "coredump/util/alloc.h"
#include "decoder/kernel/schedule.h"
#include "decoder/names/modules.h"

#define SECOND 1000000000 /* ns */

void ep_look_init(struct ep_look *look, struct ep_session *session)
{
	*look = (struct ep_look){.session = session};
}

/* ---- names ---- */

static void forget_names(struct ep_look *look)
{
	ep_names_destroy(look->names);
	look->names = NULL;
	for (size_t i = 0; i < look->module_count; i++)
		free((char *)look->modules[i].path);
	free(look->modules);
	look->modules = NULL;
	look->module_count = 0;
}

static bool is_same(const struct ep_trace_module *a, const struct ep_trace_module *b)
{
	return a->start == b->start && a->end == b->end && a->bias == b->bias &&
	       a->load_tsc == b->load_tsc && a->unload_tsc == b->unload_tsc &&
	       !strcmp(a->path, b->path);
}

static bool has_names(const struct ep_look *look, const struct ep_trace *trace)
{
	if (!look->names || look->module_count != trace->module_count)
		return false;
	for (size_t i = 0; i < trace->module_count; i++)
		if (!is_same(&look->modules[i], &trace->modules[i]))
			return false;
	return true;
}

static void make_names(struct ep_look *look, const struct ep_trace *trace)
{
	forget_names(look);
	look->module_count = trace->module_count;
	look->modules = ep_calloc(trace->module_count, sizeof(*look->modules));
	for (size_t i = 0; i < trace->module_count; i++) {
		look->modules[i] = trace->modules[i];
		look->modules[i].path = ep_strdup(trace->modules[i].path);
	}
	look->names = ep_names_create(look->modules, look->module_count, &look->session->naming);
}

/* ---- what was seen ---- */

static void forget_counts(struct ep_look *look)
{
	ep_stats_deinit(&look->stats);
	ep_waits_deinit(&look->waits);
}

static void forget_trace(struct ep_image *image, struct ep_trace *trace)
{
	ep_schedule_detach(trace);
	ep_trace_destroy(trace);
	ep_image_deinit(image);
}

static void count(struct ep_look *look)
{
	const struct ep_trace *trace = look->trace;
	const struct ep_selection selection = {.last_ns = look->ns};

	ep_stats_create(&look->stats, trace, look->names, &selection, false);
	if (trace->schedule && trace->schedule->first < trace->schedule->last)
		ep_waits_create(&look->waits, trace, look->names, &selection);
	look->threads = look->cut = 0;
	for (size_t i = 0; i < trace->thread_count; i++) {
		const struct ep_trace_thread *thread = &trace->threads[i];

		if (!thread->block_count || thread->last_tsc < look->since)
			continue;
		look->threads++;
		look->cut += !thread->from_start && thread->first_tsc > look->since;
	}
}

/* The process runs on this machine, whose clock is one. Its last record is not later than now. */
static void set_times(struct ep_look *look)
{
	struct ep_trace *trace = look->trace;

	look->since = look->now;
	look->now = __rdtsc();
	if (look->now < trace->last_tsc)
		look->now = trace->last_tsc;
	trace->end.tsc = look->now;
	look->ns = look->since ? ep_trace_ns(trace, look->since, look->now) : SECOND;
	if (!look->since)
		look->since = ep_trace_tsc(trace, ep_trace_ns(trace, trace->first_tsc, look->now) -
							  SECOND);
}

static int read_trace(struct ep_look *look, struct ep_image *image, struct ep_trace **trace,
		      struct ep_err *err)
{
	struct ep_session *session = look->session;
	int rc = ep_image_read(image, session->source, &session->found, err);

	rc = rc ? rc : ep_trace_create(trace, image, err);
	if (rc) {
		ep_image_deinit(image);
		return rc;
	}
	if ((*trace)->module_count == 0) {
		free((*trace)->modules);
		(*trace)->modules =
			ep_modules_from_source(&(*trace)->module_count, session->source, NULL);
	}
	ep_schedule_attach(*trace);
	return EP_OK;
}

int ep_look_again(struct ep_look *look, struct ep_err *err)
{
	struct ep_trace *trace = NULL;
	struct ep_image image = {0};
	int rc = read_trace(look, &image, &trace, err);

	if (rc)
		return rc;
	forget_counts(look);
	if (look->trace)
		forget_trace(&look->image, look->trace);
	look->image = image;
	look->trace = trace;
	trace->image = &look->image;
	if (!has_names(look, trace))
		make_names(look, trace);
	set_times(look);
	count(look);
	return EP_OK;
}

void ep_look_deinit(struct ep_look *look)
{
	forget_counts(look);
	if (look->trace)
		forget_trace(&look->image, look->trace);
	forget_names(look);
	*look = (struct ep_look){0};
}
