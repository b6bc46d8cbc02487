/* SPDX-License-Identifier: BSD-2-Clause */
/* counting.c: SOURCEs to counts. */
#include "cli/common/counting.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/common/say.h"
#include "cli/common/session.h"

int ep_counting_status(int code)
{
	return code == EP_END || code == EP_E_UNSAVED ? EP_EXIT_NOTHING : EP_EXIT_UNREADABLE;
}

static int merge_one(struct ep_counts *into, const char *name, struct ep_err *err)
{
	struct ep_counts *one;
	int result = ep_counts_load(&one, name, err);

	if (result)
		return result;
	result = ep_counts_merge(into, one, err);
	if (result)
		ep_err_prefix(err, "%s", name);
	ep_counts_destroy(one);
	return result;
}

int ep_counting_load(struct ep_counts **out, char *const *names, int count)
{
	struct ep_counts *all = ep_counts_create();
	struct ep_err err = {0};
	int result = EP_OK;

	for (int i = 0; i < count && !result; i++)
		result = merge_one(all, names[i], &err);
	if (!result) {
		*out = all;
		return 0;
	}
	ep_say("%s", err.text);
	ep_counts_destroy(all);
	return ep_counting_status(result);
}

static void warn_builds(const struct ep_counts *counts)
{
	const struct ep_counts_module *last = NULL;

	/* Sorted by path: builds of one path follow each other. */
	for (size_t i = 0; i < counts->modules.count; i++) {
		const struct ep_counts_module *module = &counts->modules.list[i];

		if (*module->path && ep_counts_other_build(counts, module) &&
		    (!last || strcmp(last->path, module->path)))
			ep_say("%s: counted in several builds: each is a module of its own",
			       module->path);
		last = module;
	}
}

static void warn_missing(const struct ep_counts_run *run)
{
	if (*run->incomplete && run->lost)
		ep_say("pid %u: incomplete: %s (%" PRIu64 " calls)", run->pid, run->incomplete,
		       run->lost);
	else if (*run->incomplete)
		ep_say("pid %u: incomplete: %s", run->pid, run->incomplete);
	else if (run->lost)
		ep_say("pid %u: incomplete: %" PRIu64 " calls are missing", run->pid, run->lost);
}

int ep_counting_warn(const struct ep_counts *counts)
{
	warn_builds(counts);
	for (size_t i = 0; i < counts->runs.count; i++)
		warn_missing(&counts->runs.list[i]);
	if (counts->overflow)
		ep_say("a sum needs more than 64 bits");
	return ep_counts_incomplete(counts) ? EP_EXIT_PARTIAL : EP_EXIT_COMPLETE;
}

/* An executable that was named and is another one is an error, not a doubt. */
static int check_executable(const struct ep_counts *counts, const struct ep_names_options *naming)
{
	struct ep_err err = {0};
	int result = EP_OK;

	if (naming->executable && !naming->force)
		result = ep_functions_check_file(counts, naming->executable, &err);
	if (!result)
		return 0;
	ep_say("%s", err.text);
	return EP_EXIT_UNREADABLE;
}

int ep_counting_name(struct ep_functions *functions, const struct ep_counts *counts,
		     const struct ep_arguments *arguments)
{
	struct ep_session session = {0};
	int result = ep_session_naming(&session, arguments);

	if (!result)
		result = check_executable(counts, &session.naming);
	if (result)
		return result;
	ep_functions_create(functions, counts, &session.naming);
	for (size_t i = 0; i < functions->warnings.count; i++)
		ep_say("%s", functions->warnings.list[i]);
	return functions->unnamed || functions->codeless ? EP_EXIT_PARTIAL : EP_EXIT_COMPLETE;
}
