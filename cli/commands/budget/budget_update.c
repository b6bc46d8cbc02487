/* SPDX-License-Identifier: BSD-2-Clause */
/* budget_update.c: epitaph budget update: what tests did becomes the reference in the budget file;
 * everything that people wrote into it stays. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands/budget/budget.h"
#include "cli/common/commands.h"
#include "cli/common/budget_options.h"
#include "cli/common/say.h"
#include "decoder/util/timetext.h"
#include "coredump/files/output.h"

struct update {
	const struct ep_arguments *arguments;
	const struct ep_names_options *options;
	struct ep_budget budget;
	size_t updated;
};

static int failed(const struct ep_err *err)
{
	ep_say("%s", err->text);
	return err->code == EP_E_USAGE ? EP_EXIT_USAGE : EP_EXIT_UNREADABLE;
}

/* ---- costs --------------------------------------------------------------- */

/* Those of --costs; else the file's own stay; else another machine's, told. */
static int take_costs(struct update *update)
{
	struct ep_budget *budget = &update->budget;
	struct ep_err err = {0};
	int result;

	if (budget->has_costs && !ep_argument_given(update->arguments, "costs"))
		return 0;
	result = ep_goal_costs(&budget->costs, update->arguments, NULL);
	if (!result && ep_costs_put(&budget->costs, &budget->sheet, &err))
		result = failed(&err);
	return result;
}

/* ---- tests --------------------------------------------------------------- */

static void tell(const struct ep_result *result, double seconds)
{
	char calls[EP_TIMETEXT_SIZE], took[EP_TIMETEXT_SIZE];

	printf("%s: %s calls, %s of CPU time\n", result->name,
	       ep_counttext(calls, result->counts->calls / result->runs),
	       seconds > 0 ? ep_timetext(took, (int64_t)(seconds * 1e9 / (double)result->runs))
			   : "an unknown amount");
}

static int put_result(struct update *update, struct ep_budget_item *item)
{
	double units, seconds = ep_goal_seconds(item->result.counts, &update->budget.costs);
	struct ep_err err = {0};

	if (ep_budget_units(&units, item, update->options))
		return failed(&item->err);
	if (ep_counts_incomplete(item->result.counts) || item->result.lost)
		ep_say("%s: its counts are incomplete: a reference that is too "
		       "low",
		       item->name);
	if (ep_budget_put(&update->budget, &item->result, units, seconds, &err))
		return failed(&err);
	tell(&item->result, seconds);
	update->updated++;
	return 0;
}

static int update_test(struct update *update, const char *folder, char *name)
{
	struct ep_budget_item item = {
		.name = name,
		.test = ep_budget_find(&update->budget, name),
	};
	int result;

	if (!ep_budget_wants(update->arguments, name))
		return 0;
	if (ep_results_get(folder, name, &item.result, &item.err))
		return failed(&item.err);
	result = put_result(update, &item);
	ep_called_destroy(item.called);
	ep_result_deinit(&item.result);
	return result;
}

static int update_all(struct update *update)
{
	const char *folder = ep_budget_folder(update->arguments);
	struct ep_err err = {0};
	char **names;
	size_t count;
	int rc = ep_results_names(folder, &names, &count, &err), result = 0;

	if (rc < 0)
		return failed(&err);
	for (size_t i = 0; !result && i < count; i++)
		result = update_test(update, folder, names[i]);
	ep_results_names_free(names, count);
	if (result || update->updated)
		return result;
	ep_say("%s: no results%s; epitaph budget run --test NAME -- COMMAND "
	       "makes them",
	       folder, count ? " of these tests" : "");
	return EP_EXIT_NOTHING;
}

/* ---- the file ------------------------------------------------------------ */

static const char opening[] =
	"# What tracing may cost in the tests of this project: epitaph budget "
	"check.\n"
	"# Limits of a test are yours to write: max-calls, max-calls-per-unit, "
	"max-overhead,\n"
	"# min-history, tolerance. reference-… and [costs] are epitaph budget "
	"update's.\n"
	"version = 1\n";

static int write_file(struct update *update, const char *path)
{
	struct ep_output file;
	struct ep_err err = {0};
	int rc = ep_output_open_text(&file, path, &err);

	if (rc)
		return failed(&err);
	ep_sheet_print(&update->budget.sheet, file.file);
	return ep_output_commit(&file, &err) ? failed(&err) : 0;
}

static int open_budget(struct update *update, const char *path)
{
	struct ep_err err = {0};
	int rc = ep_budget_read(&update->budget, path, &err);

	if (rc == EP_END) {
		ep_budget_deinit(&update->budget);
		rc = ep_budget_parse(&update->budget, path, opening, strlen(opening), &err);
	}
	return rc ? failed(&err) : 0;
}

static int update_file(struct update *update, const char *path)
{
	int result = open_budget(update, path);

	if (!result)
		result = take_costs(update);
	if (!result)
		result = update_all(update);
	if (!result)
		result = write_file(update, path);
	ep_budget_deinit(&update->budget);
	return result;
}

static int run(const struct ep_arguments *arguments)
{
	const char *path = ep_budget_path(arguments);
	struct ep_session naming = {0};
	struct update update = {.arguments = arguments, .options = &naming.naming};
	struct ep_err err = {0};
	int result = ep_session_naming(&naming, arguments), lock;

	if (result)
		return result;
	if (ep_output_lock(&lock, path, &err))
		return failed(&err);
	result = update_file(&update, path);
	close(lock);
	return result;
}

static const struct ep_option options[] = {
	{"results", 'r', "DIR",
	 "the folder that budget run filled (epitaph-results, or "
	 "$EPITAPH_BUDGET_RESULTS)"},
	{"test", 't', "NAME", "only this one; may be given several times"},
	{"costs", 0, "FILE", "take the costs that epitaph calibrate -o FILE wrote"},
	{NULL, 0, NULL, NULL},
};

const struct ep_command ep_command_budget_update = {
	.name = "budget update",
	.operands = "[FILE]",
	.operands_max = 1,
	.summary = "takes what tests did as the reference of a budget file",
	.description = "Writes calls, units of work and CPU time of each test that "
		       "epitaph budget run has run into the budget file "
		       "(epitaph.budget), which is made if it is not there. Limits, "
		       "comments and everything else that you wrote stay as they "
		       "are. A test without limits of its own is held to its "
		       "reference, with the file's tolerance.\n\n"
		       "CPU time is that of the run less what counting cost by the "
		       "costs in the file: it stands for the untraced run in "
		       "predictions, so commit it as measured on one quiet machine.",
	.options = options,
	.names = true,
	.run = run,
};
