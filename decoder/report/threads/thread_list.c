/* SPDX-License-Identifier: BSD-2-Clause */
/* thread_list.c: which threads are in a report, in which order. */
#include <stdlib.h>

#include "coredump/util/progress.h"
#include "decoder/report/parts.h"

struct list {
	struct ep_report_entry *list;
	size_t count, capacity;
};

/* Those of the core first, as they come; then those of the trace only. */
static void list_init(struct list *list, const struct ep_evidence *evidence)
{
	const struct ep_trace *trace = evidence->trace;
	size_t core_count;
	const struct ep_source_thread *core = ep_source_threads(evidence->source, &core_count);

	*list = (struct list){0};
	for (size_t i = 0; i < core_count; i++)
		if (!trace || core[i].tid == evidence->death.tid ||
		    !ep_trace_is_helper(trace, core[i].tid))
			ep_array_push(list, ((struct ep_report_entry){
						    &core[i], ep_evidence_trace_thread(
								      evidence, core[i].tid)}));
	for (size_t i = 0; trace && i < trace->thread_count; i++) {
		const struct ep_trace_thread *one = &trace->threads[i];

		if (!ep_source_thread(evidence->source, one->tid) ||
		    ep_evidence_trace_thread(evidence, one->tid) != one)
			ep_array_push(list, ((struct ep_report_entry){NULL, one}));
	}
}

/* Those that are in the core before those that are gone; then the latest first. */
static int compare_entries(const void *a, const void *b)
{
	const struct ep_report_entry *x = a, *y = b;
	uint64_t s = x->trace ? x->trace->last_tsc : 0;
	uint64_t t = y->trace ? y->trace->last_tsc : 0;

	if (!x->core != !y->core)
		return !x->core - !y->core;
	return (s < t) - (s > t);
}

static const struct ep_report_entry *list_find(const struct list *list, uint32_t tid)
{
	for (size_t i = 0; tid && i < list->count; i++)
		if (list->list[i].core && list->list[i].core->tid == tid)
			return &list->list[i];
	return NULL;
}

static struct ep_report_thread *add_thread(struct ep_report *report,
					   const struct ep_report_entry *entry, bool died)
{
	struct ep_report_thread *thread = ep_array_add(&report->threads);

	ep_report_thread_init(thread, report->evidence, &report->limits, entry, died);
	return thread;
}

/* At the end. */
static bool is_there(const struct ep_report_entry *entry)
{
	return entry->core || entry->trace->state != EP_THREAD_DEAD;
}

/* `alone`: told one by one. */
static void add_other(struct ep_report *report, const struct ep_report_entry *one, bool alone)
{
	bool grouped = is_there(one) && (report->limits.groups || (report->limits.page && !alone));

	if (grouped)
		ep_report_groups_add(&report->groups, report->evidence, one->core, one->trace);
	if (alone)
		add_thread(report, one, false);
	else if (grouped && report->limits.page)
		return;
	else if (one->core)
		report->threads_left++;
	else
		report->ended_left++;
}

/* Who comes first is known when all are. */
static void add_writers(struct ep_report *report)
{
	for (size_t i = 0; i < report->threads.count; i++) {
		struct ep_report_thread *thread = &report->threads.list[i];
		const struct ep_lock_wait *wait =
			ep_report_groups_wait(&report->groups, thread->tid);

		if (wait && !thread->ended)
			thread->wait.behind = wait->behind;
	}
}

void ep_report_add_threads(struct ep_report *report)
{
	const struct ep_report_head *head = &report->head;
	const struct ep_report_entry *died = NULL;
	static const struct ep_lock_wait none;
	struct ep_report_thread *thread;
	size_t others = 0, threads;
	struct list list;

	list_init(&list, report->evidence);
	ep_array_sort(&list, compare_entries);
	if (head->death.signal && head->end != EP_REPORT_RUNS)
		died = list_find(&list, head->death.tid);
	if (died) {
		thread = add_thread(report, died, true);
		report->partial |= !thread->unwound || !thread->stack.complete;
	}
	/* Where nobody died those that were the last to do something. */
	threads = report->limits.page && died ? 0 : report->limits.threads;
	for (size_t i = 0; i < list.count; i++) {
		const struct ep_report_entry *one = &list.list[i];

		if (!ep_progress("looking at threads", i, list.count))
			break;
		if (one == died)
			continue;
		add_other(report, one, others++ < threads);
	}
	ep_progress_end();
	ep_report_groups_finish(&report->groups, died ? died->core->tid : 0,
				died ? &report->threads.list[0].wait : &none);
	add_writers(report);
	ep_array_deinit(&list);
}
