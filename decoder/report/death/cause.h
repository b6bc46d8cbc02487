/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cause.h: what settles why a process died, where more than the signal tells it: the stack of an
 * abort, and the stack's memory where a return went to no code. Says only what these show.
 */
#ifndef EPITAPH_REPORT_CAUSE_H
#define EPITAPH_REPORT_CAUSE_H

#include "decoder/report/evidence.h"

/* How a text names functions and types of C++. */
enum ep_cause_names {
	EP_CAUSE_FULL,  /* as they are */
	EP_CAUSE_SHORT, /* as people say them (short_name.h) */
	EP_CAUSE_BARE,  /* and functions without their parameters */
	EP_CAUSE_NAMES, /* how many of these there are */
};

struct ep_report_cause {
	const char *code;                   /* "stack-smashed", for programs; NULL: not settled */
	const struct ep_function *function; /* whose doing; NULL unknown */
	char text[EP_CAUSE_NAMES][1024];
};

/* A function as such a text names it. The caller frees it. */
char *ep_cause_name(const char *name, enum ep_cause_names names);

/* `from`: the first of the frames of the thread's stack that belong to this death. `said`: the C
 * library's last words, NULL none. */
void ep_report_cause_init(struct ep_report_cause *cause, const struct ep_evidence *evidence,
			  const struct ep_death *death, const struct ep_source_thread *thread,
			  size_t from, const char *said);

#endif
