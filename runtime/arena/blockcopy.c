/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * blockcopy.c: a block's check word is wiped by its owner before anything else of it, and written
 * last: one that is the same before and after says whose records were copied in between.
 */
#include "runtime/arena/blockcopy.h"

#include "runtime/arena/root.h"
#include "runtime/lib/text.h"

bool ep_block_holds(const struct ep_block *block, uint64_t until)
{
	uint64_t check = __atomic_load_n(&block->check, __ATOMIC_ACQUIRE);

	return check &&
	       check == ep_block_check(block, (uint64_t)block - (uint64_t)ep_arena,
				       epitaph_root.identity) &&
	       block->tsc <= until;
}

/*
 * The records up to the last that is written: found from the end, so that none before it is still
 * on its way; a copy goes forward, and would see holes.
 */
static void copy_records(struct ep_block *to, const struct ep_block *from)
{
	uint32_t used = EP_BLOCK_RECORDS;

	while (used && !*(const volatile uint64_t *)&from->records[used - 1])
		used--;
	ep_bytes_copy(to->records, from->records, used * sizeof(uint64_t));
	ep_bytes_zero(&to->records[used], (EP_BLOCK_RECORDS - used) * sizeof(uint64_t));
}

bool ep_block_copy(struct ep_block *to, const struct ep_block *from, uint64_t until)
{
	uint64_t check = __atomic_load_n(&from->check, __ATOMIC_ACQUIRE);

	ep_bytes_copy(to, from, offsetof(struct ep_block, check));
	to->check = check;
	copy_records(to, from);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return check && to->tsc <= until &&
	       __atomic_load_n(&from->check, __ATOMIC_RELAXED) == check;
}
