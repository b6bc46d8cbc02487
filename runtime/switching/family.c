/* SPDX-License-Identifier: BSD-2-Clause */
/* family.c: the board is a hash table that only grows; what does not fit is not told. */
#include "runtime/switching/family.h"

#include <sys/mman.h>

#include "runtime/arena/root.h"
#include "runtime/lib/syscalls.h"

#define SLOTS 2048
#define TRIES 8

/* How many children must have said it. One may have done something that no other does. */
static const uint32_t needed[EP_FAMILY_KINDS] = {1, 2};

struct slot {
	uint64_t address; /* 0: free */
	uint64_t rate;
	uint32_t said[EP_FAMILY_KINDS]; /* by so many */
};

static struct board {
	uint64_t news; /* how often anything was said */
	int64_t spent; /* TSC cycles of the credit */
	uint32_t use;  /* functions */
	struct slot slots[SLOTS];
} * board;

static uint8_t heard[EP_FAMILY_KINDS][SLOTS]; /* by this process, or by who forked it */
static uint64_t heard_news[EP_FAMILY_KINDS];

void ep_family_start(void)
{
	long got;

	if (board)
		return;
	got = ep_syscall6(SYS_mmap, 0, sizeof(*board), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (got < 0 && got > -4096)
		return;
	ep_syscall3(SYS_madvise, got, sizeof(*board), MADV_DONTDUMP);
	board = (struct board *)got;
}

static struct slot *slot_of(uint64_t address)
{
	uint64_t at = address * UINT64_C(0x9e3779b97f4a7c15) >> 40;

	for (unsigned i = 0; i < TRIES; i++) {
		struct slot *slot = &board->slots[(at + i) % SLOTS];
		uint64_t found = 0;

		if (__atomic_compare_exchange_n(&slot->address, &found, address, false,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
		    found == address)
			return slot;
	}
	return NULL;
}

void ep_family_tell(enum ep_family_news kind, uint64_t address, uint64_t rate)
{
	struct slot *slot;

	if (!board || !epitaph_root.generation)
		return;
	slot = slot_of(address);
	/* Who has it from its parent and says it again is no other one. */
	if (!slot || heard[kind][slot - board->slots])
		return;
	heard[kind][slot - board->slots] = 1;
	__atomic_store_n(&slot->rate, rate, __ATOMIC_RELAXED);
	__atomic_fetch_add(&slot->said[kind], 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&board->news, 1, __ATOMIC_RELEASE);
}

unsigned ep_family_hear(enum ep_family_news kind, struct ep_family_function *out, unsigned most)
{
	uint64_t news = board ? __atomic_load_n(&board->news, __ATOMIC_ACQUIRE) : 0;
	unsigned count = 0;

	if (news == heard_news[kind])
		return 0;
	for (unsigned i = 0; i < SLOTS; i++) {
		const struct slot *slot = &board->slots[i];

		if (heard[kind][i] ||
		    __atomic_load_n(&slot->said[kind], __ATOMIC_RELAXED) < needed[kind])
			continue;
		if (count == most)
			return count; /* the rest next time */
		heard[kind][i] = 1;
		out[count++] = (struct ep_family_function){slot->address, slot->rate};
	}
	heard_news[kind] = news;
	return count;
}

void ep_family_forget(enum ep_family_news kind, uint64_t address)
{
	struct slot *slot = board ? slot_of(address) : NULL;

	if (!slot)
		return;
	__atomic_store_n(&slot->said[kind], 0, __ATOMIC_RELAXED);
	heard[kind][slot - board->slots] = 0;
}

void ep_family_tell_use(uint32_t functions)
{
	uint32_t use = board ? __atomic_load_n(&board->use, __ATOMIC_RELAXED) : UINT32_MAX;

	while (use < functions && !__atomic_compare_exchange_n(&board->use, &use, functions, false,
							       __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

uint32_t ep_family_use(void)
{
	return board ? __atomic_load_n(&board->use, __ATOMIC_RELAXED) : 0;
}

void ep_family_spend(int64_t cycles, int64_t most)
{
	int64_t spent, next;

	if (!board || !epitaph_root.generation)
		return;
	spent = __atomic_load_n(&board->spent, __ATOMIC_RELAXED);
	do {
		next = spent + cycles;
		next = next < 0 ? 0 : next > most ? most : next;
	} while (!__atomic_compare_exchange_n(&board->spent, &spent, next, false, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
}

int64_t ep_family_credit(int64_t most)
{
	int64_t spent = board ? __atomic_load_n(&board->spent, __ATOMIC_RELAXED) : 0;

	return spent < 0 ? most : spent > most ? 0 : most - spent;
}
