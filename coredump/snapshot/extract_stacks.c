/* SPDX-License-Identifier: BSD-2-Clause */
/* extract_stacks.c: which part of each thread's stack an unwinder needs. */
#include "coredump/snapshot/extract_impl.h"

#include <stdlib.h>
#include <string.h>

#include "coredump/memory/source_impl.h"

#define BELOW_SP 256u /* the red zone is 128 (psABI 3.2.2) */
/* The thread that died may have raised the signal in a handler, to take it when that had returned:
 * below is then the frame of the first signal, with the state of the floating point unit. */
#define BELOW_FIRST (20u << 10)
/* A stack that has overflowed ends above its pointer: how far to look. */
#define GUARD_MAX (1u << 20)

/* The segment of the stack whose pointer is `sp`: it, or after an overflow the one above the
 * guard. */
static const struct ep_segment *stack_segment(const struct ep_source *source, uint64_t sp)
{
	const struct ep_segment *segment = ep_source_segment_at(source, sp);

	for (size_t i = 0; !segment && i < source->segment_count; i++)
		if (source->segments[i].address > sp)
			segment = &source->segments[i];
	while (segment && segment->present_size == 0 && !(segment->flags & PF_W)) {
		if (++segment == source->segments + source->segment_count)
			return NULL;
	}
	if (!segment || (segment->address > sp && segment->address - sp > GUARD_MAX))
		return NULL;
	return segment;
}

/* The pages from sp - below up, `bytes` of stack, within the segment. */
static struct ep_range stack_range(const struct ep_source *source, uint64_t sp, uint64_t bytes,
				   uint64_t below)
{
	const struct ep_segment *segment = stack_segment(source, sp);
	uint64_t low = sp > below ? sp - below : 0, high, end;

	if (!segment) {
		low &= ~(uint64_t)(EP_PAGE - 1);
		return (struct ep_range){low, low};
	}
	if (low < segment->address)
		low = segment->address;
	low &= ~(uint64_t)(EP_PAGE - 1);
	end = segment->address + segment->memory_size;
	bytes += EP_PAGE + (below & ~(uint64_t)(EP_PAGE - 1));
	high = end - low > bytes ? low + bytes : end;
	return (struct ep_range){low, high & ~(uint64_t)(EP_PAGE - 1)};
}

/*
 * A handler on an alternate stack: the interrupted stack is a second one. Its pointer stands in the
 * ucontext that the kernel pushed (Linux arch/x86/include/uapi/asm/ucontext.h, sigcontext.h); ours
 * is told by uc_stack, which holds the very place that we are reading, and by a user code segment.
 * 0: none.
 */
static uint64_t interrupted_sp(const uint8_t *bytes, size_t size, uint64_t address)
{
	enum { UC_LINK = 1, SS_SP = 2, SS_SIZE = 4, RSP = 20, CS = 23 };
	uint64_t words[CS + 1];

	for (size_t at = 0; at + sizeof(words) <= size; at += 8) {
		memcpy(words, bytes + at, sizeof(words));
		if (words[0] > 0xf || words[UC_LINK] != 0 || (words[CS] & 0xffff) != 0x33)
			continue;
		if (address + at >= words[SS_SP] && address + at - words[SS_SP] < words[SS_SIZE] &&
		    words[RSP] - words[SS_SP] >= words[SS_SIZE])
			return words[RSP];
	}
	return 0;
}

static uint64_t second_stack(struct ep_source *source, const struct ep_range *range)
{
	size_t size = range->end - range->start, got;
	uint8_t *bytes = malloc(size);
	struct ep_err ignored;
	uint64_t sp;

	if (!bytes)
		return 0;
	ep_source_read(source, range->start, bytes, size, &got, &ignored);
	sp = interrupted_sp(bytes, got, range->start);
	free(bytes);
	return sp;
}

/* How much of each stack: the first thread's whole share, the others' so that all fit into the
 * bound. */
static uint64_t share(const struct ep_extraction *x, size_t index)
{
	uint64_t each = x->options.stack_bytes_total / (x->thread_count ? x->thread_count : 1);

	each &= ~(uint64_t)(EP_PAGE - 1);
	if (index == 0 || each >= x->options.stack_bytes)
		return x->options.stack_bytes;
	return each < EP_PAGE ? EP_PAGE : each;
}

/* What a snapshot's own note says of that thread: the mapping's end is not known any more. */
static bool told_before(const struct ep_extraction *x, uint32_t tid, uint64_t *wanted)
{
	for (uint32_t i = 0; i < x->before.thread_count; i++) {
		struct ep_snapshot_thread thread;

		memcpy(&thread, x->before_threads + i * sizeof(thread), sizeof(thread));
		if (thread.tid == tid) {
			*wanted = thread.stack_wanted;
			return true;
		}
	}
	return false;
}

static void stack_add(struct ep_extraction *x, uint64_t sp, uint64_t bytes,
		      struct ep_snapshot_thread *thread, struct ep_range *out)
{
	uint64_t below = thread == x->threads ? BELOW_FIRST : BELOW_SP;
	struct ep_range whole = stack_range(x->source, sp, x->options.stack_bytes, below);

	*out = stack_range(x->source, sp, bytes, below);
	thread->stack_wanted +=
		whole.end > whole.start ? whole.end - whole.start : x->options.stack_bytes;
	thread->stack_saved += ep_range_present(x->source, out->start, out->end);
	ep_ranges_add(&x->all, out->start, out->end - out->start);
}

static void thread_stack(struct ep_extraction *x, size_t index, uint64_t *left)
{
	const struct ep_source_thread *from = &x->source->threads[index];
	struct ep_snapshot_thread *thread = &x->threads[index];
	uint64_t bytes = share(x, index), second;
	struct ep_range range;

	if (!from->has_registers || bytes > *left) {
		thread->stack_wanted = x->options.stack_bytes;
	} else {
		stack_add(x, from->registers.sp, bytes, thread, &range);
		second = second_stack(x->source, &range);
		if (second)
			stack_add(x, second, bytes, thread, &range);
		*left -= thread->stack_saved < *left ? thread->stack_saved : *left;
	}
	told_before(x, from->tid, &thread->stack_wanted);
}

void ep_extract_stacks(struct ep_extraction *x)
{
	uint64_t left = x->options.stack_bytes_total;

	if (x->options.stack_bytes == 0 || x->options.arena_only)
		return;
	for (size_t i = 0; i < x->thread_count; i++)
		thread_stack(x, i, &left);
}
