/* SPDX-License-Identifier: BSD-2-Clause */
/* export.c: epitaph export: the calls as a file for another program. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/choose.h"
#include "cli/commands.h"
#include "cli/say.h"
#include "cli/session.h"
#include "coredump/output.h"
#include "decoder/viztracer.h"

struct export
{
	struct ep_session session;
	struct ep_selection selection;
	struct ep_viztracer_options options;
	const char *path; /* NULL: stdout */
};

static bool wants(const struct ep_trace_thread *thread, void *context)
{
	return ep_selection_wants_thread(context, thread);
}

/* The calls that were asked for, and how many; *shown from malloc. */
static int select_calls(struct export *export, struct ep_call_list *list,
			uint8_t **shown, size_t *count, struct ep_err *err)
{
	int rc = ep_call_list_create(list, export->session.trace,
				     export->session.names, wants,
				     &export->selection, err);

	if (rc)
		return rc;
	*shown = ep_selection_apply(&export->selection, export->session.trace,
				    list, count);
	if (*shown)
		return EP_OK;
	ep_call_list_deinit(list);
	return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
}

static int write_to(FILE *out, struct export *export,
		    const struct ep_call_list *list, const uint8_t *shown,
		    struct ep_err *err)
{
	return ep_viztracer_write(out, export->session.trace,
				  export->session.names, list, shown,
				  &export->options, err);
}

static int write_aside(struct export *export, const struct ep_call_list *list,
		       const uint8_t *shown, struct ep_err *err)
{
	struct ep_output output;
	FILE *out;
	int rc = ep_output_open(&output, export->path, true, err);

	if (rc)
		return rc;
	out = fdopen(dup(output.fd), "w");
	rc = out ? write_to(out, export, list, shown, err)
		 : ep_fail(err, EP_E_IO, 0, "%s", strerror(errno));
	if (out && fclose(out) && !rc)
		rc = ep_fail(err, EP_E_IO, 0, "%s", strerror(errno));
	if (!rc)
		return ep_output_commit(&output, err);
	ep_err_prefix(err, "%s", export->path);
	ep_output_abandon(&output);
	return rc;
}

/* An exit status. */
static int write_calls(struct export *export)
{
	struct ep_call_list list;
	struct ep_err err = {0};
	uint8_t *shown = NULL;
	size_t count = 0;
	int rc = select_calls(export, &list, &shown, &count, &err);

	if (!rc && count) {
		rc = export->path
			     ? write_aside(export, &list, shown, &err)
			     : write_to(stdout, export, &list, shown, &err);
		/* Why stdout failed is told once, at the end. */
		if (rc == EP_E_IO && !export->path)
			rc = EP_OK;
	}
	if (shown)
		ep_call_list_deinit(&list);
	free(shown);
	if (rc) {
		ep_say("%s", err.text);
		return rc == EP_E_USAGE ? EP_EXIT_USAGE : EP_EXIT_UNREADABLE;
	}
	return count ? EP_EXIT_COMPLETE : EP_EXIT_NOTHING;
}

static int take_arguments(struct export *export,
			  const struct ep_arguments *arguments)
{
	const char *format = ep_argument(arguments, "format");

	if (!format || strcmp(format, "viztracer") != 0) {
		ep_say("%s%s", format ? "--format=" : "--format is missing",
		       format ? format : "");
		ep_say("formats are: viztracer");
		return EP_EXIT_USAGE;
	}
	export->path = ep_argument(arguments, "output");
	if (export->path && !strcmp(export->path, "-"))
		export->path = NULL;
	export->options.no_sources = ep_argument_given(arguments, "no-sources");
	return ep_choose(&export->selection, arguments);
}

static int run(const struct ep_arguments *arguments)
{
	struct export export = {0};
	int result = take_arguments(&export, arguments), status;

	if (result)
		return result;
	result = ep_session_open(&export.session, arguments,
				 arguments->operands[0], true);
	if (result > EP_EXIT_PARTIAL)
		return result;
	status = write_calls(&export);
	result = ep_session_warn(&export.session);
	if (status == EP_EXIT_NOTHING)
		ep_say("%s: no call fits", arguments->operands[0]);
	ep_session_close(&export.session);
	return status ? status : result;
}

static const struct ep_option options[] = {
	{"format", 'f', "FORMAT", "viztracer: for vizviewer, with the sources"},
	{"output", 'o', "FILE",
	 "write FILE, which appears whole or not at all; default stdout"},
	{"no-sources", 0, NULL, "leave the text of the source files out"},
	EP_CHOOSE_OPTIONS,
	{NULL, 0, NULL, NULL},
};

const struct ep_command ep_command_export = {
	.name = "export",
	.operands = "SOURCE",
	.operands_min = 1,
	.operands_max = 1,
	.summary = "the calls as a file for another program's viewer",
	.description =
		"Writes the calls in the format of another program. "
		"--format=viztracer is JSON for vizviewer (pip install "
		"viztracer), which shows the threads on a time line and the "
		"source of the call that is selected; ui.perfetto.dev and "
		"chrome://tracing open it too.\n\n"
		"Times are microseconds since the first record. A call that "
		"did not return begins (B) and has no end (E). Calls whose "
		"times are known within an interval only, calls that began "
		"before the history, and calls that were left without a return "
		"say so in their args.",
	.options = options,
	.names = true,
	.run = run,
};
