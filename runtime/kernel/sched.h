/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sched.h: scheduling events of the process's threads, from the kernel into the arena. The kernel
 * records into buffers of its own (an ftrace instance, or perf's); one thread of the runtime, the
 * drain, empties them from time to time and is woken by nothing else.
 *
 * The drain is a helper (helper.h), whose own working directory lets setns and unshare of a mount
 * namespace work.
 */
#ifndef EPITAPH_SCHED_H
#define EPITAPH_SCHED_H

#include <stdbool.h>
#include <stdint.h>

/* For an arena that is new: lays the section out. After the clock. `child`: in a forked one. */
void ep_sched_begin(bool child);

enum ep_sched_occasion {
	EP_SCHED_RING,  /* the thread gets its ring */
	EP_SCHED_GAP,   /* nothing was recorded of it for a while: it waited, or computed */
	EP_SCHED_BLOCK, /* it enters a block */
};

/*
 * Makes the drain when it is time to. Where the environment asked for events, that is at once, and
 * this waits until they are recorded (a second at the most); else at the first occasion but the
 * first ring. That drain sleeps until the process is some ms old, and opens nothing unless it has
 * waited by then, or is old enough that what it costs is nothing beside its life. Cheap otherwise:
 * one comparison. Signal safe.
 */
void ep_sched_look(uint64_t tsc, enum ep_sched_occasion occasion);

/*
 * Around a call that a second thread would break, or that it would outlive with privileges that the
 * program has just given up: the drain is gone when ep_sched_leave returns, true if there was one;
 * ep_sched_return makes it anew, with what the process may do then.
 */
bool ep_sched_leave(void);
void ep_sched_return(void);
/*
 * A drain that has left may go on as a process that removes its ftrace instance, some 50 ms long,
 * and shares the program's memory. It is over when this returns. False: there was none.
 */
bool ep_sched_leave_memory(void);
/* … at a block's start, when the call is over. */
void ep_sched_return_later(void);

/* What the drain calls each time it wakes, 10 to 1,000 times a second, if not NULL: it may use no
 * thread-local memory (lib/helper.h). Set once, before there is a drain. Where events are refused
 * or cost too much the drain stays for this alone. */
extern void (*ep_sched_besides)(void);

/* What the drain does while it sleeps, if not NULL: it looks how far threads are (record/looks.h).
 * Before ep_sched_begin. Where no events are wanted it is there for this, from when a thread enters
 * a block of a process that is some ms old. */
extern const struct ep_sched_looks {
	uint64_t (*period)(void); /* ns until the next look */
	void (*take)(void);
	uint64_t (*cost)(void); /* ns of CPU time, of all so far */
} * ep_sched_looks;

/* Wakes the drain, which looks at what has changed. False: there is none. Signal safe. */
bool ep_sched_wake(void);

/* It is one of the process's tasks; what descriptors others have is nothing to it. Signal safe. */
bool ep_sched_is_task(void);

/* It sleeps until it is woken, as handlers of faults run (ep_faults_run). */
bool ep_sched_rests(void);

/* Another program takes the process's place, which gets no events of ours; if it does not, the
 * drain comes again. */
void ep_sched_before_exec(void);

/* The process exits: copies what is left, removes the ftrace instance (another process does, as it
 * takes 50 ms). */
void ep_sched_end(void);

#endif
