/* SPDX-License-Identifier: BSD-2-Clause */
/* report.c: epitaph report: the crash on one page. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/commands.h"
#include "cli/common/findings.h"
#include "cli/common/say.h"
#include "cli/common/terminal.h"
#include "decoder/report/crash_signature.h"
#include "decoder/report/print/print.h"

#define CRASH_CALLS 24 /* of the thread that died */
#define OTHER_CALLS 3
#define THREADS     16
#define FRAMES      40

/* Seconds since 1970, with nine digits behind the point or without. */
static int parse_ended(uint64_t *out, const char *text)
{
	unsigned long long seconds, ns = 0;
	int used = 0;

	if (!text)
		return 0;
	if ((sscanf(text, "%11llu.%9llu%n", &seconds, &ns, &used) == 2 && !text[used]) ||
	    (sscanf(text, "%11llu%n", &seconds, &used) == 1 && !text[used])) {
		*out = seconds * 1000000000 + ns;
		return 0;
	}
	ep_say("--ended=%s: seconds since 1970", text);
	return EP_EXIT_USAGE;
}

/* One screen, unless somebody asked for more than that. */
static bool is_page(const struct ep_arguments *arguments)
{
	static const char *const more[] = {"json", "last", "threads", "frames", "inlines"};

	for (size_t i = 0; i < sizeof(more) / sizeof(*more); i++)
		if (ep_argument_given(arguments, more[i]))
			return false;
	return true;
}

static int parse_limits(struct ep_report_limits *limits, const struct ep_arguments *arguments)
{
	uint64_t last = UINT64_MAX, threads = THREADS, frames = FRAMES;

	if (ep_argument_number(arguments, "last", 0, UINT64_MAX, "a number", &last) ||
	    ep_argument_number(arguments, "threads", 0, UINT64_MAX, "a number", &threads) ||
	    ep_argument_number(arguments, "frames", 0, UINT64_MAX, "a number", &frames))
		return EP_EXIT_USAGE;
	limits->crash_calls = last == UINT64_MAX ? CRASH_CALLS : last;
	limits->other_calls = last == UINT64_MAX ? OTHER_CALLS : last;
	limits->threads = threads;
	limits->frames = frames ? frames : 1;
	limits->inlines = ep_argument_given(arguments, "inlines");
	limits->signature = ep_argument_given(arguments, "json");
	limits->groups = true;
	if (ep_argument_given(arguments, "all"))
		limits->threads = limits->frames = SIZE_MAX;
	else if (is_page(arguments))
		*limits = ep_report_page_limits;
	return 0;
}

/* Neither trace nor threads: a page would only be guesses. */
static bool is_empty(const struct ep_session *session)
{
	size_t count;

	ep_source_threads(session->source, &count);
	return !session->trace && count == 0;
}

/* "SIGSEGV-0123456789abcdef parse < serve < main" */
static int print_signature(const struct ep_evidence *evidence)
{
	char key[EP_SIGNATURE_KEY_MAX];
	struct ep_signature signature;
	struct ep_err err = {0};
	int rc = ep_crash_signature(evidence, &signature, &err);

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

static int print_report(const struct ep_session *session, const struct ep_findings *findings,
			const struct ep_report_limits *limits, bool as_json, bool full_names)
{
	const struct ep_page_look look = {
		.style = {ep_color(EP_PLAIN), ep_color(EP_DIM), ep_color(EP_YELLOW),
			  ep_color(EP_CYAN), false, full_names},
		.bold = ep_color(EP_BOLD),
		.columns = ep_terminal_columns(),
		.full_names = full_names,
	};
	struct ep_report report;
	bool partial;

	ep_report_init(&report, &findings->evidence, limits, ep_findings_kept(session));
	if (as_json)
		ep_report_print_json(&report, stdout);
	else
		ep_report_print_text(&report, stdout, &look);
	partial = report.partial;
	ep_report_deinit(&report);
	return partial ? EP_EXIT_PARTIAL : EP_EXIT_COMPLETE;
}

static int report_run(const struct ep_arguments *arguments)
{
	struct ep_report_limits limits = {0};
	struct ep_findings findings = {0};
	struct ep_session session = {0};
	int status, result = parse_limits(&limits, arguments);

	if (result || parse_ended(&findings.evidence.ended, ep_argument(arguments, "ended")))
		return EP_EXIT_USAGE;
	result = ep_session_open(&session, arguments, arguments->operands[0], false);
	if (result > EP_EXIT_PARTIAL)
		return result;
	if (is_empty(&session)) {
		ep_session_warn(&session);
		ep_say("%s", session.missing.text);
		ep_session_close(&session);
		return EP_EXIT_NOTHING;
	}
	ep_findings_init(&findings, &session);
	if (ep_argument_given(arguments, "signature")) {
		result = print_signature(&findings.evidence);
	} else {
		status = print_report(&session, &findings, &limits,
				      ep_argument_given(arguments, "json"),
				      ep_argument_given(arguments, "full-names"));
		result = status ? status : result;
	}
	ep_findings_deinit(&findings);
	ep_session_close(&session);
	return result;
}

static const struct ep_option options[] = {
	{"last", 'n', "N",
	 "show the last N calls of each thread (24 of the one that died, 3 of the others)"},
	{"threads", 0, "N", "show N other threads, the latest first (16)"},
	{"frames", 0, "N",
	 "show N frames of each stack (40): of the thread that died, of both ends; of the others "
	 "the inner ones"},
	{"all", 'a', NULL, "all threads and all frames"},
	{"ended", 0, "SECONDS",
	 "when the process of an arena file ended, since 1970, which the file does not tell"},
	{"full-names", 0, NULL,
	 "names of C++ in full, and paths: not std::string, but "
	 "std::__cxx11::basic_string<char, ...>"},
	{"inlines", 'i', NULL, "also show the calls that the compiler inlined into each frame"},
	{"json", 0, NULL,
	 "one JSON object with all that the text says, and every frame of the thread that died; "
	 "docs/report.schema.json says what is in it"},
	{"signature", 0, NULL,
	 "print nothing but a key by which equal crashes group: the signal and the innermost "
	 "functions, whatever the addresses, the host and the depth of a recursion"},
	{NULL, 0, NULL, NULL},
};

const struct ep_command ep_command_report = {
	.name = "report",
	.operands = "SOURCE",
	.operands_min = 1,
	.operands_max = 1,
	.summary = "the crash on one page: what killed it, and what every thread was doing",
	.example = "report core.4711",
	.description =
		"Tells what died and of what, the stack of the thread that died with each frame's "
		"call in the trace beside it, its last calls, and then the same in short for the "
		"other threads. What cannot be trusted is said at the end.\n"
		"\n"
		"The stack comes from the core, the calls come from the trace. Calls that began "
		"before the trace's history are known by the stack only, and a line says where "
		"that begins. Without a trace in it, the core's death and stacks are told, with "
		"status 1. With --inlines a frame is preceded by the calls that were inlined where "
		"it stands, by the debug information; of the calls in the trace nothing but the "
		"function's entry is known, so none are told there. A running process is not "
		"stopped: its open calls are shown, and no stacks.",
	.options = options,
	.names = true,
	.pages = true,
	.run = report_run,
};
