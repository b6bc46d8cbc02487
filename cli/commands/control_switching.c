/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * control_switching.c: hooks of a running process go off and come back. Names are looked up in the
 * files of what it has loaded now; its trace is not read.
 */
#include "cli/commands/control_switching.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/switching_text.h"
#include "cli/common/say.h"
#include "coredump/live/switching.h"
#include "decoder/names/module_file.h"
#include "decoder/names/modules.h"
#include "decoder/names/names.h"
#include "decoder/symbols/demangle.h"

static int failed(const struct ep_err *err)
{
	ep_say("%s", err->text);
	return ep_session_status(err->code);
}

static int pid_of(const struct ep_control_target *target)
{
	return (int)target->control->pid;
}

static int switching_open(struct ep_switching *switching, const struct ep_control_target *target,
			  struct ep_err *err)
{
	return ep_switching_open(switching, target->control, target->session->source,
				 &target->session->found, err);
}

/* What was left alone makes the result partial. */
static int print_left(const struct ep_control_target *target, const struct ep_switching_sum *sum)
{
	if (sum->held)
		ep_say("pid %d: %zu hooks are held by a debugger's breakpoint or a uprobe, and "
		       "stay as they are; again when it is gone",
		       pid_of(target), sum->held);
	if (sum->replaced)
		ep_say("pid %d: %zu hooks have other code in their place by now: left alone",
		       pid_of(target), sum->replaced);
	return sum->held || sum->replaced ? EP_EXIT_PARTIAL : EP_EXIT_COMPLETE;
}

/* ---- everything ---- */

static void print_off(const struct ep_control_target *target, const struct ep_switches *head,
		      bool before)
{
	if (before)
		printf("pid %d: everything was off already\n", pid_of(target));
	else if (head->how == EP_FLIP_NONE)
		printf("pid %d: off; its hooks stay in the code and do nothing (%s)\n",
		       pid_of(target), ep_switching_why_not_text(head));
	else
		printf("pid %d: off; each hook goes out of the code when it has run a few times\n",
		       pid_of(target));
}

int ep_control_all_off(const struct ep_control_target *target)
{
	struct ep_switching switching;
	struct ep_err err = {0};
	bool before;
	int rc = switching_open(&switching, target, &err);

	if (rc)
		return failed(&err);
	rc = ep_switching_all_off(&switching, &before, &err);
	if (rc == EP_OK && !target->quiet)
		print_off(target, &switching.list.head, before);
	ep_switching_close(&switching);
	return rc ? failed(&err) : EP_EXIT_COMPLETE;
}

/* Of a runtime that knows nothing of it, the gate alone. */
static int on_by_gate(const struct ep_control_target *target)
{
	struct ep_err err = {0};

	return ep_control_resume(target->control, &err) ? failed(&err) : EP_EXIT_COMPLETE;
}

int ep_control_all_on(const struct ep_control_target *target)
{
	struct ep_switching switching;
	struct ep_switching_sum sum;
	struct ep_err err = {0};
	int rc = switching_open(&switching, target, &err);

	if (rc == EP_END)
		return on_by_gate(target);
	if (rc)
		return failed(&err);
	rc = ep_switching_all_on(&switching, &sum, &err);
	ep_switching_close(&switching);
	return rc ? failed(&err) : print_left(target, &sum);
}

/* ---- functions by name ---- */

struct chosen {
	char *const *patterns;
	size_t pattern_count;
	const struct ep_function *last; /* the one judged last, and … */
	bool wanted;                    /* … whether it is one */
	struct {
		struct ep_code_range *list;
		size_t count, capacity;
	} ranges;
};

static bool matches_any(const struct chosen *chosen, const char *name)
{
	for (size_t i = 0; i < chosen->pattern_count; i++)
		if (fnmatch(chosen->patterns[i], name, 0) == 0)
			return true;
	return false;
}

/* As it is printed, as the linker has it, and as people say it. */
static bool is_wanted(const struct chosen *chosen, const struct ep_function *function)
{
	char *scoped;
	bool wanted = matches_any(chosen, function->name) || matches_any(chosen, function->symbol);

	if (wanted)
		return true;
	scoped = ep_demangle_scoped(function->symbol);
	wanted = matches_any(chosen, scoped);
	free(scoped);
	return wanted;
}

static void choose(void *context, const struct ep_function *function, uint64_t start, uint64_t end)
{
	struct chosen *chosen = context;

	if (function != chosen->last)
		chosen->wanted = is_wanted(chosen, function);
	chosen->last = function;
	if (chosen->wanted)
		ep_array_push(&chosen->ranges,
			      ((struct ep_code_range){
				      .start = start, .end = end, .function = function->id}));
}

static int compare_functions(const void *a, const void *b)
{
	const struct ep_code_range *x = a, *y = b;

	return (x->function > y->function) - (x->function < y->function);
}

/* How many of them have hooks; *already: and were as wanted before. */
static size_t count_functions(const struct chosen *chosen, size_t *already)
{
	const struct ep_code_range *list = chosen->ranges.list;
	size_t count = 0;

	*already = 0;
	for (size_t i = 0, k; i < chosen->ranges.count; i = k) {
		bool hooks = false, changed = false;

		for (k = i; k < chosen->ranges.count && list[k].function == list[i].function; k++) {
			hooks |= list[k].sites > 0;
			changed |= list[k].sites > 0 && !list[k].already;
		}
		count += hooks;
		*already += hooks && !changed;
	}
	return count;
}

/* Of some files only a part of the names is known. */
static void print_stripped(const struct ep_names *names)
{
	const struct ep_trace_module *module;
	char list[256] = "";
	size_t ignored;

	for (size_t i = 0; i < 5 && (module = ep_names_stripped(names, i, &ignored)); i++)
		if (!(module->flags & EP_MODULE_VDSO))
			snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%.40s",
				 list[0] ? ", " : "", ep_path_base(module->path));
	if (list[0])
		ep_say("stripped, so that only what they export has a name: %s; --debug-path finds "
		       "their debug files",
		       list);
}

/* Nothing that the patterns name has a hook. */
static int print_nothing(const struct ep_control_target *target, const struct chosen *chosen,
			 struct ep_names *names)
{
	const char *warning;

	if (chosen->ranges.count)
		ep_say("pid %d: %zu functions are named so, and none has a hook: they were not "
		       "built with epitaph-cc, or were left out (lists, thresholds, NOFUNTRACE)",
		       pid_of(target), chosen->ranges.count);
	else
		ep_say("pid %d: no function is named so; epitaph stats %d has their names (*, ? "
		       "and [] match, put them in quotes)",
		       pid_of(target), pid_of(target));
	for (size_t i = 0; (warning = ep_names_warning(names, i)); i++)
		ep_say("%s", warning);
	print_stripped(names);
	return EP_EXIT_NOTHING;
}

static void print_functions(const struct ep_control_target *target, const struct chosen *chosen,
			    const struct ep_switching_sum *sum, bool off)
{
	size_t already, count = count_functions(chosen, &already);

	printf("pid %d: %zu function%s %s, %zu hooks, %zu of them changed", pid_of(target), count,
	       count == 1 ? "" : "s", off ? "off" : "traced, whatever the budget says", sum->sites,
	       sum->flipped);
	if (already)
		printf("; %zu %s so already", already, already == 1 ? "was" : "were");
	printf("\n");
	if (!off && sum->still_off)
		ep_say("pid %d: %zu of the hooks stay off, for the program has untraced them, or "
		       "everything is off: epitaph control %d hooks",
		       pid_of(target), sum->still_off, pid_of(target));
}

static int switch_chosen(const struct ep_control_target *target, struct chosen *chosen,
			 struct ep_names *names, bool off)
{
	struct ep_switching switching;
	struct ep_switching_sum sum;
	struct ep_err err = {0};

	if (switching_open(&switching, target, &err))
		return failed(&err);
	ep_array_sort(&chosen->ranges, compare_functions);
	if (ep_switching_functions(&switching, chosen->ranges.list, chosen->ranges.count, off, &sum,
				   &err)) {
		ep_switching_close(&switching);
		return failed(&err);
	}
	ep_switching_close(&switching);
	if (!sum.sites)
		return print_nothing(target, chosen, names);
	if (!target->quiet)
		print_functions(target, chosen, &sum, off);
	return print_left(target, &sum);
}

int ep_control_functions(const struct ep_control_target *target, char *const *patterns,
			 size_t count, bool off)
{
	struct ep_session *session = target->session;
	struct chosen chosen = {.patterns = patterns, .pattern_count = count};
	size_t module_count;
	struct ep_trace_module *modules =
		ep_modules_from_source(&module_count, session->source, NULL);
	struct ep_names *names;
	int result;

	/* Of all files that it has loaded: nobody waits for that many downloads. */
	session->naming.debuginfod = false;
	names = ep_names_create(modules, module_count, &session->naming);
	ep_names_each_range(names, choose, &chosen);
	result = switch_chosen(target, &chosen, names, off);
	ep_array_deinit(&chosen.ranges);
	ep_names_destroy(names);
	free(modules);
	return result;
}
