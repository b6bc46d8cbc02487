/* SPDX-License-Identifier: BSD-2-Clause */
/* tui.c: epitaph tui: screens of a source, on a terminal. */
#include "cli/tui/tui.h"

#include "cli/common/choose.h"
#include "cli/common/commands.h"
#include "cli/common/say.h"

/* What else tells the same. */
static void print_instead(const char *why, const char *source)
{
	ep_say("tui needs a terminal: %s", why);
	ep_say("the same as text: epitaph report %s, epitaph stats %s, epitaph replay %s", source,
	       source, source);
}

static int begin_screen(const char *source)
{
	if (ep_screen_begin(*ep_color(EP_CYAN) != '\0'))
		return EP_EXIT_COMPLETE;
	print_instead("this one could not be used", source);
	return EP_EXIT_USAGE;
}

/* Of those that fit the one that died, or whose last record is the latest. */
static const struct ep_trace_thread *find_thread(const struct ep_tui *tui)
{
	const struct ep_trace *trace = tui->session.trace;
	const struct ep_trace_thread *found = NULL;
	struct ep_death death;

	ep_source_death(tui->session.source, &death);
	for (size_t i = 0; i < trace->thread_count; i++) {
		const struct ep_trace_thread *one = &trace->threads[i];

		if (!ep_selection_wants_thread(&tui->asked, one))
			continue;
		if (death.signal && death.tid && one->tid == death.tid)
			return one;
		if (!found || one->last_tsc > found->last_tsc)
			found = one;
	}
	return found;
}

/* An exit status, with a message unless it is 0. */
static int choose(struct ep_tui *tui, const char *source)
{
	if (!tui->asked.threads.count)
		return EP_EXIT_COMPLETE;
	tui->scope = find_thread(tui);
	tui->asked.threads.count = 0;
	if (tui->scope)
		return EP_EXIT_COMPLETE;
	ep_say("%s: no thread fits --thread", source);
	return EP_EXIT_NOTHING;
}

static int tui_run(const struct ep_arguments *arguments)
{
	static struct ep_tui tui;
	const char *source = arguments->operands[0], *unfit = ep_screen_unfit();
	int result, status;

	if (unfit) {
		print_instead(unfit, source);
		return EP_EXIT_USAGE;
	}
	status = ep_choose(&tui.asked, arguments);
	if (status)
		return status;
	result = ep_session_open(&tui.session, arguments, source, true);
	if (result > EP_EXIT_PARTIAL)
		return result;
	tui.live = ep_source_kind(tui.session.source) == EP_SOURCE_LIVE;
	ep_screen_full_names(ep_argument_given(arguments, "full-names"));
	status = choose(&tui, source);
	status = status ? status : begin_screen(source);
	if (!status) {
		ep_tui_run(&tui);
		ep_screen_end();
		result = ep_session_warn(&tui.session);
	}
	ep_session_close(&tui.session);
	return status ? status : result;
}

static const struct ep_option options[] = {
	{"thread", 't', "THREAD",
	 "begin with the calls of this one: its tid, #serial, or a pattern (*, ?) of its name; of "
	 "several the one that died, or that did something last"},
	{"last", 'n', "N|TIME",
	 "at first the last N calls of a thread; or of all but threads, report and top only the "
	 "last "
	 "TIME (5ms) before the end"},
	{"since", 0, "TIME", EP_CHOOSE_SINCE},
	{"until", 0, "TIME", "up to TIME"},
	{NULL, 0, NULL, NULL},
};

const struct ep_command ep_command_tui = {
	.name = "tui",
	.operands = "SOURCE",
	.operands_min = 1,
	.operands_max = 1,
	.summary = "threads, call tree, functions, waits, calls and the report on a terminal",
	.example = "tui core.4711",
	.description =
		"Screens of one source, by the keys 1 to 7 or Tab: its threads; the tree of who "
		"called whom and how long that took, which folds and unfolds; functions and waits "
		"as stats has them; the last calls of a thread as replay has them; the report's "
		"page. Enter on a thread shows its calls, and then the others show that thread; a "
		"goes back to all. h lists the keys, which are those of less, and of uftrace tui "
		"where less has none; but a number before a key is a screen, and :120 goes to a "
		"row.\n"
		"\n"
		"What takes longer says how far it is; q, Esc or Ctrl-C leaves it, and what was on "
		"the screen before is there again: nothing is shown that was read in part. "
		"Elsewhere Ctrl-C ends.\n"
		"\n"
		"Of a running process there is also top, and comes first: once a second the "
		"functions that were called since, and where its threads waited. The process is "
		"not stopped. A thread that records more in a second than its ring holds has only "
		"its last part counted, which the first line says. The other screens show the "
		"moment at which it was opened.\n"
		"\n"
		"A screen is read when it is opened first, and kept. With NO_COLOR, or "
		"--color=never, there are no colours. Where there is no terminal, report, stats "
		"and replay print the same.",
	.options = options,
	.names = true,
	.run = tui_run,
};
