/* SPDX-License-Identifier: BSD-2-Clause */
/* stats.c: epitaph stats: a table of functions, for people, CSV and JSON. */
#include "decoder/stats/stats.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/choose.h"
#include "cli/common/commands.h"
#include "cli/common/layout.h"
#include "cli/common/say.h"
#include "cli/common/session.h"
#include "cli/common/terminal.h"
#include "cli/commands/info_sched.h"
#include "cli/commands/stats_waits.h"
#include "decoder/util/json.h"
#include "decoder/kernel/schedule.h"
#include "decoder/names/short_name.h"
#include "decoder/util/fit.h"
#include "decoder/util/timetext.h"

struct table {
	struct ep_session session;
	struct ep_selection selection;
	struct ep_stats stats;
	struct ep_table_form form;
	enum ep_stats_key key;
	bool reverse, by_thread, with_module, waits;
	struct ep_patterns functions; /* of the rows */
	size_t rows;                  /* that fit it: the first of the list */
	bool has_inside;
	unsigned shown; /* a bit for each of `columns` */
};

static const struct {
	const char *word;
	enum ep_stats_key key;
} keys[] = {
	{"self", EP_STATS_SELF},       {"total", EP_STATS_TOTAL},   {"calls", EP_STATS_CALLS},
	{"min", EP_STATS_MIN},         {"median", EP_STATS_MEDIAN}, {"p90", EP_STATS_P90},
	{"p99", EP_STATS_P99},         {"max", EP_STATS_MAX},       {"running", EP_STATS_RUNNING},
	{"waiting", EP_STATS_WAITING}, {"name", EP_STATS_NAME},
};
#define KEYS (sizeof(keys) / sizeof(*keys))

/* The columns of durations. */
static const enum ep_stats_key quantiles[] = {EP_STATS_MIN, EP_STATS_MEDIAN, EP_STATS_P90,
					      EP_STATS_P99, EP_STATS_MAX};
#define QUANTILES (sizeof(quantiles) / sizeof(*quantiles))

#define MODULE_WIDTH 24

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

/* Are some waits not known well enough? */
static bool has_inside(const struct ep_stats *stats)
{
	for (size_t i = 0; i < stats->count; i++)
		if (stats->list[i]->inside)
			return true;
	return false;
}

/* ---- for people ---------------------------------------------------------- */

static void print_thread(const struct table *table, const struct ep_stat *stat)
{
	char text[160];

	if (!table->by_thread)
		return;
	snprintf(text, sizeof(text), "%u %s", stat->thread->tid, stat->thread->name);
	printf("%-22s ", text);
}

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
	printf("%s%s\n", *before == ',' ? ")" : "", ep_color(EP_PLAIN));
}

/* Columns of numbers, as they stand. */
static const struct {
	const char *name;
	int width;     /* with the blank behind it */
	unsigned goes; /* where the terminal is too narrow for all: those with the least first;
			  0 never, nor what the table is sorted by */
	enum ep_stats_key key;
} columns[] = {
	{"calls", 11, 0, EP_STATS_CALLS},     {"timed", 11, 1, EP_STATS_NAME},
	{"total", 13, 5, EP_STATS_TOTAL},     {"self", 13, 0, EP_STATS_SELF},
	{"min", 12, 1, EP_STATS_MIN},         {"median", 12, 3, EP_STATS_MEDIAN},
	{"p90", 12, 1, EP_STATS_P90},         {"p99", 12, 1, EP_STATS_P99},
	{"max", 12, 2, EP_STATS_MAX},         {"on CPU", 13, 4, EP_STATS_RUNNING},
	{"waiting", 13, 0, EP_STATS_WAITING}, {"inside", 13, 2, EP_STATS_NAME},
};
enum { CALLS, TIMED, TOTAL, SELF, MIN, MEDIAN, P90, P99, MAX, ON_CPU, WAITING, INSIDE, COLUMNS };
static_assert(sizeof(columns) / sizeof(*columns) == COLUMNS, "a row each");

/* Columns in front of the function's name. */
static size_t columns_before_name(const struct table *table)
{
	size_t width =
		(table->by_thread ? 23 : 0) + 1 + (table->with_module ? MODULE_WIDTH + 1 : 0);

	for (unsigned i = 0; i < COLUMNS; i++)
		width += table->shown >> i & 1 ? (size_t)columns[i].width : 0;
	return width;
}

#define NAME_LEAST 16u /* columns of it, however narrow the terminal is */

static void choose_columns(struct table *table)
{
	size_t room = ep_terminal_columns();

	table->shown = (1u << COLUMNS) - 1;
	if (!has_schedule(table))
		table->shown &= ~(1u << ON_CPU | 1u << WAITING);
	if (!table->has_inside)
		table->shown &= ~(1u << INSIDE);
	for (unsigned turn = 1; turn <= 5 && room && columns_before_name(table) + NAME_LEAST > room;
	     turn++)
		for (unsigned i = 0; i < COLUMNS; i++)
			if (columns[i].goes == turn &&
			    (columns[i].key != table->key || columns[i].key == EP_STATS_NAME))
				table->shown &= ~(1u << i);
}

static void print_cell(const struct table *table, unsigned column, const char *text)
{
	if (table->shown >> column & 1)
		printf("%*s ", columns[column].width - 1, text);
}

/* On a terminal a name gets what is left of the line. Returns what it leaves, at least 1;
 * EP_FIT_ALL elsewhere. */
static size_t print_name(const struct table *table, const struct ep_stat *stat)
{
	size_t width = ep_terminal_columns(), before = columns_before_name(table);
	size_t room = width > before + NAME_LEAST ? width - before : NAME_LEAST;
	char *said = ep_short_name(stat->function->name);
	char *cut = ep_fit_name(width ? said : stat->function->name, width ? room : EP_FIT_ALL);

	printf("%s%s%s%s", stat->function->span ? "span " : "", ep_color(EP_CYAN), cut,
	       ep_color(EP_PLAIN));
	room = ep_fit_columns(cut) + 1 < room ? room - ep_fit_columns(cut) : 1;
	free(cut);
	free(said);
	return width ? room : EP_FIT_ALL;
}

static void print_row(const struct table *table, const struct ep_stat *stat)
{
	uint64_t timed = stat->durations.count;
	char text[EP_TIMETEXT_SIZE], least[EP_TIMETEXT_SIZE + 1];

	print_thread(table, stat);
	snprintf(text, sizeof(text), "%" PRIu64, stat->calls);
	print_cell(table, CALLS, text);
	snprintf(text, sizeof(text), "%" PRIu64, timed);
	print_cell(table, TIMED, text);
	print_cell(table, TOTAL, ep_timetext(text, stat->total));
	print_cell(table, SELF, stat->function->span ? "-" : ep_timetext(text, stat->self));
	for (unsigned i = 0; i < QUANTILES; i++)
		print_cell(table, MIN + i,
			   timed ? ep_timetext(text, ep_stat_value(stat, quantiles[i])) : "-");
	print_cell(table, ON_CPU, ep_timetext(text, stat->running));
	snprintf(least, sizeof(least), "%s%s", at_least(stat), ep_timetext(text, stat->waiting));
	print_cell(table, WAITING, least);
	print_cell(table, INSIDE, stat->inside ? ep_timetext(text, stat->inside) : "-");
	putchar(' ');
	if (table->with_module)
		printf("%-*s ", MODULE_WIDTH, stat->function->module);
	print_notes(stat, print_name(table, stat));
}

static void __attribute__((format(printf, 1, 2))) print_remark(const char *format, ...)
{
	size_t width = ep_terminal_columns();
	char text[200];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	ep_fit_lines(stdout, text, width ? width : EP_FIT_ALL, 2);
}

static void print_text(const struct table *table)
{
	const struct ep_stats *stats = &table->stats;
	char calls[EP_TIMETEXT_SIZE], timed[EP_TIMETEXT_SIZE];

	printf("%s%s", ep_color(EP_BOLD), table->by_thread ? "thread                 " : "");
	for (unsigned i = 0; i < COLUMNS; i++)
		print_cell(table, i, columns[i].name);
	putchar(' ');
	if (table->with_module)
		printf("%-*s ", MODULE_WIDTH, "module");
	printf("function%s\n", ep_color(EP_PLAIN));
	for (size_t i = 0; i < rows(table); i++)
		print_row(table, stats->list[i]);
	if (rows(table) < table->rows)
		printf("… %zu more\n", table->rows - rows(table));
	putchar('\n');
	print_remark("%s calls; %s of them have exact times at both ends: min to max are theirs.\n",
		     ep_counttext(calls, stats->calls), ep_counttext(timed, stats->timed));
	if (has_unknown(table))
		print_remark(">: at least; scheduling events do not tell of all of the function's "
			     "time.\n");
	if (table->has_inside && table->shown >> INSIDE & 1)
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

/* ---- for programs -------------------------------------------------------- */

static void print_csv(const struct table *table)
{
	printf("%sfunction,module,address,calls,timed,open,before,left,total_ns,self_ns,min_ns,"
	       "median_ns,p90_ns,p99_ns,max_ns,on_cpu_ns,waiting_ns,inside_ns,unknown_ns\n",
	       table->by_thread ? "tid,thread," : "");
	for (size_t i = 0; i < rows(table); i++) {
		const struct ep_stat *stat = table->stats.list[i];

		if (table->by_thread) {
			printf("%u,", stat->thread->tid);
			ep_csv_field(stat->thread->name);
			putchar(',');
		}
		ep_csv_field(stat->function->name);
		putchar(',');
		ep_csv_field(stat->function->span ? "(span)" : stat->function->module);
		printf(",0x%" PRIx64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
		       ",%" PRId64 ",%" PRId64,
		       stat->function->start, stat->calls, stat->durations.count, stat->open,
		       stat->before, stat->left, stat->total, stat->self);
		for (size_t k = 0; k < QUANTILES; k++)
			if (stat->durations.count)
				printf(",%" PRId64, ep_stat_value(stat, quantiles[k]));
			else
				putchar(',');
		if (has_schedule(table))
			printf(",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 "\n", stat->running,
			       stat->waiting, stat->inside, stat->unknown);
		else
			printf(",,,,\n");
	}
}

static void json_quantiles(struct ep_json *json, const struct ep_stat *stat)
{
	static const char *const names[] = {"min_ns", "median_ns", "p90_ns", "p99_ns", "max_ns"};

	for (size_t i = 0; i < QUANTILES; i++) {
		ep_json_key(json, names[i]);
		if (stat->durations.count)
			ep_json_int(json, ep_stat_value(stat, quantiles[i]));
		else
			ep_json_null(json);
	}
}

/* `spent`: it is known on what. */
static void json_row(struct ep_json *json, const struct ep_stat *stat, bool spent)
{
	char address[24];

	ep_json_object(json);
	if (stat->thread) {
		ep_json_member_int(json, "tid", stat->thread->tid);
		ep_json_member_text(json, "thread", stat->thread->name);
	}
	ep_json_member_text(json, "function", stat->function->name);
	ep_json_member_text(json, "module", stat->function->module);
	if (stat->function->span) {
		ep_json_member_text(json, "kind", "span");
	}
	snprintf(address, sizeof(address), "0x%" PRIx64, stat->function->start);
	ep_json_member_text(json, "address", address);
	ep_json_member_int(json, "calls", (int64_t)stat->calls);
	ep_json_member_int(json, "timed", (int64_t)stat->durations.count);
	ep_json_member_int(json, "open", (int64_t)stat->open);
	ep_json_member_int(json, "before", (int64_t)stat->before);
	ep_json_member_int(json, "left", (int64_t)stat->left);
	ep_json_member_int(json, "switched_off", (int64_t)stat->switched);
	ep_json_member_int(json, "total_ns", stat->total);
	ep_json_member_int(json, "self_ns", stat->self);
	json_quantiles(json, stat);
	if (spent) {
		ep_json_member_int(json, "on_cpu_ns", stat->running);
		ep_json_member_int(json, "waiting_ns", stat->waiting);
		ep_json_member_int(json, "inside_ns", stat->inside);
		ep_json_member_int(json, "unknown_ns", stat->unknown);
	}
	ep_json_object_end(json);
	ep_json_newline(json);
}

static void print_json(const struct table *table)
{
	struct ep_json json;

	ep_json_init(&json, stdout);
	ep_json_object(&json);
	ep_json_member_text(&json, "format", "epitaph-stats");
	ep_json_member_int(&json, "version", 1);
	ep_json_member_int(&json, "calls", (int64_t)table->stats.calls);
	ep_json_member_int(&json, "timed", (int64_t)table->stats.timed);
	ep_json_member_int(&json, "gaps", (int64_t)table->stats.gaps);
	if (has_schedule(table))
		ep_json_member_int(&json, "unplaced_ns", table->stats.unplaced);
	ep_json_member_array(&json, "functions");
	ep_json_newline(&json);
	for (size_t i = 0; i < rows(table); i++)
		json_row(&json, table->stats.list[i], has_schedule(table));
	ep_json_array_end(&json);
	ep_json_object_end(&json);
	ep_json_newline(&json);
	/* Why stdout failed is reported once, at the end. */
	ep_json_finish(&json);
}

/* ---- the command --------------------------------------------------------- */

static int choose_key(struct table *table, const char *word)
{
	for (size_t i = 0; word && i < KEYS; i++)
		if (!strcmp(word, keys[i].word)) {
			table->key = keys[i].key;
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
	if (table->form.layout == EP_LAYOUT_TEXT)
		print_text(table);
	else if (table->form.layout == EP_LAYOUT_CSV)
		print_csv(table);
	else
		print_json(table);
	return EP_EXIT_COMPLETE;
}

static int stats_run(const struct ep_arguments *arguments)
{
	struct table table = {0};
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
		"A time that is known within an interval only is placed in order, between the "
		"exact ones around it, for total and self. Min to max are of the calls whose begin "
		"and return have times of their own, counted as timed; up to 64 of them they are "
		"exact, of more the three in the middle are right to 0.4 %. With "
		"EPITAPH_TIMESTAMP_EVERY=1 every call is timed.\n\n"
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
