/* SPDX-License-Identifier: BSD-2-Clause */
/* count_report.c: functions by how often they were called. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/choose.h"
#include "cli/common/commands.h"
#include "cli/common/counting.h"
#include "cli/common/grid.h"
#include "coredump/util/hex.h"
#include "decoder/util/timetext.h"

struct table {
	struct ep_counts *counts;
	struct ep_functions functions;
	int (*order)(const void *a, const void *b);
	bool reverse;
	struct ep_patterns wanted, modules; /* functions of these modules */
	struct ep_table_form form;
};

/* ---- rows ----------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
	const struct ep_counted *x = a, *y = b;
	int order = strcmp(x->module->path, y->module->path);

	if (order)
		return order;
	return x->address < y->address ? -1 : x->address > y->address;
}

static int by_name(const void *a, const void *b)
{
	const struct ep_counted *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : by_place(a, b);
}

/* Greatest first, as stats does. */
#define BY(field)                                            \
	static int by_##field(const void *a, const void *b)  \
	{                                                    \
		const struct ep_counted *x = a, *y = b;      \
                                                             \
		if (x->field != y->field)                    \
			return x->field < y->field ? 1 : -1; \
		return by_name(a, b);                        \
	}

BY(calls)
BY(size)
BY(instructions)
BY(loops)

static const struct {
	const char *word;
	int (*order)(const void *a, const void *b);
} keys[] = {
	{"calls", by_calls}, {"size", by_size}, {"instructions", by_instructions},
	{"loops", by_loops}, {"name", by_name}, {"address", by_place},
};

static void sort(struct table *table)
{
	struct ep_counted *list = table->functions.list;
	size_t count = table->functions.count;

	if (count)
		qsort(list, count, sizeof(*list), table->order);
	for (size_t i = 0; table->reverse && i < count / 2; i++) {
		struct ep_counted one = list[i];

		list[i] = list[count - 1 - i];
		list[count - 1 - i] = one;
	}
}

static bool wanted(const struct table *table, const struct ep_counted *one)
{
	return (ep_patterns_match(&table->wanted, one->name) ||
		ep_patterns_match(&table->wanted, one->symbol)) &&
	       ep_patterns_match(&table->modules, one->module_name);
}

/* The wanted ones come first; how many. */
static size_t choose(struct table *table)
{
	struct ep_counted *list = table->functions.list;
	size_t kept = 0;

	for (size_t i = 0; i < table->functions.count; i++) {
		struct ep_counted one = list[i];

		if (!wanted(table, &one))
			continue;
		list[i] = list[kept];
		list[kept++] = one;
	}
	return kept;
}

/* ---- columns -------------------------------------------------------------- */

#define KNOWN(is, value) (is) ? EP_COUNT(value) : EP_ABSENT
#define COLUMNS_LIST(X)                                                                           \
	X(FUNCTION, EP_TEXT(one->name), .key = "function")                                        \
	X(SYMBOL, EP_TEXT(one->symbol), .key = "symbol")                                          \
	X(CALLS, EP_COUNT(one->calls), .head = "calls", .key = "calls", .width = 14)              \
	X(BYTES, KNOWN(one->size, one->size), .head = "bytes", .key = "bytes", .width = 8)        \
	X(INSTRUCTIONS, KNOWN(one->instructions, one->instructions), .head = "instr",             \
	  .key = "instructions", .width = 8)                                                      \
	X(LOOPS, KNOWN(one->instructions, one->loops), .head = "loops", .key = "loops",           \
	  .width = 8)                                                                             \
	X(MODULE, EP_TEXT(one->module->path), .key = "module")                                    \
	X(BUILD_ID, EP_WORD(id), .key = "build_id")                                               \
	X(ADDRESS, EP_ADDRESS(one->address), .key = "address")                                    \
	X(FILE_NAME, one->file ? EP_TEXT(one->file) : EP_ABSENT, .key = "file", .optional = true) \
	X(LINE, KNOWN(one->file, one->line), .key = "line", .optional = true)                     \
	X(NAME, EP_TEXT(one->name), .head = "function", .color = EP_CYAN)
EP_COLUMNS(COLUMNS_LIST);

static void print_row(struct ep_grid *grid, const struct ep_counted *one)
{
	char id[2 * EP_BUILD_ID_MAX + 1];
	const struct ep_cell cells[COLUMNS] = EP_CELLS(COLUMNS_LIST);

	ep_hex(id, one->module->build_id, one->module->build_id_size);
	ep_grid_row_begin(grid, cells);
	if (grid->layout == EP_LAYOUT_TEXT) {
		printf("  %s%s", ep_color(EP_DIM), ep_shown(one->module_name));
		if (one->file)
			printf("  %s:%u", one->file, one->line);
		fputs(ep_color(EP_PLAIN), stdout);
	}
	ep_grid_row_end(grid);
}

static void print_total(const struct table *table, size_t rows, size_t shown)
{
	const struct ep_counts *counts = table->counts;
	uint64_t duration = ep_counts_duration(counts);
	uint64_t memory = ep_counts_memory(counts);
	char text[EP_TIMETEXT_SIZE];
	uint64_t calls = 0;

	if (shown < rows)
		printf("… %zu more\n", rows - shown);
	for (size_t i = 0; i < rows; i++)
		calls += table->functions.list[i].calls;
	printf("\n%s calls", ep_counttext(text, calls));
	printf(" of %zu functions", rows);
	if (counts->runs.count == 1)
		printf(", counted by pid %u", counts->runs.list[0].pid);
	else
		printf(", counted by %zu processes", counts->runs.count);
	if (duration)
		printf(" in %s", ep_timetext(text, (int64_t)duration));
	if (memory)
		printf(", with %s KiB of memory", ep_counttext(text, memory / 1024));
	printf("\n");
}

static void json_run(struct ep_json *json, const struct ep_counts_run *run)
{
	ep_json_object(json);
	ep_json_member_text(json, "program", run->program);
	ep_json_member_text(json, "host", run->host);
	ep_json_member_uint(json, "pid", run->pid);
	ep_json_member_uint(json, "start_ns", run->start);
	ep_json_member_uint(json, "duration_ns", run->duration);
	ep_json_member_uint(json, "cpu_ns", run->cpu);
	ep_json_member_uint(json, "threads", run->threads);
	ep_json_member_uint(json, "memory_bytes", run->memory);
	ep_json_member_uint(json, "lost", run->lost);
	ep_json_member_text(json, "incomplete", run->incomplete);
	ep_json_object_end(json);
	ep_json_newline(json);
}

static void print_functions(const struct table *table, size_t rows, size_t shown)
{
	const struct ep_counts *counts = table->counts;
	struct ep_grid grid;
	struct ep_json *json;

	ep_grid_init(&grid, stdout, table->form.layout, columns, COLUMNS);
	json = ep_grid_object(&grid, "epitaph-counts");
	if (json) {
		ep_json_member_uint(json, "calls", counts->calls);
		ep_json_member_bool(json, "complete", !ep_counts_incomplete(counts));
		ep_json_member_array(json, "runs");
		ep_json_newline(json);
		for (size_t i = 0; i < counts->runs.count; i++)
			json_run(json, &counts->runs.list[i]);
		ep_json_array_end(json);
	}
	ep_grid_head(&grid, "functions");
	for (size_t i = 0; i < shown; i++)
		print_row(&grid, &table->functions.list[i]);
	ep_grid_finish(&grid);
	if (table->form.layout == EP_LAYOUT_TEXT)
		print_total(table, rows, shown);
}

/* ---- the command ---------------------------------------------------------- */

static int choose_key(struct table *table, const char *word)
{
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (!word || !strcmp(word, keys[i].word)) {
			table->order = keys[i].order;
			return 0;
		}
	ep_say("--sort=%s: calls, size, instructions, loops, name or address", word);
	return EP_EXIT_USAGE;
}

static int parse_arguments(struct table *table, const struct ep_arguments *arguments)
{
	int result = choose_key(table, ep_argument(arguments, "sort"));

	if (!result)
		result = ep_choose_form(&table->form, arguments);
	table->reverse = ep_argument_given(arguments, "reverse");
	ep_choose_patterns(&table->wanted, arguments, "function");
	ep_choose_patterns(&table->modules, arguments, "module");
	return result;
}

/* An exit status. */
static int print(struct table *table)
{
	size_t rows, shown;

	sort(table);
	rows = choose(table);
	shown = ep_form_rows(&table->form, rows);
	if (!rows) {
		ep_say("no call was counted that fits");
		return EP_EXIT_NOTHING;
	}
	print_functions(table, rows, shown);
	return EP_EXIT_COMPLETE;
}

static int count_report_run(const struct ep_arguments *arguments)
{
	struct table table = {0};
	int result = parse_arguments(&table, arguments), status, named;

	if (result)
		return result;
	result = ep_counting_load(&table.counts, arguments->operands, arguments->operand_count);
	if (result)
		return result;
	result = ep_counting_warn(table.counts);
	named = ep_counting_name(&table.functions, table.counts, arguments);
	status = named > EP_EXIT_PARTIAL ? named : print(&table);
	ep_functions_deinit(&table.functions);
	ep_counts_destroy(table.counts);
	if (status)
		return status;
	return result ? result : named;
}

static const struct ep_option options[] = {
	{"sort", 's', "KEY",
	 "calls (default), size, instructions, loops: greatest first; name, address"},
	{"reverse", 'r', NULL, "the other way round"},
	{"limit", 'l', "N", "only the first N"},
	{"function", 'F', "PATTERN",
	 "only functions whose name, or raw name, the shell pattern matches; may be given several "
	 "times"},
	{"module", 'm', "PATTERN",
	 "only functions of modules whose base name the pattern matches; may be given several "
	 "times"},
	{"csv", 0, NULL, "comma-separated values, with raw names too"},
	{"json", 0, NULL, "JSON, with raw names and who counted"},
	{NULL, 0, NULL, NULL},
};

const struct ep_command ep_command_count_report = {
	.name = "count report",
	.operands = "SOURCE...",
	.operands_min = 1,
	.operands_max = INT_MAX,
	.summary = "how often each function was called",
	.example = "count report server.counts",
	.description = "Prints how often each function was called in a process that ran with "
		       "EPITAPH_MODE=count: how large it is, in bytes and in instructions, how "
		       "many loops it has (places that its code jumps back to), its module, and "
		       "where it is in the source. The counts are exact: every call that would "
		       "have been traced, from the first constructor on.\n\n"
		       "SOURCE may also be the file that the process wrote at its end "
		       "(EPITAPH_OUTPUT, else epitaph.PID.counts), or one of `epitaph count "
		       "merge`. Several are added up, module by module: a module is known by its "
		       "build-id, wherever it lay. What a process could not count, for lack of "
		       "memory, is reported, and the exit status is 1.",
	.options = options,
	.names = true,
	.run = count_report_run,
};
