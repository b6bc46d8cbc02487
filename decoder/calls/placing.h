/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * placing.h: in which call was a thread when it left the CPU? When it did is exact; when a call
 * without a time of its own began or ended is not. Between two timed records (a *window*) a thread
 * may have left at any place of the order, but for those at which it ran code that cannot wait
 * (blocking.h), where it left by itself. What holds of all places that are left is certain.
 *
 * The one place that decides this: all outputs have it from here, by way of EP_EVENT_WAIT and of
 * EP_CALL_UNSURE_WAIT (calls.h).
 */
#ifndef EPITAPH_PLACING_H
#define EPITAPH_PLACING_H

#include "decoder/code/blocking.h"
#include "decoder/calls/event.h"
#include "decoder/calls/pairing.h"
#include "decoder/kernel/schedule.h"

#define EP_PLACE_PATH 32 /* functions */
#define EP_NO_CALL    UINT64_MAX

/*
 * Where a thread was off its CPU. `call` was open all the while, and is the innermost of which that
 * is certain. `path` are functions of which a call was open all the while inside of it, one called
 * by the other, though of none it is certain which call. `whole`: it was in the last of them
 * (without any: in `call`) itself; else somewhere inside of it.
 */
struct ep_wait_place {
	const struct ep_slice *slice;
	uint64_t call; /* number in its thread; EP_NO_CALL: none */
	const struct ep_function
		*innermost; /* the thread ran it, in whatever call of it; NULL: not certain */
	bool whole;
	bool lost; /* history is missing, or makes no sense: nothing is certain */
	unsigned path_count;
	const struct ep_function *path[EP_PLACE_PATH]; /* last: copies have as much as there is */
};

/* It was certainly in that call itself. */
static inline bool ep_place_is_certain(const struct ep_wait_place *place)
{
	return place->whole && !place->path_count;
}

/* The call that is open at `index` of the stack that runs. */
typedef const struct ep_event *(*ep_placing_open_fn)(void *context, size_t index);

struct ep_placing_node {                    /* a call that is open in a window, or around it */
	const struct ep_function *function; /* NULL: not known */
	uint64_t call;
	int parent;
	unsigned depth;
	unsigned hits; /* places that are left, inside of it */
};

struct ep_placing {
	const struct ep_trace *trace;
	const struct ep_task *task;
	struct ep_names *names;
	struct ep_blocking blocking;
	size_t slice;  /* of the task: the next that is off its CPU */
	uint64_t next; /* its begin; UINT64_MAX: none */
	/* the window in hand */
	size_t block;                          /* as ep_records.next_block; 0: none yet */
	unsigned end;                          /* record of the block: the first behind it */
	unsigned begin;                        /* the first of it */
	EP_ARRAY(struct ep_wait_place) places; /* of its slices, in order */
	size_t first_slice;                    /* that the first of them is */
	EP_ARRAY(struct ep_placing_node) nodes;
	int *at;                      /* by place: the node that is innermost */
	bool *left;                   /* by place: not ruled out */
	struct ep_wait_place certain; /* of a slice in no window */
};

void ep_placing_init(struct ep_placing *placing, const struct ep_trace *trace,
		     const struct ep_trace_thread *thread, struct ep_names *names);
void ep_placing_deinit(struct ep_placing *placing);

/*
 * The record that comes next is `at` of the decoded block, and the next slice begins before its
 * upper bound. If it begins a window all slices of that are placed: records get times that agree
 * (and `unsure`).
 */
void ep_placing_look(struct ep_placing *placing, const struct ep_pairing *pairing,
		     struct ep_records *records, unsigned at, bool passes, ep_placing_open_fn open,
		     void *context);

/* The place of the next slice, where `call` is innermost; then on to the one behind it. Borrowed
 * until the next window. */
const struct ep_wait_place *ep_placing_take(struct ep_placing *placing, uint64_t call);

#endif
