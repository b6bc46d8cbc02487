/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * switching.h: hooks of a running process that are switched off in its code, and on, from outside
 * (runtime/format_switches.h). It is neither stopped nor told; what it does to its hooks itself
 * goes on meanwhile: both write down first what they want, change bytes, and look once more.
 */
#ifndef EPITAPH_LIVE_SWITCHING_H
#define EPITAPH_LIVE_SWITCHING_H

#include "coredump/live/hook_sites.h"
#include "coredump/live/switched.h"

struct ep_switching {
	struct ep_control *control; /* borrowed; whoever holds a flock(2) on its memory writes
				       entries */
	struct ep_source *source;   /* borrowed */
	const struct ep_root_found *found;
	struct ep_switched_list list;
	struct ep_hook_finder finder;
};

/*
 * Waits until no other one is at it, 1.5 s at most: EP_E_LIMIT, err says who. Only those can hold
 * it who may open the memory of the process: its own user, root, the process itself. EP_END: the
 * runtime of the process is too old. EP_E_VERSION: its code cannot be changed, err says why; both
 * must outlive it.
 */
int ep_switching_open(struct ep_switching *out, struct ep_control *control,
		      struct ep_source *source, const struct ep_root_found *found,
		      struct ep_err *err);
void ep_switching_close(struct ep_switching *switching);

/* What became of it. */
struct ep_switching_sum {
	size_t sites;     /* of the functions in question */
	size_t flipped;   /* bytes changed */
	size_t held;      /* left alone: a breakpoint or a uprobe is there */
	size_t replaced;  /* left alone: other code is there by now */
	size_t still_off; /* for another reason than the one that has ended */
};

/* Code of a function: [start, end), process virtual. */
struct ep_code_range {
	uint64_t start, end;
	size_t function; /* the caller's number */
	uint32_t sites;  /* filled; 0: nothing is done about it */
	bool already;    /* filled: it was as wanted before */
};

/*
 * The functions go off for EP_SWITCH_CONTROL, or come back and are kept (EP_SWITCH_KEPT), also if
 * the budget had switched them off. EP_E_LIMIT: more than the process has room for, nothing was
 * done.
 */
int ep_switching_functions(struct ep_switching *switching, struct ep_code_range *ranges,
			   size_t count, bool off, struct ep_switching_sum *sum,
			   struct ep_err *err);

/* Everything off: by the gate; the process takes hooks out as they run, where it can. *before: it
 * was off already. */
int ep_switching_all_off(struct ep_switching *switching, bool *before, struct ep_err *err);

/* Everything on again: the gate, and the hooks that are out. */
int ep_switching_all_on(struct ep_switching *switching, struct ep_switching_sum *sum,
			struct ep_err *err);

/*
 * How many hooks are on that should be off, or off that should be on: a debugger or whoever else
 * changes code has put back what had been there. ep_switching_all_on sets them right, too.
 */
int ep_switching_stale(struct ep_switching *switching, size_t *count, struct ep_err *err);

#endif
