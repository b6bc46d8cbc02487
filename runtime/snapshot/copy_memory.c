/* SPDX-License-Identifier: BSD-2-Clause */
/* copy_memory.c: room first, without anybody being held; then the copy. */
#include "runtime/snapshot/copy_memory.h"

#include <errno.h>
#include <sys/mman.h>

#include "runtime/arena/arena.h"
#include "runtime/lib/syscalls.h"
#include "runtime/snapshot/arena_copy.h"
#include "runtime/x86_64/tsc.h"

#define POPULATE_WRITE 23 /* madvise, Linux 5.14 */

/* Blocks of each thread, where there is no memory for more; 0: all. */
static const uint64_t mosts[] = {0, 64, 16, 4, 1};

static bool map(struct ep_copy_memory *memory, uint64_t size)
{
	long got = ep_syscall6(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (ep_syscall_failed(got))
		return false;
	memory->address = (uint64_t)got;
	memory->mapped = size;
	return true;
}

/* What is likely to be needed, so that it costs nobody time later. */
static bool make_room(struct ep_copy_memory *memory, struct ep_arena_copy *copy)
{
	uint64_t likely, blocks;

	ep_arena_copy_measure(copy);
	likely = copy->head + copy->room_blocks * EP_BLOCK_SIZE;
	blocks = ep_arena_copy_most_blocks(copy);
	if (!map(memory, copy->head + blocks * EP_BLOCK_SIZE))
		return false;
	if (likely > memory->mapped)
		likely = memory->mapped;
	if (ep_syscall3(SYS_madvise, (long)memory->address, (long)likely, POPULATE_WRITE) ==
	    -ENOMEM) {
		ep_copy_memory_free(memory);
		return false;
	}
	copy->room_blocks = blocks;
	return true;
}

static void fill(struct ep_copy_memory *memory, struct ep_arena_copy *copy)
{
	struct ep_hold hold;

	ep_arena_copy_head(copy, (char *)memory->address);
	ep_hold_begin(&hold);
	copy->until = ep_tsc();
	ep_arena_copy_history(copy, &hold);
	ep_hold_end(&hold);
	memory->until = copy->until;
	memory->size = ep_arena_copy_finish(copy, EP_ARENA_MAGIC, (uint64_t)ep_arena);
}

bool ep_copy_memory_take(struct ep_copy_memory *memory)
{
	*memory = (struct ep_copy_memory){0};
	for (unsigned i = 0; i < sizeof(mosts) / sizeof(*mosts); i++) {
		struct ep_arena_copy copy = {.most = mosts[i]};

		if (make_room(memory, &copy)) {
			fill(memory, &copy);
			return true;
		}
	}
	return false;
}

void ep_copy_memory_free(struct ep_copy_memory *memory)
{
	struct ep_copy_memory old = *memory;

	/* Before it goes: a child that is forked now frees what it finds. */
	*(volatile uint64_t *)&memory->mapped = 0;
	*memory = (struct ep_copy_memory){0};
	if (old.mapped)
		ep_syscall2(SYS_munmap, (long)old.address, (long)old.mapped);
}
