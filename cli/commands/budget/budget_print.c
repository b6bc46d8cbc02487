/* SPDX-License-Identifier: BSD-2-Clause */
/* budget_print.c: verdicts for people and for programs. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "cli/commands/budget/budget.h"
#include "cli/common/budget_options.h"
#include "cli/common/say.h"
#include "decoder/util/json.h"
#include "decoder/util/timetext.h"

#define OFFENDERS 5  /* functions that are printed */
#define EXCLUDED  12 /* names that are printed to exclude */

static const char *const state_words[] = {
	[EP_BUDGET_GOOD] = "good",
	[EP_BUDGET_EXCEEDED] = "exceeded",
	[EP_BUDGET_INCOMPLETE] = "incomplete",
	[EP_BUDGET_NOT_RUN] = "not run",
	[EP_BUDGET_UNKNOWN] = "unknown",
	[EP_BUDGET_DAMAGED] = "damaged",
};

/* ---- words --------------------------------------------------------------- */

#define VALUE_SIZE 48

static const char *value_text(char out[VALUE_SIZE], enum ep_budget_limit limit, double value)
{
	switch (limit) {
	case EP_LIMIT_CALLS:
		return ep_counttext(out, (uint64_t)(value + 0.5));
	case EP_LIMIT_CALLS_PER_UNIT:
		snprintf(out, VALUE_SIZE, "%.2f", value);
		return out;
	case EP_LIMIT_OVERHEAD:
		return ep_percent_text(out, value);
	default:
		return ep_seconds_text(out, value);
	}
}

static void add(char *text, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static void add(char *text, size_t size, const char *format, ...)
{
	size_t used = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + used, size - used, format, arguments);
	va_end(arguments);
}

/* "calls per run 1,300,000, limit 1,200,000 + 5.0 %" */
static void add_check(const struct ep_budget_item *item, enum ep_budget_limit limit, char *text,
		      size_t size)
{
	const struct ep_budget_check *check = &item->verdict.checks[limit];
	char is[VALUE_SIZE], at[VALUE_SIZE], tolerance[EP_PERCENT_SIZE];

	add(text, size, "%s%s %s, limit %s %c %s", *text ? "; " : "", ep_budget_limit_words(limit),
	    check->known ? value_text(is, limit, check->is) : "not known",
	    value_text(at, limit, check->limit), limit == EP_LIMIT_HISTORY ? '-' : '+',
	    ep_percent_text(tolerance, item->test->tolerance));
}

static void judged_words(const struct ep_budget_item *item, char *text, size_t size)
{
	char count[EP_TIMETEXT_SIZE];

	for (int i = 0; i < EP_LIMITS; i++) {
		const struct ep_budget_check *check = &item->verdict.checks[i];

		if (check->set && (item->state != EP_BUDGET_EXCEEDED || check->exceeded))
			add_check(item, i, text, size);
	}
	if (!*text)
		add(text, size, "%s calls per run, no limit",
		    ep_counttext(count, (uint64_t)item->verdict.calls));
	if (item->result.lost)
		add(text, size, "; %s calls are missing", ep_counttext(count, item->result.lost));
	else if (ep_counts_incomplete(item->result.counts))
		add(text, size, "; the counts are incomplete");
}

static void add_words(const struct ep_budget_item *item, char *text, size_t size)
{
	*text = '\0';
	switch (item->state) {
	case EP_BUDGET_NOT_RUN:
		add(text, size, "has limits, and no result: it was not run");
		break;
	case EP_BUDGET_UNKNOWN:
		add(text, size, "was run, and is not in the budget file");
		break;
	case EP_BUDGET_DAMAGED:
		add(text, size, "%s", item->err.text);
		break;
	default:
		judged_words(item, text, size);
	}
}

static const struct ep_called_group *excluded_group(const struct ep_budget_item *item, size_t i)
{
	return &item->called->groups[item->exclusion.groups[i]];
}

/* "f g h and 3 more" */
static void add_excluded(const struct ep_budget_item *item, char *text, size_t size)
{
	size_t count = item->exclusion.count;

	for (size_t i = 0; i < count && i < EXCLUDED; i++)
		add(text, size, "%s%s", i ? " " : "", excluded_group(item, i)->name);
	if (count > EXCLUDED)
		add(text, size, " and %zu more", count - EXCLUDED);
	if (!count)
		add(text, size, "nothing that has a name");
	if (!item->exclusion.met)
		add(text, size, "; even that does not suffice");
}

/* ---- text ---------------------------------------------------------------- */

static void text_offenders(const struct ep_budget_item *item, FILE *out)
{
	const struct ep_called *called = item->called;
	char count[EP_TIMETEXT_SIZE], share[EP_PERCENT_SIZE], names[2048] = "";

	fprintf(out, "    most calls:\n");
	for (size_t i = 0; i < called->group_count && i < OFFENDERS; i++) {
		const struct ep_called_group *group = &called->groups[i];
		const struct ep_called_function *first = &called->functions[group->first];

		fprintf(out, "      %12s  %6s  %s", ep_counttext(count, group->calls),
			ep_percent_text(share, (double)group->calls / (double)called->calls),
			first->function->name);
		if (first->line.file)
			fprintf(out, "  %s:%" PRIu32, first->line.file, first->line.line);
		fputc('\n', out);
	}
	add_excluded(item, names, sizeof(names));
	fprintf(out, "    to exclude: %s\n", names);
}

/* What a section of the budget file would say of this run. */
static void text_section(const struct ep_budget_item *item, const struct ep_budget *budget,
			 FILE *out)
{
	double runs = (double)item->result.runs;
	double seconds = ep_untraced_seconds(item->result.counts, &budget->costs);

	fprintf(out, "    of this run:\n      ");
	ep_budget_section_print(item->name, out);
	fprintf(out, "      reference-calls = %.0f\n",
		ceil((double)item->result.counts->calls / runs));
	if (seconds > 0)
		fprintf(out, "      reference-cpu = %.6f s\n", seconds / runs);
}

static void text_observed(const struct ep_observed *observed, FILE *out)
{
	char history[EP_TIMETEXT_SIZE], count[EP_TIMETEXT_SIZE];

	fprintf(out, "    traced: ");
	if (isinf(observed->history))
		fprintf(out, "no ring was written over");
	else
		fprintf(out, "the shortest ring went back %s",
			ep_seconds_text(history, observed->history));
	if (observed->lost)
		fprintf(out, "; %s events were lost\n", ep_counttext(count, observed->lost));
	else
		fprintf(out, "; nothing was lost\n");
}

void ep_budget_print_text(const struct ep_budget_items *items, FILE *out)
{
	for (size_t i = 0; i < items->count; i++) {
		const struct ep_budget_item *item = &items->list[i];
		const char *color =
			item->state == EP_BUDGET_EXCEEDED || item->state == EP_BUDGET_DAMAGED
				? ep_color(EP_RED)
			: item->state == EP_BUDGET_GOOD ? ""
							: ep_color(EP_YELLOW);
		char words[1024];

		add_words(item, words, sizeof(words));
		fprintf(out, "%s: %s%s%s: %s\n", item->name, color, state_words[item->state],
			*color ? ep_color(EP_PLAIN) : "", words);
		if (item->state == EP_BUDGET_EXCEEDED)
			text_offenders(item, out);
		if (item->state == EP_BUDGET_UNKNOWN)
			text_section(item, items->budget, out);
		if (item->result.observed.runs)
			text_observed(&item->result.observed, out);
	}
}

/* ---- JSON ---------------------------------------------------------------- */

static void json_checks(struct ep_json *json, const struct ep_budget_verdict *verdict)
{
	static const struct {
		const char *key;
		double unit;
	} names[EP_LIMITS] = {
		[EP_LIMIT_CALLS] = {"calls", 1},
		[EP_LIMIT_CALLS_PER_UNIT] = {"calls_per_unit", 1},
		[EP_LIMIT_OVERHEAD] = {"overhead_percent", 100},
		[EP_LIMIT_HISTORY] = {"history_us_per_mib", 1e6},
	};

	ep_json_member_object(json, "limits");
	for (int i = 0; i < EP_LIMITS; i++) {
		const struct ep_budget_check *check = &verdict->checks[i];

		if (!check->set)
			continue;
		ep_json_member_object(json, names[i].key);
		ep_json_member_real(json, "is", check->is * names[i].unit);
		ep_json_member_real(json, "limit", check->limit * names[i].unit);
		ep_json_member_bool(json, "exceeded", check->exceeded);
		ep_json_object_end(json);
	}
	ep_json_object_end(json);
	ep_json_member_real(json, "overhead_percent", verdict->predicted.overhead * 100);
	ep_json_member_real(json, "history_us_per_mib", verdict->predicted.history * 1e6);
}

static void json_function(struct ep_json *json, const struct ep_called *called,
			  const struct ep_called_group *group)
{
	const struct ep_called_function *first = &called->functions[group->first];

	ep_json_object(json);
	ep_json_member_text(json, "symbol", group->name);
	ep_json_member_text(json, "function", first->function->name);
	ep_json_member_uint(json, "calls", group->calls);
	if (first->line.file) {
		ep_json_member_text(json, "file", first->line.file);
		ep_json_member_uint(json, "line", first->line.line);
	}
	ep_json_object_end(json);
}

static void json_offenders(struct ep_json *json, const struct ep_budget_item *item)
{
	const struct ep_called *called = item->called;

	ep_json_member_array(json, "most_calls");
	for (size_t i = 0; i < called->group_count && i < OFFENDERS; i++)
		json_function(json, called, &called->groups[i]);
	ep_json_array_end(json);
	ep_json_member_array(json, "exclude");
	for (size_t i = 0; i < item->exclusion.count; i++)
		json_function(json, called, excluded_group(item, i));
	ep_json_array_end(json);
	ep_json_member_bool(json, "exclude_suffices", item->exclusion.met);
}

/* history_us null: no ring was written over. */
static void json_observed(struct ep_json *json, const struct ep_observed *observed)
{
	ep_json_member_object(json, "traced");
	ep_json_member_uint(json, "runs", observed->runs);
	ep_json_member_uint(json, "processes", observed->processes);
	ep_json_member_uint(json, "lost", observed->lost);
	ep_json_member_real(json, "history_us", observed->history * 1e6);
	ep_json_object_end(json);
}

static void json_item(struct ep_json *json, const struct ep_budget_item *item)
{
	char words[1024];

	add_words(item, words, sizeof(words));
	ep_json_object(json);
	ep_json_member_text(json, "test", item->name);
	ep_json_member_text(json, "state", state_words[item->state]);
	ep_json_member_text(json, "words", words);
	if (item->result.counts) {
		ep_json_member_uint(json, "runs", item->result.runs);
		ep_json_member_uint(json, "calls", item->result.counts->calls);
		ep_json_member_uint(json, "units", item->result.units);
		ep_json_member_uint(json, "processes", item->result.processes);
		ep_json_member_uint(json, "lost", item->result.lost);
		ep_json_member_int(json, "status", item->result.status);
	}
	if (item->result.observed.runs)
		json_observed(json, &item->result.observed);
	if (item->result.counts && item->test)
		json_checks(json, &item->verdict);
	if (item->state == EP_BUDGET_EXCEEDED)
		json_offenders(json, item);
	ep_json_object_end(json);
	ep_json_newline(json);
}

void ep_budget_print_json(const struct ep_budget_items *items, FILE *out)
{
	struct ep_json json;

	ep_json_init(&json, out);
	ep_json_object(&json);
	ep_json_member_text(&json, "format", "epitaph-budget");
	ep_json_member_int(&json, "version", 1);
	ep_json_member_text(&json, "file", items->path);
	ep_json_member_array(&json, "tests");
	ep_json_newline(&json);
	for (size_t i = 0; i < items->count; i++)
		json_item(&json, &items->list[i]);
	ep_json_array_end(&json);
	ep_json_object_end(&json);
	ep_json_newline(&json);
	/* Why the output failed is printed when it is given its name. */
	ep_json_finish(&json);
}
