/* SPDX-License-Identifier: BSD-2-Clause */
/* extract.c: epitaph extract: a core or a process → a snapshot. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>
#include <unistd.h>

#include "cli/common/commands.h"
#include "cli/commands/extract.h"
#include "cli/common/say.h"
#include "coredump/extract/extract_kept.h"
#include "coredump/files/pattern.h"
#include "coredump/snapshot/redacted.h"
#include "coredump/util/number.h"
#include "runtime/format.h"

int ep_extract_parse_redact(const struct ep_arguments *arguments, uint32_t *bits)
{
	const char *words = ep_argument(arguments, "redact");
	struct ep_err err = {0};

	*bits = 0;
	if (words && ep_redacted_parse(words, bits, &err)) {
		ep_say("%s", err.text);
		return EP_EXIT_USAGE;
	}
	if (ep_argument_given(arguments, "no-stacks"))
		*bits |= EP_REDACTED_STACKS;
	return 0;
}

/* An exit status. */
static int options_parse(const struct ep_arguments *arguments, struct ep_extract_options *options)
{
	*options = EP_EXTRACT_DEFAULTS;
	options->pages.arena_only = ep_argument_given(arguments, "arena-only");
	options->force = ep_argument_given(arguments, "output");
	return ep_extract_parse_redact(arguments, &options->pages.redact);
}

/* The output's name: --output, or `usual`. */
static int path_expand(struct ep_source *source, const struct ep_arguments *arguments,
		       const char *usual, char path[PATH_MAX])
{
	const char *output = ep_argument(arguments, "output"), *pattern = output ? output : usual;
	char executable[1024], host[256] = "";
	struct ep_pattern_facts facts = {
		.pid = ep_source_pid(source),
		.host = host,
		.time = (uint64_t)time(NULL),
	};
	struct ep_err err = {0};
	uint64_t at;

	if (!strcmp(pattern, "-")) {
		strcpy(path, "-");
		return 0;
	}
	gethostname(host, sizeof(host) - 1);
	if (ep_source_auxv(source, AT_EXECFN, &at) == EP_OK &&
	    ep_source_read_string(source, at, executable, sizeof(executable), NULL) == EP_OK)
		facts.executable = executable;
	if (ep_pattern_expand(pattern, &facts, path, PATH_MAX, &err) == EP_OK)
		return 0;
	ep_say("%s", err.text);
	return EP_EXIT_USAGE;
}

static int failed(const struct ep_err *err)
{
	ep_say("%s", err->text);
	return err->code == EP_E_USAGE ? EP_EXIT_USAGE : EP_EXIT_UNREADABLE;
}

static void print_result(const char *path, const struct ep_extract_result *result)
{
	fprintf(stderr,
		"%s: %" PRIu64 " bytes, of the arena %" PRIu64 " of %" PRIu64 ", stacks of %" PRIu64
		" threads",
		ep_shown(path), result->bytes_written, result->arena_saved, result->arena_wanted,
		result->threads);
	if (result->stacks_cut || result->stacks_missing)
		fprintf(stderr, " (%" PRIu64 " cut, %" PRIu64 " missing)", result->stacks_cut,
			result->stacks_missing);
	fputc('\n', stderr);
}

int ep_extract_run(struct ep_session *session, const struct ep_arguments *arguments, FILE *path_to)
{
	struct ep_extract_options options;
	struct ep_extract_result result;
	struct ep_err err = {0};
	char path[PATH_MAX];

	if (options_parse(arguments, &options) ||
	    path_expand(session->source, arguments, "epitaph.%p.%n.core", path))
		return EP_EXIT_USAGE;
	if (ep_extract(session->source, &session->found, path, &options, &result, &err))
		return failed(&err);
	if (!ep_argument_given(arguments, "quiet"))
		print_result(path, &result);
	if (path_to)
		fprintf(path_to, "%s\n", path);
	return result.arena_saved < result.arena_wanted ? EP_EXIT_PARTIAL : session->status;
}

/* ---- kept snapshots ---- */

static int kept_extract_one(struct ep_session *session, const struct ep_arguments *arguments,
			    const struct ep_kept_found *which)
{
	struct ep_extract_options options;
	struct ep_kept_result result;
	struct ep_err err = {0};
	char path[PATH_MAX], usual[64];

	snprintf(usual, sizeof(usual), "epitaph.%%p.kept-%" PRIu64 ".core", which->kept.number);
	if (options_parse(arguments, &options) ||
	    path_expand(session->source, arguments, usual, path))
		return EP_EXIT_USAGE;
	if (ep_kept_extract(session->source, &session->found, which, path, &options, &result,
			    &err)) {
		int status = failed(&err);

		return err.code == EP_E_UNSAVED || err.code == EP_END ? EP_EXIT_NOTHING : status;
	}
	if (!ep_argument_given(arguments, "quiet"))
		fprintf(stderr,
			"%s: %" PRIu64 " bytes, of kept snapshot %" PRIu64 " %" PRIu64
			" of %" PRIu64 "\n",
			path, result.bytes_written, which->kept.number, result.saved,
			result.wanted);
	return result.saved < result.wanted ? EP_EXIT_PARTIAL : session->status;
}

/* The worst of what became of each. */
static int kept_extract_all(struct ep_session *session, const struct ep_arguments *arguments,
			    const struct ep_kept_list *kept)
{
	const char *pattern = ep_argument(arguments, "output");
	int worst = session->status;

	if (kept->count > 1 && pattern && !strstr(pattern, "%n")) {
		ep_say("%zu snapshots are kept: --output needs a %%n, a number that makes each "
		       "name new",
		       kept->count);
		return EP_EXIT_USAGE;
	}
	for (size_t i = 0; i < kept->count; i++) {
		int result = kept_extract_one(session, arguments, &kept->list[i]);

		worst = result > worst ? result : worst;
	}
	return worst;
}

static int kept_extract_number(struct ep_session *session, const struct ep_arguments *arguments,
			       const struct ep_kept_list *kept, const char *text)
{
	const struct ep_kept_found *which;
	uint64_t number;

	if (!ep_number_parse(text, 0, UINT64_MAX, &number)) {
		ep_say("--kept takes a number, or all: epitaph info lists them, not %s", text);
		return EP_EXIT_USAGE;
	}
	which = ep_kept_at(kept, number);
	if (which)
		return kept_extract_one(session, arguments, which);
	ep_say("%s: no snapshot %s is kept in it; epitaph info lists those that are",
	       ep_source_name(session->source), text);
	return EP_EXIT_NOTHING;
}

static int kept_extract(struct ep_session *session, const struct ep_arguments *arguments,
			const char *text)
{
	struct ep_kept_list kept;
	int result;

	ep_kept_list(&kept, session->source, &session->found);
	if (strcmp(text, "all")) {
		result = kept_extract_number(session, arguments, &kept, text);
	} else if (kept.count) {
		result = kept_extract_all(session, arguments, &kept);
	} else {
		ep_say("%s: no snapshot is kept in it (epitaph_snapshot_take)",
		       ep_source_name(session->source));
		result = EP_EXIT_NOTHING;
	}
	ep_kept_list_deinit(&kept);
	return result;
}

static int run(const struct ep_arguments *arguments)
{
	const char *kept = ep_argument(arguments, "kept");
	struct ep_extract_options ignored;
	struct ep_session session;
	int result = options_parse(arguments, &ignored);

	if (result)
		return result;
	result = ep_session_open_source(&session, arguments, arguments->operands[0]);
	if (!session.source)
		return result;
	if (result > EP_EXIT_PARTIAL) {
		ep_say("%s", session.missing.text);
	} else {
		ep_session_warn(&session);
		result = kept ? kept_extract(&session, arguments, kept)
			      : ep_extract_run(&session, arguments, NULL);
	}
	ep_session_close(&session);
	return result;
}

static const struct ep_option options[] = {
	{"output", 'o', "FILE",
	 "the snapshot's name, replaced if it exists (epitaph.%p.%n.core): %p pid, %t time, %n a "
	 "number that makes it new; - for stdout"},
	{"kept", 'k', "N|all",
	 "a snapshot of the one, or of each, that the program kept in memory "
	 "(epitaph.%p.kept-N.core); epitaph info lists them"},
	{"no-stacks", 0, NULL, "leave the stacks out: they may hold secrets"},
	{"redact", 0, "WORDS",
	 "leave out what the words name: cmdline, paths, notes, stacks, registers, several with "
	 "commas between them, or all"},
	{"arena-only", 0, NULL, "nothing but the trace and the notes"},
	{"executable", 'e', "FILE", "the program's file, when it is not where the core says"},
	{"sysroot", 0, "DIR", "find the modules' files below DIR"},
	{"sample", 0, "N", "of a funtrace.raw the Nth sample, from 0 on; default the last"},
	{"quiet", 'q', NULL, "do not print what was saved"},
	{NULL, 0, NULL, NULL},
};

const struct ep_command ep_command_extract = {
	.name = "extract",
	.operands = "SOURCE",
	.operands_min = 1,
	.operands_max = 1,
	.summary = "save the trace of a core or a process as a small core",
	.example = "extract core.4711 -o small.core",
	.description =
		"Writes a snapshot: a small core with the trace, the registers of all threads, the "
		"tops of their stacks and what a debugger needs to unwind them. gdb, eu-stack and "
		"epitaph open it like the core it was taken from.\n\n"
		"A running process is not stopped. What could not be saved is counted, reported "
		"and kept in the snapshot.\n\n"
		"It may hold what is not for everybody: --redact leaves out the command line, "
		"paths, what the program said in notes and names of spans and threads, stacks and "
		"registers. Function names and build-ids work all the same, and the snapshot says "
		"what is not in it (docs/privacy.md).\n\n"
		"Snapshots that the program itself kept in memory (epitaph_snapshot_take) are part "
		"of the snapshot; with --kept one of them becomes a file of its own, to be read "
		"like any other: it shows the moment at which it was taken, without stacks.",
	.options = options,
	.run = run,
};
