/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * integrity.c: what is compared, and the end. Nothing here follows anything that does not lie in
 * initialized data, but for an address that was compared before.
 */
#include "runtime/arena/integrity.h"

#include <stddef.h>

#include "runtime/arena/root.h"
#include "runtime/lib/hookcode.h"

#define GATE_BITS                                                                 \
	(EP_GATE_API | EP_GATE_OLD_OFF | EP_GATE_STOPPED | EP_GATE_CONTROL_BYTE | \
	 EP_GATE_OFF_BYTE | EP_GATE_COUNTING)
/* Bytes 1 and 2 are also written from outside. */
#define EP_GATE_CONTROL_BYTE 0xff00u
#define EP_GATE_OFF_BYTE     0xff0000u

#define PAGE 4096

struct ep_truth ep_truth EP_IN_DATA;

void ep_integrity_end(uint32_t reason)
{
	if (__atomic_exchange_n(&ep_truth.over, 1, __ATOMIC_SEQ_CST))
		return;
	ep_hooks_end();
	epitaph_root.off_reason = reason;
	/* Not the arena's copy: that is what was written over. */
	ep_root_fill(&epitaph_root, &epitaph_root, EP_ROOT_MAGIC, (uint64_t)&epitaph_root);
}

static bool ended(void)
{
	ep_integrity_end(EP_OFF_OVERWRITTEN);
	return false;
}

static uint64_t word(const char *bytes)
{
	uint64_t value;

	__builtin_memcpy(&value, bytes, sizeof(value));
	return value;
}

static bool head_holds(void)
{
	const struct ep_arena *arena = (const struct ep_arena *)ep_truth.arena;

	return ep_arena == arena && word(arena->root.magic) == word(EP_ARENA_MAGIC) &&
	       arena->root.self == ep_truth.arena &&
	       arena->root.identity == epitaph_root.identity && !(arena->gate & ~GATE_BITS) &&
	       arena->block_size == EP_BLOCK_SIZE && arena->committed % PAGE == 0 &&
	       arena->committed <= ep_truth.size;
}

bool ep_arena_intact(void)
{
	return !ep_overwritten() && (head_holds() || ended());
}

void *ep_arena_section(uint32_t type, uint64_t *size)
{
	/* Also while a forked child lays them out anew, as they were. */
	for (uint32_t i = 0; i < EP_SECTION_MAX; i++) {
		const struct ep_section *section = &ep_truth.section[i];

		if (section->type != type)
			continue;
		if (size)
			*size = section->size;
		return (char *)ep_truth.arena + section->offset;
	}
	return NULL;
}
