/* SPDX-License-Identifier: BSD-2-Clause */
/* rules.c: which functions lose their hooks. */
#include "funcount/filter/rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* By its whole name, else by what stands before the first dot. */
static const struct ep_pattern *find_one(struct ep_list *list, const char *name)
{
	const char *dot = name[0] ? strchr(name + 1, '.') : NULL;
	const struct ep_pattern *found = ep_list_find(list, name);
	char base[4096];

	if (found || !dot || (size_t)(dot - name) >= sizeof base)
		return found;
	memcpy(base, name, (size_t)(dot - name));
	base[dot - name] = 0;
	return ep_list_find(list, base);
}

static const struct ep_pattern *find(struct ep_list *list, const struct ep_subject *subject)
{
	const struct ep_pattern *found = NULL;

	if (list->patterns.count == 0)
		return NULL;
	for (size_t i = 0; i < subject->name_count; i++) {
		const struct ep_pattern *one = find_one(list, subject->names[i]);

		found = found ? found : one;
	}
	return found;
}

static struct ep_rule_verdict by_length(const struct ep_rules *rules,
					const struct ep_subject *subject)
{
	struct ep_rule_verdict verdict = {.reason = EP_RULE_UNLISTED};

	if (!rules->threshold)
		return verdict;
	if (!subject->measured) {
		verdict.reason = EP_RULE_UNMEASURED;
	} else if (subject->instructions < rules->threshold) {
		verdict.strip = !subject->loop || rules->ignore_loops;
		verdict.reason = verdict.strip ? EP_RULE_SHORT : EP_RULE_LOOP;
	}
	return verdict;
}

struct ep_rule_verdict ep_rules_judge(struct ep_rules *rules, const struct ep_subject *subject)
{
	const struct ep_pattern *keep = find(&rules->do_trace, subject);
	const struct ep_pattern *strip = find(&rules->no_trace, subject);

	if (keep)
		return (struct ep_rule_verdict){EP_RULE_DO_TRACE, false, keep, &rules->do_trace,
						NULL};
	if (strip)
		return (struct ep_rule_verdict){EP_RULE_NO_TRACE, true, strip, &rules->no_trace,
						NULL};
	return by_length(rules, subject);
}

void ep_rules_deinit(struct ep_rules *rules)
{
	ep_list_deinit(&rules->no_trace);
	ep_list_deinit(&rules->do_trace);
	*rules = (struct ep_rules){0};
}

bool ep_rules_given(const struct ep_rules *rules)
{
	return rules->threshold || rules->conventions || rules->no_trace.files.count ||
	       rules->do_trace.files.count;
}

void ep_rule_verdict_text(const struct ep_rule_verdict *verdict, const struct ep_rules *rules,
			  const struct ep_subject *subject, char *text, size_t size)
{
	switch (verdict->reason) {
	case EP_RULE_DO_TRACE:
	case EP_RULE_NO_TRACE:
		snprintf(text, size, "%s:%u says %s", ep_list_file(verdict->list, verdict->pattern),
			 verdict->pattern->line, verdict->pattern->text);
		break;
	case EP_RULE_SHORT:
		snprintf(text, size, "%u instructions, the threshold is %u", subject->instructions,
			 rules->threshold);
		break;
	case EP_RULE_LOOP:
		snprintf(text, size, "%u instructions, but it has a loop", subject->instructions);
		break;
	case EP_RULE_UNMEASURED:
		snprintf(text, size, "its instructions cannot be counted");
		break;
	case EP_RULE_CONVENTION:
		snprintf(text, size, "%s", verdict->why);
		break;
	case EP_RULE_UNLISTED:
		snprintf(text, size, "nothing is said of it");
		break;
	}
}
