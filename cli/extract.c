/* SPDX-License-Identifier: BSD-2-Clause */
/* extract.c: epitaph extract: a core or a process → a snapshot. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/say.h"
#include "cli/session.h"
#include "coredump/extract.h"
#include "coredump/pattern.h"

static int expand(struct ep_source *source, const char *pattern, char *path,
		  size_t size)
{
	char executable[1024], host[256] = "";
	struct ep_pattern_facts facts = {
		.pid = ep_source_pid(source),
		.host = host,
		.time = (uint64_t)time(NULL),
	};
	struct ep_err err = {0};
	uint64_t at;

	if (!strcmp(pattern, "-")) {
		snprintf(path, size, "-");
		return EP_OK;
	}
	gethostname(host, sizeof(host) - 1);
	if (ep_source_auxv(source, AT_EXECFN, &at) == EP_OK &&
	    ep_source_read_string(source, at, executable, sizeof(executable),
				  NULL) == EP_OK)
		facts.executable = executable;
	if (ep_pattern_expand(pattern, &facts, path, size, &err) == EP_OK)
		return EP_OK;
	ep_say("%s", err.text);
	return EP_E_USAGE;
}

static void tell(const char *path, const struct ep_extract_result *result)
{
	fprintf(stderr,
		"%s: %" PRIu64 " bytes, of the arena %" PRIu64 " of %" PRIu64
		", stacks of %" PRIu64 " threads",
		path, result->bytes_written, result->arena_saved,
		result->arena_wanted, result->threads);
	if (result->stacks_cut || result->stacks_missing)
		fprintf(stderr, " (%" PRIu64 " cut, %" PRIu64 " missing)",
			result->stacks_cut, result->stacks_missing);
	fputc('\n', stderr);
}

static int extract(struct ep_session *session,
		   const struct ep_arguments *arguments)
{
	struct ep_extract_options options = EP_EXTRACT_DEFAULTS;
	struct ep_extract_result result;
	const char *pattern = ep_argument(arguments, "output");
	struct ep_err err = {0};
	char path[4096];

	if (ep_argument_given(arguments, "no-stacks"))
		options.stack_bytes = 0;
	options.arena_only = ep_argument_given(arguments, "arena-only");
	options.force = ep_argument_given(arguments, "overwrite");
	if (expand(session->source, pattern ? pattern : "epitaph.%p.%n.core",
		   path, sizeof(path)))
		return EP_EXIT_USAGE;
	if (ep_extract(session->source, &session->found, path, &options,
		       &result, &err)) {
		ep_say("%s", err.text);
		return err.code == EP_E_USAGE ? EP_EXIT_USAGE
					      : EP_EXIT_UNREADABLE;
	}
	if (!ep_argument_given(arguments, "quiet"))
		tell(path, &result);
	if (result.arena_saved < result.arena_wanted)
		return EP_EXIT_PARTIAL;
	return session->status;
}

static int run(const struct ep_arguments *arguments)
{
	struct ep_session session;
	int result = ep_session_open_source(&session, arguments,
					    arguments->operands[0]);

	if (!session.source)
		return result;
	if (result > EP_EXIT_PARTIAL) {
		ep_say("%s", session.missing.text);
	} else {
		ep_session_warn(&session);
		result = extract(&session, arguments);
	}
	ep_session_close(&session);
	return result;
}

static const struct ep_option options[] = {
	{"output", 'o', "FILE",
	 "the snapshot's name (epitaph.%p.%n.core): %p pid, %t time, %n a "
	 "number that makes it new; - for stdout"},
	{"no-stacks", 0, NULL, "leave the stacks out: they may hold secrets"},
	{"arena-only", 0, NULL, "nothing but the trace and the notes"},
	{"overwrite", 0, NULL, "replace FILE if it exists"},
	{"executable", 'e', "FILE",
	 "the program's file, when it is not where the core says"},
	{"sysroot", 0, "DIR", "find the modules' files below DIR"},
	{"quiet", 'q', NULL, "do not tell what was saved"},
	{NULL, 0, NULL, NULL},
};

const struct ep_command ep_command_extract = {
	.name = "extract",
	.operands = "SOURCE",
	.operands_min = 1,
	.operands_max = 1,
	.summary = "save the trace of a core or a process as a small core",
	.description =
		"Writes a snapshot: a small core with the trace, the registers "
		"of all threads, the tops of their stacks and what a debugger "
		"needs to unwind them. gdb, eu-stack and epitaph open it like "
		"the core it was taken from.\n\n"
		"A running process is not stopped. What could not be saved is "
		"counted, told and kept in the snapshot.",
	.options = options,
	.run = run,
};
