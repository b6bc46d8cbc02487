/* SPDX-License-Identifier: BSD-2-Clause */
/* diff.c: epitaph diff: two traces of one program, for people and as JSON. */
#include "decoder/stats/difference.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/common/commands.h"
#include "cli/common/say.h"
#include "cli/common/session.h"
#include "decoder/util/json.h"
#include "decoder/util/timetext.h"

#define ROWS_SHOWN    20
#define MOVED_PERCENT 50

struct comparison {
	struct ep_session sessions[2];
	const char *names[2];
	struct ep_difference difference;
	uint64_t limit;   /* rows of each table; 0: all */
	unsigned percent; /* that a median must move */
};

/* ---- for people ---- */

static void heading(const char *words)
{
	printf("\n%s%s%s\n", ep_color(EP_BOLD), words, ep_color(EP_PLAIN));
}

static void more(size_t shown, size_t all)
{
	if (shown < all)
		printf("  … %zu more: --all shows them\n", all - shown);
}

static bool is_shown(const struct comparison *comparison, size_t shown)
{
	return !comparison->limit || shown < comparison->limit;
}

/* Which rows a table has. */
enum table { ONLY_A, ONLY_B, COUNTS, DURATIONS, TABLES };

static bool belongs(const struct comparison *comparison, enum table table,
		    const struct ep_pair *pair)
{
	const struct ep_stat *a = pair->sides[0], *b = pair->sides[1];

	switch (table) {
	case ONLY_A:
		return !b;
	case ONLY_B:
		return !a;
	case COUNTS:
		return a && b && a->calls != b->calls;
	default:
		return ep_pair_moved(pair, comparison->percent);
	}
}

static void print_row(enum table table, const struct ep_pair *pair)
{
	const struct ep_stat *a = pair->sides[0], *b = pair->sides[1];
	char left[EP_TIMETEXT_SIZE], right[EP_TIMETEXT_SIZE];

	switch (table) {
	case ONLY_A:
	case ONLY_B:
		printf("  %12" PRIu64 "  ", (a ? a : b)->calls);
		break;
	case COUNTS:
		printf("  %12" PRIu64 " %12" PRIu64 "  ", a->calls, b->calls);
		break;
	default:
		printf("  %12s %12s  ", ep_timetext(left, a->median),
		       ep_timetext(right, b->median));
	}
	a = a ? a : b;
	printf("%s%s%s%s\n", a->function->span ? "span " : "", ep_color(EP_CYAN), a->function->name,
	       ep_color(EP_PLAIN));
}

static void print_table(const struct comparison *comparison, enum table table, const char *words)
{
	const struct ep_difference *difference = &comparison->difference;
	size_t shown = 0, all = 0;

	for (size_t i = 0; i < difference->pair_count; i++) {
		if (!belongs(comparison, table, &difference->pairs[i]))
			continue;
		if (all++ == 0)
			heading(words);
		if (!is_shown(comparison, shown))
			continue;
		shown++;
		print_row(table, &difference->pairs[i]);
	}
	more(shown, all);
}

static void print_step(const char *side, const struct ep_step *step)
{
	char since[EP_TIMETEXT_SIZE];

	printf("    in %s ", side);
	if (!step->any) {
		puts("its history ends there");
		return;
	}
	printf("%s%s%s %s", ep_color(EP_CYAN), step->function->name, ep_color(EP_PLAIN),
	       step->ends ? "returns" : "is called");
	if (step->inside)
		printf("%s %s", step->ends ? " to" : " by", step->inside->name);
	printf(", %s after its first record\n", ep_timetext(since, step->since));
}

static void print_parting(const struct ep_parting *parting)
{
	const struct ep_trace_thread *a = parting->threads[0], *b = parting->threads[1];
	const struct ep_trace_thread *one = a ? a : b;
	char common[EP_TIMETEXT_SIZE], skipped[EP_TIMETEXT_SIZE];

	printf("  %s ", one->name[0] ? one->name : "(no name)");
	if (!a || !b) {
		printf("(%u): only in %s\n", one->tid, a ? "A" : "B");
		return;
	}
	printf("(%u and %u): ", a->tid, b->tid);
	if (parting->kind == EP_PARTING_ALONE) {
		printf("no history of it in %s\n", a->block_count   ? "B"
						   : b->block_count ? "A"
								    : "either");
		return;
	}
	if (parting->kind == EP_PARTING_NOTHING) {
		puts("the histories have no stretch in common");
		return;
	}
	for (int i = 0; i < 2; i++)
		if (parting->skipped[i])
			printf("after %s more that only %s still has: ",
			       ep_counttext(skipped, parting->skipped[i]), i ? "B" : "A");
	printf("the same for %s calls and returns%s\n", ep_counttext(common, parting->common),
	       parting->kind == EP_PARTING_NEVER ? ", to the end" : ", then");
	if (parting->kind == EP_PARTING_NEVER)
		return;
	print_step("A", &parting->steps[0]);
	print_step("B", &parting->steps[1]);
}

static void print_threads(const struct comparison *comparison)
{
	const struct ep_difference *difference = &comparison->difference;
	size_t same = 0, shown = 0, all = 0;

	heading("threads");
	for (size_t i = 0; i < difference->parting_count; i++) {
		const struct ep_parting *parting = &difference->partings[i];

		if (parting->kind == EP_PARTING_NEVER) {
			same++;
			continue;
		}
		all++;
		if (!is_shown(comparison, shown))
			continue;
		shown++;
		print_parting(parting);
	}
	more(shown, all);
	if (same)
		printf("  %zu did the same in both\n", same);
}

static void print_text(const struct comparison *comparison)
{
	printf("A  %s\nB  %s\n", ep_shown(comparison->names[0]), ep_shown(comparison->names[1]));
	print_table(comparison, ONLY_A, "functions that only A called (calls)");
	print_table(comparison, ONLY_B, "functions that only B called (calls)");
	print_table(comparison, COUNTS, "calls that differ (A, B)");
	print_table(comparison, DURATIONS, "durations that moved (median of A, of B)");
	print_threads(comparison);
}

/* ---- for programs ---- */

static void json_side(struct ep_json *json, const char *key, const struct ep_stat *stat)
{
	ep_json_key(json, key);
	if (!stat) {
		ep_json_null(json);
		return;
	}
	ep_json_object(json);
	ep_json_member_int(json, "calls", (int64_t)stat->calls);
	ep_json_member_int(json, "timed", (int64_t)stat->timed);
	ep_json_member_int(json, "total_ns", stat->total);
	ep_json_member_int(json, "self_ns", stat->self);
	ep_json_key(json, "median_ns");
	if (stat->timed)
		ep_json_int(json, stat->median);
	else
		ep_json_null(json);
	ep_json_object_end(json);
}

static void json_pairs(struct ep_json *json, const struct comparison *comparison)
{
	const struct ep_difference *difference = &comparison->difference;

	ep_json_member_array(json, "functions");
	for (size_t i = 0; i < difference->pair_count; i++) {
		const struct ep_pair *pair = &difference->pairs[i];
		bool moved = ep_pair_moved(pair, comparison->percent);
		const struct ep_stat *one = pair->sides[0] ? pair->sides[0] : pair->sides[1];

		if (pair->sides[0] && pair->sides[1] && !moved &&
		    pair->sides[0]->calls == pair->sides[1]->calls)
			continue;
		ep_json_newline(json);
		ep_json_object(json);
		ep_json_member_text(json, "function", one->function->name);
		ep_json_member_text(json, "module", one->function->module);
		json_side(json, "a", pair->sides[0]);
		json_side(json, "b", pair->sides[1]);
		ep_json_member_bool(json, "duration_moved", moved);
		ep_json_object_end(json);
	}
	ep_json_array_end(json);
}

static void json_step(struct ep_json *json, const struct ep_step *step)
{
	if (!step->any) {
		ep_json_null(json);
		return;
	}
	ep_json_object(json);
	ep_json_member_text(json, "what", step->ends ? "return" : "call");
	ep_json_member_text(json, "function", step->function->name);
	ep_json_key(json, "inside");
	if (step->inside)
		ep_json_string(json, step->inside->name);
	else
		ep_json_null(json);
	ep_json_member_int(json, "since_ns", step->since);
	ep_json_object_end(json);
}

static void json_parting(struct ep_json *json, const struct ep_parting *parting)
{
	static const char *const kinds[] = {"same", "parted", "ended", "nothing-in-common",
					    "alone"};
	static const char *const tids[] = {"tid_a", "tid_b"};
	static const char *const skipped[] = {"skipped_a", "skipped_b"};
	static const char *const next[] = {"next_a", "next_b"};
	const struct ep_trace_thread *one =
		parting->threads[0] ? parting->threads[0] : parting->threads[1];

	ep_json_newline(json);
	ep_json_object(json);
	ep_json_member_text(json, "thread", one->name);
	ep_json_member_text(json, "result", kinds[parting->kind]);
	ep_json_member_int(json, "common", (int64_t)parting->common);
	for (int i = 0; i < 2; i++) {
		if (parting->threads[i])
			ep_json_member_int(json, tids[i], parting->threads[i]->tid);
		ep_json_member_int(json, skipped[i], (int64_t)parting->skipped[i]);
		ep_json_key(json, next[i]);
		json_step(json, &parting->steps[i]);
	}
	ep_json_object_end(json);
}

static void print_json(const struct comparison *comparison)
{
	const struct ep_difference *difference = &comparison->difference;
	struct ep_json json;

	ep_json_init(&json, stdout);
	ep_json_object(&json);
	ep_json_member_text(&json, "format", "epitaph-diff");
	ep_json_member_int(&json, "version", 1);
	ep_json_member_text(&json, "a", comparison->names[0]);
	ep_json_member_text(&json, "b", comparison->names[1]);
	ep_json_member_bool(&json, "different", ep_difference_any(difference));
	json_pairs(&json, comparison);
	ep_json_member_array(&json, "threads");
	for (size_t i = 0; i < difference->parting_count; i++)
		json_parting(&json, &difference->partings[i]);
	ep_json_array_end(&json);
	ep_json_object_end(&json);
	ep_json_newline(&json);
	ep_json_finish(&json);
}

/* ---- the command ---- */

static int read_arguments(struct comparison *comparison, const struct ep_arguments *arguments)
{
	uint64_t limit = ROWS_SHOWN, percent = MOVED_PERCENT;

	if (ep_argument_number(arguments, "limit", 1, UINT32_MAX, "a number, from 1", &limit) ||
	    ep_argument_number(arguments, "moved", 1, 1000000, "a number, from 1", &percent))
		return EP_EXIT_USAGE;
	comparison->limit = ep_argument_given(arguments, "all") ? 0 : limit;
	comparison->percent = (unsigned)percent;
	return 0;
}

static int compare(struct comparison *comparison, const struct ep_arguments *arguments)
{
	const struct ep_side sides[2] = {
		{comparison->sessions[0].trace, comparison->sessions[0].names},
		{comparison->sessions[1].trace, comparison->sessions[1].names},
	};

	ep_difference_create(&comparison->difference, sides);
	if (ep_argument_given(arguments, "json"))
		print_json(comparison);
	else if (!ep_argument_given(arguments, "quiet"))
		print_text(comparison);
	for (int i = 0; i < 2; i++)
		ep_session_warn(&comparison->sessions[i]);
	return ep_difference_any(&comparison->difference) ? 1 : 0;
}

static int diff_run(const struct ep_arguments *arguments)
{
	struct comparison comparison = {0};
	int result = read_arguments(&comparison, arguments), opened = 0;

	if (result)
		return result;
	for (; opened < 2; opened++) {
		comparison.names[opened] = arguments->operands[opened];
		result = ep_session_open(&comparison.sessions[opened], arguments,
					 comparison.names[opened], true);
		if (result > EP_EXIT_PARTIAL)
			break;
	}
	if (opened == 2) {
		result = compare(&comparison, arguments);
		ep_difference_deinit(&comparison.difference);
	}
	while (opened-- > 0)
		ep_session_close(&comparison.sessions[opened]);
	return result;
}

static const struct ep_option options[] = {
	{"all", 'a', NULL, "all rows of each table"},
	{"limit", 'l', "N", "the first N rows of each table (20)"},
	{"moved", 0, "PERCENT", "a duration has moved when its median did by more than that (50)"},
	{"quiet", 'q', NULL, "print nothing: the exit status tells"},
	{"json", 0, NULL, "JSON, times in nanoseconds"},
	{NULL, 0, NULL, NULL},
};

const struct ep_command ep_command_diff = {
	.name = "diff",
	.operands = "SOURCE SOURCE",
	.operands_min = 2,
	.operands_max = 2,
	.summary = "two traces of one program: what only one did, and where they part",
	.example = "diff good.core bad.core",
	.description =
		"Compares two traces, A and B: functions that only one of them called, numbers of "
		"calls that differ, medians of durations that moved, and for each thread the first "
		"call or return in which the two differ.\n\n"
		"Functions are the same by symbol and module's name, threads by name and the order "
		"in which they began, so the two may come from different runs, hosts and builds. "
		"Where a history is not whole, its beginning is looked for in the other, and what "
		"lies before is left out; numbers of calls are of what is left of each.\n\n"
		"Ends with 0 when functions, numbers and sequences are equal, with 1 when they are "
		"not. Durations alone do not make a difference: they are never equal.",
	.options = options,
	.names = true,
	.pages = true,
	.run = diff_run,
};
