/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pairing.h: to which call does a return belong? All the judgement of calls.c
 * lies here, and its reasons in pairing.c. It runs over a thread's records
 * twice or more: first to plan (what only later records tell), then for good.
 */
#ifndef EPITAPH_PAIRING_H
#define EPITAPH_PAIRING_H

#include "decoder/fibers.h"
#include "decoder/identity.h"
#include "decoder/records.h"

enum ep_verdict {
	EP_PAIR_MATCH,   /* the call at `index`; those above it were left */
	EP_PAIR_BEFORE,  /* its call is older than all that is known here */
	EP_PAIR_STRAY,   /* of no call; what is open stays open */
	EP_PAIR_OUTSIDE, /* as BEFORE, and the calls from `index` up, which are
			    inside of it, were left */
	EP_PAIR_LEFT,    /* a jump: the calls from `index` up were left then */
};

enum ep_pass {
	EP_PASS_LOOK,  /* which returns may be OUTSIDE? */
	EP_PASS_COUNT, /* how many callers are known by their returns only? */
	EP_PASS_FINAL,
};

/* A return that is STRAY unless all calls that were open at it turn out never
 * to return. */
struct ep_doubt {
	uint64_t ordinal;     /* of its record in the thread */
	size_t floor, height; /* of the stack then */
};

struct ep_doubts {
	struct ep_doubt *list;
	size_t count, capacity;
};

/* Clean-up code that an exception runs in a frame. */
struct ep_landing {
	uint32_t identity;
	size_t index;  /* of its call in the stack; SIZE_MAX: not open */
	bool returned; /* and that has ended since */
};

#define EP_LANDINGS_MAX 16 /* exceptions within clean-up code */

/* As many returns of calls that seemed left are no accident (a record that a
 * signal handler lost). */
#define EP_UNSEEN_STACKS 2

struct ep_pairing {
	struct ep_identities identities;
	struct ep_fibers fibers;
	struct ep_fiber *now; /* the one that runs */
	bool whole; /* the thread's history begins with its first event */
	enum ep_pass pass;
	uint64_t ordinal; /* of the next record */
	uint64_t segment; /* pieces of history between gaps, from 0 */
	struct ep_landing landings[EP_LANDINGS_MAX];
	unsigned landing_count;
	bool leaving;      /* the record before told a frame that was left */
	unsigned returned; /* calls that seemed left and have returned */
	/* the plan */
	struct ep_doubts pending; /* ascending height */
	struct ep_doubts outside; /* ascending ordinal once planned */
	size_t next_outside;
	uint64_t *inner; /* callers from a gap, by segment that they return
			    in */
	uint64_t inner_capacity;
	uint64_t inner_left; /* of those, the ones still to return */
};

int ep_pairing_init(struct ep_pairing *pairing, const struct ep_trace *trace,
		    const struct ep_trace_thread *thread,
		    struct ep_names *names);
void ep_pairing_deinit(struct ep_pairing *pairing);

/* Reads all of the thread and makes the plan. `records` may be used again
 * after ep_records_init. EP_OK or EP_E_MEMORY, as all below. */
int ep_pairing_plan(struct ep_pairing *pairing, struct ep_records *records);

/* The records in order, each to its function. A call is pushed at once; after
 * ep_pairing_return the caller does ep_pairing_cut for what it ends. */
int ep_pairing_call(struct ep_pairing *pairing, const struct ep_record *record,
		    const struct ep_function **function);
struct ep_judgement {
	enum ep_verdict verdict;
	size_t index;
	const struct ep_function *function; /* as the return's address says */
	bool ambiguous; /* MATCH: several calls of it were open, not on top */
	bool switched;  /* LEFT: another fiber goes on, and the calls are its */
};
int ep_pairing_return(struct ep_pairing *pairing,
		      const struct ep_record *record, struct ep_judgement *out);
int ep_pairing_gap(struct ep_pairing *pairing, const struct ep_record *record);

/* Any other record. As after a return, the caller does ep_pairing_cut. */
int ep_pairing_jump(struct ep_pairing *pairing, const struct ep_record *record,
		    struct ep_judgement *out);

/* A fiber's function has returned, and its link goes on with the next record:
 * that is to be done before it is handed in. */
bool ep_pairing_over(const struct ep_pairing *pairing);
int ep_pairing_go_on(struct ep_pairing *pairing);

/* The thread goes on upon stacks that nothing tells of. */
static inline bool ep_pairing_unseen(const struct ep_pairing *pairing)
{
	return pairing->returned >= EP_UNSEEN_STACKS;
}

/* Between pairing.c and jumps.c. */
int ep_pairing_settle(struct ep_pairing *pairing, size_t index);
int ep_pairing_try_link(struct ep_pairing *pairing, uint32_t identity);

/* Ends the open calls from `height` up. `left`: the trace does not tell their
 * ends, they are only thought to be over. */
void ep_pairing_cut(struct ep_pairing *pairing, size_t height, bool left);

/* Callers of the outermost open call that are known only by their returns to
 * come. */
static inline uint64_t ep_pairing_base(const struct ep_pairing *pairing)
{
	return pairing->now->outer_left + pairing->inner_left;
}

/* History is missing at this record (an escape of a newer version is not a
 * loss: what it says is unknown, not what happened). */
static inline bool ep_gap_is_loss(const struct ep_record *record)
{
	return (record->gap & ~EP_GAP_UNKNOWN_ESCAPE) != 0;
}

#endif
