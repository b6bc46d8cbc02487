/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * control.c: epitaph control: pauses, resumes, times and shows a running process, which is not
 * stopped for it.
 */
#include "coredump/live/control.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/common/commands.h"
#include "cli/commands/control_hooks.h"
#include "cli/commands/control_status.h"
#include "cli/commands/control_switching.h"
#include "cli/commands/extract.h"
#include "cli/common/say.h"
#include "cli/common/session.h"
#include "coredump/util/number.h"

#define PATTERNS_MAX 64

/* What an action works on. */
struct target {
	struct ep_session session;
	struct ep_control control;
	const struct ep_arguments *arguments;
	const char *value; /* NULL: none was given */
	pid_t pid;
};

static struct ep_control_target switching_target(struct target *target)
{
	return (struct ep_control_target){&target->session, &target->control,
					  ep_argument_given(target->arguments, "quiet")};
}

static int failed(const struct ep_err *err)
{
	ep_say("%s", err->text);
	return err->code == EP_E_USAGE ? EP_EXIT_USAGE : EP_EXIT_UNREADABLE;
}

static bool is_quiet(const struct target *target)
{
	return ep_argument_given(target->arguments, "quiet");
}

/* ---- pause, resume ---- */

static int run_pause(struct target *target)
{
	struct ep_err err = {0};
	struct ep_arena before;

	if (ep_control_read(&target->control, &before, &err) ||
	    ep_control_pause(&target->control, &err))
		return failed(&err);
	if (is_quiet(target))
		return EP_EXIT_COMPLETE;
	if (before.gate & EP_GATE_CONTROL)
		printf("pid %d: was paused already\n", (int)target->pid);
	else
		printf("pid %d: paused; each thread records to the end of its block, 508 records, "
		       "at most\n",
		       (int)target->pid);
	return EP_EXIT_COMPLETE;
}

/* What nobody outside can undo is printed, and makes the result partial. */
static int print_shut(const struct target *target, const struct ep_arena *arena)
{
	if (arena->gate & EP_GATE_STOPPED)
		ep_say("pid %d: tracing is off for good: %s", (int)target->pid,
		       ep_off_text(arena->off_reason));
	else
		ep_say("pid %d: the program has paused itself (epitaph_pause), and records again "
		       "when it resumes",
		       (int)target->pid);
	return EP_EXIT_PARTIAL;
}

/* Hooks that are out of the code come back, too. */
static int resume(struct target *target, const char *done, const char *not_needed)
{
	struct ep_err err = {0};
	struct ep_arena before, after;
	const struct ep_control_target switching = switching_target(target);
	int result;

	if (ep_control_read(&target->control, &before, &err))
		return failed(&err);
	result = ep_control_all_on(&switching);
	if (result > EP_EXIT_PARTIAL)
		return result;
	if (ep_control_read(&target->control, &after, &err))
		return failed(&err);
	if (after.gate & (EP_GATE_STOPPED | EP_GATE_API))
		return print_shut(target, &after);
	if (!is_quiet(target))
		printf("pid %d: %s; each thread goes on at its next call\n", (int)target->pid,
		       before.gate ? done : not_needed);
	return result;
}

static int run_resume(struct target *target)
{
	return resume(target, "resumed", "was not paused");
}

/* ---- off, on, trace, untrace ---- */

static int run_off(struct target *target)
{
	const struct ep_control_target switching = switching_target(target);

	return ep_control_all_off(&switching);
}

static int run_on(struct target *target)
{
	return resume(target, "on", "was on");
}

static int run_functions(struct target *target, bool off)
{
	const struct ep_control_target switching = switching_target(target);

	return ep_control_functions(&switching, target->arguments->operands + 2,
				    (size_t)target->arguments->operand_count - 2, off);
}

static int run_trace(struct target *target)
{
	return run_functions(target, false);
}

static int run_untrace(struct target *target)
{
	return run_functions(target, true);
}

/* ---- timing ---- */

static bool every_parse(const char *text, unsigned *every)
{
	uint64_t number = 0;

	if (strcmp(text, "auto") != 0 && !ep_number_parse(text, 1, UINT64_MAX, &number))
		return false;
	*every = number > 1000 ? 1000 : (unsigned)number;
	return true;
}

static int run_timing(struct target *target)
{
	struct ep_err err = {0};
	unsigned every;

	if (!every_parse(target->value, &every)) {
		ep_say("timing takes auto, 1, 2, 4, 8, 16, 32 or 64, not %s", target->value);
		return EP_EXIT_USAGE;
	}
	if (ep_control_timing(&target->control, every, &err))
		return failed(&err);
	if (is_quiet(target))
		return EP_EXIT_COMPLETE;
	if (every)
		printf("pid %d: one time stamp in %u, from each thread's next block on\n",
		       (int)target->pid, every);
	else
		printf("pid %d: time stamps auto, from each thread's next block on\n",
		       (int)target->pid);
	return EP_EXIT_COMPLETE;
}

/* ---- snapshot, status ---- */

static int run_snapshot(struct target *target)
{
	return ep_extract_run(&target->session, target->arguments, stdout);
}

static int run_status(struct target *target)
{
	return ep_control_status(&target->session, ep_argument_given(target->arguments, "json"));
}

/* ---- which ---- */

static int run_hooks(struct target *target)
{
	return ep_control_hooks(&target->session, ep_argument_given(target->arguments, "json"));
}

static const struct action {
	const char *name;
	bool writes;        /* needs the process's memory for writing */
	int least, most;    /* values that it takes … */
	const char *values; /* … and what they are */
	int (*run)(struct target *target);
} actions[] = {
	{"pause", true, 0, 0, "no value", run_pause},
	{"resume", true, 0, 0, "no value", run_resume},
	{"off", true, 0, 0, "no value", run_off},
	{"on", true, 0, 0, "no value", run_on},
	{"trace", true, 1, PATTERNS_MAX, "patterns of functions' names, in quotes", run_trace},
	{"untrace", true, 1, PATTERNS_MAX, "patterns of functions' names, in quotes", run_untrace},
	{"hooks", false, 0, 0, "no value", run_hooks},
	{"timing", true, 1, 1, "one value: auto, or a number", run_timing},
	{"snapshot", false, 0, 0, "no value", run_snapshot},
	{"status", false, 0, 0, "no value", run_status},
	{NULL, false, 0, 0, NULL, NULL},
};

static const struct action *action_find(const char *name)
{
	const struct action *action = actions;

	while (action->name && strcmp(action->name, name))
		action++;
	if (action->name)
		return action;
	ep_say("control: off, on, trace, untrace, hooks, pause, resume, snapshot, timing or "
	       "status, not %s",
	       name);
	return NULL;
}

/* Of a running process only: a file of digits is not meant. NULL: it is none, which was printed. */
static const char *source_parse(struct target *target, const struct action *action,
				const char *text)
{
	static char name[32];
	const char *digits = strncmp(text, "pid:", 4) ? text : text + 4;
	uint64_t number;

	if (ep_number_parse(digits, 1, INT32_MAX, &number)) {
		target->pid = (pid_t)number;
		snprintf(name, sizeof(name), "pid:%d", (int)target->pid);
		return name;
	}
	if (action->run == run_hooks)
		return text;
	ep_say("control works on a running process, by its pid, not on %s", text);
	return NULL;
}

static int act(struct target *target, const struct action *action)
{
	struct ep_err err = {0};
	int result;

	if (!action->writes)
		return action->run(target);
	if (ep_control_open(&target->control, target->session.source, &target->session.found, &err))
		return failed(&err);
	result = action->run(target);
	ep_control_close(&target->control);
	return result;
}

static int run(const struct ep_arguments *arguments)
{
	const struct action *action = action_find(arguments->operands[1]);
	struct target target = {.arguments = arguments};
	const char *name = action ? source_parse(&target, action, arguments->operands[0]) : NULL;
	int result;

	if (!name)
		return EP_EXIT_USAGE;
	if (arguments->operand_count < 2 + action->least ||
	    arguments->operand_count > 2 + action->most) {
		ep_say("control PID %s takes %s", action->name, action->values);
		return EP_EXIT_USAGE;
	}
	if (action->least)
		target.value = arguments->operands[2];
	result = ep_session_open_source(&target.session, arguments, name);
	if (!target.session.source)
		return result;
	if (result > EP_EXIT_PARTIAL)
		ep_say("%s", target.session.missing.text);
	else
		result = act(&target, action);
	ep_session_close(&target.session);
	return result;
}

static const struct ep_option options[] = {
	{"output", 'o', "FILE",
	 "snapshot: its name, replaced if it exists (epitaph.%p.%n.core): %p pid, %t time, %n a "
	 "number that makes it new; - for stdout"},
	{"no-stacks", 0, NULL, "snapshot: leave the stacks out: they may hold secrets"},
	{"redact", 0, "WORDS", "snapshot: leave out what the words name, as extract does"},
	{"json", 'j', NULL, "status, hooks: for programs; its \"version\" is 1"},
	{"quiet", 'q', NULL, "do not print what was done"},
	{NULL, 0, NULL, NULL},
};

const struct ep_command ep_command_control = {
	.name = "control",
	.operands = "PID ACTION [GLOB... | N]",
	.words = "off on trace untrace hooks pause resume snapshot timing status",
	.operands_min = 2,
	.operands_max = 2 + PATTERNS_MAX,
	.summary = "switch, pause, time or look at a running process",
	.example = "control 4711 untrace 'json::*'",
	.description =
		"Changes how a running process is traced. It is not stopped, needs no restart and "
		"notices nothing: words in its arena are written, which its threads look at once "
		"per block of 508 records, and single bytes of its code.\n\n"
		"off: nothing is recorded any more, and each hook that has run a few times goes "
		"out "
		"of the code: what is left costs nearly nothing. on: everything back, at once, "
		"also "
		"when it was started with EPITAPH=off or paused; a pause by the program itself "
		"stays "
		"the program's.\n\n"
		"untrace GLOB...: the hooks of functions so named go out of the code, at once. A "
		"pattern (*, ?, [...]; in quotes) is compared with the name as stats prints it, "
		"with the name without parameters and template arguments (net::Server::run), and "
		"with the linker's. trace GLOB...: they come back, and the budget (EPITAPH_BUDGET) "
		"leaves them alone from then on; what the program itself has untraced "
		"(epitaph_untrace) stays off. A call that is open then ends \"switched off\" in "
		"the "
		"trace.\n\n"
		"hooks: what is off or kept, why (name: by the program; budget: it cost too much; "
		"control: by this command; kept: trace was asked for), since when, how often it "
		"was "
		"called in a second when the budget took it. Of a core or a snapshot, too. Of a "
		"process also how many hooks are not as they should be, as a debugger put back "
		"what it had found; on sets them right.\n\n"
		"pause, resume: as off and on, but a pause leaves the code alone: a paused hook "
		"costs what an empty one does. A child that it forks begins as the process is, and "
		"is controlled by its own pid. Calls that a pause has hidden are shown as a "
		"gap.\n\n"
		"timing N: one time stamp in N records, 1 to 64 or auto, as "
		"EPITAPH_TIMESTAMP_EVERY. snapshot: as epitaph extract, and prints the file's "
		"name. "
		"status: whether it records, if not why, what is off, what tracing costs, its "
		"settings, and each thread with how far back its history goes.\n\n"
		"It takes the rights of a debugger: the process's user, or root; "
		"kernel.yama.ptrace_scope applies. A hook under a breakpoint or a uprobe is left "
		"alone, and reported. Where the code cannot be changed (a kernel with "
		"proc_mem.force_override=never, valgrind) off leaves the hooks in, and they do "
		"nothing.",
	.options = options,
	.names = true,
	.run = run,
};
