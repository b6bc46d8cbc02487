/* SPDX-License-Identifier: BSD-2-Clause */
/* overflow.c: a stack is known by what the kernel and the C library put into it, by its guard, or
 * by the return addresses at its end. */
#include "decoder/report/death/overflow.h"

#include <elf.h>

#include "decoder/code/callsite.h"

#define NULL_PAGES UINT64_C(65536)
/* How far below the stack pointer one instruction may reach, and how near to the stack's lower end
 * it must be: frames are small, guards are next to it. A frame as large as BIG is in a stack that
 * is known for sure. */
#define STACK_REACH UINT64_C(65536)
#define STACK_BIG   (UINT64_C(64) << 20)
#define STACK_LOOK  16384u /* bytes of it in which return addresses are looked for */

bool ep_was_called_from(const struct ep_evidence *evidence, uint64_t after, uint64_t target)
{
	uint8_t code[EP_CALLSITE_SIZE];

	return after > sizeof(code) &&
	       ep_evidence_code(evidence, after - sizeof(code), code, sizeof(code)) &&
	       ep_callsite_look(code, sizeof(code), after, target) != EP_CALLSITE_NONE;
}

/* A snapshot has no code, but the list of files. */
static bool may_be_code(const struct ep_evidence *evidence, uint64_t address)
{
	const struct ep_segment *segment = ep_evidence_segment(evidence->source, address);

	return segment ? (segment->flags & PF_X) != 0
		       : ep_evidence_mapping(evidence->source, address) != NULL;
}

/* Do return addresses lie at its lower end? */
static bool holds_returns(const struct ep_evidence *evidence, const struct ep_segment *segment,
			  uint64_t from)
{
	static uint64_t words[STACK_LOOK / 8];
	size_t got = 0;

	ep_source_read(evidence->source, from, words,
		       segment->address + segment->memory_size - from < sizeof(words)
			       ? segment->address + segment->memory_size - from
			       : sizeof(words),
		       &got, NULL);
	for (size_t i = 0; i < got / 8; i++)
		if (may_be_code(evidence, words[i]) && ep_was_called_from(evidence, words[i], 0))
			return true;
	return false;
}

static bool holds_auxv(const struct ep_evidence *evidence, const struct ep_segment *segment)
{
	uint64_t at;

	return ep_source_auxv(evidence->source, AT_RANDOM, &at) == EP_OK &&
	       at - segment->address < segment->memory_size;
}

/* What lies above `address`, which is in a gap or in a guard; NULL: it is in neither, or nothing
 * that can be written is next to it. */
static const struct ep_segment *stack_above(const struct ep_evidence *evidence, uint64_t address,
					    bool *guarded)
{
	const struct ep_segment *at = ep_evidence_segment(evidence->source, address), *list,
				*above = NULL;
	size_t count;

	*guarded = at && !(at->flags & (PF_R | PF_W | PF_X));
	if (at && !*guarded)
		return NULL;
	list = ep_source_segments(evidence->source, &count);
	for (size_t i = 0; i < count && !above; i++)
		if (list[i].address > address) {
			above = &list[i];
			/* Below the guard. */
			if (!(above->flags & (PF_R | PF_W | PF_X)) && i + 1 < count &&
			    above[1].address == above->address + above->memory_size)
				above++;
		}
	if (*guarded && above && above->address != at->address + at->memory_size)
		return NULL;
	return above && above->flags & PF_W ? above : NULL;
}

bool ep_stack_overflow(const struct ep_evidence *evidence, const struct ep_source_thread *thread,
		       bool has_all, uint64_t address, const struct ep_access *access)
{
	const struct ep_segment *stack;
	uint64_t sp, reach, far, own = 0;
	struct user_regs_struct registers;
	bool guarded, known;

	if (address >> 47)
		return false;
	sp = thread->registers.sp;
	stack = stack_above(evidence, address, &guarded);
	if (!stack || sp < NULL_PAGES)
		return false;
	if (has_all && ep_thread_registers(thread, &registers) &&
	    thread->tid != (uint32_t)ep_source_pid(evidence->source))
		own = registers.fs_base; /* glibc's descriptor lies in the stack */
	known = holds_auxv(evidence, stack) || (own && own - stack->address < stack->memory_size);
	reach = known ? STACK_BIG : STACK_REACH;
	if (sp >= stack->address ? sp - stack->address >= STACK_REACH
				 : stack->address - sp >= reach)
		return false;
	far = address > sp ? address - sp : sp - address;
	/* What it wrote lies in the frame that did not fit. */
	if (far > STACK_REACH && !(known && address > sp && far < STACK_BIG))
		return false;
	if (access && access->known && !access->by_stack && !guarded && !known && sp < address)
		return false;
	return guarded || known ||
	       holds_returns(evidence, stack,
			     sp > stack->address ? sp & ~UINT64_C(7) : stack->address);
}
