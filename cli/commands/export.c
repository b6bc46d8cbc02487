/* SPDX-License-Identifier: BSD-2-Clause */
/* export.c: epitaph export: the calls as a file for another program. A format is a row of a
 * table. */
#include <errno.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands/export_names.h"
#include "cli/common/choose.h"
#include "cli/common/commands.h"
#include "cli/common/findings.h"
#include "cli/common/gzip.h"
#include "cli/common/progress.h"
#include "cli/common/say.h"
#include "cli/common/session.h"
#include "cli/common/zstd.h"
#include "coredump/files/output.h"
#include "coredump/files/output_folder.h"
#include "coredump/util/alloc.h"
#include "decoder/export/export.h"
#include "decoder/export/flame/flame.h"
#include "decoder/export/funtrace_export.h"
#include "decoder/export/tables/tables.h"
#include "decoder/export/viztracer.h"
#include "decoder/report/death/death.h"
#include "decoder/report/print/print.h"
#include "decoder/util/fit.h"

#define MIN_PERCENT    0.5 /* --min-percent, when it is not given */
#define SOURCES_LISTED 20  /* files */

struct export
{
	struct ep_session session;
	struct ep_selection selection;
	struct ep_export what; /* set when the session is open */
	struct ep_embedded embedded;
	const struct format *format;
	const char *path; /* NULL: stdout */
	bool gzip, zstd, overwrite;
	char *page, *report, *death; /* owned; NULL: none */
};

struct format {
	const char *name;
	const char *extensions; /* of -o FILE, without --format: words, each with a blank behind */
	const char *options;    /* that only some have: words, by blanks */
	int (*write)(FILE *out, const struct ep_export *export, uint64_t *shown,
		     struct ep_err *err); /* NULL: tables, in a folder */
	bool binary;
};

/* All formats: name, extensions, options, write, binary, and what the man page says. */
/* clang-format off */
#define FORMATS_LIST(X)                                                                            \
	X("html", ".html .htm ", "sources", ep_html_write, false,                                  \
	  "one page with all in it, for any browser of these years (Chromium 80, Firefox "         \
	  "113, Safari 16.4), without a server and without a network: the threads' calls "         \
	  "on a time line, who ran where and who woke whom, notes and spans, what was "            \
	  "lost or switched off, and the report beside them. ? shows its keys.")                   \
	X("viztracer", "", "sources raw-timestamps", ep_viztracer_write, false,                    \
	  "JSON for vizviewer (pip install viztracer): the threads on a time line; with "          \
	  "--sources=DIR, the source of the call that is selected, too. Only files below "         \
	  "DIR are read, whatever the program's debug information names, no link leads "           \
	  "out of it, and names that begin with a dot are left out; what was taken is "            \
	  "told. ui.perfetto.dev and chrome://tracing open it too.")                               \
	X("chrome", "", "raw-timestamps", ep_chrome_write, false,                                  \
	  "the Trace Event Format, for ui.perfetto.dev, chrome://tracing and speedscope, "         \
	  "without the sources, with file, line, module and address of each call. In "             \
	  "both, throws, catches, longjmps, changes of the stack and places where "                \
	  "history is missing are instants. Viewers nest calls by their times: those "             \
	  "that share one are drawn 1 or 2 ns apart. Perfetto draws 512 levels.")                  \
	X("perfetto", ".pftrace .perfetto-trace ", "", ep_perfetto_write, true,                    \
	  "Perfetto's own format, for ui.perfetto.dev and its trace processor (SQL); "             \
	  "binary, a twelfth of chrome's size. A call whose times are not exact has the "          \
	  "category approximate; file, line, module and address come with a function's "           \
	  "first call in each thread. Scheduling and interrupts are ftrace's events, who "         \
	  "woke whom arrows, missing history and waits whose call is not certain slices; "         \
	  "counters of each thread say what tracing cost. It has 500 frames of a stack; "          \
	  "what is deeper is one slice. A call that did not return has no end.")                   \
	X("jsonl", ".jsonl .ndjson ", "", ep_jsonl_write, false,                                   \
	  "one JSON object a line, for jq, DuckDB and pandas. The first line is a header "         \
	  "with the version of the fields, the threads, and the time of day of zero; the "         \
	  "last one tells how many came between. A call's line comes when it ends, with "          \
	  "its number in its thread and its parent's. docs/jsonl.md has the fields.")              \
	X("collapsed", ".collapsed .folded ", "weight merge-threads", ep_collapsed_write, false,   \
	  "folded stacks for flame graphs (flamegraph.pl, inferno, d3-flame-graph, "               \
	  "speedscope): thread, functions and a number, the nanoseconds in just that "             \
	  "stack, or the calls. A call that did not return counts up to the end of the "           \
	  "trace. With --since, --until and --last=TIME only what lies within counts; "            \
	  "the callers of the last N calls count as a whole. A semicolon in a name is "            \
	  "\\x3b.")                                                                                \
	X("speedscope", ".speedscope.json ", "", ep_speedscope_write, false,                       \
	  "for www.speedscope.app, a profile for each thread.")                                    \
	X("dot", ".dot .gv ", "min-percent", ep_dot_write, false,                                  \
	  "who called whom, for Graphviz (dot -Tsvg): calls and time of functions and "            \
	  "edges, a box for each module, warmer colours for more time of its own. A "              \
	  "dashed edge goes past calls that were not selected.")                                   \
	X("funtrace", ".raw ", "", ep_funtrace_write, true,                                        \
	  "a funtrace.raw with one sample, for funtrace2viz; binary. Calls, returns and "          \
	  "catches, each with one time, in TSC cycles, and scheduling events as ftrace's "         \
	  "text; where history is missing it cannot tell.")                                        \
	X("flamegraph", "", "weight merge-threads", ep_flamegraph_write, false,                    \
	  "the folded stacks as one page for a browser, which fetches nothing: click to "          \
	  "zoom, / to search.")                                                                    \
	X("svg", ".svg ", "weight merge-threads", ep_svg_write, false,                             \
	  "what flamegraph draws, as a picture. In both the threads are on top, and the "          \
	  "width of a frame is what was spent in it, waits included.")                             \
	X("tables", "", "zstd overwrite", NULL, false,                                             \
	  "a folder of CSV files for DuckDB, ClickHouse and pandas: process, threads, "            \
	  "modules, functions, calls, waits, notes, spans, gaps, and the frames of the "           \
	  "stacks; schema.sql and clickhouse.sql load them. The folder appears whole or "          \
	  "not at all; one that is there must be empty, or hold tables, and --overwrite "          \
	  "be given. docs/tables.md has the columns, and queries.")
/* clang-format on */

#define FORMAT(name, extensions, options, write, binary, text) \
	{name, extensions, options, write, binary},
#define FORMAT_NAME(name, ...)                                      " " name
#define FORMAT_EXTENSIONS(name, extensions, ...)                    extensions
#define FORMAT_TEXT(name, extensions, options, write, binary, text) name ": " text "\n\n"

#define NAMES      FORMATS_LIST(FORMAT_NAME)
#define EXTENSIONS FORMATS_LIST(FORMAT_EXTENSIONS)
#define TEXTS      FORMATS_LIST(FORMAT_TEXT)

static const struct format formats[] = {FORMATS_LIST(FORMAT)};

#define FORMATS (sizeof(formats) / sizeof(*formats))

/* ---- writing ---- */

static int write_to(FILE *out, struct export *export, uint64_t *shown, struct ep_err *err)
{
	return export->format->write(out, &export->what, shown, err);
}

/* Into `fd`, compressed or not; `fd` stays open. EP_E_IO: errno tells. */
static int write_fd(int fd, struct export *export, uint64_t *shown, struct ep_err *err)
{
	FILE *out = export->gzip ? ep_gzip_open(fd) : fdopen(dup(fd), "w");
	int rc, reason;

	if (!out)
		return ep_fail(err, EP_E_IO, 0, "%s", strerror(errno));
	rc = write_to(out, export, shown, err);
	reason = errno;
	if (fclose(out) && !rc) {
		reason = errno;
		rc = ep_fail(err, EP_E_IO, 0, "%s", strerror(errno));
	}
	errno = reason;
	return rc;
}

static int write_aside(struct export *export, uint64_t *shown, struct ep_err *err)
{
	struct ep_output output;
	int rc = ep_source_spare(export->session.source, export->path, err);

	rc = rc ? rc : ep_output_open(&output, export->path, true, err);
	if (rc)
		return rc;
	rc = write_fd(output.fd, export, shown, err);
	if (!rc && *shown)
		return ep_output_commit(&output, err);
	if (rc)
		ep_err_prefix(err, "%s", export->path);
	ep_output_abandon(&output);
	return rc;
}

/* ---- tables, in a folder ---- */

enum pack { PACK_PLAIN, PACK_GZIP, PACK_ZSTD };

struct place {
	struct ep_output_folder folder;
	enum pack pack;
};

static int open_packed(FILE **out, int fd, enum pack pack, struct ep_err *err)
{
	if (pack == PACK_ZSTD)
		return ep_zstd_open(out, fd, err);
	if (pack == PACK_GZIP) {
		*out = ep_gzip_open(fd);
	} else {
		fd = dup(fd);
		*out = fd < 0 ? NULL : fdopen(fd, "w");
		if (!*out && fd >= 0)
			close(fd);
	}
	return *out ? EP_OK : ep_fail(err, EP_E_IO, 0, "%s", strerror(errno));
}

static int place_open(void *context, const char *name, bool plain, FILE **out, struct ep_err *err)
{
	struct place *place = context;
	int fd, rc = ep_output_folder_add(&place->folder, name, &fd, err);

	return rc ? rc : open_packed(out, fd, plain ? PACK_PLAIN : place->pack, err);
}

/* `path` appears whole or not at all, and not when *shown is 0; `replace`: in the place of tables
 * that are there. EP_OK, or the error, with the name. */
static int export_folder(const char *path, bool replace, enum pack pack,
			 const struct ep_export *export, uint64_t *shown, struct ep_err *err)
{
	static const char *const suffixes[] = {
		[PACK_PLAIN] = "", [PACK_GZIP] = ".gz", [PACK_ZSTD] = ".zst"};
	static struct place place; /* a signal may look at it */
	const struct ep_tables_place tables = {
		.context = &place, .suffix = suffixes[pack], .open = place_open};
	int rc = ep_output_folder_open(&place.folder, path, replace, ep_tables_is_file, err);

	if (rc)
		return rc;
	place.pack = pack;
	rc = ep_tables_write(&tables, export, shown, err);
	if (rc == EP_OK && *shown)
		return ep_output_folder_commit(&place.folder, err);
	if (rc)
		ep_err_prefix(err, "%s", path);
	ep_output_folder_abandon(&place.folder);
	return rc;
}

static int write_tables(struct export *export, uint64_t *shown, struct ep_err *err)
{
	enum pack pack = export->zstd ? PACK_ZSTD : export->gzip ? PACK_GZIP : PACK_PLAIN;

	return export_folder(export->path, export->overwrite, pack, &export->what, shown, err);
}

static int write_stdout(struct export *export, uint64_t *shown, struct ep_err *err)
{
	int rc, reason;

	if ((export->gzip || export->format->binary) && isatty(STDOUT_FILENO))
		return ep_fail(err, EP_E_USAGE, 0,
			       "%s data is no text for a terminal: name a file, or redirect",
			       export->gzip ? "compressed" : "binary");
	if (isatty(STDOUT_FILENO))
		ep_progress_hide();
	if (export->gzip)
		rc = write_fd(STDOUT_FILENO, export, shown, err);
	else
		rc = write_to(stdout, export, shown, err);
	if (rc != EP_E_IO)
		return rc;
	reason = errno;
	/* It is reported here, and not once more at the end. */
	clearerr(stdout);
	__fpurge(stdout);
	if (reason != EPIPE) {
		ep_err_prefix(err, "stdout");
		return rc;
	}
	*shown = 1; /* A reader that has gone away had seen enough. */
	return EP_OK;
}

/* ---- the report, for a format that has it in it ---- */

#define REPORT_CALLS  24 /* of the thread that died */
#define REPORT_OTHERS 3  /* calls of each other thread */
#define PAGE_COLUMNS  80 /* of the panel beside the picture */

static char *report_text(const struct ep_report *report, size_t columns)
{
	const struct ep_page_look plain = {
		.style = {"", "", "", "", false, false}, .bold = "", .columns = columns};
	char *text;
	size_t size;
	FILE *file = ep_open_memstream(&text, &size);

	ep_report_print_text(report, file, &plain);
	ep_close_memstream(file);
	return text;
}

static char *death_text(const struct ep_report *report)
{
	char text[128];

	if (report->head.end != EP_REPORT_DIED)
		return NULL;
	ep_death_signal_text(text, sizeof(text), report->head.death.signal);
	return ep_strdup(text);
}

/* An export is passed on, and debug information may name any file: source is what --sources allows,
 * read the way that leads to nothing else. */
static void allow_source(const struct ep_embedded *embedded, struct ep_report_place *place)
{
	struct ep_source_text *source = &place->source;
	const char *path = place->line.file;
	bool newer = source->newer;
	int fd;

	if (!path || !place->line.line)
		return; /* it says so */
	fd = ep_embedded_open(embedded, path);
	ep_source_text_deinit(source);
	if (fd >= 0)
		ep_source_text_read(source, path, fd, place->line.line, 0);
	else
		snprintf(source->why, sizeof(source->why), "left out here: not below --sources");
	source->newer = newer && source->count;
}

/* As text, from malloc. */
static char *make_report(struct export *export, const struct ep_findings *findings,
			 const struct ep_report_limits *limits, size_t columns)
{
	struct ep_report report;
	char *text;

	ep_report_init(&report, &findings->evidence, limits, ep_findings_kept(&export->session));
	allow_source(&export->embedded, &report.place);
	text = report_text(&report, columns);
	if (!export->death)
		export->what.death = export->death = death_text(&report);
	export->what.death_tid = report.head.thread ? report.head.thread->tid : 0;
	ep_report_deinit(&report);
	return text;
}

static void find_report(struct export *export)
{
	const struct ep_report_limits limits = {.crash_calls = REPORT_CALLS,
						.other_calls = REPORT_OTHERS,
						.threads = SIZE_MAX,
						.frames = SIZE_MAX};
	struct ep_findings findings = {0};

	ep_findings_init(&findings, &export->session);
	export->what.page = export->page =
		make_report(export, &findings, &ep_report_page_limits, PAGE_COLUMNS);
	export->what.report = export->report = make_report(export, &findings, &limits, EP_FIT_ALL);
	ep_findings_deinit(&findings);
}

/* An exit status. */
static int write_calls(struct export *export)
{
	struct ep_err err = {0};
	uint64_t shown = 0;
	int rc;

	export->what.trace = export->session.trace;
	export->what.names = export->session.names;
	export->what.selection = &export->selection;
	export->what.funtrace = ep_source_funtrace(export->session.source);
	export->what.source = export->session.source;
	export->what.naming = &export->session.naming;
	if (export->format->write == ep_html_write)
		find_report(export);
	rc = !export->format->write ? write_tables(export, &shown, &err)
	     : export->path         ? write_aside(export, &shown, &err)
				    : write_stdout(export, &shown, &err);
	if (rc) {
		ep_say("%s", err.text);
		return rc == EP_E_USAGE ? EP_EXIT_USAGE : EP_EXIT_UNREADABLE;
	}
	return shown ? EP_EXIT_COMPLETE : EP_EXIT_NOTHING;
}

/* ---- the command line ---- */

static void refuse_name(const char *given)
{
	const char *instead = ep_export_instead(given), *nearest, *names[FORMATS];

	for (size_t i = 0; i < FORMATS; i++)
		names[i] = formats[i].name;
	nearest = instead ? NULL : ep_export_nearest(given, names, FORMATS);
	if (instead)
		ep_say("--format=%s: there is no such format: %s", given, instead);
	else if (nearest)
		ep_say("--format=%s: there is no such format; did you mean %s?", given, nearest);
	else
		ep_say("--format=%s: there is no such format", given);
}

static int refuse_format(const char *given)
{
	char names[256] = "";

	for (size_t i = 0; i < FORMATS; i++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
			 i ? ", " : "", formats[i].name);
	if (given)
		refuse_name(given);
	else
		ep_say("--format is missing, and the file's name does not tell it");
	ep_say("formats are: %s", names);
	return EP_EXIT_USAGE;
}

/* In one of `ends`, words, and is not just that. */
static bool ends_with(const char *text, const char *ends)
{
	size_t length = strlen(text), wanted;

	for (; *ends; ends += wanted + (ends[wanted] == ' ')) {
		wanted = strcspn(ends, " ");
		if (length > wanted && !memcmp(text + length - wanted, ends, wanted))
			return true;
	}
	return false;
}

static const struct format *format_of(const char *name, const char *path)
{
	char plain[PATH_MAX] = "";

	name = name ? ep_export_alias(name) : NULL;
	if (path)
		snprintf(plain, sizeof(plain), "%s", path);
	if (ends_with(plain, ".gz"))
		plain[strlen(plain) - 3] = 0;
	for (size_t i = 0; i < FORMATS; i++)
		if (name ? !strcmp(name, formats[i].name) : ends_with(plain, formats[i].extensions))
			return &formats[i];
	return NULL;
}

static bool is_word_of(const char *word, const char *words)
{
	size_t length = strlen(word);
	const char *found = strstr(words, word);

	return found && (found == words || found[-1] == ' ') &&
	       (found[length] == ' ' || !found[length]);
}

/* `name` is not of the format that was asked for: of which is it? */
static void refuse_option(const char *name)
{
	char list[128] = "";

	for (size_t i = 0; i < FORMATS; i++)
		if (is_word_of(name, formats[i].options))
			snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s",
				 *list ? " and --format=" : "", formats[i].name);
	ep_say("--%s is for --format=%s only", name, list);
}

/* Options of single formats, given for another. */
static int refuse_foreign(const struct format *format, const struct ep_arguments *arguments)
{
	for (size_t i = 0; i < arguments->given_count; i++) {
		const char *name = arguments->given[i].option->name;

		for (size_t j = 0; j < FORMATS; j++) {
			if (&formats[j] == format || is_word_of(name, format->options) ||
			    !is_word_of(name, formats[j].options))
				continue;
			refuse_option(name);
			return EP_EXIT_USAGE;
		}
	}
	return 0;
}

static int read_weight(struct export *export, const char *weight)
{
	export->what.count_calls = weight && !strcmp(weight, "calls");
	if (!weight || export->what.count_calls || !strcmp(weight, "self-time"))
		return 0;
	ep_say("--weight=%s: self-time or calls", weight);
	return EP_EXIT_USAGE;
}

static int read_percent(struct export *export, const char *percent)
{
	char *end = NULL;

	export->what.min_percent = MIN_PERCENT;
	if (!percent)
		return 0;
	export->what.min_percent = strtod(percent, &end);
	if (end != percent && !strcmp(end, "%"))
		end++;
	if (end != percent && !*end && export->what.min_percent >= 0 &&
	    export->what.min_percent <= 100)
		return 0;
	ep_say("--min-percent=%s: a number from 0 to 100", percent);
	return EP_EXIT_USAGE;
}

/* Only tables have no stdout to go to, and may be compressed in two ways. */
static int read_folder(struct export *export, const struct ep_arguments *arguments)
{
	export->zstd = ep_argument_given(arguments, "zstd");
	export->overwrite = ep_argument_given(arguments, "overwrite");
	if (export->format->write)
		return 0;
	export->gzip = ep_argument_given(arguments, "gzip");
	if (!export->path) {
		ep_say("tables are several files: -o DIR says in which folder");
		return EP_EXIT_USAGE;
	}
	if (!export->zstd || !export->gzip)
		return 0;
	ep_say("--gzip or --zstd, not both");
	return EP_EXIT_USAGE;
}

static int read_arguments(struct export *export, const struct ep_arguments *arguments)
{
	const char *name = ep_argument(arguments, "format");
	int result;

	export->path = ep_argument(arguments, "output");
	if (export->path && !strcmp(export->path, "-"))
		export->path = NULL;
	export->format = format_of(name, export->path);
	if (!export->format)
		return refuse_format(name);
	export->gzip = ep_argument_given(arguments, "gzip") ||
		       (export->path && ends_with(export->path, ".gz"));
	export->what.raw_times = ep_argument_given(arguments, "raw-timestamps");
	export->what.merge_threads = ep_argument_given(arguments, "merge-threads");
	result = refuse_foreign(export->format, arguments);
	if (!result)
		result = read_folder(export, arguments);
	if (!result)
		result = read_weight(export, ep_argument(arguments, "weight"));
	if (!result)
		result = read_percent(export, ep_argument(arguments, "min-percent"));
	return result ? result : ep_choose(&export->selection, arguments);
}

/* An exit status. */
static int read_sources(struct export *export, const struct ep_arguments *arguments)
{
	const char *values[EP_VALUES_MAX];
	size_t count = ep_argument_values(arguments, "sources", values);
	struct ep_err err;

	for (size_t i = 0; i < count; i++)
		if (ep_embedded_add(&export->embedded, values[i], &err)) {
			ep_say("--sources=%s", err.text);
			return EP_EXIT_UNREADABLE;
		}
	export->what.embedded = count ? &export->embedded : NULL;
	return 0;
}

/* What leaves the machine with the export. */
static void list_sources(const struct export *export)
{
	const struct ep_embedded *embedded = &export->embedded;

	if (!embedded->folders.count)
		return;
	ep_say("source files whose text is in it: %zu", embedded->files.count);
	for (size_t i = 0; i < embedded->files.count && i < SOURCES_LISTED; i++)
		ep_say("  %s", embedded->files.list[i]);
	if (embedded->files.count > SOURCES_LISTED)
		ep_say("  and %zu more, see file_info.files in it",
		       embedded->files.count - SOURCES_LISTED);
}

static void free_texts(struct export *export)
{
	free(export->page);
	free(export->report);
	free(export->death);
	export->page = export->report = export->death = NULL;
	export->what.page = export->what.report = export->what.death = NULL;
}

static int export_run(const struct ep_arguments *arguments)
{
	static struct export export;
	int result = read_arguments(&export, arguments), status;

	if (!result)
		result = read_sources(&export, arguments);
	if (result)
		return result;
	result = ep_session_open(&export.session, arguments, arguments->operands[0], true);
	if (result > EP_EXIT_PARTIAL)
		return result;
	status = write_calls(&export);
	result = ep_session_warn(&export.session);
	if (status == EP_EXIT_COMPLETE)
		list_sources(&export);
	ep_embedded_deinit(&export.embedded);
	free_texts(&export);
	if (status == EP_EXIT_NOTHING)
		ep_say("%s: no call fits", arguments->operands[0]);
	ep_session_close(&export.session);
	return status ? status : result;
}

static const struct ep_option options[] = {
	{"format", 'f', "FORMAT", "one of" NAMES "; the man page has more of each"},
	{"output", 'o', "FILE",
	 "write FILE, which appears whole or not at all; default stdout; tables: a folder"},
	{"gzip", 'z', NULL,
	 "compress; also when FILE ends in .gz, which Perfetto and speedscope open as it is"},
	{"sources", 0, "DIR",
	 "html, viztracer: with the text of the source files that lie below DIR; may be given "
	 "several times"},
	{"raw-timestamps", 0, NULL,
	 "viztracer, chrome: times of the TSC itself, not since the first record"},
	{"weight", 0, "WHAT",
	 "collapsed, flamegraph, svg: self-time (default; in ns) or calls (how many)"},
	{"merge-threads", 0, NULL,
	 "collapsed, flamegraph, svg: threads that have one name are one"},
	{"min-percent", 0, "N",
	 "dot: leave out functions and edges below N % of the time; default 0.5"},
	{"zstd", 0, NULL, "tables: compress the files with zstd, which DuckDB reads as they are"},
	{"overwrite", 0, NULL, "tables: replace those that are in the folder"},
	EP_CHOOSE_OPTIONS,
	{NULL, 0, NULL, NULL},
};

const struct ep_command ep_command_export = {
	.name = "export",
	.operands = "SOURCE",
	.operands_min = 1,
	.operands_max = 1,
	.summary = "the calls as a file for another program's viewer",
	.example = "export --format=viztracer -o trace.json core.4711",
	.description =
		"Writes the calls in the format of another program. Without --format, a FILE "
		"that ends in " EXTENSIONS
		"tells it. What a format has no place for is left out of it; jsonl has "
		"all.\n\n" TEXTS
		"Times count from the first record of the trace: microseconds in viztracer and "
		"chrome, nanoseconds in the others. With --raw-timestamps viztracer and chrome "
		"have microseconds of the TSC, since it began to count: those of several files "
		"of one machine can be compared. A call that did not return begins and has no "
		"end (viztracer, chrome, funtrace), has the flag did-not-return (jsonl), is in "
		"the profile's name (speedscope), or has a bold frame (dot). Times known "
		"within an interval only have both of its ends in the args (viztracer, "
		"chrome), in fields of their own (jsonl), or a ~ (dot); the profile's name "
		"tells that there are some (speedscope); collapsed and funtrace take the best "
		"number. A call from before the history begins where the history does, and its "
		"args, flags or name say so. Where history is missing, collapsed and "
		"speedscope have a frame [history is missing]. Both show 1,000 frames of a "
		"stack; what is deeper is one frame.\n\n"
		"Notes (epitaph_note) are instants in viztracer and chrome, spans "
		"(epitaph_mark_begin) slices on tracks of their own, for they may overlap "
		"calls; jsonl has a line for each note and each end of a span. The others have "
		"calls and their times only: adding spans to collapsed and dot would count "
		"time twice, speedscope has no instants, and funtrace neither.",
	.options = options,
	.names = true,
	.run = export_run,
};
