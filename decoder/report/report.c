/* SPDX-License-Identifier: BSD-2-Clause */
/* report.c: gathers a report, piece by piece, and hands each to the printer. */
#include "decoder/report/report.h"

#include <stdlib.h>
#include <string.h>

#include "decoder/util/json.h"
#include "decoder/report/model.h"

/* Frames that are unwound: enough for any stack that ends by itself. */
#define FRAMES_MAX     100000
#define FRAMES_COUNTED 200 /* of those that are not shown */

/* ---- threads, by number ---- */

const struct ep_source_thread *ep_report_core_thread(const struct ep_report *report, uint32_t tid)
{
	size_t count;
	const struct ep_source_thread *list = ep_source_threads(report->source, &count);

	for (size_t i = 0; i < count; i++)
		if (list[i].tid == tid)
			return &list[i];
	return NULL;
}

/* The one of this tid that was alive last. */
const struct ep_trace_thread *ep_report_trace_thread(const struct ep_trace *trace, uint32_t tid)
{
	const struct ep_trace_thread *best = NULL;

	for (size_t i = 0; trace && tid && i < trace->thread_count; i++)
		if (trace->threads[i].tid == tid &&
		    (!best || trace->threads[i].state != EP_THREAD_DEAD ||
		     best->state == EP_THREAD_DEAD))
			best = &trace->threads[i];
	return best;
}

/* ---- one thread ---- */

/* Of other threads the outer frames are counted only: following a stack costs little, names and
 * lines do. */
static size_t frames_wanted(const struct ep_report *report, bool died)
{
	return died || report->frames > FRAMES_MAX - FRAMES_COUNTED
		       ? FRAMES_MAX
		       : report->frames + FRAMES_COUNTED;
}

static void cut_stack(const struct ep_report *report, struct ep_report_story *story)
{
	struct ep_stack *stack = &story->stack;

	if (story->died || stack->count <= report->frames)
		return;
	story->more = stack->count - report->frames;
	story->uncounted = stack->end == EP_STACK_LIMIT;
	stack->count = report->frames;
	stack->end = EP_STACK_LIMIT;
	stack->complete = false;
	snprintf(stack->why, sizeof(stack->why), "limit of %zu frames reached", stack->count);
}

static int unwind(struct ep_report *report, struct ep_report_story *story)
{
	struct ep_err why = {0};
	int rc = EP_END;

	if (report->unwinder)
		rc = ep_unwind(report->unwinder, story->tid, frames_wanted(report, story->died),
			       &story->stack, &why);
	report->starved |= rc == EP_E_MEMORY;
	story->unwound = rc == EP_OK;
	if (story->unwound)
		cut_stack(report, story);
	else
		snprintf(story->stackless, sizeof(story->stackless), "%s",
			 why.text[0]           ? why.text
			 : report->no_unwinder ? report->no_unwinder
			 : !story->thread.core ? "it does not hold the thread"
					       : "no registers");
	if (story->died)
		report->partial |= !story->unwound || !story->stack.complete;
	return rc;
}

static int align(struct ep_report *report, struct ep_report_story *story, struct ep_err *err)
{
	const struct ep_alignment_of of = {
		.source = report->source,
		.names = report->names,
		.others = report->others,
		.stack = story->unwound ? &story->stack : NULL,
		.flight = &story->flight,
		.inlines = report->inlines,
	};

	return ep_alignment_init(&story->alignment, &of, err);
}

static void identify(struct ep_report_story *story)
{
	const struct ep_report_thread *thread = &story->thread;

	story->tid = thread->core ? thread->core->tid : thread->trace->tid;
	story->name = thread->trace && thread->trace->name[0] ? thread->trace->name
		      : thread->core                          ? thread->core->name
							      : "";
	story->ended = !story->died && thread->trace && !thread->core &&
		       thread->trace->state == EP_THREAD_DEAD;
}

static void story_deinit(struct ep_report_story *story)
{
	ep_report_last_deinit(&story->last);
	ep_alignment_deinit(&story->alignment);
	ep_stack_deinit(&story->stack);
	ep_open_calls_deinit(&story->flight);
}

static int story_init(struct ep_report_story *story, struct ep_report *report,
		      const struct ep_report_thread *thread, bool died, struct ep_err *err)
{
	int rc;

	*story = (struct ep_report_story){.thread = *thread, .died = died};
	identify(story);
	if (!story->ended)
		ep_report_state_init(&story->state, report, thread);
	rc = ep_open_calls_init(&story->flight, report->trace, thread->trace, report->names, err);
	if (rc)
		return rc;
	unwind(report, story);
	story->uncaught = died && ep_report_is_uncaught(report, &story->flight.thrown,
							story->unwound ? &story->stack : NULL);
	rc = align(report, story, err);
	if (!rc)
		rc = ep_report_last_init(
			&story->last, report, &story->flight,
			died ? report->crash_calls : report->other_calls,
			died ? ep_report_handler_call(report, &story->alignment, &story->flight)
			     : NULL,
			err);
	if (rc)
		story_deinit(story);
	return rc;
}

/* ---- which threads, in which order ---- */

struct roll {
	struct ep_report_thread *threads;
	size_t count;
};

/* Those of the core first, as they come; then those of the trace only. */
static int roll_init(struct roll *roll, const struct ep_report *report)
{
	const struct ep_trace *trace = report->trace;
	size_t core_count, more = trace ? trace->thread_count : 0;
	const struct ep_source_thread *core = ep_source_threads(report->source, &core_count);
	struct ep_death death;

	ep_report_death(report, &death);
	roll->count = 0;
	roll->threads = calloc(core_count + more + 1, sizeof(*roll->threads));
	if (!roll->threads)
		return EP_E_MEMORY;
	for (size_t i = 0; i < core_count; i++)
		if (!trace || core[i].tid == death.tid || !ep_trace_is_helper(trace, core[i].tid))
			roll->threads[roll->count++] = (struct ep_report_thread){
				&core[i], ep_report_trace_thread(trace, core[i].tid)};
	for (size_t i = 0; i < more; i++) {
		const struct ep_trace_thread *one = &trace->threads[i];

		if (ep_report_core_thread(report, one->tid) &&
		    ep_report_trace_thread(trace, one->tid) == one)
			continue;
		roll->threads[roll->count++] = (struct ep_report_thread){NULL, one};
	}
	return EP_OK;
}

/* Those that are in the core before those that are gone; then the latest first. */
static int compare_threads(const void *a, const void *b)
{
	const struct ep_report_thread *x = a, *y = b;
	uint64_t s = x->trace ? x->trace->last_tsc : 0;
	uint64_t t = y->trace ? y->trace->last_tsc : 0;

	if (!x->core != !y->core)
		return !x->core - !y->core;
	if (s != t)
		return s > t ? -1 : 1;
	return 0;
}

static const struct ep_report_thread *roll_find(const struct roll *roll, uint32_t tid)
{
	for (size_t i = 0; tid && i < roll->count; i++)
		if (roll->threads[i].core && roll->threads[i].core->tid == tid)
			return &roll->threads[i];
	return NULL;
}

/* ---- all of it ---- */

static const struct ep_report_printer *printer_of(const struct ep_report *report)
{
	return report->as_json ? &ep_report_json : &ep_report_text;
}

static int tell_thread(struct ep_report *report, const struct ep_report_thread *thread, bool died,
		       struct ep_err *err)
{
	struct ep_report_story story;
	int rc = story_init(&story, report, thread, died, err);

	if (rc)
		return rc;
	rc = printer_of(report)->thread(report, &story, err);
	story_deinit(&story);
	return rc;
}

static int tell_others(struct ep_report *report, const struct roll *roll,
		       const struct ep_report_thread *crashed, struct ep_err *err)
{
	struct ep_report_left left = {0};
	size_t told = 0;
	int rc = EP_OK;

	for (size_t i = 0; i < roll->count && !rc; i++) {
		const struct ep_report_thread *one = &roll->threads[i];

		if (one == crashed)
			continue;
		if (told < report->threads) {
			told++;
			rc = tell_thread(report, one, false, err);
			continue;
		}
		left.ended += !one->core;
		left.threads += one->core != NULL;
	}
	if (!rc)
		printer_of(report)->left(report, &left);
	return rc;
}

static int tell_threads(struct ep_report *report, const struct ep_report_head *head,
			struct ep_err *err)
{
	const struct ep_report_thread *crashed = NULL;
	struct roll roll;
	int rc = roll_init(&roll, report);

	if (rc)
		return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
	qsort(roll.threads, roll.count, sizeof(*roll.threads), compare_threads);
	if (head->death.signal && head->end != EP_REPORT_RUNS)
		crashed = roll_find(&roll, head->death.tid);
	if (crashed)
		rc = tell_thread(report, crashed, true, err);
	if (!rc)
		rc = tell_others(report, &roll, crashed, err);
	free(roll.threads);
	return rc;
}

static int tell_doubts(struct ep_report *report, struct ep_err *err)
{
	struct ep_report_doubts doubts;
	int rc = ep_report_doubts_init(&doubts, report, err);

	if (rc)
		return rc;
	rc = printer_of(report)->doubts(report, &doubts, err);
	ep_report_doubts_deinit(&doubts);
	return rc;
}

static int tell(struct ep_report *report, struct ep_report_head *head, struct ep_err *err)
{
	struct ep_report_hang hang;
	int rc = ep_report_find_first(report, err);

	if (rc)
		return rc;
	ep_report_head_init(head, report);
	rc = ep_report_hang_init(&hang, report, &head->death, err);
	if (rc)
		return rc;
	printer_of(report)->head(report, head);
	printer_of(report)->hang(report, &hang);
	rc = tell_threads(report, head, err);
	if (!rc)
		rc = tell_doubts(report, err);
	if (!rc && report->starved)
		rc = ep_fail(err, EP_E_MEMORY, 0, "out of memory");
	return rc;
}

int ep_report_write(struct ep_report *report, struct ep_err *err)
{
	struct ep_report_head *head = malloc(sizeof(*head));
	struct ep_json json;
	int rc;

	if (!head)
		return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
	ep_json_init(&json, report->out);
	report->json = &json;
	rc = tell(report, head, err);
	if (report->as_json)
		ep_json_finish(&json);
	free(head);
	return rc;
}
