/* SPDX-License-Identifier: BSD-2-Clause */
/* findings.c: modules, names and an unwinder, as far as the source has them. */
#include "cli/common/findings.h"

#include <stdlib.h>

#include "coredump/snapshot/kept.h"
#include "decoder/kernel/end.h"
#include "decoder/names/modules.h"

/* The modules as the memory shows them, and names by them. What fails is no more than missing
 * names. */
static void find_modules(struct ep_findings *findings, struct ep_session *session)
{
	struct ep_evidence *evidence = &findings->evidence;

	findings->modules =
		ep_modules_from_source(&evidence->module_count, session->source, session->trace);
	evidence->modules = findings->modules;
	evidence->others =
		ep_names_create(findings->modules, evidence->module_count, &session->naming);
}

static void find_unwinder(struct ep_findings *findings, struct ep_session *session)
{
	struct ep_evidence *evidence = &findings->evidence;

	if (ep_source_kind(session->source) == EP_SOURCE_LIVE)
		evidence->no_unwinder = "a running process is not stopped";
	else if (ep_source_kind(session->source) == EP_SOURCE_FUNTRACE)
		evidence->no_unwinder = "a funtrace.raw has no stacks";
	else if (ep_source_kind(session->source) == EP_SOURCE_ARENA)
		evidence->no_unwinder = "an arena file has no stacks";
	else if (ep_unwinder_create(&evidence->unwinder, session->source, session->trace,
				    &session->naming, &findings->no_unwinder))
		evidence->no_unwinder = findings->no_unwinder.text;
	if (evidence->unwinder && session->trace)
		ep_unwinder_add_taken(evidence->unwinder, session->trace->stacks,
				      session->trace->stack_count);
}

void ep_findings_init(struct ep_findings *findings, struct ep_session *session)
{
	struct ep_evidence *evidence = &findings->evidence;

	evidence->source = session->source;
	evidence->trace = session->trace;
	if (session->trace)
		ep_end_find(session->trace, session->source, evidence->ended);
	evidence->missing = session->missing.text;
	find_modules(findings, session);
	evidence->names = session->names ? session->names : evidence->others;
	find_unwinder(findings, session);
	ep_evidence_examine(evidence);
}

void ep_findings_deinit(struct ep_findings *findings)
{
	ep_unwinder_destroy(findings->evidence.unwinder);
	ep_names_destroy(findings->evidence.others);
	free(findings->modules);
}

size_t ep_findings_kept(const struct ep_session *session)
{
	struct ep_kept_list kept;
	size_t count;

	if (!session->trace)
		return 0;
	ep_kept_list(&kept, session->source, &session->found);
	count = kept.count;
	ep_kept_list_deinit(&kept);
	return count;
}
