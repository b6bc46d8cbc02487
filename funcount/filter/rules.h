/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rules.h: which functions lose their hooks: a do-trace list comes before a no-trace list, that
 * before the threshold; under the threshold a function with a loop keeps them, unless loops are
 * ignored. NOFUNTRACE comes before all of them: such a function has no hooks to begin with.
 */
#ifndef EPITAPH_FILTER_RULES_H
#define EPITAPH_FILTER_RULES_H

#include "funcount/filter/list.h"

struct ep_rules {
	struct ep_list no_trace, do_trace;
	unsigned threshold; /* instructions; 0: none */
	bool ignore_loops;
	unsigned conventions; /* EP_CONVENTION_: what the source has of them; a function of such a
				 one loses its hooks, whatever is listed */
	bool thunks; /* functions may not return by `ret`: where that would stand for a hook, they
			keep theirs */
};

/* What is known of a function. */
struct ep_subject {
	const char *const *names; /* its own and those of its aliases */
	size_t name_count;
	unsigned instructions; /* without hooks and what belongs to them */
	bool loop;             /* a jump backwards */
	bool measured;         /* false: instructions and loop aren't known */
};

enum ep_rule_reason {
	EP_RULE_UNLISTED,   /* kept: nothing is said of it */
	EP_RULE_DO_TRACE,   /* kept */
	EP_RULE_LOOP,       /* kept though it is short */
	EP_RULE_UNMEASURED, /* kept: nobody knows whether it is short */
	EP_RULE_NO_TRACE,   /* loses its hooks */
	EP_RULE_SHORT,      /* loses its hooks */
	EP_RULE_CONVENTION, /* loses its hooks */
};

struct ep_rule_verdict {
	enum ep_rule_reason reason;
	bool strip;
	const struct ep_pattern *pattern; /* of NO_TRACE and DO_TRACE */
	const struct ep_list *list;       /* that it stands in */
	const char *why;                  /* of CONVENTION; static */
};

/* A name matches by itself or without what a compiler put behind its first dot: f.constprop.0,
 * f.isra.0, f.part.0, f.cold and nested functions (f.0). Both lists count what they matched,
 * whichever decided. */
struct ep_rule_verdict ep_rules_judge(struct ep_rules *rules, const struct ep_subject *subject);
void ep_rules_deinit(struct ep_rules *rules);

/* Whether there is anything to strip by them. */
bool ep_rules_given(const struct ep_rules *rules);

/* "listed in FILE:LINE as PATTERN", for people; `text` of `size` bytes. */
void ep_rule_verdict_text(const struct ep_rule_verdict *verdict, const struct ep_rules *rules,
			  const struct ep_subject *subject, char *text, size_t size);

#endif
