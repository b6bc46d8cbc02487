/* SPDX-License-Identifier: BSD-2-Clause */
/* switching_text.c: the section's head. Numbers come from a process's memory: none is trusted. */
#include "cli/commands/switching_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "decoder/trace/switches.h"
#include "decoder/util/timetext.h"

#define OFF (EP_SWITCH_NAME | EP_SWITCH_BUDGET | EP_SWITCH_CONTROL)

static const struct {
	unsigned bit;
	const char *name; /* also for programs */
} reasons[] = {
	{EP_SWITCH_NAME, "name"},
	{EP_SWITCH_BUDGET, "budget"},
	{EP_SWITCH_CONTROL, "control"},
	{EP_SWITCH_KEPT, "kept"},
};
#define REASONS (sizeof(reasons) / sizeof(*reasons))

const char *ep_switching_reasons_text(unsigned bits)
{
	static char text[64];

	text[0] = '\0';
	for (size_t i = 0; i < REASONS; i++)
		if (bits & reasons[i].bit)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s",
				 text[0] ? ", " : "", reasons[i].name);
	return text;
}

uint64_t ep_switching_since(const struct ep_switched *function)
{
	uint64_t since = 0;

	for (size_t i = 0; i < EP_SWITCHED_OFF; i++)
		if (function->off[i].off_begin && !function->off[i].on_begin &&
		    function->off[i].off_begin > since)
			since = function->off[i].off_begin;
	return function->reasons & OFF ? since : 0;
}

/* ---- facts ---- */

static uint64_t all_since(const struct ep_switching_facts *facts)
{
	const struct ep_switches *head = &facts->list->head;
	const struct ep_off_interval *last = &head->all[(head->all_count - 1) % EP_ALL_OFF];

	return facts->trace->arena.gate & EP_GATE_OFF && head->all_count ? last->off_begin : 0;
}

/* Functions that are off for `bit`, of the process and from outside; 0: for any. */
static size_t count_off(const struct ep_switched_list *list, unsigned bit)
{
	unsigned bits = bit ? bit : OFF;
	size_t count = 0;

	for (size_t i = 0; i < list->own_count; i++)
		count += (list->own[i].reasons & bits) != 0;
	for (size_t i = 0; i < list->control_count; i++)
		count += (list->control[i].reasons & bits) != 0;
	return count;
}

const char *ep_switching_why_not_text(const struct ep_switches *head)
{
	static const char *const why[] = {
		[0] = "it is not said why",
		[EP_FLIP_REFUSED] = "the kernel refuses",
		[EP_FLIP_JAIL] = "a filter of system calls (seccomp)",
		[EP_FLIP_EMULATOR] = "valgrind runs it",
		[EP_FLIP_MEMORY] = "no memory for the table of hooks",
	};

	return why[head->why_not < sizeof(why) / sizeof(*why) ? head->why_not : 0];
}

static void print_how(const struct ep_switches *head)
{
	static const char *const ways[] = {
		[EP_FLIP_UNKNOWN] = "not changed by the process itself so far",
		[EP_FLIP_FILE] = "changed by /proc/self/mem",
		[EP_FLIP_MPROTECT] = "changed by mprotect",
	};

	if (head->how < sizeof(ways) / sizeof(*ways))
		printf("code       %s", ways[head->how]);
	else
		printf("code       not changed: %s", ep_switching_why_not_text(head));
}

const char *ep_switching_how_name(const struct ep_switches *head)
{
	static const char *const names[] = {"unknown", "file", "mprotect", "none"};

	return head->how < sizeof(names) / sizeof(*names) ? names[head->how] : "unknown";
}

const char *ep_switching_why_not_name(const struct ep_switches *head)
{
	static const char *const names[] = {"", "refused", "seccomp", "valgrind", "memory"};

	return head->why_not < sizeof(names) / sizeof(*names) ? names[head->why_not] : "";
}

static int64_t ago(const struct ep_switching_facts *facts, uint64_t tsc)
{
	return ep_trace_ns(facts->trace, tsc, facts->now);
}

/* ---- for people ---- */

static void print_off(const struct ep_switching_facts *facts)
{
	const char *separator = ":";
	char time[EP_TIMETEXT_SIZE];
	uint64_t since = all_since(facts);
	size_t count = count_off(facts->list, 0);

	if (since)
		printf("off        everything, for %s%s\n", ep_timetext(time, ago(facts, since)),
		       ep_all_off_for_budget(&facts->list->head)
			       ? ": it cost more than EPITAPH_BUDGET"
			       : "");
	printf("functions  %zu off", count);
	for (size_t i = 0; count && reasons[i].bit != EP_SWITCH_KEPT; i++) {
		size_t some = count_off(facts->list, reasons[i].bit);

		if (some)
			printf("%s %zu by %s", separator, some, reasons[i].name);
		separator = some ? "," : separator;
	}
	if (facts->list->head.untold)
		printf("; %u more were switched and are not listed", facts->list->head.untold);
	printf("\n");
}

static void print_cost(const struct ep_switches *head)
{
	printf("cost       ");
	if (!head->cpu) {
		printf("not measured yet");
	} else {
		printf("%.1f %% of the CPU time without it",
		       ep_switches_share(head->cost, head->cost, head->cpu));
		if (head->cpu_last)
			printf(", %.1f %% of late",
			       ep_switches_share(head->cost_last, head->cost_last, head->cpu_last));
		printf(" (clock %.1f, own work %.1f)",
		       ep_switches_share(head->cost_clock, head->cost, head->cpu),
		       ep_switches_share(head->cost_own, head->cost, head->cpu));
	}
	if (head->budget)
		printf("; budget %.4g %%\n", head->budget / 1e4);
	else
		printf("; no budget\n");
}

void ep_switching_print(const struct ep_switching_facts *facts)
{
	const struct ep_switches *head = &facts->list->head;
	char flips[EP_TIMETEXT_SIZE];

	print_off(facts);
	print_how(head);
	if (head->how != EP_FLIP_UNKNOWN && head->flips)
		printf("; %s changes of %" PRIu64 " hooks, on %u pages",
		       ep_counttext(flips, head->flips), head->site_count, head->pages);
	if (head->unflippable)
		printf("; %" PRIu64 " times a hook could not be", head->unflippable);
	printf("\n");
	print_cost(head);
}

/* ---- for programs ---- */

static void json_percent(struct ep_json *json, const char *key, double percent)
{
	ep_json_member_uint(json, key, (uint64_t)(percent * 10000 + 0.5));
}

static void json_cost(struct ep_json *json, const struct ep_switches *head)
{
	ep_json_member_uint(json, "budget_ppm", head->budget);
	json_percent(json, "cost_ppm", ep_switches_share(head->cost, head->cost, head->cpu));
	json_percent(json, "cost_clock_ppm",
		     ep_switches_share(head->cost_clock, head->cost, head->cpu));
	json_percent(json, "cost_own_ppm",
		     ep_switches_share(head->cost_own, head->cost, head->cpu));
	json_percent(json, "cost_of_late_ppm",
		     ep_switches_share(head->cost_last, head->cost_last, head->cpu_last));
}

void ep_switching_json(struct ep_json *json, const struct ep_switching_facts *facts)
{
	const struct ep_switches *head = &facts->list->head;
	uint64_t since = all_since(facts);

	if (since)
		ep_json_member_int(json, "everything_off_ns", ago(facts, since));
	if (since)
		ep_json_member_bool(json, "everything_off_by_budget", ep_all_off_for_budget(head));
	ep_json_member_uint(json, "functions_off", count_off(facts->list, 0));
	ep_json_member_uint(json, "off_by_name", count_off(facts->list, EP_SWITCH_NAME));
	ep_json_member_uint(json, "off_by_budget", count_off(facts->list, EP_SWITCH_BUDGET));
	ep_json_member_uint(json, "off_by_control", count_off(facts->list, EP_SWITCH_CONTROL));
	ep_json_member_text(json, "code_changed_by", ep_switching_how_name(head));
	if (ep_switching_why_not_name(head)[0])
		ep_json_member_text(json, "code_not_changed_by", ep_switching_why_not_name(head));
	ep_json_member_uint(json, "code_changes", head->flips);
	ep_json_member_uint(json, "code_pages", head->pages);
	ep_json_member_uint(json, "hooks_switched", head->site_count);
	json_cost(json, head);
}
