/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * schedule.h: what the kernel recorded of the threads (format.h, section 8) →
 * for each thread a row of slices: it ran, it was ready to, or it waited, and who woke it. Times
 * are TSC, as the records' are.
 *
 * Only times between `first` and `last` are told of, and of a stretch in which events were lost
 * nothing is.
 */
#ifndef EPITAPH_SCHEDULE_H
#define EPITAPH_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decoder/trace/absences.h"
#include "decoder/trace/trace.h"

enum ep_slice_state {
	EP_SLICE_UNKNOWN,
	EP_SLICE_RUNNING,
	EP_SLICE_READY,   /* could have run: preempted, or woken and waiting for a CPU */
	EP_SLICE_BLOCKED, /* waited; perf does not tell when it became ready */
};

/* Who ended a wait. */
enum ep_waker_kind {
	EP_WAKER_UNKNOWN,
	EP_WAKER_THREAD,
	EP_WAKER_IRQ,  /* an interrupt: a timer, a device */
	EP_WAKER_SOFT, /* a soft interrupt */
};

#define EP_SLICE_CPU_UNKNOWN UINT16_MAX

struct ep_slice {
	uint64_t begin, end; /* [begin, end) */
	enum ep_slice_state state;
	enum ep_waker_kind waker_kind; /* BLOCKED, that ended */
	uint32_t waker;                /* tid; THREAD, and not 0 */
	uint16_t cpu;                  /* RUNNING; EP_SLICE_CPU_UNKNOWN */
	char how;                      /* BLOCKED: 'S', 'D', 'T' … as in ps; 0 unknown */
	bool open;                     /* it was so when recording ended */
	bool returned;                 /* UNKNOWN: it was off, and on a CPU again at its end */
};

struct ep_task {
	uint32_t tid;
	char name[4 * 16 + 1];   /* the kernel's last, fit to be shown; "": unknown */
	struct ep_slice *slices; /* ascending, one ends where the next begins */
	size_t count;
	struct ep_absences absences; /* by them */
	struct ep_slice_sum *sums;   /* private */
};

/* The kernel said that a thread is called so from then on. */
struct ep_naming {
	uint64_t tsc;
	uint32_t tid;
	char name[4 * 16 + 1]; /* as a task's */
};

/* Nanoseconds of an interval in each state; they add up to it. */
struct ep_slice_times {
	int64_t running, ready, blocked, unknown;
};

/* Something else that was recorded. */
enum ep_kernel_event_kind {
	EP_KERNEL_SYSCALL,     /* `what` is its number */
	EP_KERNEL_SYSCALL_END, /* `what` is the result */
	EP_KERNEL_IRQ,         /* `what` is the line */
	EP_KERNEL_IRQ_END,
	EP_KERNEL_SOFTIRQ,
	EP_KERNEL_SOFTIRQ_END,
	EP_KERNEL_FAULT, /* `what` is the address */
};

struct ep_kernel_event {
	uint64_t tsc;
	uint64_t what;
	uint64_t arguments[6]; /* SYSCALL */
	uint32_t tid;          /* of the thread that ran */
	uint16_t cpu;
	uint16_t kind;
};

/* One CPU ran one thread; tid 0: nobody. */
struct ep_occupation {
	uint64_t begin, end;
	uint32_t tid;
	uint16_t cpu;
};

enum ep_sched_kind {
	EP_SCHED_SWITCH, /* tid leaves, in state `value`; other comes */
	EP_SCHED_WAKING, /* tid is woken, by other */
	EP_SCHED_IN,     /* tid comes */
	EP_SCHED_OUT,    /* tid leaves; `preempted` */
	EP_SCHED_LOST,   /* from `tsc` on events are missing */
};

struct ep_sched_event {
	uint64_t tsc;
	uint64_t value;
	uint32_t tid, other;
	uint32_t order; /* as read: between events of one time */
	uint16_t cpu;
	uint8_t kind;
	uint8_t flags; /* WAKING: enum ep_waker_kind; OUT: 1 preempted */
};

struct ep_schedule {
	struct ep_sched head;          /* as written */
	uint64_t first, last;          /* TSC; first >= last: nothing was recorded */
	struct ep_sched_event *events; /* ascending tsc */
	size_t event_count;
	struct ep_task *tasks; /* ascending tid */
	size_t task_count;
	struct ep_kernel_event *kernel_events; /* ascending tsc */
	size_t kernel_event_count;
	struct ep_naming *namings; /* ascending tsc */
	size_t naming_count;
	struct ep_occupation *occupations; /* machine only: ascending begin */
	size_t occupation_count;
	uint64_t switches, wakings; /* events told of */
	uint64_t losses;            /* stretches in which events were lost */
	uint64_t bad;               /* chunks, pages or records that make no sense */
};

/*
 * Reads the trace's section of scheduling events, if there is one, and hangs what it tells on to
 * the trace and its threads; before anybody reads records. What makes no sense is counted in `bad`;
 * of a section whose head makes none a warning of the trace's says so.
 */
void ep_schedule_attach(struct ep_trace *trace);
/* Before the trace ends. None attached is allowed. */
void ep_schedule_detach(struct ep_trace *trace);

/* NULL: nothing is known of it; also for a NULL schedule. */
const struct ep_task *ep_schedule_task(const struct ep_schedule *schedule, uint32_t tid);

/* The slice that `tsc` lies in; the last one for later times. NULL: none. */
const struct ep_slice *ep_task_slice(const struct ep_task *task, uint64_t tsc);

/* What [from, to] was spent on. False: nothing is known of any of it. */
bool ep_task_times(const struct ep_trace *trace, const struct ep_task *task, uint64_t from,
		   uint64_t to, struct ep_slice_times *out);

/* "12345 worker", "a timer or device" … of who ended a BLOCKED slice; "" when that is unknown.
 * Returns `out`. */
const char *ep_waker_text(char *out, size_t size, const struct ep_schedule *schedule,
			  const struct ep_slice *slice);

#endif
