/* SPDX-License-Identifier: BSD-2-Clause */
/* info_switches.c: functions that are off, by reason; how code is changed here, and why not; what
 * tracing is thought to cost. */
#include "cli/commands/info_switches.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/commands/switching_text.h"
#include "decoder/util/timetext.h"

static const char *how_text(const struct ep_switches *head)
{
	static const char *const words[] = {
		[EP_FLIP_UNKNOWN] = "not tried yet",
		[EP_FLIP_FILE] = "through /proc/self/mem",
		[EP_FLIP_MPROTECT] = "by mprotect",
		[EP_FLIP_NONE] = "not at all",
	};

	return words[head->how <= EP_FLIP_NONE ? head->how : EP_FLIP_UNKNOWN];
}

struct off_now {
	size_t count, budget, name, control;
	uint64_t rate;
};

static struct off_now count_off(const struct ep_trace_switches *switches)
{
	struct off_now now = {0};

	for (size_t i = 0; i < switches->count; i++) {
		const struct ep_trace_switched *one = &switches->list[i];

		if (!ep_switched_since(one))
			continue;
		now.count++;
		now.budget += (one->reasons & EP_SWITCH_BUDGET) != 0;
		now.name += (one->reasons & EP_SWITCH_NAME) != 0;
		now.control += (one->reasons & EP_SWITCH_CONTROL) != 0;
		now.rate += one->rate;
	}
	return now;
}

/* ---- for people ---- */

static void print_off(const struct ep_trace *trace)
{
	struct off_now now = count_off(trace->switches);
	uint64_t all = ep_all_off_since(trace);
	char since[EP_TIMETEXT_SIZE];

	if (all)
		printf("off        everything, since %s before the end%s\n",
		       ep_timetext(since, ep_trace_ago(trace, all)),
		       ep_all_off_for_budget(&trace->switches->head)
			       ? ": it cost more than EPITAPH_BUDGET"
			       : "");
	if (now.count)
		printf("off        %zu functions (%zu for the budget, %zu by epitaph_untrace, %zu "
		       "by "
		       "epitaph control), %" PRIu64 " calls a second\n",
		       now.count, now.budget, now.name, now.control, now.rate);
	if (trace->switches->head.untold)
		printf("off        %u more were switched of which nothing is told\n",
		       trace->switches->head.untold);
}

static void print_cost(const struct ep_switches *head)
{
	if (!head->cpu)
		return;
	printf("cost       tracing is thought to take %.1f %% of the CPU time without it, %.1f %% "
	       "of late (clock %.1f %%, own work %.1f %%)",
	       ep_switches_share(head->cost, head->cost, head->cpu),
	       ep_switches_share(head->cost_last, head->cost_last, head->cpu_last),
	       ep_switches_share(head->cost_clock, head->cost, head->cpu),
	       ep_switches_share(head->cost_own, head->cost, head->cpu));
	if (head->budget)
		printf(", budget %.4g %%", head->budget / 1e4);
	printf("\n");
}

void ep_info_switches_print(const struct ep_trace *trace)
{
	const struct ep_switches *head = trace->switches ? &trace->switches->head : NULL;

	if (!head)
		return;
	print_off(trace);
	if (head->how)
		printf("switching  %s%s%s, %" PRIu64 " times, of %" PRIu64 " places in %u pages\n",
		       how_text(head), head->how == EP_FLIP_NONE ? ": " : "",
		       head->how == EP_FLIP_NONE ? ep_switching_why_not_text(head) : "",
		       head->flips, head->site_count, head->pages);
	if (head->unflippable)
		printf("           %" PRIu64 " times a place was not as it should be (a "
		       "debugger's breakpoint?)\n",
		       head->unflippable);
	if (trace->arena.marks_left_out)
		printf("marks      %" PRIu64 " of exceptions and jumps were left out for "
		       "EPITAPH_BUDGET: none left a call that is in the history\n",
		       trace->arena.marks_left_out);
	print_cost(head);
}

/* ---- for programs ---- */

static void json_off(struct ep_json *json, const struct ep_trace *trace)
{
	struct off_now now = count_off(trace->switches);
	uint64_t all = ep_all_off_since(trace);

	ep_json_member_bool(json, "all_off", all != 0);
	if (all)
		ep_json_member_int(json, "all_off_ago_ns", ep_trace_ago(trace, all));
	if (all)
		ep_json_member_bool(json, "all_off_for_budget",
				    ep_all_off_for_budget(&trace->switches->head));
	ep_json_member_uint(json, "all_off_count", trace->switches->head.all_count);
	ep_json_member_uint(json, "functions_off", now.count);
	ep_json_member_uint(json, "functions_off_budget", now.budget);
	ep_json_member_uint(json, "functions_off_name", now.name);
	ep_json_member_uint(json, "functions_off_control", now.control);
	ep_json_member_uint(json, "functions_untold", trace->switches->head.untold);
	ep_json_member_uint(json, "rate_off", now.rate);
}

static void json_cost(struct ep_json *json, const struct ep_switches *head)
{
	ep_json_member_uint(json, "budget_ppm", head->budget);
	ep_json_member_uint(json, "cost_cycles", head->cost);
	ep_json_member_uint(json, "cost_clock_cycles", head->cost_clock);
	ep_json_member_uint(json, "cost_own_cycles", head->cost_own);
	ep_json_member_uint(json, "cpu_cycles", head->cpu);
	ep_json_member_uint(json, "cost_last_cycles", head->cost_last);
	ep_json_member_uint(json, "cpu_last_cycles", head->cpu_last);
}

void ep_info_switches_json(struct ep_json *json, const struct ep_trace *trace)
{
	const struct ep_switches *head = trace->switches ? &trace->switches->head : NULL;

	if (!head)
		return;
	ep_json_member_object(json, "switching");
	ep_json_member_text(json, "how", ep_switching_how_name(head));
	if (head->how == EP_FLIP_NONE)
		ep_json_member_text(json, "why_not", ep_switching_why_not_name(head));
	ep_json_member_uint(json, "flips", head->flips);
	ep_json_member_uint(json, "sites", head->site_count);
	ep_json_member_uint(json, "pages", head->pages);
	ep_json_member_uint(json, "unflippable", head->unflippable);
	json_off(json, trace);
	json_cost(json, head);
	ep_json_member_uint(json, "marks_left_out", trace->arena.marks_left_out);
	ep_json_object_end(json);
}
