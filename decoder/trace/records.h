/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * records.h: blocks → records of one thread, oldest first, each with the interval in which it
 * happened. The one place that knows stamps and escapes.
 */
#ifndef EPITAPH_RECORDS_H
#define EPITAPH_RECORDS_H

#include "decoder/trace/record.h"
#include "decoder/trace/switches.h"
#include "decoder/trace/trace.h"
#include "decoder/trace/untimed.h"

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
	unsigned count, at; /* of the decoded block below */
	uint64_t holes;     /* words met so far */
	uint64_t last;      /* time of the last anchor so far */
	uint64_t word;      /* the last event, or 0 */
	struct ep_pace pace;
	bool started;      /* a gap before the first block is not told: the history begins there */
	bool ended;        /* what is missing at the end was told */
	unsigned all_next; /* of the times when everything was off: the first that is not over … */
	bool all_told;     /* … and it was reached: a gap is to be told … */
	bool all_dropped;  /* … for records that were left out */
	uint64_t all_low, all_time;           /* … and it begins here, as in struct ep_record */
	char texts[EP_BLOCK_RECORDS * 3 + 1]; /* of the block's marks */
	uint32_t arguments[EP_BLOCK_RECORDS]; /* of its notes */
	struct ep_record decoded[EP_DECODED_MAX];
	uint32_t costs[EP_DECODED_MAX + 1]; /* from the block's beginning up to each, as usual */
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
