/* SPDX-License-Identifier: BSD-2-Clause */
/* switching_text.h: what of a process's hooks is off, and what tracing costs it, in words. */
#ifndef EPITAPH_SWITCHING_TEXT_H
#define EPITAPH_SWITCHING_TEXT_H

#include "coredump/live/switched.h"
#include "decoder/trace/trace.h"
#include "decoder/util/json.h"

/* `now`: TSC that times count back from. */
struct ep_switching_facts {
	const struct ep_switched_list *list;
	const struct ep_trace *trace;
	uint64_t now;
};

/* Why a function is off, or kept on: "budget", "name and control". Static until the next call. */
const char *ep_switching_reasons_text(unsigned reasons);

/* When what is off went off; 0: it is on. */
uint64_t ep_switching_since(const struct ep_switched *function);

/* How the process changes its code, for programs; why it does not, for programs (empty: not said)
 * and in words. Static. */
const char *ep_switching_how_name(const struct ep_switches *head);
const char *ep_switching_why_not_name(const struct ep_switches *head);
const char *ep_switching_why_not_text(const struct ep_switches *head);

/* Some lines of "word  text", or members of the object that is open. */
void ep_switching_print(const struct ep_switching_facts *facts);
void ep_switching_json(struct ep_json *json, const struct ep_switching_facts *facts);

#endif
