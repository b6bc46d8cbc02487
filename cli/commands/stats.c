/* SPDX-License-Identifier: BSD-2-Clause */
/* stats.c: epitaph stats: a table of functions, for people, CSV and JSON. */
#include "decoder/stats/stats.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/choose.h"
#include "cli/common/commands.h"
#include "cli/common/grid.h"
#include "cli/common/say.h"
#include "cli/common/session.h"
#include "cli/common/terminal.h"
#include "cli/commands/info_sched.h"
#include "cli/commands/stats_waits.h"
#include "decoder/kernel/schedule.h"
#include "decoder/util/fit.h"
#include "decoder/util/timetext.h"

struct table {
	struct ep_session session;
	struct ep_selection selection;
	struct ep_stats stats;
	struct ep_table_form form;
	enum ep_stats_key key;
	size_t kept; /* its column */
	bool reverse, by_thread, with_module, waits;
	struct ep_patterns functions; /* of the rows */
	size_t rows;                  /* that fit it: the first of the list */
	bool has_inside;
	struct ep_grid out;
};

static size_t rows(const struct table *table)
{
	return ep_form_rows(&table->form, table->rows);
}

/* Whether it is known who ran when. */
static bool has_schedule(const struct table *table)
{
	const struct ep_schedule *schedule = table->session.trace->schedule;

	return schedule && schedule->first < schedule->last;
}

/* A part that counts is not known: ">" in front of the rest. */
static const char *at_least(const struct ep_stat *stat)
{
	return stat->unknown > stat->total / 200 ? ">" : "";
}

static bool has_unknown(const struct table *table)
{
	for (size_t i = 0; i < rows(table); i++)
		if (*at_least(table->stats.list[i]))
			return has_schedule(table);
	return false;
}

static bool has_range(const struct table *table)
{
	for (size_t i = 0; i < rows(table); i++) {
		const struct ep_stat *stat = table->stats.list[i];

		if (!ep_times_agree(stat->total_least, stat->total_most) ||
		    !ep_times_agree(stat->self_least, stat->self_most))
			return true;
	}
	return false;
}

/* Are some waits not known well enough? */
static bool has_inside(const struct ep_stats *stats)
{
	for (size_t i = 0; i < stats->count; i++)
		if (stats->list[i]->inside)
			return true;
	return false;
}

/* ---- columns -------------------------------------------------------------- */

/* Of a duration that some calls have; of what scheduling events tell. */
#define TIMES(key) stat->timed ? EP_NS(ep_stat_value(stat, EP_STATS_##key)) : EP_ABSENT
#define SPENT(ns)  has_schedule(table) ? EP_NS(ns) : EP_ABSENT

#define COLUMNS_LIST(X)                                                                          \
	X(WHO, EP_TEXT(who), .head = "thread", .width = -22)                                     \
	X(TID, stat->thread ? EP_COUNT(stat->thread->tid) : EP_ABSENT, .key = "tid")             \
	X(THREAD, stat->thread ? EP_TEXT(stat->thread->name) : EP_ABSENT, .key = "thread")       \
	X(FUNCTION, EP_TEXT(function->name), .key = "function")                                  \
	X(MODULE, EP_TEXT(function->module), .key = "module", .not_in = EP_LAYOUT_CSV)           \
	X(CSV_MODULE, EP_TEXT(function->span ? "(span)" : function->module), .key = "module",    \
	  .not_in = EP_LAYOUT_JSON)                                                              \
	X(KIND, function->span ? EP_TEXT("span") : EP_ABSENT, .key = "kind",                     \
	  .not_in = EP_LAYOUT_CSV, .optional = true)                                             \
	X(ADDRESS, EP_ADDRESS(function->start), .key = "address")                                \
	X(CALLS, EP_COUNT(stat->calls), .head = "calls", .key = "calls", .width = 10)            \
	X(TIMED, EP_COUNT(stat->timed), .head = "timed", .key = "timed", .width = 10, .drop = 1) \
	X(OPEN, EP_COUNT(stat->open), .key = "open")                                             \
	X(BEFORE, EP_COUNT(stat->before), .key = "before")                                       \
	X(LEFT, EP_COUNT(stat->left), .key = "left")                                             \
	X(SWITCHED, EP_COUNT(stat->switched), .key = "switched_off", .not_in = EP_LAYOUT_CSV)    \
	X(TOTAL, EP_RANGE(stat->total, stat->total_least, stat->total_most), .head = "total",    \
	  .key = "total_ns", .width = 12, .drop = 5)                                             \
	X(SELF, EP_RANGE(stat->self, stat->self_least, stat->self_most), .head = "self",         \
	  .key = "self_ns", .width = 12)                                                         \
	X(TOTAL_LEAST, EP_NS(stat->total_least), .key = "total_least_ns")                        \
	X(TOTAL_MOST, EP_NS(stat->total_most), .key = "total_most_ns")                           \
	X(SELF_LEAST, EP_NS(stat->self_least), .key = "self_least_ns")                           \
	X(SELF_MOST, EP_NS(stat->self_most), .key = "self_most_ns")                              \
	X(MIN, TIMES(MIN), .head = "min", .key = "min_ns", .width = 11, .drop = 1)               \
	X(MEDIAN, TIMES(MEDIAN), .head = "median", .key = "median_ns", .width = 11, .drop = 3)   \
	X(P90, TIMES(P90), .head = "p90", .key = "p90_ns", .width = 11, .drop = 1)               \
	X(P99, TIMES(P99), .head = "p99", .key = "p99_ns", .width = 11, .drop = 1)               \
	X(MAX, TIMES(MAX), .head = "max", .key = "max_ns", .width = 11, .drop = 2)               \
	X(ON_CPU, SPENT(stat->running), .head = "on CPU", .key = "on_cpu_ns", .width = 12,       \
	  .drop = 4, .optional = true)                                                           \
	X(WAITING, SPENT(stat->waiting), .head = "waiting", .key = "waiting_ns", .width = 12,    \
	  .optional = true)                                                                      \
	X(INSIDE, SPENT(stat->inside), .head = "inside", .key = "inside_ns", .width = 12,        \
	  .drop = 2, .optional = true)                                                           \
	X(UNKNOWN, SPENT(stat->unknown), .key = "unknown_ns", .optional = true)                  \
	X(FILE_NAME, EP_TEXT(function->module), .head = "module", .width = -24)                  \
	X(NAME, EP_BEHIND(function->span ? "span " : "", function->name), .head = "function",    \
	  .color = EP_CYAN, .name = true)
EP_COLUMNS(COLUMNS_LIST);

static const struct {
	const char *word;
	enum ep_stats_key key;
	size_t column; /* that stays, however narrow the terminal is */
} keys[] = {
	{"self", EP_STATS_SELF, SELF},
	{"total", EP_STATS_TOTAL, TOTAL},
	{"calls", EP_STATS_CALLS, CALLS},
	{"min", EP_STATS_MIN, MIN},
	{"median", EP_STATS_MEDIAN, MEDIAN},
	{"p90", EP_STATS_P90, P90},
	{"p99", EP_STATS_P99, P99},
	{"max", EP_STATS_MAX, MAX},
	{"running", EP_STATS_RUNNING, ON_CPU},
	{"waiting", EP_STATS_WAITING, WAITING},
	{"name", EP_STATS_NAME, NAME},
};

static void choose_columns(struct table *table)
{
	struct ep_grid *out = &table->out;

	ep_grid_init(out, stdout, table->form.layout, columns, COLUMNS);
	for (size_t i = WHO; i <= THREAD && !table->by_thread; i++)
		ep_grid_hide(out, i);
	if (!table->with_module)
		ep_grid_hide(out, FILE_NAME);
	if (table->form.layout != EP_LAYOUT_TEXT)
		return;
	for (size_t i = ON_CPU; i <= WAITING && !has_schedule(table); i++)
		ep_grid_hide(out, i);
	if (!table->has_inside)
		ep_grid_hide(out, INSIDE);
	ep_grid_fit(out, ep_terminal_columns(), table->kept);
}

/* ---- for people ---------------------------------------------------------- */

/* What a plain count and a name don't say. `room`: columns that are left; EP_FIT_ALL. What does not
 * fit is in the wide table. */
static void print_notes(const struct ep_stat *stat, size_t room)
{
	const struct {
		uint64_t count;
		const char *words;
	} notes[] = {
		{stat->open, "did not return"},
		{stat->before, "began before the history"},
		{stat->left, "left without a return"},
		{stat->switched, "switched off"},
	};
	const char *before = "  (";

	for (size_t i = 0; i < sizeof(notes) / sizeof(*notes); i++)
		if (notes[i].count) {
			char text[64];
			size_t length = (size_t)snprintf(text, sizeof(text), "%s%" PRIu64 " %s",
							 before, notes[i].count, notes[i].words);

			if (room && room <= length)
				break;
			room -= room ? length : 0;
			printf("%s%s", ep_color(EP_DIM), text);
			before = ", ";
		}
	printf("%s%s", *before == ',' ? ")" : "", ep_color(EP_PLAIN));
}

static void print_row(struct table *table, const struct ep_stat *stat)
{
	const struct ep_function *function = stat->function;
	char who[160] = "";
	struct ep_cell cells[COLUMNS] = EP_CELLS(COLUMNS_LIST);

	if (stat->thread)
		snprintf(who, sizeof(who), "%u %s", stat->thread->tid, stat->thread->name);
	cells[SELF].dash = function->span;
	cells[WAITING].before = at_least(stat);
	cells[INSIDE].dash = !stat->inside;
	ep_grid_row_begin(&table->out, cells);
	if (table->form.layout == EP_LAYOUT_TEXT)
		print_notes(stat, ep_grid_room(&table->out));
	ep_grid_row_end(&table->out);
}

static void __attribute__((format(printf, 1, 2))) print_remark(const char *format, ...)
{
	char text[200];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	ep_fit_lines(stdout, text, ep_terminal_columns(), 2);
}

static void print_remarks(const struct table *table)
{
	const struct ep_stats *stats = &table->stats;
	char calls[EP_TIMETEXT_SIZE], timed[EP_TIMETEXT_SIZE];

	if (rows(table) < table->rows)
		printf("… %zu more\n", table->rows - rows(table));
	putchar('\n');
	print_remark("%s calls; %s of them are known to a tenth at least: min to max are theirs.\n",
		     ep_counttext(calls, stats->calls), ep_counttext(timed, stats->timed));
	if (has_range(table))
		print_remark(
			"~: from least to most. Calls without times of their own took longer "
			"or shorter there than they usually do: which of them is not known.\n");
	if (has_unknown(table))
		print_remark(">: at least; scheduling events do not tell of all of the function's "
			     "time.\n");
	if (table->has_inside && !(table->out.hidden >> INSIDE & 1))
		print_remark(
			"inside: of waiting, in the function or in what it called; in which is "
			"not known, as not every call has a time of its own.\n");
	if (stats->unplaced)
		print_remark("Threads were off their CPUs for another %s: in which calls is not "
			     "known.\n",
			     ep_timetext(calls, stats->unplaced));
	if (stats->gaps)
		print_remark("History is missing in %s places; calls in it are not counted.\n",
			     ep_counttext(calls, stats->gaps));
}

static void print_functions(struct table *table)
{
	const struct ep_stats *stats = &table->stats;
	struct ep_json *json = ep_grid_object(&table->out, "epitaph-stats");

	if (json) {
		ep_json_member_uint(json, "calls", stats->calls);
		ep_json_member_uint(json, "timed", stats->timed);
		ep_json_member_uint(json, "gaps", stats->gaps);
		if (has_schedule(table))
			ep_json_member_int(json, "unplaced_ns", stats->unplaced);
	}
	ep_grid_head(&table->out, "functions");
	for (size_t i = 0; i < rows(table); i++)
		print_row(table, stats->list[i]);
	ep_grid_finish(&table->out);
	if (table->form.layout == EP_LAYOUT_TEXT)
		print_remarks(table);
}

/* ---- the command --------------------------------------------------------- */

static int choose_key(struct table *table, const char *word)
{
	for (size_t i = 0; word && i < sizeof(keys) / sizeof(*keys); i++)
		if (!strcmp(word, keys[i].word)) {
			table->key = keys[i].key;
			table->kept = keys[i].column;
			return 0;
		}
	if (!word)
		return 0;
	ep_say("--sort=%s: self, total, calls, min, median, p90, p99, max or name", word);
	return EP_EXIT_USAGE;
}

static int read_arguments(struct table *table, const struct ep_arguments *arguments)
{
	int result = choose_key(table, ep_argument(arguments, "sort"));

	if (!result)
		result = ep_choose_form(&table->form, arguments);
	table->reverse = ep_argument_given(arguments, "reverse");
	table->by_thread = ep_argument_given(arguments, "by-thread");
	table->with_module = ep_argument_given(arguments, "module");
	table->waits = ep_argument_given(arguments, "waits");
	if (!result)
		result = ep_choose(&table->selection, arguments);
	/* All calls count, else a caller's own time would hold its callees'. */
	table->functions = table->selection.functions;
	table->selection.functions.count = 0;
	if (result || !table->selection.last_calls)
		return result;
	ep_say("--last takes a time here (5ms): what are the last calls of a function?");
	return EP_EXIT_USAGE;
}

/* Drops the functions that were not asked for. */
static void choose_rows(struct table *table)
{
	struct ep_stats *stats = &table->stats;
	size_t kept = 0;

	for (size_t i = 0; i < stats->count; i++) {
		struct ep_stat *stat = stats->list[i];

		if (!ep_patterns_match(&table->functions, stat->function->name))
			continue;
		stats->list[i] = stats->list[kept];
		stats->list[kept++] = stat;
	}
	table->rows = kept;
}

/* An exit status. */
static int print_waits(struct table *table)
{
	const struct ep_trace *trace = table->session.trace;
	struct ep_waits waits;
	char why[EP_INFO_WHY];

	if (!has_schedule(table)) {
		ep_say("%s: no scheduling events were recorded: who waited is not known "
		       "(EPITAPH_SCHED); %s",
		       ep_source_name(table->session.source), ep_info_why_no_schedule(why, trace));
		return EP_EXIT_NOTHING;
	}
	ep_waits_create(&waits, trace, table->session.names, &table->selection);
	ep_waits_print(&waits, trace, &table->form, &table->functions);
	ep_waits_deinit(&waits);
	return EP_EXIT_COMPLETE;
}

static int print_table(struct table *table)
{
	ep_stats_create(&table->stats, table->session.trace, table->session.names,
			&table->selection, table->by_thread);
	ep_stats_sort(&table->stats, table->key, table->reverse);
	choose_rows(table);
	table->has_inside = has_inside(&table->stats);
	choose_columns(table);
	if (!table->rows)
		return EP_EXIT_NOTHING;
	print_functions(table);
	return EP_EXIT_COMPLETE;
}

static int stats_run(const struct ep_arguments *arguments)
{
	struct table table = {.kept = SELF};
	int result = read_arguments(&table, arguments), status;

	if (result)
		return result;
	result = ep_session_open(&table.session, arguments, arguments->operands[0], true);
	if (result > EP_EXIT_PARTIAL)
		return result;
	status = table.waits ? print_waits(&table) : print_table(&table);
	result = ep_session_warn(&table.session);
	ep_session_warn_switched(&table.session);
	if (status == EP_EXIT_NOTHING && !table.waits)
		ep_say("%s: no call fits", arguments->operands[0]);
	ep_stats_deinit(&table.stats);
	ep_session_close(&table.session);
	return status ? status : result;
}

static const struct ep_option options[] = {
	{"sort", 's', "KEY",
	 "self (default), total, calls, min, median, p90, p99, max, running, waiting: greatest "
	 "first; name"},
	{"reverse", 'r', NULL, "the other way round"},
	{"limit", 'l', "N", "only the first N"},
	{"by-thread", 0, NULL, "each thread's functions for themselves"},
	{"module", 'm', NULL,
	 "also the file that each function lies in; --csv and --json always have it"},
	{"waits", 'w', NULL, "calls that waited instead: how often, how long, and who ended it"},
	{"csv", 0, NULL, "comma-separated values, times in nanoseconds"},
	{"json", 0, NULL, "JSON, times in nanoseconds"},
	{"function", 'F', "PATTERN",
	 "only functions whose name the shell pattern matches; may be given several times"},
	{"thread", 't', "THREAD",
	 "only this one: its tid, #serial, or a pattern (*, ?) of its name; may be given several "
	 "times"},
	{"last", 'n', "TIME", "only the last TIME (5ms) before the end"},
	{"since", 0, "TIME", EP_CHOOSE_SINCE},
	{"until", 0, "TIME", "up to TIME"},
	{NULL, 0, NULL, NULL},
};

const struct ep_command ep_command_stats = {
	.name = "stats",
	.operands = "SOURCE",
	.operands_min = 1,
	.operands_max = 1,
	.summary = "a table of functions: how often, how long",
	.example = "stats core.4711",
	.description =
		"Prints for each function how often it was called, how long it ran in total (of a "
		"recursion the outermost call counts) and itself, that is, without what it called "
		"that is traced, and how long single calls took: min, median, p90, p99, max.\n\n"
		"A time that is known within an interval only is placed as such calls usually are, "
		"which those tell that have times. Where they took longer or shorter than usual, "
		"it is not known which of them did: where that makes more than a tenth of total or "
		"self, it is a range, as in ~1.2-3.4 ms (JSON and CSV: total_least_ns, "
		"total_most_ns, self_least_ns, self_most_ns; total_ns and self_ns are in it).\n\n"
		"Min to max are of the calls whose duration is known to a tenth, counted as timed. "
		"Of those some lie where every call has a time: they stand for the calls that have "
		"none, so that long calls, which are known more often, do not count for more. Up "
		"to 64 numbers they are exact, of more the three in the middle are right to 0.4 %. "
		"With EPITAPH_TIMESTAMP_EVERY=1 every call is timed.\n\n"
		"Spans (epitaph_mark_begin) have rows of their own, without a self time; in CSV "
		"their module is (span), in JSON their kind is span.\n\n"
		"Calls that did not return, that began before the history or were left by an "
		"exception or longjmp count in calls, total and self with what is known of them, "
		"and are said behind the name. With --since, --until or --last only the time in "
		"that window counts.\n\n"
		"Where scheduling events were recorded (EPITAPH_SCHED), two columns say how much "
		"of the total was spent on a CPU and how much waiting, for anything or for a CPU. "
		"A wait is given to the calls that were open all the while for certain. Where "
		"calls have no times of their own, the innermost of them may not be the one that "
		"waited: a column \"inside\" says how much was in the function or in what it "
		"called, not known which; that is nobody's self time. \">\": at least, as events "
		"do not tell of all of the total (JSON and CSV: unknown_ns).\n\n"
		"--waits lists the calls in which threads waited: the innermost traced call that "
		"was open, and who called it; how often, how long in all, the longest; and who "
		"ended it: a thread, or an interrupt (only ftrace knows). \"somewhere inside\": in "
		"that call or in one that it called.",
	.options = options,
	.names = true,
	.pages = true,
	.run = stats_run,
};
