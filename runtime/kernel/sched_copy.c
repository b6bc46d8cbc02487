/* SPDX-License-Identifier: BSD-2-Clause */
/* sched_copy.c: head · formats · segments in use, oldest first · spare ones. */
#include "runtime/kernel/sched_copy.h"

#include "runtime/arena/root.h"
#include "runtime/kernel/sched_section.h"
#include "runtime/lib/text.h"

#define HEAD 320 /* bytes: the head, up to a multiple of 64 */

static_assert(sizeof(struct ep_sched) <= HEAD, "room");

static uint64_t padded(uint64_t size)
{
	return (size + 7) & ~UINT64_C(7);
}

/* Back from the one that is being filled. All of an older one is older than the first chunk of the
 * next. */
static uint64_t count_segments(uint64_t since)
{
	uint64_t all = ep_sched_segments(), now = ep_sched_segment(), count = 0;

	while (count < all) {
		const struct ep_sched_chunk *first = ep_sched_segment_at((now + all - count) % all);

		/* The current one may just have been begun. */
		if (!first->check && count)
			break;
		count++;
		if (first->check && first->tsc < since)
			break;
	}
	return ep_sched->chunks ? count : 0;
}

void ep_sched_copy_plan(struct ep_sched_copy *copy, uint64_t since, uint64_t spare)
{
	uint64_t all;

	ep_bytes_zero(copy, sizeof(*copy));
	all = ep_sched ? ep_sched_segments() : 0;
	if (!all)
		return;
	copy->segments = count_segments(since);
	copy->spare = all - copy->segments < spare ? all - copy->segments : spare;
	ep_sched_formats(&copy->formats);
	copy->size =
		HEAD + padded(copy->formats) + (copy->segments + copy->spare) * EP_SCHED_SEGMENT;
}

/* True, and *at moved, when what was copied is a chunk, the next of its segment. */
static bool copy_chunk(const char *from, char *to, uint64_t *at, uint64_t *sequence,
		       const char *section)
{
	const struct ep_sched_chunk *source = (const struct ep_sched_chunk *)(from + *at);
	struct ep_sched_chunk *chunk = (struct ep_sched_chunk *)(to + *at);
	uint64_t room = EP_SCHED_SEGMENT - *at - sizeof(*chunk);

	ep_bytes_copy(chunk, source, sizeof(*chunk));
	if (!chunk->check || padded(chunk->size) > room ||
	    (*sequence && chunk->sequence != *sequence + 1))
		return false;
	ep_bytes_copy(chunk + 1, source + 1, padded(chunk->size));
	if (chunk->check !=
	    ep_sched_check(chunk, (uint64_t)source - (uint64_t)ep_sched, epitaph_root.identity))
		return false;
	chunk->check =
		ep_sched_check(chunk, (uint64_t)chunk - (uint64_t)section, epitaph_root.identity);
	*sequence = chunk->sequence;
	*at += sizeof(*chunk) + padded(chunk->size);
	return true;
}

static void copy_segment(uint64_t segment, char *to, const char *section)
{
	const char *from = (const char *)ep_sched_segment_at(segment);
	uint64_t at = 0, sequence = 0;

	while (at + sizeof(struct ep_sched_chunk) <= EP_SCHED_SEGMENT &&
	       copy_chunk(from, to, &at, &sequence, section))
		;
	ep_bytes_zero(to + at, EP_SCHED_SEGMENT - at);
}

void ep_sched_copy_fill(const struct ep_sched_copy *copy, void *to, bool ended)
{
	struct ep_sched *head = to;
	uint64_t all = ep_sched_segments(), last = ep_sched_segment();
	uint64_t count = copy->segments < all ? copy->segments : all;
	uint64_t pool = (copy->segments + copy->spare) * EP_SCHED_SEGMENT;
	char *at = (char *)to + HEAD;
	uint64_t formats;

	ep_bytes_zero(to, copy->size - pool);
	*head = *ep_sched;
	ep_bytes_copy(at, ep_sched_formats(&formats), copy->formats);
	head->formats_offset = HEAD;
	head->formats_size = head->formats_used = copy->formats;
	head->pool_offset = HEAD + padded(copy->formats);
	head->pool_size = pool;
	if (ended && head->state == EP_SCHED_ON) {
		head->state = EP_SCHED_STOPPED;
		head->stop_tsc = head->drained_tsc;
	}
	at += padded(copy->formats);
	for (uint64_t i = count; i > 0; i--, at += EP_SCHED_SEGMENT)
		copy_segment((last + all - i + 1) % all, at, to);
}
