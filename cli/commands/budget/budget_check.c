/* SPDX-License-Identifier: BSD-2-Clause */
/* budget_check.c: epitaph budget check: the verdict on what tests did. Reads no clock, and nothing
 * but the budget file, the results and the programs' symbols. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/budget/budget.h"
#include "cli/common/commands.h"
#include "cli/common/say.h"
#include "coredump/files/output.h"
#include "coredump/util/alloc.h"

static const char *path_of(const struct ep_arguments *arguments)
{
	return arguments->operand_count ? arguments->operands[0] : EP_BUDGET_FILE;
}

static bool is_wanted(const struct ep_arguments *arguments, const char *name)
{
	const char *wanted[EP_VALUES_MAX];
	size_t count = ep_argument_values(arguments, "test", wanted);

	for (size_t i = 0; i < count; i++)
		if (!strcmp(wanted[i], name))
			return true;
	return count == 0;
}

const char *ep_budget_folder(const struct ep_arguments *arguments)
{
	const char *given = ep_argument(arguments, "results");

	if (!given)
		given = getenv("EPITAPH_BUDGET_RESULTS");
	return given && *given ? given : EP_BUDGET_RESULTS;
}

/* ---- one test ------------------------------------------------------------ */

static void name_functions(struct ep_budget_item *item, const struct ep_names_options *options)
{
	if (!item->called)
		item->called = ep_called_create(item->result.counts, options);
}

/* Calls of the test's unit function, else the units that `budget run` was given; negative: not
 * known. Names the item's functions when it must. */
static double find_units(struct ep_budget_item *item, const struct ep_names_options *options)
{
	const char *unit = item->test->unit;

	if (!unit)
		return item->result.units ? (double)item->result.units : -1;
	name_functions(item, options);
	for (size_t i = 0; i < item->called->group_count; i++) {
		const struct ep_called_group *group = &item->called->groups[i];
		const char *name = item->called->functions[group->first].function->name;

		if (group->known && (!strcmp(group->name, unit) || !strcmp(name, unit)))
			return (double)group->calls;
	}
	return -1;
}

/* Which functions make it too many. */
static void find_offenders(struct ep_budget_item *item, const struct ep_budget *budget,
			   const struct ep_names_options *options)
{
	double runs = (double)item->result.runs;
	double cpu = item->test->reference_cpu > 0 ? item->test->reference_cpu : 1;
	struct ep_exclude_limits limits = {
		.costs = &budget->costs,
		.every = budget->every,
		.seconds = cpu * runs,
		.overhead = INFINITY,
		.calls =
			floor(ep_budget_most_calls(budget, item->test, item->verdict.units) * runs),
	};

	name_functions(item, options);
	ep_exclude(&item->exclusion, item->called, &limits);
}

static void judge(struct ep_budget_item *item, const struct ep_budget *budget,
		  const struct ep_names_options *options)
{
	double units = find_units(item, options);

	ep_budget_judge(&item->verdict, budget, item->test, &item->result, units);
	item->state = item->verdict.exceeded     ? EP_BUDGET_EXCEEDED
		      : item->verdict.incomplete ? EP_BUDGET_INCOMPLETE
						 : EP_BUDGET_GOOD;
	if (item->verdict.exceeded)
		find_offenders(item, budget, options);
}

static void judge_result(struct ep_budget_item *item, const char *folder,
			 const struct ep_budget *budget, const struct ep_names_options *options)
{
	int rc = ep_results_get(folder, item->name, &item->result, &item->err);

	if (rc)
		item->state = rc == EP_END ? EP_BUDGET_NOT_RUN : EP_BUDGET_DAMAGED;
	else if (!item->test)
		item->state = EP_BUDGET_UNKNOWN;
	else
		judge(item, budget, options);
}

/* ---- all tests ----------------------------------------------------------- */

static void add_item(struct ep_budget_items *items, const char *name)
{
	ep_array_push(items, ((struct ep_budget_item){
				     .name = ep_strdup(name),
				     .test = ep_budget_find(items->budget, name),
			     }));
}

static void items_deinit(struct ep_budget_items *items)
{
	for (size_t i = 0; i < items->count; i++) {
		struct ep_budget_item *item = &items->list[i];

		free(item->name);
		ep_exclusion_deinit(&item->exclusion);
		ep_called_destroy(item->called);
		ep_result_deinit(&item->result);
	}
	ep_array_deinit(items);
}

/* Those of the file in its order, then results that it does not know. */
static int gather(struct ep_budget_items *items, const char *folder,
		  const struct ep_arguments *arguments, struct ep_err *err)
{
	const struct ep_budget *budget = items->budget;
	struct ep_results_names names;
	int rc = ep_results_names(folder, &names, err);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < budget->tests.count; i++)
		if (is_wanted(arguments, budget->tests.list[i].name))
			add_item(items, budget->tests.list[i].name);
	for (size_t i = 0; i < names.count; i++)
		if (!ep_budget_find(budget, names.list[i]) && is_wanted(arguments, names.list[i]))
			add_item(items, names.list[i]);
	ep_results_names_deinit(&names);
	return EP_OK;
}

/* Exceeded comes first: that is what is asked. */
static int status_of(const struct ep_budget_items *items)
{
	bool seen[EP_BUDGET_DAMAGED + 1] = {false};

	for (size_t i = 0; i < items->count; i++)
		seen[items->list[i].state] = true;
	if (seen[EP_BUDGET_EXCEEDED])
		return EP_EXIT_EXCEEDED;
	if (seen[EP_BUDGET_DAMAGED])
		return EP_EXIT_UNREADABLE;
	if (!seen[EP_BUDGET_GOOD] && !seen[EP_BUDGET_INCOMPLETE])
		return EP_EXIT_NOTHING;
	return seen[EP_BUDGET_INCOMPLETE] || seen[EP_BUDGET_NOT_RUN] || seen[EP_BUDGET_UNKNOWN]
		       ? EP_EXIT_PARTIAL
		       : EP_EXIT_COMPLETE;
}

static bool is_json(const struct ep_arguments *arguments)
{
	const char *format = ep_argument(arguments, "format");

	return format && !strcmp(format, "json");
}

static int print(const struct ep_budget_items *items, const struct ep_arguments *arguments)
{
	const char *path = ep_argument(arguments, "output");
	struct ep_output file;
	struct ep_err err = {0};
	int rc = ep_output_open_text(&file, path ? path : "-", &err);

	if (!rc) {
		if (is_json(arguments))
			ep_budget_print_json(items, file.file);
		else
			ep_budget_print_text(items, file.file);
		rc = ep_output_commit(&file, &err);
	}
	if (rc)
		ep_say("%s", err.text);
	return rc ? EP_EXIT_UNREADABLE : EP_EXIT_COMPLETE;
}

static void warn_names(const struct ep_budget_items *items)
{
	for (size_t i = 0; i < items->count; i++) {
		const struct ep_called *called = items->list[i].called;

		for (size_t j = 0; called && ep_called_warning(called, j); j++)
			ep_say("%s", ep_called_warning(called, j));
	}
}

/* Tests that --test names, and that are neither in the file nor have a result. */
static bool names_missing(const struct ep_budget_items *items, const struct ep_arguments *arguments)
{
	const char *wanted[EP_VALUES_MAX];
	size_t count = ep_argument_values(arguments, "test", wanted), at;
	bool missing = false;

	for (size_t i = 0; i < count; i++) {
		for (at = 0; at < items->count; at++)
			if (!strcmp(items->list[at].name, wanted[i]))
				break;
		if (at < items->count)
			continue;
		ep_say("%s: no test %s", items->path, wanted[i]);
		missing = true;
	}
	return missing;
}

static int check(const struct ep_arguments *arguments, const struct ep_budget *budget,
		 const struct ep_names_options *options)
{
	const char *folder = ep_budget_folder(arguments);
	struct ep_budget_items items = {.budget = budget, .path = path_of(arguments)};
	struct ep_err err = {0};
	int result = EP_EXIT_UNREADABLE;

	if (gather(&items, folder, arguments, &err)) {
		ep_say("%s", err.text);
	} else if (names_missing(&items, arguments)) {
		result = EP_EXIT_NOTHING;
	} else if (!items.count) {
		ep_say("%s: no tests; epitaph budget run --test NAME -- COMMAND runs one",
		       items.path);
		result = EP_EXIT_NOTHING;
	} else {
		for (size_t i = 0; i < items.count; i++)
			judge_result(&items.list[i], folder, budget, options);
		result = print(&items, arguments);
		warn_names(&items);
		result = result ? result : status_of(&items);
	}
	items_deinit(&items);
	return result;
}

static int budget_check_run(const struct ep_arguments *arguments)
{
	const char *format = ep_argument(arguments, "format");
	struct ep_session naming = {0};
	struct ep_budget budget;
	struct ep_err err = {0};
	int result = ep_session_naming(&naming, arguments), rc;

	if (result)
		return result;
	if (format && strcmp(format, "text") != 0 && strcmp(format, "json") != 0) {
		ep_say("--format=%s: text or json", format);
		return EP_EXIT_USAGE;
	}
	rc = ep_budget_read(&budget, path_of(arguments), &err);
	if (rc < 0) {
		ep_say("%s", err.text);
		return EP_EXIT_UNREADABLE;
	}
	if (rc == EP_END)
		ep_say("%s: not there", path_of(arguments));
	result = check(arguments, &budget, &naming.naming);
	ep_budget_deinit(&budget);
	return result;
}

static const struct ep_option options[] = {
	{"results", 'r', "DIR",
	 "the folder that budget run filled (epitaph-results, or $EPITAPH_BUDGET_RESULTS)"},
	{"test", 't', "NAME", "only this one; may be given several times"},
	{"format", 'f', "FORMAT", "text (default) or json"},
	{"output", 'o', "FILE", "write to FILE"},
	{NULL, 0, NULL, NULL},
};

const struct ep_command ep_command_budget_check = {
	.name = "budget check",
	.operands = "[FILE]",
	.operands_max = 1,
	.summary = "check tests against their limits; status 4 when one is exceeded",
	.example = "budget check",
	.description =
		"Compares what tests did under epitaph budget run with the limits of a budget file "
		"(epitaph.budget): calls per run or per unit of work, predicted overhead, seconds "
		"of history per MiB of ring, each with a tolerance. The prediction is made of the "
		"counts, the costs and the CPU time that the file holds: no clock is read, and the "
		"same counts come to the same verdict everywhere.\n\n"
		"Of a test that exceeds a limit the functions with the most calls are printed, and "
		"those whose exclusion would meet it. Of a test that is not in the file the lines "
		"are printed that would add it.\n\n"
		"Exits with status 4 when a limit is exceeded; 1 when none is, but tests were not "
		"run, are not in the file, or counts are incomplete; 2 when there is nothing to "
		"check. docs/overhead.md has the file's format.",
	.options = options,
	.names = true,
	.run = budget_check_run,
};
