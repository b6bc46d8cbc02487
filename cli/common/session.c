/* SPDX-License-Identifier: BSD-2-Clause */
/* session.c: from a SOURCE's name to a trace with names. */
#include "cli/common/session.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/common/say.h"
#include "decoder/kernel/end.h"
#include "decoder/trace/losses.h"
#include "decoder/names/modules.h"
#include "coredump/kinds/open.h"
#include "coredump/find/leftover.h"
#include "decoder/kernel/schedule.h"
#include "decoder/names/path_map.h"
#include "decoder/report/switched_text.h"
#include "coredump/funtrace/funtrace.h"
#include "coredump/util/utf8.h"

static volatile sig_atomic_t cancelled;

static void cancel(int signal)
{
	(void)signal;
	cancelled = 1;
}

/* Ctrl-C ends a download and not the program, which can do without; a second one ends both. */
static void catch_interrupts(bool take)
{
	static struct sigaction before;
	static bool taken;
	struct sigaction ours = {.sa_handler = cancel, .sa_flags = SA_RESETHAND};

	if (take && !taken)
		sigaction(SIGINT, &ours, &before);
	else if (!take && taken)
		sigaction(SIGINT, &before, NULL);
	taken = take;
}

static void print_progress(const char *module, long done, long total)
{
	fprintf(stderr, "\repitaph: debuginfod: %s: %.1f", module, (double)done / 1e6);
	if (total > 0)
		fprintf(stderr, " of %.1f", (double)total / 1e6);
	fputs(" MB (Ctrl-C goes on without)\033[K", stderr);
}

static ep_debuginfod_progress_fn downloads; /* NULL: stderr */

void ep_session_watch_downloads(ep_debuginfod_progress_fn watcher)
{
	downloads = watcher;
}

/* Of a download that takes longer than a second; the line is wiped at its end. */
static bool print_download(const char *module, long done, long total)
{
	static const char *last;
	static time_t begun;
	static bool shown;
	time_t now = time(NULL);

	catch_interrupts(done >= 0);
	if (done < 0) {
		if (shown)
			fputs("\r\033[K", stderr);
		shown = false;
		last = NULL;
		return true;
	}
	if (module != last) {
		last = module;
		begun = now;
	}
	if (now - begun >= 2) {
		print_progress(module, done, total);
		shown = true;
	}
	return !cancelled;
}

static bool show_progress(const char *module, long done, long total)
{
	if (downloads)
		return downloads(module, done, total);
	return !isatty(STDERR_FILENO) || print_download(module, done, total);
}

static void read_naming(struct ep_session *session, const struct ep_arguments *arguments)
{
	struct ep_names_options *naming = &session->naming;

	naming->debug_path_count =
		ep_argument_values(arguments, "debug-path", session->debug_paths);
	naming->path_map_count = ep_argument_values(arguments, "path-map", session->path_maps);
	naming->debug_paths = session->debug_paths;
	naming->path_maps = session->path_maps;
	naming->executable = ep_argument(arguments, "executable");
	naming->sysroot = ep_argument(arguments, "sysroot");
	naming->force = ep_argument_given(arguments, "force");
	naming->no_demangle = ep_argument_given(arguments, "no-demangle");
	naming->debuginfod = !ep_argument_given(arguments, "no-debuginfod");
	naming->progress = show_progress;
}

/* What an error of a reader is to the user. */
int ep_session_status(int code)
{
	return code == EP_END || code == EP_E_UNSAVED ? EP_EXIT_NOTHING : EP_EXIT_UNREADABLE;
}

/* EP_OK, or an exit status with a message. */
static int open_named(struct ep_session *session, const struct ep_arguments *arguments,
		      const char *name)
{
	const char *text = ep_argument(arguments, "sample");
	struct ep_err err = {0};
	uint64_t sample = 0;
	int result;

	if (ep_argument_number(arguments, "sample", 0, UINT32_MAX - 1, "a number from 0 on",
			       &sample))
		return EP_EXIT_USAGE;
	if (text)
		result = ep_source_open_sample(&session->source, name, (size_t)sample, &err);
	else
		result = ep_source_open(&session->source, name, &err);
	if (!result)
		return EP_EXIT_COMPLETE;
	ep_say("%s", err.text);
	return result == EP_END               ? EP_EXIT_NOTHING
	       : text && result == EP_E_USAGE ? EP_EXIT_USAGE
					      : EP_EXIT_UNREADABLE;
}

/* Of several samples the newest was taken: not in silence. */
static void warn_sample(const struct ep_session *session, const struct ep_arguments *arguments)
{
	const struct ep_funtrace_facts *facts = ep_source_funtrace(session->source);

	if (facts && facts->samples > 1 && !ep_argument_given(arguments, "sample"))
		ep_say("%s: sample %zu, the last of %zu; --sample takes another, from 0 on",
		       ep_source_name(session->source), facts->sample, facts->samples);
}

int ep_session_naming(struct ep_session *session, const struct ep_arguments *arguments)
{
	read_naming(session, arguments);
	for (size_t i = 0; i < session->naming.path_map_count; i++)
		if (!ep_path_rule_valid(session->path_maps[i])) {
			ep_say("--path-map=%s: it takes OLD=NEW", session->path_maps[i]);
			return EP_EXIT_USAGE;
		}
	return 0;
}

int ep_session_open_source(struct ep_session *session, const struct ep_arguments *arguments,
			   const char *name)
{
	int result;

	memset(session, 0, sizeof(*session));
	result = ep_session_naming(session, arguments);
	if (result)
		return result;
	result = open_named(session, arguments, name);
	if (result)
		return result;
	warn_sample(session, arguments);
	ep_source_set_files(session->source, session->naming.executable,
			    ep_argument(arguments, "sysroot"));
	session->naming.memory = session->source;
	result = ep_root_find(session->source, &session->found, &session->missing);
	if (!result)
		ep_leftover_add(session->source, &session->found);
	if (result && !session->missing.text[0])
		ep_err_set(&session->missing, result, 0, "%s: no trace found", name);
	if (ep_source_warning(session->source, 0))
		session->status = EP_EXIT_PARTIAL;
	return result ? ep_session_status(result) : session->status;
}

/* Where /proc is not mounted, as in a chroot, the program could not see what it had loaded; the
 * core tells. */
static void modules_from_source(struct ep_session *session)
{
	free(session->trace->modules);
	session->trace->modules =
		ep_modules_from_source(&session->trace->module_count, session->source, NULL);
}

static int open_trace(struct ep_session *session)
{
	struct ep_err *err = &session->missing;
	struct ep_death death;
	int result = ep_image_read(&session->image, session->source, &session->found, err);

	if (!result)
		result = ep_trace_create(&session->trace, &session->image, err);
	if (!result && session->trace->module_count == 0)
		modules_from_source(session);
	if (!result && session->trace->arena.gate & EP_GATE_COUNTING)
		ep_say("%s: this process counted its calls and recorded none; read the counts with "
		       "epitaph count report",
		       ep_source_name(session->source));
	if (!result) {
		ep_schedule_attach(session->trace);
		ep_end_find(session->trace, session->source, 0);
	}
	ep_source_death(session->source, &death);
	/* Unless it is the one that died. */
	if (!result && session->trace->schedule && session->trace->schedule->head.tid &&
	    session->trace->schedule->head.tid != death.tid)
		ep_source_leave_out(session->source, session->trace->schedule->head.tid);
	session->naming.trace = session->trace;
	if (!result)
		session->names = ep_names_create(session->trace->modules,
						 session->trace->module_count, &session->naming);
	return result;
}

int ep_session_open(struct ep_session *session, const struct ep_arguments *arguments,
		    const char *name, bool trace_needed)
{
	int result = ep_session_open_source(session, arguments, name);

	if (!session->source)
		return result;
	if (result <= EP_EXIT_PARTIAL) {
		result = open_trace(session);
		if (!result) {
			if (ep_losses_partial(session->trace))
				session->status = EP_EXIT_PARTIAL;
			return session->status;
		}
		result = ep_session_status(result);
	}
	if (!trace_needed) {
		session->status = EP_EXIT_PARTIAL;
		return session->status;
	}
	ep_say("%s", session->missing.text);
	ep_session_close(session);
	return result;
}

void ep_session_close(struct ep_session *session)
{
	ep_names_destroy(session->names);
	ep_schedule_detach(session->trace);
	ep_trace_destroy(session->trace);
	ep_image_deinit(&session->image);
	ep_source_close(session->source);
	memset(session, 0, sizeof(*session));
}

static void print_losses(const char *name, const struct ep_trace *trace)
{
	struct ep_loss list[EP_LOSSES_MAX];
	size_t count = ep_losses(trace, list);

	for (size_t i = 0; i < count; i++)
		if (list[i].partial && list[i].count)
			ep_say("%s: %" PRIu64 " %s", name, list[i].count, list[i].text);
	if (trace->damage.text[0])
		ep_say("%s: text that was written over it: \"%s\"", name, trace->damage.text);
}

int ep_session_warn(struct ep_session *session)
{
	const char *text, *name = ep_source_name(session->source);

	for (size_t i = 0; (text = ep_source_warning(session->source, i)); i++)
		ep_say("%s", text);
	if (!session->trace)
		return session->status;
	print_losses(name, session->trace);
	for (size_t i = 0; i < session->trace->warning_count; i++)
		ep_say("%s: %s", name, session->trace->warnings[i]);
	for (size_t i = 0; (text = ep_names_warning(session->names, i)); i++)
		ep_say("%s", text);
	if (ep_names_warning(session->names, 0))
		session->status = EP_EXIT_PARTIAL;
	return session->status;
}

static void say_switched(void *name, const char *code, const char *text)
{
	char *shown = ep_utf8_escape(text, strlen(text));

	(void)code;
	ep_say("%s: %s", (const char *)name, shown);
	free(shown);
}

void ep_session_warn_switched(const struct ep_session *session)
{
	if (session->trace)
		ep_switched_texts(session->trace, session->names, say_switched,
				  (void *)ep_source_name(session->source));
}
