/* SPDX-License-Identifier: BSD-2-Clause */
/* report.c: epitaph report: the crash on one page. */
#include "decoder/report/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/commands.h"
#include "cli/common/say.h"
#include "cli/common/session.h"
#include "coredump/snapshot/kept.h"
#include "decoder/kernel/end.h"
#include "decoder/names/modules.h"

#define CRASH_CALLS 24 /* of the thread that died */
#define OTHER_CALLS 3
#define THREADS     16
#define FRAMES      40

struct page {
	struct ep_session session;
	struct ep_report report;
	struct ep_trace_module *modules;
	struct ep_err no_unwinder;
};

static bool parse_count(const char *text, uint64_t *out)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*out = strtoull(text, &end, 10);
	return *end == '\0' && errno == 0;
}

static int take_count(const struct ep_arguments *arguments, const char *name, uint64_t *out)
{
	const char *value = ep_argument(arguments, name);

	if (!value || parse_count(value, out))
		return 0;
	ep_say("--%s=%s: a number", name, value);
	return EP_EXIT_USAGE;
}

/* Seconds since 1970, with nine digits behind the point or without. */
static int take_ended(struct ep_report *report, const char *text)
{
	unsigned long long seconds, ns = 0;
	int used = 0;

	if (!text)
		return 0;
	if ((sscanf(text, "%11llu.%9llu%n", &seconds, &ns, &used) == 2 && !text[used]) ||
	    (sscanf(text, "%11llu%n", &seconds, &used) == 1 && !text[used])) {
		report->ended = seconds * 1000000000 + ns;
		return 0;
	}
	ep_say("--ended=%s: seconds since 1970", text);
	return EP_EXIT_USAGE;
}

static int take_arguments(struct ep_report *report, const struct ep_arguments *arguments)
{
	uint64_t last = UINT64_MAX, threads = THREADS, frames = FRAMES;

	if (take_count(arguments, "last", &last) || take_count(arguments, "threads", &threads) ||
	    take_count(arguments, "frames", &frames))
		return EP_EXIT_USAGE;
	report->crash_calls = last == UINT64_MAX ? CRASH_CALLS : last;
	report->other_calls = last == UINT64_MAX ? OTHER_CALLS : last;
	report->threads = threads;
	report->frames = frames ? frames : 1;
	if (take_ended(report, ep_argument(arguments, "ended")))
		return EP_EXIT_USAGE;
	report->inlines = ep_argument_given(arguments, "inlines");
	report->as_json = ep_argument_given(arguments, "json");
	if (ep_argument_given(arguments, "all"))
		report->threads = report->frames = SIZE_MAX;
	report->style = (struct ep_replay_style){ep_color(EP_PLAIN), ep_color(EP_DIM),
						 ep_color(EP_YELLOW), ep_color(EP_CYAN), false};
	report->bold = ep_color(EP_BOLD);
	return 0;
}

/* The modules as the memory shows them, and names by them. What fails is no more than missing
 * names. */
static void take_modules(struct page *page)
{
	struct ep_report *report = &page->report;
	struct ep_session *session = &page->session;

	page->modules =
		ep_modules_from_source(&report->module_count, session->source, session->trace);
	report->modules = page->modules;
	report->others = ep_names_create(page->modules, report->module_count, &session->naming);
}

/* What the program thought worth keeping is worth a line. */
static size_t count_kept(const struct ep_session *session)
{
	struct ep_kept_list kept;
	size_t count;

	if (!session->trace)
		return 0;
	ep_kept_list(&kept, session->source, &session->found);
	count = kept.count;
	ep_kept_list_deinit(&kept);
	return count;
}

static int fill(struct page *page)
{
	struct ep_report *report = &page->report;
	struct ep_session *session = &page->session;

	report->out = stdout;
	report->kept = count_kept(session);
	report->source = session->source;
	report->trace = session->trace;
	if (session->trace)
		ep_end_find(session->trace, session->source, report->ended);
	report->missing = session->missing.text;
	take_modules(page);
	report->names = session->names ? session->names : report->others;
	if (ep_source_kind(session->source) == EP_SOURCE_LIVE)
		report->no_unwinder = "a running process is not stopped";
	else if (ep_source_kind(session->source) == EP_SOURCE_FUNTRACE)
		report->no_unwinder = "a funtrace.raw has no stacks";
	else if (ep_source_kind(session->source) == EP_SOURCE_ARENA)
		report->no_unwinder = "an arena file has no stacks";
	else if (ep_unwinder_create(&report->unwinder, session->source, session->trace,
				    &session->naming, &page->no_unwinder))
		report->no_unwinder = page->no_unwinder.text;
	if (report->unwinder && session->trace)
		ep_unwinder_add_taken(report->unwinder, session->trace->stacks,
				      session->trace->stack_count);
	return EP_EXIT_COMPLETE;
}

static void page_close(struct page *page)
{
	ep_unwinder_destroy(page->report.unwinder);
	ep_names_destroy(page->report.others);
	free(page->modules);
	ep_session_close(&page->session);
}

/* Neither trace nor threads: a page would only be guesses. */
static bool is_empty(const struct ep_session *session)
{
	size_t count;

	ep_source_threads(session->source, &count);
	return !session->trace && count == 0;
}

/* "SIGSEGV-0123456789abcdef parse < serve < main" */
static int print_signature(struct ep_report *report)
{
	char key[EP_SIGNATURE_KEY_MAX];
	struct ep_signature signature;
	struct ep_err err = {0};
	int rc = ep_report_signature(report, &signature, &err);

	if (rc) {
		ep_say("%s", err.text);
		return rc == EP_END ? EP_EXIT_NOTHING : EP_EXIT_UNREADABLE;
	}
	ep_signature_key(&signature, key);
	printf("%s", key);
	for (unsigned i = 0; i < signature.count; i++)
		printf("%s%s", i ? " < " : " ", signature.functions[i]->name);
	putchar('\n');
	return EP_EXIT_COMPLETE;
}

static int run(const struct ep_arguments *arguments)
{
	struct page page = {0};
	struct ep_err err = {0};
	int result = take_arguments(&page.report, arguments);

	if (result)
		return result;
	result = ep_session_open(&page.session, arguments, arguments->operands[0], false);
	if (result > EP_EXIT_PARTIAL)
		return result;
	if (is_empty(&page.session)) {
		ep_session_warn(&page.session);
		ep_say("%s", page.session.missing.text);
		result = EP_EXIT_NOTHING;
	} else if (fill(&page)) {
		result = EP_EXIT_UNREADABLE;
	} else if (ep_argument_given(arguments, "signature")) {
		result = print_signature(&page.report);
	} else if (ep_report_write(&page.report, &err)) {
		ep_say("%s", err.text);
		result = EP_EXIT_UNREADABLE;
	} else if (page.report.partial) {
		result = EP_EXIT_PARTIAL;
	}
	page_close(&page);
	return result;
}

static const struct ep_option options[] = {
	{"last", 'n', "N",
	 "show the last N calls of each thread (24 of the one that died, 3 of "
	 "the others)"},
	{"threads", 0, "N", "show N other threads, the latest first (16)"},
	{"frames", 0, "N",
	 "show N frames of each stack (40): of the thread that died, of both "
	 "ends; of the others the inner ones"},
	{"all", 'a', NULL, "all threads and all frames"},
	{"ended", 0, "SECONDS",
	 "when the process of an arena file ended, since 1970, which the file "
	 "does not tell"},
	{"inlines", 'i', NULL, "also show the calls that the compiler inlined into each frame"},
	{"json", 0, NULL,
	 "one JSON object with all that the text says, and every frame of the "
	 "thread that died; docs/report.schema.json says what is in it"},
	{"signature", 0, NULL,
	 "print nothing but a key by which equal crashes group: the signal and "
	 "the innermost functions, whatever the addresses, the host and the "
	 "depth of a recursion"},
	{NULL, 0, NULL, NULL},
};

const struct ep_command ep_command_report = {
	.name = "report",
	.operands = "SOURCE",
	.operands_min = 1,
	.operands_max = 1,
	.summary = "the crash on one page: what killed it, and what every "
		   "thread was doing",
	.description = "Tells what died and of what, the stack of the thread that "
		       "died with each frame's call in the trace beside it, its last "
		       "calls, and then the same in short for the other threads. What "
		       "cannot be trusted is said at the end.\n\n"
		       "The stack comes from the core, the calls come from the trace. "
		       "Calls that began before the trace's history are known by the "
		       "stack only, and a line says where that begins. Without a "
		       "trace in it, the core's death and stacks are told, with "
		       "status 1. With --inlines a frame is preceded by the calls "
		       "that were inlined where it stands, by the debug information; "
		       "of the calls in the trace nothing but the function's entry is "
		       "known, so none are told there. A running process is not "
		       "stopped: its open calls are shown, and no stacks.",
	.options = options,
	.names = true,
	.run = run,
};
