/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pairing.h: to which call does a return belong? All the judgement of calls.c lies here, and its
 * reasons in pairing.c. One pass over a thread's records is nearly always enough (ep_pairing_once).
 * Where it is not, others plan first, by what only later records show.
 */
#ifndef EPITAPH_PAIRING_H
#define EPITAPH_PAIRING_H

#include "decoder/calls/fibers.h"
#include "decoder/calls/identity.h"
#include "decoder/code/leaving.h"
#include "decoder/trace/records.h"

enum ep_pair_verdict {
	EP_PAIR_MATCH,   /* the call at `index`; those above it were left */
	EP_PAIR_BEFORE,  /* its call is older than all that is known here */
	EP_PAIR_STRAY,   /* of no call; what is open stays open */
	EP_PAIR_OUTSIDE, /* as BEFORE, and the calls from `index` up, which are inside of it, were
			    left */
	EP_PAIR_LEFT,    /* a jump: the calls from `index` up were left then */
	EP_PAIR_DROPPED, /* of a call whose begin was switched off: as if it were not there */
};

enum ep_pass {
	EP_PASS_LOOK,  /* which returns may be OUTSIDE? */
	EP_PASS_COUNT, /* how many callers are known by their returns only? */
	EP_PASS_FINAL,
};

/* A return that is STRAY unless all calls that were open at it turn out never to return. */
struct ep_doubt {
	uint64_t ordinal;     /* of its record in the thread */
	size_t floor, height; /* of the stack then */
};

/* Clean-up code that an exception runs in a frame. */
struct ep_landing {
	uint32_t identity;
	size_t index;  /* of its call in the stack; SIZE_MAX: not open */
	bool returned; /* and that has ended since */
};

#define EP_LANDINGS_MAX 16 /* exceptions within clean-up code */

/* As many returns of calls that seemed left are no accident (a record that a signal handler
 * lost). */
#define EP_UNSEEN_STACKS 2

struct ep_pairing {
	struct ep_identities identities;
	struct ep_fibers fibers;
	struct ep_fiber *now; /* the one that runs */
	bool whole;           /* the thread's history begins with its first event */
	uint64_t start;       /* TSC of the first that is left */
	enum ep_pass pass;
	bool once;         /* the first pass is to be the last */
	bool left_stack;   /* the thread's stack pointer was seen outside of its stack */
	uint64_t ordinal;  /* of the next record */
	uint64_t calls;    /* numbers given so far: to calls, and to returns of none that is open */
	uint64_t known_at; /* TSC: history since the last gap begins here */
	uint64_t segment;  /* pieces of history between gaps, from 0 */
	struct ep_landing landings[EP_LANDINGS_MAX];
	unsigned landing_count;
	bool leaving;      /* the record before is a frame that was left */
	uint64_t dropped;  /* returns, in this pass */
	unsigned returned; /* calls that seemed left and have returned */
	struct ep_leaving code;
	bool whole_code;    /* no hook was ever off */
	uint64_t left_at;   /* ordinal, from 1, of a call before which calls were left by a jump */
	size_t left_height; /* … from here up */
	/* the plan */
	EP_ARRAY(struct ep_doubt) pending; /* ascending height */
	EP_ARRAY(struct ep_doubt) outside; /* ascending ordinal once planned */
	size_t next_outside;
	EP_ARRAY(uint64_t) inner; /* callers from a gap, by segment that they return in */
	uint64_t inner_left;      /* of those, the ones still to return */
};

void ep_pairing_init(struct ep_pairing *pairing, const struct ep_trace *trace,
		     const struct ep_trace_thread *thread, struct ep_names *names);
void ep_pairing_deinit(struct ep_pairing *pairing);

/* Reads all of the thread and makes the plan. `records` may be used again after ep_records_init. */
void ep_pairing_plan(struct ep_pairing *pairing, struct ep_records *records);

/*
 * In place of the plan: the pass to come is the only one. Nothing is known of what comes later, so
 * all heights lie upon EP_ONCE_BASE callers, and it may turn out at the end that a plan is needed
 * after all: then ep_pairing_once_held is false. Where it is true, the judgements were those that a
 * plan would have led to, and *outer is what the callers truly were.
 */
#define EP_ONCE_BASE (UINT64_C(1) << 24)
void ep_pairing_once(struct ep_pairing *pairing);
bool ep_pairing_once_held(struct ep_pairing *pairing, uint64_t *outer);

/* The records in order, each to its function. A call is pushed at once; after ep_pairing_return the
 * caller does ep_pairing_cut for what it ends. */
const struct ep_function *ep_pairing_call(struct ep_pairing *pairing,
					  const struct ep_record *record);
struct ep_judgement {
	enum ep_pair_verdict verdict;
	size_t index;
	const struct ep_function *function; /* as the return's address says */
	bool ambiguous;                     /* MATCH: several calls of it were open, not on top */
	bool switched;                      /* LEFT: another fiber goes on, and the calls are its */
	bool switched_off; /* MATCH: entries were off already, so it may be another call's */
};
struct ep_judgement ep_pairing_return(struct ep_pairing *pairing, const struct ep_record *record);
void ep_pairing_gap(struct ep_pairing *pairing, const struct ep_record *record);

/* Any other record. As after a return, the caller does ep_pairing_cut. */
struct ep_judgement ep_pairing_jump(struct ep_pairing *pairing, const struct ep_record *record);

/* A fiber's function has returned, and its link goes on with the next record: that is to be done
 * before it is handed in. */
static inline bool ep_pairing_over(const struct ep_pairing *pairing)
{
	return pairing->now->over && pairing->now->link;
}
void ep_pairing_go_on(struct ep_pairing *pairing);

/* The thread goes on upon stacks of which there is no record. */
static inline bool ep_pairing_unseen(const struct ep_pairing *pairing)
{
	return pairing->returned >= EP_UNSEEN_STACKS;
}

/*
 * A call that the innermost open call cannot have made, by its code, which has a jump out of its
 * frame (jumps.c): it was left, and with it what is open from left_height up. To be asked before a
 * record is handed in; then ep_pairing_cut.
 */
bool ep_pairing_has_left_slow(struct ep_pairing *pairing, const struct ep_record *record);
static inline bool ep_pairing_may_leave(const struct ep_pairing *pairing)
{
	const struct ep_fiber *now = pairing->now;

	return now->height > now->floor && pairing->whole_code &&
	       (pairing->identities.all.list[now->stack[now->height - 1]].flags &
		(EP_IDENTITY_ASKED | EP_IDENTITY_LEAVES)) != EP_IDENTITY_ASKED;
}
static inline bool ep_pairing_has_left(struct ep_pairing *pairing, const struct ep_record *record)
{
	if (record->kind != EP_RECORD_CALL)
		return false;
	if (pairing->left_at == pairing->ordinal + 1)
		return pairing->now->height > pairing->left_height;
	return ep_pairing_may_leave(pairing) && ep_pairing_has_left_slow(pairing, record);
}

/*
 * Calls that return, with all that is inside of them, may be passed over now: they would change
 * nothing but the numbers given. Not where something depends on a return, nor where addresses
 * change their meaning, as they must be asked for in order of time.
 */
static inline bool ep_pairing_may_pass(const struct ep_pairing *pairing)
{
	const struct ep_fiber *now = pairing->now;

	return !pairing->landing_count && !pairing->leaving && !now->over &&
	       !ep_pairing_may_leave(pairing) && (now->height || now->function == EP_FIBER_NONE) &&
	       !pairing->identities.epoch_count;
}
static inline void ep_pairing_pass(struct ep_pairing *pairing, uint64_t calls)
{
	pairing->ordinal += 2 * calls;
	pairing->calls += calls;
}

/*
 * Functions whose hooks come and go (switching.c). Before each record is handed in: true when the
 * innermost open call ends here, as its function was switched off and nothing is known of it any
 * more; ep_pairing_end_switched ends it, and then this is asked again.
 */
bool ep_pairing_is_off_slow(struct ep_pairing *pairing, const struct ep_record *record);
static inline const struct ep_fiber_switched *ep_pairing_switched(const struct ep_pairing *pairing)
{
	const struct ep_fiber *now = pairing->now;
	const struct ep_fiber_switched *top;

	if (!now->switched.count)
		return NULL;
	top = &now->switched.list[now->switched.count - 1];
	return top->index + 1 == now->height ? top : NULL;
}
static inline bool ep_pairing_is_off(struct ep_pairing *pairing, const struct ep_record *record)
{
	const struct ep_fiber_switched *top = ep_pairing_switched(pairing);

	return top && record->high >= top->cut_at && ep_pairing_is_off_slow(pairing, record);
}
void ep_pairing_end_switched(struct ep_pairing *pairing);

/* May something have been switched off, or an open call be over for that, in this time? */
bool ep_pairing_switches_within(const struct ep_pairing *pairing, uint64_t low, uint64_t high);

/* The call at `index` may be over by `high`, its function having been switched off. */
bool ep_pairing_may_be_over(const struct ep_pairing *pairing, size_t index, uint64_t high);

/* Between pairing.c, jumps.c and switching.c. */
/* The innermost call is one of `one`, which was off for a time; returns its function. */
const struct ep_function *ep_pairing_note_switched(struct ep_pairing *pairing,
						   const struct ep_identity *one,
						   const struct ep_record *record);
bool ep_pairing_drops(const struct ep_pairing *pairing, const struct ep_identity_site *site,
		      const struct ep_record *record);
/* The innermost open call of a function, which is still so at `high`; SIZE_MAX: none. */
size_t ep_pairing_innermost(const struct ep_pairing *pairing, uint32_t identity, uint64_t high);
void ep_pairing_settle(struct ep_pairing *pairing, size_t index);
void ep_pairing_try_link(struct ep_pairing *pairing, uint32_t identity);

/* Ends the open calls from `height` up. `left`: the trace does not have their ends, they are only
 * thought to be over. */
void ep_pairing_cut(struct ep_pairing *pairing, size_t height, bool left);

/* Callers of the outermost open call that are known only by their returns to come. */
static inline uint64_t ep_pairing_base(const struct ep_pairing *pairing)
{
	return pairing->now->outer_left + pairing->inner_left;
}

/* A hole lies among the records; what else is missing is all of the time from the last one before
 * it to the first one after it. */
static inline bool ep_gap_is_hole(const struct ep_record *record)
{
	return !(record->gap & (EP_GAP_LOST_BLOCKS | EP_GAP_PAUSED | EP_GAP_TEXT));
}

/* History is missing at this record (an escape of a newer version is not a loss: what it says is
 * unknown, not what happened). */
static inline bool ep_gap_is_loss(const struct ep_record *record)
{
	return (record->gap & ~EP_GAP_UNKNOWN_ESCAPE) != 0;
}

#endif
