/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * records.h: blocks → records of one thread, oldest first, each with the interval in which it
 * happened. The one place that knows stamps and escapes.
 */
#ifndef EPITAPH_RECORDS_H
#define EPITAPH_RECORDS_H

#include "decoder/trace/switches.h"
#include "decoder/trace/trace.h"

enum ep_record_kind {
	EP_RECORD_CALL,
	EP_RECORD_RETURN,
	EP_RECORD_GAP, /* something is missing between its neighbours */
	/* What marks tell (format.h): exact, each with the address "at". */
	EP_RECORD_THROW, /* text: the type's mangled name, "" unknown */
	EP_RECORD_RETHROW,
	EP_RECORD_LEFT,   /* one frame is left: address inside of it */
	EP_RECORD_LANDED, /* address of the landing pad */
	EP_RECORD_CAUGHT, /* the same */
	EP_RECORD_SAVE,   /* buffer */
	EP_RECORD_RESUME, /* buffer */
	EP_RECORD_SWAP,   /* buffer: saved; other: resumed */
	EP_RECORD_PARENT, /* buffer */
	EP_RECORD_FRESH,  /* address of the function; other: link, 0 none */
	/* What the program says. */
	EP_RECORD_NOTE,       /* buffer: address of the format; arguments */
	EP_RECORD_SPAN_BEGIN, /* text: the name */
	EP_RECORD_SPAN_END,   /* the same */
	EP_RECORD_WATCHDOG,   /* buffer: how many ns too late; text: its name */
};

/* Why there is a gap. Also told after the last record, when blocks that were entered since are not
 * there, or tracing was paused and the thread alive. */
#define EP_GAP_LOST_BLOCKS    1u  /* overwritten or unreadable blocks */
#define EP_GAP_PAUSED         2u  /* tracing was paused */
#define EP_GAP_HOLE           4u  /* zero words: a signal handler's lost records */
#define EP_GAP_UNKNOWN_ESCAPE 8u  /* written by a newer minor version */
#define EP_GAP_TEXT           16u /* text was written over records */

#define EP_TIME_UNKNOWN UINT64_MAX

struct ep_record {
	enum ep_record_kind kind;
	uint64_t address; /* code address (process virtual) */
	uint64_t low;     /* TSC: not before */
	uint64_t high;    /* TSC: not after; EP_TIME_UNKNOWN after the last anchor of all */
	uint64_t time; /* TSC: best single number, in order between its anchors; low where nothing
			  is known of what came after, or something is missing there. Never less
			  than the record before has */
	bool exact;    /* low == high == time */
	bool refined;  /* time leaves out when the thread was not on a CPU */
	bool unsure;   /* its call may have waited, or another (placing.h) */
	uint32_t gap;  /* EP_GAP_ */
	union {
		uint64_t lost;   /* GAP: records (hole, text) or blocks (lost blocks) missing */
		uint64_t buffer; /* SAVE to FRESH: address of a jmp_buf or ucontext_t, 52 bits */
	};
	union {
		uint64_t other;
		/* borrowed until the next block: */
		const char *text;          /* THROW, SPAN_*, WATCHDOG */
		const uint32_t *arguments; /* NOTE: payloads (note_text.h), the first says how many
					      follow */
		const struct ep_trace_over *over; /* GAP: of text, else NULL */
	};
};
static_assert(sizeof(struct ep_record) == 64, "one line of the cache");

/* The beginning of the text of such a gap that follows what was handed out last: *size bytes,
 * borrowed from the image. */
struct ep_records;
const char *ep_records_text(const struct ep_records *records, const struct ep_record *gap,
			    size_t *size);

/* Records of one block, with a gap before it, and those where everything was off. */
#define EP_DECODED_MAX (EP_BLOCK_RECORDS + 2 + EP_ALL_OFF)

/* Iterates one thread's records. About 36 KiB; no allocation. */
struct ep_records {
	const struct ep_trace *trace;
	const struct ep_trace_thread *thread;
	size_t next_block;
	unsigned count, at;               /* of the decoded block below */
	uint64_t holes;                   /* words met so far */
	uint64_t last;                    /* time of the last anchor so far */
	uint64_t pace_cycles, pace_steps; /* so long took so many records, lately, without a wait
					     (windows.h); 0 steps: not known */
	bool started;      /* a gap before the first block is not told: the history begins there */
	bool ended;        /* what is missing at the end was told */
	unsigned all_next; /* of the times when everything was off: the first that is not over … */
	bool all_told;     /* … and it was reached: a gap is to be told … */
	bool all_dropped;  /* … for records that were left out */
	uint64_t all_low, all_time;           /* … and it begins here, as in struct ep_record */
	char texts[EP_BLOCK_RECORDS * 3 + 1]; /* of the block's marks */
	uint32_t arguments[EP_BLOCK_RECORDS]; /* of its notes */
	struct ep_record decoded[EP_DECODED_MAX];
};

void ep_records_init(struct ep_records *records, const struct ep_trace *trace,
		     const struct ep_trace_thread *thread);

/* EP_OK and *out (borrowed until the next call), or EP_END. */
int ep_records_next_slow(struct ep_records *records, const struct ep_record **out);
static inline int ep_records_next(struct ep_records *records, const struct ep_record **out)
{
	if (records->at == records->count)
		return ep_records_next_slow(records, out);
	*out = &records->decoded[records->at++];
	return EP_OK;
}

/* Starts at the last block that begins at or before `tsc`, else at the first. What is missing
 * before that block is not told. */
void ep_records_seek(struct ep_records *records, uint64_t tsc);

/* The last time known of a thread that has blocks: of its last timed record, or its last block's
 * beginning. */
uint64_t ep_records_last_time(const struct ep_trace *trace, const struct ep_trace_thread *thread);

#endif
