/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * control.h: the words in a running process's arena that are written from outside
 * (runtime/format.h): its gate, and one time stamp in how many records. The process is neither
 * stopped nor told; who may do this is who may ptrace it (PTRACE_MODE_ATTACH, proc_pid_mem(5)).
 */
#ifndef EPITAPH_CONTROL_H
#define EPITAPH_CONTROL_H

#include "coredump/find/root.h"

struct ep_control {
	struct ep_source *source; /* borrowed */
	int memory; /* the source's: stays with the memory that was looked at, also when the pid is
		       given to somebody else, or its process starts another program */
	pid_t pid;  /* for messages only */
	uint64_t arena_address;
	uint64_t identity;
	uint64_t work;    /* done for what the process says of itself, see below */
	uint64_t until;   /* CPU time of ours, ns, that this may go on to; 0: not begun */
	uint64_t clocked; /* `work` when that was looked at last */
};

/*
 * What a process says of its hooks decides how much is read and remembered. So that is counted: one
 * a read and one a page, by ep_control_peek, and what its callers add by ep_control_work. Three
 * million are enough for its largest table, a million hooks, and less than 200 MB is remembered of
 * them; and no more than 1.2 s of a processor go into it: on and off of 50,000 hooks take 0.1 s.
 */
#define EP_CONTROL_WORK       UINT64_C(3000000)
#define EP_CONTROL_SORT(rows) ((rows) / 4) /* of a list of them */

static inline void ep_control_work(struct ep_control *control, uint64_t work)
{
	control->work += work;
}

/* EP_E_LIMIT: it was too much, and ep_control_peek reads nothing any more. */
int ep_control_limit(struct ep_control *control, struct ep_err *err);

/*
 * Opens the arena that was found in the running process `source`, which must outlive it, and checks
 * that it is still the same. EP_E_PERMISSION; EP_E_IO: it has ended, or has started another
 * program. err says what to do.
 */
int ep_control_open(struct ep_control *out, struct ep_source *source,
		    const struct ep_root_found *found, struct ep_err *err);
void ep_control_close(struct ep_control *control);

/* Settings and counters as they are now. EP_E_IO as above. */
int ep_control_read(struct ep_control *control, struct ep_arena *out, struct ep_err *err);

/*
 * Shuts the gate for `epitaph control`; opens it for that and for EPITAPH=off, while the program's
 * own pauses stay. Each thread stops within its present block, and goes on at its next hook.
 */
int ep_control_pause(struct ep_control *control, struct ep_err *err);
int ep_control_resume(struct ep_control *control, struct ep_err *err);

/*
 * Everything off, by the gate: as EPITAPH=off does it. `flip`: hooks that run go off in the code,
 * too. Counted as a pause.
 */
int ep_control_off(struct ep_control *control, bool flip, struct ep_err *err);

/* Any of its memory: EP_E_IO, it has ended, or nothing is there (err says the first). EP_E_LIMIT.
 */
int ep_control_peek(struct ep_control *control, uint64_t address, void *out, size_t size,
		    struct ep_err *err);
/* Code too, whatever its pages allow. EP_E_PERMISSION: this kernel refuses that. */
int ep_control_poke(struct ep_control *control, uint64_t address, const void *bytes, size_t size,
		    struct ep_err *err);

/* One byte at each of many places of its own data. */
int ep_control_poke_each(struct ep_control *control, const uint64_t *places, size_t count,
			 uint8_t byte, struct ep_err *err);

/* Still the process and the program that were opened? EP_E_IO. */
int ep_control_check(struct ep_control *control, struct ep_err *err);

/*
 * One time stamp in `every` records, 1, 2, 4 … 64, 0 auto, from each thread's next block on.
 * EP_E_USAGE: another number, or above 1 where EPITAPH_MIN_DURATION needs every time.
 */
int ep_control_timing(struct ep_control *control, unsigned every, struct ep_err *err);

/*
 * Holds all threads where they would enter a block (runtime/record/hold.h), from now on for some
 * 100 ms; *hold is what ep_control_release takes, and was set by the call before, or is 0. Nothing
 * has to be undone by who is killed.
 */
int ep_control_hold(struct ep_control *control, uint64_t *hold);
void ep_control_release(struct ep_control *control, uint64_t hold);

#endif
