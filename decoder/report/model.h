/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * model.h: the parts of a report, for each other. First all is gathered (report.c, head.c, hang.c
 * …), then one of two printers tells it: print_text.c and print_json.c, which find out nothing by
 * themselves.
 */
#ifndef EPITAPH_REPORT_MODEL_H
#define EPITAPH_REPORT_MODEL_H

#include "coredump/find/abortmessage.h"
#include "coredump/snapshot/redacted.h"
#include "decoder/stack/alignment.h"
#include "decoder/kernel/end.h"
#include "decoder/code/instruction.h"
#include "decoder/code/machine.h"
#include "decoder/report/report.h"
#include "decoder/report/cause.h"
#include "decoder/report/death.h"
#include "decoder/kernel/schedule.h"
#include "decoder/code/systemcall.h"
#include "decoder/util/timetext.h"

/* ---- the head ---- */

enum ep_report_end {
	EP_REPORT_RUNS,     /* a live process */
	EP_REPORT_FUNTRACE, /* of which no end is told */
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
	bool uid_known;
	uint32_t uid;
	uint64_t started, last_record; /* ns since 1970; 0 unknown */
	int64_t lived;                 /* ns from the one to the other; 0 unknown */
	struct ep_machine machine;
	uint32_t redacted; /* EP_REDACTED_ */
	/* its end */
	enum ep_report_end end;
	char state[512];       /* in words, unless it died */
	char because[1024];    /* "" */
	struct ep_death death; /* the first */
	bool has_then;         /* the core tells another one, which */
	struct ep_death then;  /* its handler brought about */
	char then_because[1024];
	const struct ep_source_thread *thread;  /* that died; NULL */
	const struct ep_trace_watchdog *missed; /* and aborted it; NULL */
	bool has_instruction;
	struct ep_instruction instruction;
	bool has_said;
	struct ep_abort_message said;
	struct ep_report_cause cause;
	/* private */
	char words[88];
};
void ep_report_head_init(struct ep_report_head *head, struct ep_report *report);

/* ---- the first fault ---- */

/* Finds report->first, once. EP_OK or EP_E_MEMORY. */
int ep_report_find_first(struct ep_report *report, struct ep_err *err);
/* Of the first fault, which is the core's death where none came before. */
void ep_report_death(const struct ep_report *report, struct ep_death *out);
/* The call of the handler of the first fault, or the first of what it called; NULL: the trace has
 * none. */
const struct ep_event *ep_report_handler_call(const struct ep_report *report,
					      const struct ep_alignment *alignment,
					      const struct ep_open_calls *flight);

/* ---- watchdogs, and a process that hung ---- */

/* The watchdog whose miss has aborted the process; NULL: none has. */
const struct ep_trace_watchdog *ep_report_missed(const struct ep_report *report,
						 const struct ep_death *death);
const char *ep_report_thread_name(const struct ep_report *report, uint32_t tid);

#define EP_REPORT_HUNG_FRAMES 2u

/* What one thread does. */
struct ep_report_hung {
	uint32_t tid;
	const char *name;                    /* "" */
	bool waits;                          /* in a system call; else it runs */
	const struct ep_trace_thread *trace; /* NULL */
	bool has_call;
	struct ep_event call; /* its innermost call in flight */
	const struct ep_function *functions[EP_REPORT_HUNG_FRAMES];
	size_t function_count; /* innermost, of those inside of that call */
};

#define EP_REPORT_HUNG_MAX 8u

struct ep_report_hang {
	bool there; /* it hung: it missed a deadline, or somebody else ended it
		       by SIGQUIT or SIGABRT */
	struct ep_report_hung list[EP_REPORT_HUNG_MAX];
	size_t count, left; /* left out */
};
int ep_report_hang_init(struct ep_report_hang *hang, struct ep_report *report,
			const struct ep_death *death, struct ep_err *err);

/* ---- threads ---- */

/* One thread, as the core and the trace know it; either may be NULL. */
struct ep_report_thread {
	const struct ep_source_thread *core;
	const struct ep_trace_thread *trace;
};

/* The one of this tid that was alive last; NULL: none is in the trace. */
const struct ep_trace_thread *ep_report_trace_thread(const struct ep_trace *trace, uint32_t tid);
/* NULL: the core does not hold it. */
const struct ep_source_thread *ep_report_core_thread(const struct ep_report *report, uint32_t tid);

/* Whether it ran or waited at the end, and in which system call. */
struct ep_report_state {
	const struct ep_slice *slice; /* in which recording ended; NULL */
	int64_t ns;                   /* for how long */
	const struct ep_slice *ran;   /* before it waited; NULL unknown */
	int64_t ran_ns;               /* for how long */
	bool inside;
	struct ep_systemcall call;
};
void ep_report_state_init(struct ep_report_state *state, struct ep_report *report,
			  const struct ep_report_thread *thread);

/* Its last calls. They are kept until all are known: of a deep recursion in flight only the
 * innermost calls are shown. */
struct ep_report_last {
	struct ep_event *events;
	size_t count;
	size_t left; /* outer calls in flight that were left out */
	/* private */
	size_t room, open;
	const struct ep_event *until;
	bool past;      /* it */
	uint64_t after; /* calls from it on */
};
/* `until`: the BEGIN of the first call that does not belong to them; NULL. */
int ep_report_last_init(struct ep_report_last *last, struct ep_report *report,
			const struct ep_open_calls *flight, uint64_t calls,
			const struct ep_event *until, struct ep_err *err);
void ep_report_last_deinit(struct ep_report_last *last);

/* All of one thread. */
struct ep_report_story {
	struct ep_report_thread thread;
	uint32_t tid;
	const char *name; /* as it is; "" */
	bool died;
	bool ended; /* before the process did */
	struct ep_report_state state;
	bool uncaught; /* the exception that is flying ended it */
	struct ep_open_calls flight;
	bool unwound;
	struct ep_stack stack; /* when unwound */
	size_t more;           /* frames that are left out of it, outside of
				  those, as far as they were counted; 0 of the
				  thread that died */
	bool uncounted;        /* there are more than these */
	char stackless[600];   /* else: why not; "" nobody asked */
	struct ep_alignment alignment;
	struct ep_report_last last;
};

/* Did it die of an exception that nobody caught? Then it is still on its way, and the stack (NULL:
 * unknown) is in std::terminate. */
bool ep_report_is_uncaught(const struct ep_report *report, const struct ep_exception *thrown,
			   const struct ep_stack *stack);

/* ---- what cannot be trusted ---- */

struct ep_report_doubt {
	const char *code; /* "torn-blocks" */
	char *text;       /* fit to be shown; owned */
};

struct ep_report_doubts {
	struct ep_report_doubt *list;
	size_t count, room;
	bool starved;
};
/* What is worth a doubt by now; sets `partial`. EP_OK or EP_E_MEMORY. */
int ep_report_doubts_init(struct ep_report_doubts *doubts, struct ep_report *report,
			  struct ep_err *err);
void ep_report_doubts_deinit(struct ep_report_doubts *doubts);

/* ---- printers: called in this order ---- */

struct ep_report_left {
	size_t threads, ended; /* not told */
};

struct ep_report_printer {
	void (*head)(struct ep_report *report, const struct ep_report_head *head);
	void (*hang)(struct ep_report *report, const struct ep_report_hang *hang);
	int (*thread)(struct ep_report *report, const struct ep_report_story *story,
		      struct ep_err *err);
	void (*left)(struct ep_report *report, const struct ep_report_left *left);
	int (*doubts)(struct ep_report *report, const struct ep_report_doubts *doubts,
		      struct ep_err *err);
};
extern const struct ep_report_printer ep_report_text, ep_report_json;

/* ---- of the text ---- */

/* Fit to be shown; the caller frees it. NULL: the report is starved. */
char *ep_report_tamed(struct ep_report *report, const char *text);
/* "~1.234 us": how long before the end; "?" when that is not known. */
const char *ep_report_ago(struct ep_report *report, const struct ep_time *time,
			  char out[EP_TIMETEXT_SIZE + 2]);
/* "#0 …" lines, each with its verdict, and the calls without a frame. `stack` may be NULL. */
void ep_report_stack(struct ep_report *report, const struct ep_stack *stack,
		     const struct ep_alignment *alignment);
/* One line: "read < serve_connection < worker_main". */
void ep_report_stack_line(struct ep_report *report, const struct ep_report_story *story);
/* Lines: calls in flight, innermost first; `head` goes before. Spans that did not end, if any. */
void ep_report_flight(struct ep_report *report, const struct ep_open_calls *flight,
		      const char *head);
void ep_report_spans(const struct ep_report *report, const struct ep_open_calls *flight);
/* As a tree. EP_OK or EP_E_MEMORY. */
int ep_report_last_print(struct ep_report *report, const struct ep_report_last *last,
			 struct ep_err *err);

/* Those of the trace, the late ones first, then those that were late: the `index`th; NULL: there
 * are no more. */
const struct ep_trace_watchdog *ep_report_watchdog(const struct ep_trace *trace, size_t index);

#endif
