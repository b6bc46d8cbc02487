/* SPDX-License-Identifier: BSD-2-Clause */
/* tui.c: epitaph tui: screens of a source, on a terminal. */
#include "cli/tui/tui.h"

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

static int tui_run(const struct ep_arguments *arguments)
{
	static struct ep_tui tui;
	const char *source = arguments->operands[0], *unfit = ep_screen_unfit();
	int result, status;

	if (unfit) {
		print_instead(unfit, source);
		return EP_EXIT_USAGE;
	}
	result = ep_session_open(&tui.session, arguments, source, true);
	if (result > EP_EXIT_PARTIAL)
		return result;
	tui.live = ep_source_kind(tui.session.source) == EP_SOURCE_LIVE;
	ep_screen_full_names(ep_argument_given(arguments, "full-names"));
	status = begin_screen(source);
	if (!status) {
		ep_tui_run(&tui);
		ep_screen_end();
		result = ep_session_warn(&tui.session);
	}
	ep_session_close(&tui.session);
	return status ? status : result;
}

static const struct ep_option options[] = {
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
		"where less has none.\n"
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
