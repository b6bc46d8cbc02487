/* SPDX-License-Identifier: BSD-2-Clause */
/* record.h: one record, decoded: what happened, and the interval in which it did. */
#ifndef EPITAPH_RECORD_H
#define EPITAPH_RECORD_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

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
	uint32_t open;    /* cycles of [low, high] that are not as usual between the records in it,
			     more or less: which of them took those is not known. At most all */
	uint64_t address; /* code address (process virtual) */
	uint64_t low;     /* TSC: not before */
	uint64_t high;    /* TSC: not after; EP_TIME_UNKNOWN after the last anchor of all */
	uint64_t time; /* TSC: best single number, in order between its anchors; low where nothing
			  is known of what came after, or something is missing there. Never less
			  than the record before has */
	bool exact;    /* low == high == time */
	bool refined;  /* time leaves out when the thread was not on a CPU */
	bool unsure;   /* its call may have waited, or another (placing.h) */
	bool sampled;  /* exact, as each record of its block is, whatever it tells */
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

#endif
