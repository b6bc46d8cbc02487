/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * model.h: the crash on one page: who died of what, where, and the last moments of every thread;
 * then what of it cannot be trusted. Works with what is there: without a trace it has the death and
 * the stacks. All is found before anything is printed (print/print.h).
 */
#ifndef EPITAPH_REPORT_MODEL_H
#define EPITAPH_REPORT_MODEL_H

#include "coredump/find/abortmessage.h"
#include "coredump/kinds/arena_file.h"
#include "coredump/util/array.h"
#include "decoder/code/instruction.h"
#include "decoder/code/machine.h"
#include "decoder/code/systemcall.h"
#include "decoder/kernel/schedule.h"
#include "decoder/report/death/cause.h"
#include "decoder/report/death/fault.h"
#include "decoder/report/evidence.h"
#include "decoder/report/place/place.h"
#include "decoder/report/threads/groups.h"
#include "decoder/report/signature.h"
#include "decoder/trace/owner.h"

/* ---- the head ---- */

enum ep_report_end {
	EP_REPORT_RUNS,     /* a live process */
	EP_REPORT_FUNTRACE, /* of which no end is known */
	EP_REPORT_ARENA,    /* a file that outlives its process: see the text */
	EP_REPORT_COPY,     /* a copy of such a file */
	EP_REPORT_NOTELESS, /* the core's notes on its threads are lost */
	EP_REPORT_ALIVE,    /* a snapshot of a running process */
	EP_REPORT_DIED,     /* of a signal */
};

struct ep_report_head {
	const char *program, *command, *host, *kernel; /* as they are; "" */
	bool command_cut;                              /* the kernel kept 80 bytes of it */
	char build_id[2 * EP_BUILD_ID_MAX + 1];        /* "" none */
	bool process_known;
	uint32_t pid; /* 0 unknown */
	struct ep_owner owner;
	uint64_t started, last_record; /* ns since 1970; 0 unknown */
	uint64_t died;                 /* the same; the earliest, where that is not exact */
	int64_t recorded, lived;       /* ns from the start to these two; 0 unknown */
	struct ep_machine machine;
	uint32_t redacted; /* EP_REDACTED_ */
	/* its end */
	enum ep_report_end end;
	enum ep_life life;     /* of EP_REPORT_ARENA */
	char state[512];       /* in words, unless it died */
	char because[1024];    /* "" */
	struct ep_death death; /* the first */
	bool has_then;         /* the core has another one, which */
	struct ep_death then;  /* its handler brought about */
	struct ep_report_cause then_cause;
	char then_because[1024];
	const struct ep_source_thread *thread;  /* that died; NULL */
	const struct ep_trace_watchdog *missed; /* and aborted it; NULL */
	bool has_instruction;
	struct ep_instruction instruction;
	bool has_abort_message;
	struct ep_abort_message abort_message;
	struct ep_report_cause cause;
	struct ep_fault
		fault; /* what `because` says of an instruction, unless `cause` settles it */
	/* private */
	char words[88];
};

/* ---- watchdogs, and a process that hung ---- */

struct ep_report_watchdog {
	const struct ep_trace_watchdog *watchdog;
	int64_t late;                       /* ns; 0: it is not */
	const char *fed_name, *missed_name; /* of the threads; "" */
};

#define EP_REPORT_HUNG_FRAMES 2u

/* What one thread does. */
struct ep_report_hung {
	uint32_t tid;
	const char *name;                    /* "" */
	bool waits;                          /* in a system call; else it runs */
	const struct ep_trace_thread *trace; /* NULL */
	bool has_call;
	struct ep_event call; /* its innermost open call */
	const struct ep_function *functions[EP_REPORT_HUNG_FRAMES];
	size_t function_count; /* innermost, of those inside of that call */
};

#define EP_REPORT_HUNG_MAX 8u

struct ep_report_hang {
	bool there; /* it hung: it missed a deadline, or somebody else ended it by SIGQUIT or
		       SIGABRT */
	struct ep_report_hung list[EP_REPORT_HUNG_MAX];
	size_t count, left; /* left out */
};

/* ---- threads ---- */

/* One thread, as the core and the trace know it; either may be NULL. */
struct ep_report_entry {
	const struct ep_source_thread *core;
	const struct ep_trace_thread *trace;
};

/* Whether it ran or waited at the end, and in which system call. */
struct ep_report_state {
	const struct ep_slice *slice; /* in which recording ended; NULL */
	int64_t ns;                   /* for how long */
	const struct ep_slice *ran;   /* before it waited; NULL unknown */
	int64_t ran_ns;               /* for how long */
	bool inside;
	struct ep_systemcall call;
};

/* Its last calls. */
struct ep_report_last {
	struct ep_event *list; /* their texts are owned */
	size_t count, capacity;
	size_t left; /* outer open calls that were left out */
};

/* All of one thread. */
struct ep_report_thread {
	struct ep_report_entry entry;
	uint32_t tid;
	const char *name; /* as it is; "" */
	bool died;
	bool ended; /* before the process did */
	struct ep_report_state state;
	bool uncaught; /* the exception that is flying ended it */
	struct ep_open_calls open;
	bool unwound;
	struct ep_stack stack; /* when unwound */
	struct ep_lock_wait wait;
	size_t more;    /* frames that are left out of it, outside of those, as far as they were
			   counted; 0 of the thread that died */
	bool uncounted; /* there are more than these */
	char stackless[600]; /* else: why not; "" nobody asked */
	struct ep_alignment alignment;
	struct ep_report_last last;
};

/* ---- what cannot be trusted ---- */

struct ep_report_warning {
	const char *code; /* "torn-blocks" */
	char *text;       /* fit to be shown; owned */
};

/* ---- the whole ---- */

/* How much of it. */
struct ep_report_limits {
	uint64_t crash_calls; /* last calls of the thread that died; 0 none */
	uint64_t other_calls; /* and of each other thread */
	size_t threads;       /* other threads; SIZE_MAX all */
	size_t frames;        /* of each stack, at least 1; SIZE_MAX all */
	bool inlines;         /* calls inlined into frames, too */
	bool signature;
	bool page;   /* other threads in groups only; no lines of the system's libraries */
	bool groups; /* of all other threads, besides */
};

/* A page of one screen, as `epitaph report` prints it without options. */
extern const struct ep_report_limits ep_report_page_limits;

struct ep_report {
	const struct ep_evidence *evidence;
	struct ep_report_limits limits;
	const struct ep_trace *trace; /* NULL: none */
	const char *source_name;
	enum ep_source_kind source_kind;
	size_t kept; /* snapshots that the program keeps in its memory */
	struct ep_report_head head;
	EP_ARRAY(struct ep_report_watchdog)
	watchdogs; /* the late ones first, then those that were late */
	struct ep_report_hang hang;
	bool has_signature;
	struct ep_signature signature;
	EP_ARRAY(struct ep_report_thread) threads; /* the one that died first */
	struct ep_report_place place;              /* where it did */
	size_t threads_left, ended_left;           /* left out: in the core; gone before */
	struct ep_report_groups groups;            /* of those left out, with limits.page;
						      of all others, with limits.groups */
	EP_ARRAY(struct ep_report_warning) warnings;
	bool partial; /* something that should have been there was not */
};

/* Finds it all. Borrows from `evidence`, which was examined. */
void ep_report_init(struct ep_report *report, const struct ep_evidence *evidence,
		    const struct ep_report_limits *limits, size_t kept);
void ep_report_deinit(struct ep_report *report);

#endif
