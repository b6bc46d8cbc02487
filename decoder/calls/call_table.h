/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * call_table.h: all that one thread did, read once: a row for each call, and the order in which
 * calls began and ended. What is asked of it afterwards (the last 200 calls, those of more than
 * 1 ms, what was open from before the history) is a loop over rows.
 *
 * A call takes 56 bytes, so a full arena of 64 MiB takes at most 235 MiB. All else that happens,
 * a gap, a note, a wait, is a mark.
 */
#ifndef EPITAPH_CALL_TABLE_H
#define EPITAPH_CALL_TABLE_H

#include "coredump/util/array.h"
#include "coredump/util/hash.h"
#include "decoder/calls/calls.h"

/* In `flags` of a row or mark, beside EP_CALL_: a row has those of its call's end, or while it is
 * open. */
#define EP_CALL_ROW_ENDED         (1u << 16)
#define EP_CALL_ROW_ONLY_END      (1u << 17) /* BEFORE, STRAY: the order does not have its begin */
#define EP_CALL_ROW_PASSES        (1u << 18) /* the selection's (stream.c): by itself */
#define EP_CALL_ROW_SHOWN         (1u << 19) /* the same: among what is left */
#define EP_CALL_ROW_BEGIN_EXACT   (1u << 20) /* as in struct ep_time */
#define EP_CALL_ROW_BEGIN_REFINED (1u << 21)
#define EP_CALL_ROW_BEGIN_UNSURE  (1u << 22) /* EP_CALL_UNSURE_WAIT was known when it began */
#define EP_CALL_ROW_BEGIN_DOUBTED (1u << 23) /* its end says that its begin is not exact */
#define EP_CALL_ROW_BEGIN_FAR     (1u << 24) /* the address is in `far` */
#define EP_CALL_ROW_END_EXACT     (1u << 25)
#define EP_CALL_ROW_END_REFINED   (1u << 26)
#define EP_CALL_ROW_END_FAR       (1u << 27)
#define EP_CALL_ROW_ASTRAY        (1u << 28) /* it has some */
#define EP_CALL_ROW_BEGIN_SAMPLED (1u << 29) /* as in struct ep_time */
#define EP_CALL_ROW_END_SAMPLED   (1u << 30)

struct ep_call_row {
	uint64_t begin, end; /* TSC: the best number for each */
	uint32_t function;   /* its id */
	uint32_t flags;
	uint32_t depth, stack;
	uint32_t begin_bounds, end_bounds; /* from 1; 0: not before and not after `begin`, `end` */
	uint32_t begin_address, end_address; /* from the function's start, or in `far` */
};

/* What is no call's: a gap, a point, a wait. 88 bytes, its text, and a wait's place. */
struct ep_call_mark {
	uint64_t begin, end; /* as a row's */
	uint64_t address;
	uint64_t call; /* as in struct ep_event */
	union {
		uint64_t lost;
		const struct ep_wait_place *place; /* WAIT; the table's */
	};
	const char *text;  /* one of the table's, or static */
	uint32_t function; /* EP_CALL_ROW_NONE: none */
	uint32_t flags;    /* as a row's */
	uint32_t depth, stack;
	uint32_t begin_bounds, end_bounds;
	uint32_t gap;
	uint32_t in;    /* POINT: the row of the call that it happened in; EP_CALL_ROW_NONE */
	uint32_t since; /* SPAN_END: number in `since`, from 1 */
	uint8_t kind;   /* enum ep_event_kind */
	uint8_t point;  /* enum ep_point */
};

#define EP_CALL_ROW_NONE UINT32_MAX

/* What an entry of the order is: the low two bits, the rest says which. */
enum ep_call_step { EP_CALL_STEP_BEGIN, EP_CALL_STEP_END, EP_CALL_STEP_MARK };

static inline enum ep_call_step ep_call_step_of(uint32_t entry)
{
	return (enum ep_call_step)(entry & 3);
}

struct ep_call_bounds {
	uint64_t low, high;
	uint32_t open;
};

struct ep_call_astray {
	size_t at; /* its end, in the order */
	uint64_t cycles;
};

/* Functions by their ids: those of all tables of one trace. */
struct ep_call_functions {
	EP_ARRAY(const struct ep_function *) by_id;
};

struct ep_call_table {
	const struct ep_trace_thread *thread;
	struct ep_call_functions *functions; /* borrowed */
	EP_ARRAY(struct ep_call_row) rows;   /* as they began, or turned out to have */
	EP_ARRAY(uint32_t) order;            /* index << 2 | enum ep_call_step */
	EP_ARRAY(struct ep_call_mark) marks;
	EP_ARRAY(struct ep_call_bounds) bounds;
	EP_ARRAY(struct ep_time) since;
	EP_ARRAY(char *) texts; /* of marks, each once */
	struct ep_hash by_text; /* private: of texts */
	EP_ARRAY(uint64_t) far;
	EP_ARRAY(struct ep_call_astray) astray; /* ascending */
	EP_ARRAY(size_t) before;    /* of the order: gaps, and ends of calls from BEFORE */
	EP_ARRAY(uint64_t) numbers; /* of the rows' calls; none: those of the rows */
	EP_ARRAY(struct ep_event)
	open;                            /* did not return: those of stacks that were left, then
					    of the one that runs; outermost first */
	EP_ARRAY(struct ep_event) spans; /* did not end; texts are the table's own */
	uint32_t too_deep;               /* all depths, by so much */
};

/* An empty one. `functions` must outlive it. */
void ep_call_table_init(struct ep_call_table *table, const struct ep_trace_thread *thread,
			struct ep_call_functions *functions);
void ep_call_table_deinit(struct ep_call_table *table);
/* Its memory serves what is read or added next. */
void ep_call_table_empty(struct ep_call_table *table);

/*
 * Reads the thread; `waits`: with EP_EVENT_WAIT. `said` is called now and then with the blocks that
 * are left: false leaves off, and is what this returns then.
 */
bool ep_call_table_read(struct ep_call_table *table, const struct ep_trace *trace,
			struct ep_names *names, bool waits,
			bool (*said)(void *context, size_t blocks_left), void *context);

/* One event more, in order, for who has them from elsewhere; after the last one ..._finish. */
void ep_call_table_add(struct ep_call_table *table, const struct ep_event *event);
void ep_call_table_finish(struct ep_call_table *table);

/*
 * The event at that place of the order, as ep_calls_next hands it out, and the BEGIN of a call that
 * does not return with EP_CALL_OPEN. `out` is what this function made last, or zeroes; its text and
 * place are borrowed from the table.
 */
void ep_call_table_event(const struct ep_call_table *table, size_t at, struct ep_event *out);

/* The row of a call's number; EP_CALL_ROW_NONE: there is none. */
uint32_t ep_call_table_row(const struct ep_call_table *table, uint64_t call);

#endif
