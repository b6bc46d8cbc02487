/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * session.h: SOURCE as a command wants it: the source, the arena, the trace and the names, opened
 * one after the other, with a message for each failure.
 */
#ifndef EPITAPH_SESSION_H
#define EPITAPH_SESSION_H

#include "cli/common/option.h"
#include "coredump/snapshot/image.h"
#include "decoder/calls/calls.h"

struct ep_session {
	struct ep_source *source;
	struct ep_root_found found;
	struct ep_image image;
	struct ep_trace *trace; /* NULL: there is none, which was reported */
	struct ep_names *names; /* NULL without a trace */
	struct ep_names_options naming;
	const char *debug_paths[EP_VALUES_MAX], *path_maps[EP_VALUES_MAX];
	struct ep_err missing; /* why there is no trace */
	int status;            /* EP_EXIT_: what is known so far of how whole it is */
};

/*
 * Opens `name`. EP_EXIT_COMPLETE or EP_EXIT_PARTIAL: use it. Anything else was reported, and is the
 * command's exit status; nothing is to be closed then. `trace_needed` false: a source without a
 * trace is EP_EXIT_PARTIAL.
 */
int ep_session_open(struct ep_session *session, const struct ep_arguments *arguments,
		    const char *name, bool trace_needed);
void ep_session_close(struct ep_session *session);

/* Who shows downloads from debuginfod's servers instead of stderr, of all sessions. NULL: nobody
 * else. */
void ep_session_watch_downloads(ep_debuginfod_progress_fn watcher);

/* What an error of a reader is to the user, as an exit status. */
int ep_session_status(int code);

/* Only the source and the arena's place, for extract. */
int ep_session_open_source(struct ep_session *session, const struct ep_arguments *arguments,
			   const char *name);

/* How functions are named, by the options of .names commands, for those that need no trace for it:
 * fills session->naming and what it borrows. 0, or EP_EXIT_USAGE with a message. */
int ep_session_naming(struct ep_session *session, const struct ep_arguments *arguments);

/* Prints on stderr what the source, the trace and the names complain about. Returns the status:
 * modules that could not be named make it partial. */
int ep_session_warn(struct ep_session *session);

/* Prints on stderr which functions were off at the end, for commands that show calls and do not say
 * it themselves. No status: what was not to be traced lacks nowhere. */
void ep_session_warn_switched(const struct ep_session *session);

#endif
