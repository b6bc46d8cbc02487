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
#include "coredump/util/alloc.h"
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

#define COLUMNS_LIST(X)                                                             \
	X(FUNCTION, EP_TEXT(one->name), .key = "function")                          \
	X(SYMBOL, EP_TEXT(one->symbol), .key = "symbol")                            \
	X(MODULE, EP_TEXT(one->module_name), .key = "module")                       \
	X(BEFORE, EP_COUNT(before), .head = "before", .key = "before", .width = 14) \
	X(AFTER, EP_COUNT(after), .head = "after", .key = "after", .width = 14)     \
	X(DIFFERENCE, EP_TEXT(difference), .head = "difference", .width = 15)       \
	X(NAME, EP_TEXT(one->name), .head = "function", .color = EP_CYAN)           \
	X(MODULE_NAME, EP_BEHIND(" ", ep_shown(one->module_name)), .head = "", .color = EP_DIM)
EP_COLUMNS(COLUMNS_LIST);

static void print_pair(struct ep_grid *grid, const struct pair *pair)
{
	const struct ep_counted *one = either(pair);
	uint64_t before = calls_of(pair->before), after = calls_of(pair->after);
	char difference[24];
	const struct ep_cell cells[COLUMNS] = EP_CELLS(COLUMNS_LIST);

	snprintf(difference, sizeof(difference), "%c%14" PRIu64, after > before ? '+' : '-',
		 distance(pair));
	ep_grid_row_begin(grid, cells);
	ep_grid_row_end(grid);
}

static void print_end(const struct diff *diff, size_t shown)
{
	char a[EP_TIMETEXT_SIZE], b[EP_TIMETEXT_SIZE];

	if (shown < diff->count)
		printf("… %zu more\n", diff->count - shown);
	printf("%s%zu functions differ, %" PRIu64 " do not; %s calls before, %s after\n",
	       diff->count ? "\n" : "", diff->count, diff->equal,
	       ep_counttext(a, diff->sides[0].counts->calls),
	       ep_counttext(b, diff->sides[1].counts->calls));
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
	struct ep_grid grid;
	struct ep_json *json;
	size_t shown;

	compare_sides(diff);
	qsort(diff->pairs, diff->count, sizeof(*diff->pairs), by_distance);
	shown = ep_form_rows(form, diff->count);
	ep_grid_init(&grid, stdout, form->layout, columns, COLUMNS);
	json = ep_grid_object(&grid, "epitaph-counts-diff");
	if (json) {
		ep_json_member_uint(json, "different", diff->count);
		ep_json_member_uint(json, "equal", diff->equal);
	}
	if (diff->count || form->layout != EP_LAYOUT_TEXT)
		ep_grid_head(&grid, "functions");
	for (size_t i = 0; i < shown; i++)
		print_pair(&grid, &diff->pairs[i]);
	ep_grid_finish(&grid);
	if (form->layout == EP_LAYOUT_TEXT)
		print_end(diff, shown);
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
