/* SPDX-License-Identifier: BSD-2-Clause */
/* exclude.c: epitaph exclude: which functions not to trace, so that tracing costs no more, or goes
 * back as far, as it should. */
#include "cli/commands/count/exclude.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/commands.h"
#include "cli/common/budget_options.h"
#include "cli/common/counting.h"
#include "cli/common/say.h"
#include "cli/common/session.h"
#include "coredump/util/number.h"
#include "coredump/util/alloc.h"
#include "decoder/stats/stats.h"
#include "decoder/util/timetext.h"
#include "coredump/files/output.h"
#include "runtime/settings/settings_list.h"

#define MIB 1048576.0

struct work {
	const struct ep_arguments *arguments;
	struct ep_session naming; /* no source: options only */
	struct ep_counts *counts;
	struct ep_called *called;
	struct ep_costs costs;
	struct ep_list keep;
	struct ep_exclude_times *times;
	struct ep_exclude_limits limits;
	struct ep_exclusion exclusion;
	uint64_t ring;
	char words[128];
	int status;
};

static int refuse(const char *option, const char *value, const char *takes)
{
	ep_say("--%s=%s: %s", option, value, takes);
	return EP_EXIT_USAGE;
}

/* ---- the limits ---------------------------------------------------------- */

static int parse_limits(struct work *work)
{
	const char *budget = ep_argument(work->arguments, "budget");
	const char *history = ep_argument(work->arguments, "history");
	const char *ring = ep_argument(work->arguments, "ring");
	int64_t ns = 0;

	work->limits.overhead = work->limits.calls = INFINITY;
	work->ring = EP_RING_DEFAULT;
	if (!budget && !history) {
		ep_say("exclude: --budget=2%% or --history=1s says what is wanted");
		return EP_EXIT_USAGE;
	}
	if (budget && !ep_percent_parse(budget, &work->limits.overhead))
		return refuse("budget", budget, "a percentage: 2%");
	if (history && (!ep_timetext_parse(history, &ns) || ns <= 0))
		return refuse("history", history, "a time: 500ms, 1s");
	if (ring && !ep_size_parse(ring, &work->ring))
		return refuse("ring", ring, "a size: 256K, 1M");
	work->limits.history = (double)ns / 1e9 / ((double)work->ring / MIB);
	snprintf(work->words, sizeof(work->words), "%s%s%s%s%s", budget ? "--budget=" : "",
		 budget ? budget : "", budget && history ? " " : "", history ? "--history=" : "",
		 history ? history : "");
	return 0;
}

static int parse_timing(struct work *work)
{
	const char *every = ep_argument(work->arguments, "timestamp-every");
	const char *format = ep_argument(work->arguments, "format");

	if (every && !ep_cost_every_parse(every, &work->limits.every))
		return refuse("timestamp-every", every, "auto, 1, 2, 4, 8, 16, 32 or 64");
	if (format && !ep_exclude_format(format))
		return refuse("format", format, "list, gcc, source or json");
	return 0;
}

/* A file that is there is a list; anything else a name or a pattern. */
static int parse_keep(struct work *work)
{
	for (size_t i = 0; i < work->arguments->given_count; i++) {
		const struct ep_given *given = &work->arguments->given[i];
		struct ep_err err = {0};
		int rc;

		if (strcmp(given->option->name, "keep") != 0)
			continue;
		if (access(given->value, F_OK) == 0)
			rc = ep_list_read(&work->keep, given->value, &err);
		else
			rc = ep_list_add(&work->keep, "--keep", given->value, strlen(given->value),
					 &err);
		if (rc) {
			ep_say("%s", err.text);
			return EP_EXIT_UNREADABLE;
		}
	}
	work->limits.keep = &work->keep;
	return 0;
}

static int parse_seconds(struct work *work)
{
	const char *text = ep_argument(work->arguments, "cpu-seconds");
	char *end = NULL;

	work->limits.seconds = ep_untraced_seconds(work->counts, &work->costs);
	if (text) {
		work->limits.seconds = strtod(text, &end);
		if (end == text || *end || !(work->limits.seconds > 0) ||
		    !isfinite(work->limits.seconds))
			return refuse("cpu-seconds", text, "seconds of CPU time: 1.25");
	}
	if (work->limits.seconds > 0)
		return 0;
	ep_say("the counts do not hold how much CPU time the run took: give --cpu-seconds");
	return EP_EXIT_USAGE;
}

/* ---- counts, names, times ------------------------------------------------ */

static int load(struct work *work)
{
	const struct ep_arguments *arguments = work->arguments;
	int result = ep_counting_load(&work->counts, arguments->operands, arguments->operand_count);

	if (result)
		return result;
	work->status = ep_counting_warn(work->counts);
	work->called = ep_called_create(work->counts, &work->naming.naming);
	for (size_t i = 0; ep_called_warning(work->called, i); i++)
		ep_say("%s", ep_called_warning(work->called, i));
	if (ep_called_incomplete(work->called))
		work->status = EP_EXIT_PARTIAL;
	if (work->called->calls)
		return 0;
	ep_say("%s: no calls were counted", arguments->operands[0]);
	return EP_EXIT_NOTHING;
}

/* The group of a function of the trace, by name. */
static struct ep_exclude_times *times_of(struct work *work, const char *symbol)
{
	size_t length = ep_symbol_stem(symbol);

	for (size_t i = 0; i < work->called->group_count; i++) {
		const char *name = work->called->groups[i].name;

		if (!strncmp(name, symbol, length) && !name[length])
			return &work->times[i];
	}
	return NULL;
}

static void add_stats(struct work *work, const struct ep_stats *stats)
{
	for (size_t i = 0; i < stats->count; i++) {
		const struct ep_stat *stat = stats->list[i];
		struct ep_exclude_times *times =
			stat->function->known ? times_of(work, stat->function->symbol) : NULL;

		if (!times)
			continue;
		times->leaf = stat->total == stat->self && !stat->open;
		if (stat->timed)
			times->median = stat->median;
	}
}

static int read_times(struct work *work)
{
	const char *name = ep_argument(work->arguments, "trace");
	struct ep_session session;
	struct ep_stats stats;
	int result;

	if (!name)
		return 0;
	work->times = ep_calloc(work->called->group_count, sizeof(*work->times));
	for (size_t i = 0; i < work->called->group_count; i++)
		work->times[i].median = -1;
	result = ep_session_open(&session, work->arguments, name, true);
	if (result > EP_EXIT_PARTIAL)
		return result;
	ep_stats_create(&stats, session.trace, session.names, NULL, false);
	add_stats(work, &stats);
	ep_stats_deinit(&stats);
	ep_session_close(&session);
	work->limits.times = work->times;
	return 0;
}

/* ---- what comes of it ---------------------------------------------------- */

/* What is in the way of limits that cannot be met. */
static int report_unmet(const struct work *work)
{
	const struct ep_exclusion *chosen = &work->exclusion;
	char overhead[EP_PERCENT_SIZE], history[EP_TIMETEXT_SIZE];
	char kept[EP_TIMETEXT_SIZE], unknown[EP_TIMETEXT_SIZE];

	ep_say("%s cannot be met: with all functions excluded that may be, %s remain and the ring "
	       "holds %s. %s calls are of functions that --keep names, %s of functions without a "
	       "name",
	       work->words, ep_percent_text(overhead, chosen->after.overhead),
	       ep_seconds_text(history, chosen->after.history * (double)work->ring / MIB),
	       ep_counttext(kept, chosen->kept_calls),
	       ep_counttext(unknown, chosen->unknown_calls));
	return EP_EXIT_PARTIAL;
}

static void warn_unmatched(const struct work *work)
{
	size_t unmatched = 0;
	const char *first = NULL;

	for (size_t i = 0; i < work->keep.patterns.count; i++)
		if (!work->keep.patterns.list[i].matched) {
			first = first ? first : work->keep.patterns.list[i].text;
			unmatched++;
		}
	if (unmatched)
		ep_say("--keep: %zu names or patterns match no function that was called: %s%s",
		       unmatched, first, unmatched > 1 ? ", …" : "");
}

static int print(const struct work *work)
{
	const char *path = ep_argument(work->arguments, "output");
	const char *format = ep_argument(work->arguments, "format");
	struct ep_exclude_result result = {work->called, &work->exclusion, &work->limits,
					   work->words, work->ring};
	struct ep_output file;
	struct ep_err err = {0};
	int rc = ep_output_open_text(&file, path ? path : "-", &err);

	if (!rc) {
		ep_exclude_print(&result, format ? format : "list", file.file);
		rc = ep_output_commit(&file, &err);
	}
	if (rc)
		ep_say("%s", err.text);
	return rc ? EP_EXIT_UNREADABLE : EP_EXIT_COMPLETE;
}

static int work_out(struct work *work)
{
	int result;

	ep_exclude(&work->exclusion, work->called, &work->limits);
	result = print(work);
	warn_unmatched(work);
	return result || work->exclusion.met ? result : report_unmet(work);
}

static int exclude_run(const struct ep_arguments *arguments)
{
	struct work work = {.arguments = arguments};
	const char *program = ep_argument(arguments, "check");
	int result;

	if (program && arguments->given_count > 1) {
		ep_say("exclude: --check takes lists and no other option");
		return EP_EXIT_USAGE;
	}
	if (program)
		return ep_exclude_check(program, arguments);
	result = parse_limits(&work);
	if (!result)
		result = parse_timing(&work);
	if (!result)
		result = ep_session_naming(&work.naming, arguments);
	if (!result)
		result = parse_keep(&work);
	if (!result)
		result = ep_budget_costs(&work.costs, arguments);
	work.limits.costs = &work.costs;
	if (!result)
		result = load(&work);
	if (!result) {
		ep_costs_widen(&work.costs, ep_called_code(work.called));
		result = parse_seconds(&work);
	}
	if (!result)
		result = read_times(&work);
	if (!result)
		result = work_out(&work);
	ep_exclusion_deinit(&work.exclusion);
	free(work.times);
	ep_list_deinit(&work.keep);
	ep_called_destroy(work.called);
	ep_counts_destroy(work.counts);
	return result ? result : work.status;
}

static const struct ep_option options[] = {
	{"budget", 'b', "PERCENT", "tracing may cost this much CPU time over the untraced run: 2%"},
	{"history", 0, "TIME", "a thread's ring goes back this far: 1s"},
	{"ring", 0, "SIZE", "of this size (1M, as EPITAPH_RING=auto begins with)"},
	{"keep", 'k', "FILE|PATTERN",
	 "never exclude these: a list in a file, or names and patterns; may be given several "
	 "times"},
	{"trace", 0, "SOURCE",
	 "take durations from a trace: leaves and short functions go first among equals"},
	{"costs", 0, "FILE", "what epitaph calibrate -o FILE wrote"},
	{"cpu-seconds", 0, "S",
	 "CPU time of the run without tracing; default: as counted, less what counting took"},
	{"timestamp-every", 0, "N", "the program runs with EPITAPH_TIMESTAMP_EVERY=N (auto)"},
	{"format", 'f', "FORMAT",
	 "list (for epitaph-cc -epitaph-no-trace=FILE), gcc "
	 "(-finstrument-functions-exclude-function-list), source (file:line, where the functions "
	 "begin that NOFUNTRACE goes before) or json"},
	{"output", 'o', "FILE", "write to FILE"},
	{"check", 0, "PROGRAM",
	 "only warn of names that are no function's of PROGRAM; the operands are lists (epitaph-cc "
	 "does it at a link)"},
	{NULL, 0, NULL, NULL},
};

const struct ep_command ep_command_exclude = {
	.name = "exclude",
	.operands = "COUNTS...",
	.operands_min = 1,
	.operands_max = 1 << 20,
	.summary = "which functions not to trace, for a budget or a history",
	.example = "exclude --budget=5% --costs=costs -o no-trace.list server.counts",
	.description =
		"Reads the counts that a program built with epitaph-cc wrote under "
		"EPITAPH_MODE=count (of several runs: their sum), and prints the fewest functions "
		"whose exclusion keeps the cost of tracing below --budget, makes the ring go back "
		"as far as --history, or both; with the prediction before and after.\n\n"
		"Overhead is calls times the cost of a call, which epitaph calibrate measures, "
		"over the CPU time of the run without tracing. Clones and parts that the compiler "
		"made of a function, and static functions of one name, go together: a list cannot "
		"tell them apart.\n\n"
		"gcc looks for the words of its own list anywhere in a name: where one is part of "
		"other called functions' names, that is printed. Exits with status 1 when that "
		"cannot be met; what can be done is printed all the same, and what bounds it.",
	.options = options,
	.names = true,
	.run = exclude_run,
};
