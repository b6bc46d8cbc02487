/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report.h: the crash on one page: who died of what, where, and the last moments of every thread;
 * then what of it cannot be trusted. Works with what is there: without a trace it tells the death
 * and the stacks.
 */
#ifndef EPITAPH_REPORT_H
#define EPITAPH_REPORT_H

#include <stdio.h>

#include "decoder/stack/first_fault.h"
#include "decoder/export/replay.h"
#include "decoder/report/signature.h"
#include "decoder/stack/unwind.h"

struct ep_report {
	FILE *out;
	struct ep_source *source;
	const struct ep_trace *trace;          /* NULL: none */
	const char *missing;                   /* why there is none; NULL */
	struct ep_names *names;                /* of the trace's modules, or, without a trace,
						  of the source's */
	struct ep_names *others;               /* of the source's modules, for what the trace
						  does not know; NULL */
	const struct ep_trace_module *modules; /* the source's; NULL none */
	size_t module_count;
	struct ep_unwinder *unwinder; /* NULL: live process, or no_unwinder */
	const char *no_unwinder;      /* why not; NULL */
	struct ep_replay_style style;
	const char *bold;     /* escape sequence, "" none */
	uint64_t crash_calls; /* last calls of the thread that died; 0 none */
	uint64_t other_calls; /* and of each other thread */
	size_t threads;       /* other threads told; SIZE_MAX all */
	bool inlines;         /* calls inlined into frames are told, too */
	size_t frames;        /* of each stack, at least 1; SIZE_MAX all */
	uint64_t ended;       /* when it ended, ns since 1970; 0 unknown */
	size_t kept;          /* snapshots that the program keeps in its memory */
	bool as_json;         /* docs/report.schema.json, instead of text */
	/* out */
	bool partial; /* something that should have been there was not */
	bool ghosts;  /* approximate times were printed */
	bool starved; /* memory ran out, something is left out */
	/* private */
	struct ep_json *json;
	struct ep_first_fault first;
	bool first_known;
};

/* EP_OK or EP_E_MEMORY. The caller checks `out` for write errors. */
int ep_report_write(struct ep_report *report, struct ep_err *err);

/*
 * What the crash is known by (signature.h). EP_END: it did not die of a signal, or neither the
 * stack nor the trace names a function. EP_E_MEMORY.
 */
int ep_report_signature(struct ep_report *report, struct ep_signature *out, struct ep_err *err);

#endif
