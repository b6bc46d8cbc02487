/* SPDX-License-Identifier: BSD-2-Clause */
/* findings.h: what a report is found from, of an open session: its evidence, and what that borrows.
 */
#ifndef EPITAPH_FINDINGS_H
#define EPITAPH_FINDINGS_H

#include "cli/common/session.h"
#include "decoder/report/model.h"

struct ep_findings {
	struct ep_evidence evidence;
	struct ep_trace_module *modules;
	struct ep_err no_unwinder;
};

/* All zero but evidence.ended, when that is known. Borrows from the session, with or without a
 * trace; looks for the end of the trace (end.h). */
void ep_findings_init(struct ep_findings *findings, struct ep_session *session);
void ep_findings_deinit(struct ep_findings *findings);

/* Snapshots that the program keeps in its memory, for ep_report_init. */
size_t ep_findings_kept(const struct ep_session *session);

#endif
