/* SPDX-License-Identifier: BSD-2-Clause */
/* model.c: finds a report, part by part. The warnings come last: names and files that are wanted
 * and missing are known by then. */
#include "decoder/report/model.h"

#include <stdlib.h>

#include "decoder/report/crash_signature.h"
#include "decoder/report/parts.h"

static void find_place(struct ep_report *report)
{
	const struct ep_report_thread *thread = report->threads.list;

	if (report->head.end == EP_REPORT_DIED && report->threads.count && thread->died &&
	    thread->unwound)
		ep_report_place_init(&report->place, report->evidence, thread->tid, &thread->stack,
				     &thread->alignment);
}

const struct ep_report_limits ep_report_page_limits = {
	.crash_calls = 8, /* and lines: print/text_thread.c */
	.other_calls = 3,
	.threads = 2, /* told one by one where none died */
	.frames = 14,
	.inlines = true,
	.page = true,
};

void ep_report_init(struct ep_report *report, const struct ep_evidence *evidence,
		    const struct ep_report_limits *limits, size_t kept)
{
	*report = (struct ep_report){
		.evidence = evidence,
		.limits = *limits,
		.trace = evidence->trace,
		.source_name = ep_source_name(evidence->source),
		.source_kind = ep_source_kind(evidence->source),
		.kept = kept,
	};
	ep_report_head_init(&report->head, evidence);
	ep_report_add_watchdogs(report);
	ep_report_hang_init(&report->hang, evidence);
	report->has_signature = limits->signature &&
				ep_crash_signature(evidence, &report->signature, NULL) == EP_OK;
	ep_report_add_threads(report);
	find_place(report);
	ep_report_add_warnings(report);
}

void ep_report_deinit(struct ep_report *report)
{
	for (size_t i = 0; i < report->threads.count; i++)
		ep_report_thread_deinit(&report->threads.list[i]);
	ep_report_groups_deinit(&report->groups);
	for (size_t i = 0; i < report->warnings.count; i++)
		free(report->warnings.list[i].text);
	ep_report_place_deinit(&report->place);
	ep_array_deinit(&report->threads);
	ep_array_deinit(&report->warnings);
	ep_array_deinit(&report->watchdogs);
}
