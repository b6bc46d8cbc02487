/* SPDX-License-Identifier: BSD-2-Clause */
/* replay.c: epitaph replay: the calls, newest last. */
#include "decoder/export/replay.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/choose.h"
#include "cli/common/commands.h"
#include "cli/common/progress.h"
#include "cli/common/say.h"
#include "cli/common/session.h"
#include "cli/common/terminal.h"
#include "decoder/kernel/end.h"
#include "decoder/util/timetext.h"

enum layout { TREE, TSV };

struct replay {
	struct ep_session session;
	struct ep_selection selection;
	enum layout layout;
	bool merged;
	const struct ep_trace_thread *only; /* NULL: all that are selected */
	uint64_t shown;                     /* calls, in all */
	bool headed;                        /* of the listing in hand */
	bool first;                         /* no listing came before it */
	struct ep_replay_style style;
	struct ep_outbuf out;
	struct ep_replay printer;
};

/* From where times count back, where that may not be the end; one line for all threads, else a part
 * of each one's. */
static void print_end(struct replay *replay)
{
	char later[EP_END_LATER_SIZE], line[EP_END_LATER_SIZE + 64];

	if (ep_end_later_text(&replay->session.trace->end, later)) {
		snprintf(line, sizeof(line), "%stimes count back from %s", replay->only ? "; " : "",
			 later);
		ep_outbuf_text(&replay->out, line);
		if (!replay->only)
			ep_outbuf_text(&replay->out, "\n");
	}
	if (replay->only)
		ep_outbuf_text(&replay->out, "\n");
}

static void print_head(struct replay *replay)
{
	const struct ep_trace_thread *thread = replay->only;
	char text[EP_TIMETEXT_SIZE], line[256];

	if (replay->layout == TSV) {
		ep_replay_tsv_head(&replay->out, replay->session.trace);
		return;
	}
	if (!thread) {
		print_end(replay);
		return;
	}
	snprintf(line, sizeof(line), "%s%sthread %u %s%s: %zu blocks, the last %s%s%s",
		 replay->first ? "" : "\n", ep_color(EP_BOLD), thread->tid,
		 thread->name[0] ? thread->name : "(no name)", ep_color(EP_PLAIN),
		 thread->block_count,
		 ep_timetext(text, ep_trace_ns(replay->session.trace, thread->first_tsc,
					       thread->last_tsc)),
		 thread->from_start ? ", from its first event on"
		 : thread->forked   ? ", from the fork on"
				    : "; what came before was overwritten",
		 thread->state == EP_THREAD_DEAD ? "; it has ended" : "");
	ep_outbuf_text(&replay->out, line);
	print_end(replay);
}

static void print_head_once(struct replay *replay)
{
	if (!replay->headed)
		print_head(replay);
	replay->headed = true;
	replay->first = false;
}

/* A sink. Of what is open only the tree tells, and only spans: calls said it where they began. */
static int replay_event(void *context, const struct ep_event *event,
			const struct ep_nest_thread *none)
{
	struct replay *replay = context;
	bool tsv = replay->layout == TSV;

	if (event->kind == EP_EVENT_OPEN || (event->kind == EP_EVENT_OPEN_SPAN && tsv))
		return EP_OK;
	print_head_once(replay);
	return tsv ? ep_replay_tsv_event(&replay->printer, event, none)
		   : ep_replay_event(&replay->printer, event, none);
}

/* One listing: of one thread, or of all. */
static void replay_once(struct replay *replay)
{
	struct ep_selection selection = replay->selection;
	const struct ep_sink sink = {.context = replay, .event = replay_event};
	const struct ep_trace *trace = replay->session.trace;
	uint64_t shown = 0;

	if (replay->only)
		selection.only = replay->only;
	replay->headed = false;
	ep_replay_init(&replay->printer, &replay->out, trace, &replay->style);
	ep_stream(trace, replay->session.names, &selection, &sink, &shown);
	ep_replay_end(&replay->printer);
	replay->shown += shown;
}

static void replay_threads(struct replay *replay)
{
	const struct ep_trace *trace = replay->session.trace;

	if (replay->merged || replay->layout == TSV) {
		replay_once(replay);
		return;
	}
	for (size_t i = 0; i < trace->thread_count; i++) {
		replay->only = &trace->threads[i];
		if (replay->only->block_count &&
		    ep_selection_wants_thread(&replay->selection, replay->only))
			replay_once(replay);
	}
}

static void replay_all(struct replay *replay)
{
	replay->style =
		(struct ep_replay_style){ep_color(EP_PLAIN), ep_color(EP_DIM), ep_color(EP_YELLOW),
					 ep_color(EP_CYAN),  replay->merged,   true};
	replay->first = true;
	if (ep_on_terminal())
		ep_progress_hide();
	ep_outbuf_init(&replay->out, stdout);
	replay_threads(replay);
	/* Why stdout failed is reported once, at the end. */
	ep_outbuf_finish(&replay->out);
}

static int choose_layout(struct replay *replay, const struct ep_arguments *arguments)
{
	const char *format = ep_argument(arguments, "format");

	replay->merged = ep_argument_given(arguments, "merged");
	if (!format || !strcmp(format, "tree"))
		replay->layout = TREE;
	else if (!strcmp(format, "tsv"))
		replay->layout = TSV;
	else {
		ep_say("--format=%s: tree or tsv", format);
		return EP_EXIT_USAGE;
	}
	return 0;
}

static int replay_run(const struct ep_arguments *arguments)
{
	static struct replay replay;
	int result;

	replay = (struct replay){0};
	result = choose_layout(&replay, arguments);
	if (!result)
		result = ep_choose(&replay.selection, arguments);
	if (result)
		return result;
	result = ep_session_open(&replay.session, arguments, arguments->operands[0], true);
	if (result > EP_EXIT_PARTIAL)
		return result;
	replay_all(&replay);
	result = ep_session_warn(&replay.session);
	ep_session_warn_switched(&replay.session);
	if (!replay.shown) {
		ep_say("%s: no call fits", arguments->operands[0]);
		result = EP_EXIT_NOTHING;
	}
	ep_session_close(&replay.session);
	return result;
}

static const struct ep_option options[] = {
	EP_CHOOSE_OPTIONS,
	{"merged", 'm', NULL, "all threads in one listing, in order of time"},
	{"format", 0, "FORMAT",
	 "tree (default), or tsv: tab-separated, one line an event, all threads merged"},
	{NULL, 0, NULL, NULL},
};

const struct ep_command ep_command_replay = {
	.name = "replay",
	.operands = "SOURCE",
	.operands_min = 1,
	.operands_max = 1,
	.summary = "the calls of each thread as a tree, newest last",
	.example = "replay --last=50 core.4711",
	.description =
		"Prints what each thread called, with times in seconds before the end, and how "
		"long each call took. A ~ marks a time that is known within an interval only, "
		"because no clock was read at that call; > and ? one of which only the earliest "
		"moment is known, after the thread's last clock read.\n\n"
		"A call that did not return is left open. A return whose call came before the "
		"history, a call that was left by longjmp or an exception, and places where "
		"history is missing are marked so. The callers of what --last, --since and --until "
		"choose are shown too.\n\n"
		"--format=tsv is for programs. The first line, which begins with #, names the "
		"columns: event (B a call begins, E it ends, S a return that belongs to no call, G "
		"history is missing, P something happened in a call); time_ns, earliest_ns and "
		"latest_ns, nanoseconds since the first record of the trace (the time is exact "
		"when they are equal; latest_ns is - when nothing is known); tid and thread; "
		"depth, 0 being the outermost call known; function, module, address; flags, "
		"comma-separated or -: approximate, by-switches (the best guess leaves out the "
		"time in which the thread was not on a CPU), did-not-return, began-before, "
		"abandoned (left without a return), unwound (by an exception or longjmp, which the "
		"trace tells), switched-off (its hooks were, so it is not known when it returned), "
		"across-gap, ambiguous, unsure-wait (it may have waited, or a call "
		"near it: then it has - for on_cpu_ns and waiting_ns), lost-blocks, paused, hole, "
		"text, newer-version. Of a P they are what happened: throw and the type, rethrow, "
		"catch, longjmp, new-stack. on_cpu_ns and waiting_ns, of an E whose whole time "
		"scheduling events cover (else -): how long it ran, and how long it waited, for "
		"anything or for a CPU. The second line, # end, has the end of the trace, which "
		"--last and --since count back from, in the columns of the times, and - in all "
		"others; where the process may have ended later, the latest moment says so. Skip "
		"what begins with #.",
	.options = options,
	.names = true,
	.pages = true,
	.run = replay_run,
};
