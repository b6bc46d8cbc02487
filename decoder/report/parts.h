/* SPDX-License-Identifier: BSD-2-Clause */
/* parts.h: the parts of a report, each found by a file of its own, for model.c; what one needs of
 * another. */
#ifndef EPITAPH_REPORT_PARTS_H
#define EPITAPH_REPORT_PARTS_H

#include "decoder/report/model.h"

void ep_report_head_init(struct ep_report_head *head, const struct ep_evidence *evidence);

/* ---- watchdogs, and a process that hung ---- */

/* The one whose miss has aborted the process; NULL: none has. */
const struct ep_trace_watchdog *ep_report_missed(const struct ep_evidence *evidence);
void ep_report_add_watchdogs(struct ep_report *report);
void ep_report_hang_init(struct ep_report_hang *hang, const struct ep_evidence *evidence);

/* ---- threads ---- */

void ep_report_add_threads(struct ep_report *report);
void ep_report_thread_init(struct ep_report_thread *thread, const struct ep_evidence *evidence,
			   const struct ep_report_limits *limits,
			   const struct ep_report_entry *entry, bool died);
void ep_report_thread_deinit(struct ep_report_thread *thread);

void ep_report_state_init(struct ep_report_state *state, const struct ep_evidence *evidence,
			  const struct ep_report_entry *entry);

/* `until`: the BEGIN of the first call that does not belong to them; NULL. */
void ep_report_last_init(struct ep_report_last *last, const struct ep_evidence *evidence,
			 const struct ep_open_calls *open, uint64_t calls,
			 const struct ep_event *until);
void ep_report_last_deinit(struct ep_report_last *last);

/* ---- what cannot be trusted ---- */

/* What is worth a warning by now; sets `partial`. */
void ep_report_add_warnings(struct ep_report *report);

#endif
