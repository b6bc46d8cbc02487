/* SPDX-License-Identifier: BSD-2-Clause */
/* count_diff.c: which functions were called more often, or less, in one run than in another. Builds
 * may differ: a function is its name in its module. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/commands.h"
#include "cli/common/counting.h"
#include "cli/common/grid.h"
#include "cli/common/say.h"
#include "coredump/util/alloc.h"
#include "decoder/util/json.h"
#include "decoder/util/timetext.h"

struct side {
	struct ep_counts *counts;
	struct ep_functions functions;
};

/* One function; NULL on the side where it was not called. */
struct pair {
	const struct ep_counted *before, *after;
};

struct diff {
	struct side sides[2];
	struct pair *pairs; /* that differ */
	size_t count;
	uint64_t equal; /* functions */
};

/* ---- pairs ---------------------------------------------------------------- */

/* Static functions of one name are paired in the order of their addresses. */
static int by_identity(const void *a, const void *b)
{
	const struct ep_counted *x = a, *y = b;
	int order = strcmp(x->module_name, y->module_name);

	if (!order)
		order = strcmp(*x->symbol ? x->symbol : x->name, *y->symbol ? y->symbol : y->name);
	return order;
}

static int by_identity_and_place(const void *a, const void *b)
{
	const struct ep_counted *x = a, *y = b;
	int order = by_identity(a, b);

	if (order)
		return order;
	return x->address < y->address ? -1 : x->address > y->address;
}

static uint64_t calls_of(const struct ep_counted *one)
{
	return one ? one->calls : 0;
}

static void add_pair(struct diff *diff, const struct ep_counted *before,
		     const struct ep_counted *after)
{
	if (calls_of(before) == calls_of(after))
		diff->equal++;
	else
		diff->pairs[diff->count++] = (struct pair){before, after};
}

static void compare_sides(struct diff *diff)
{
	struct ep_functions *a = &diff->sides[0].functions;
	struct ep_functions *b = &diff->sides[1].functions;
	size_t i = 0, j = 0;

	diff->pairs = ep_calloc(a->count + b->count, sizeof(*diff->pairs));
	while (i < a->count || j < b->count) {
		int order = i == a->count   ? 1
			    : j == b->count ? -1
					    : by_identity(&a->list[i], &b->list[j]);

		add_pair(diff, order <= 0 ? &a->list[i] : NULL, order >= 0 ? &b->list[j] : NULL);
		i += order <= 0;
		j += order >= 0;
	}
}

static uint64_t distance(const struct pair *pair)
{
	uint64_t a = calls_of(pair->before), b = calls_of(pair->after);

	return a < b ? b - a : a - b;
}

static const struct ep_counted *either(const struct pair *pair)
{
	return pair->after ? pair->after : pair->before;
}

static int by_distance(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	if (distance(x) != distance(y))
		return distance(x) < distance(y) ? 1 : -1;
	return by_identity_and_place(either(x), either(y));
}

/* ---- printing ------------------------------------------------------------- */

static void print_text(const struct diff *diff, size_t shown)
{
	char a[EP_TIMETEXT_SIZE], b[EP_TIMETEXT_SIZE];

	if (diff->count)
		printf("%s%14s %14s %15s  %s%s\n", ep_color(EP_BOLD), "before", "after",
		       "difference", "function", ep_color(EP_PLAIN));
	for (size_t i = 0; i < shown; i++) {
		const struct pair *pair = &diff->pairs[i];
		bool more = calls_of(pair->after) > calls_of(pair->before);

		printf("%14" PRIu64 " %14" PRIu64 " %c%14" PRIu64 "  %s%s%s  %s%s%s\n",
		       calls_of(pair->before), calls_of(pair->after), more ? '+' : '-',
		       distance(pair), ep_color(EP_CYAN), either(pair)->name, ep_color(EP_PLAIN),
		       ep_color(EP_DIM), ep_shown(either(pair)->module_name), ep_color(EP_PLAIN));
	}
	if (shown < diff->count)
		printf("… %zu more\n", diff->count - shown);
	printf("%s%zu functions differ, %" PRIu64 " do not; %s calls before, %s after\n",
	       diff->count ? "\n" : "", diff->count, diff->equal,
	       ep_counttext(a, diff->sides[0].counts->calls),
	       ep_counttext(b, diff->sides[1].counts->calls));
}

static void print_csv(const struct diff *diff, size_t shown)
{
	puts("function,symbol,module,before,after");
	for (size_t i = 0; i < shown; i++) {
		const struct pair *pair = &diff->pairs[i];

		ep_csv_field(stdout, either(pair)->name);
		putchar(',');
		ep_csv_field(stdout, either(pair)->symbol);
		putchar(',');
		ep_csv_field(stdout, either(pair)->module_name);
		printf(",%" PRIu64 ",%" PRIu64 "\n", calls_of(pair->before), calls_of(pair->after));
	}
}

static void print_json(const struct diff *diff, size_t shown)
{
	struct ep_json json;

	ep_json_init(&json, stdout);
	ep_json_object(&json);
	ep_json_member_text(&json, "format", "epitaph-counts-diff");
	ep_json_member_uint(&json, "version", 1);
	ep_json_member_uint(&json, "different", diff->count);
	ep_json_member_uint(&json, "equal", diff->equal);
	ep_json_member_array(&json, "functions");
	ep_json_newline(&json);
	for (size_t i = 0; i < shown; i++) {
		const struct pair *pair = &diff->pairs[i];

		ep_json_object(&json);
		ep_json_member_text(&json, "function", either(pair)->name);
		ep_json_member_text(&json, "symbol", either(pair)->symbol);
		ep_json_member_text(&json, "module", either(pair)->module_name);
		ep_json_member_uint(&json, "before", calls_of(pair->before));
		ep_json_member_uint(&json, "after", calls_of(pair->after));
		ep_json_object_end(&json);
		ep_json_newline(&json);
	}
	ep_json_array_end(&json);
	ep_json_object_end(&json);
	ep_json_newline(&json);
	ep_json_finish(&json);
}

/* ---- the command ---------------------------------------------------------- */

static int open_side(struct side *side, const struct ep_arguments *arguments, int which)
{
	int result = ep_counting_load(&side->counts, &arguments->operands[which], 1);

	if (result)
		return result;
	ep_counting_warn(side->counts);
	result = ep_counting_name(&side->functions, side->counts, arguments);
	if (result > EP_EXIT_PARTIAL)
		return result;
	ep_array_sort(&side->functions, by_identity_and_place);
	return 0;
}

static int print(struct diff *diff, const struct ep_table_form *form)
{
	static void (*const prints[])(const struct diff *, size_t) = {
		[EP_LAYOUT_TEXT] = print_text,
		[EP_LAYOUT_CSV] = print_csv,
		[EP_LAYOUT_JSON] = print_json,
	};

	compare_sides(diff);
	qsort(diff->pairs, diff->count, sizeof(*diff->pairs), by_distance);
	prints[form->layout](diff, ep_form_rows(form, diff->count));
	return diff->count ? EP_EXIT_PARTIAL : EP_EXIT_COMPLETE;
}

static int count_diff_run(const struct ep_arguments *arguments)
{
	struct ep_table_form form = {0};
	struct diff diff = {0};
	int result = ep_choose_form(&form, arguments);

	if (result)
		return result;
	for (int i = 0; i < 2 && !result; i++)
		result = open_side(&diff.sides[i], arguments, i);
	if (!result)
		result = print(&diff, &form);
	for (int i = 0; i < 2; i++) {
		ep_functions_deinit(&diff.sides[i].functions);
		ep_counts_destroy(diff.sides[i].counts);
	}
	free(diff.pairs);
	return result;
}

static const struct ep_option options[] = {
	{"limit", 'l', "N", "only the first N"},
	{"csv", 0, NULL, "comma-separated values"},
	{"json", 0, NULL, "JSON"},
	{NULL, 0, NULL, NULL},
};

const struct ep_command ep_command_count_diff = {
	.name = "count diff",
	.operands = "SOURCE SOURCE",
	.operands_min = 2,
	.operands_max = 2,
	.summary = "which functions were called more, or less",
	.example = "count diff before.counts after.counts",
	.description = "Compares the call counts of two runs, or of two merged files, and prints "
		       "the functions whose counts differ, the largest difference first. Builds "
		       "may differ: a function is known by its raw name and its module's base "
		       "name, static functions of one name by their order in the module. Exit "
		       "status 0: no count differs; 1: some do.",
	.options = options,
	.names = true,
	.run = count_diff_run,
};
