/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tables.c: three levels, as a processor's page tables. Tables are handed out of large reservations
 * and never given back: a hook may be looking at one.
 */
#include "runtime/counting/tables.h"

#include <stddef.h>
#include <sys/mman.h>

#include "runtime/lib/syscalls.h"

#define PAGE      4096ull
#define LEAF_CODE 65536ull /* bytes of code that a leaf serves */
#define ROOT_SIZE (32768 * sizeof(void *))
#define MID_SIZE  (65536 * sizeof(void *))
#define LEAF_SIZE (LEAF_CODE * sizeof(uint32_t))

/* Reservations get larger: all code below 2^47 fits. */
#define SLABS      24
#define FIRST_SLAB (4ull << 20)

void **ep_counting_root;

static struct slab {
	uint64_t start; /* 0: not there yet */
	uint64_t used;
} slabs[SLABS];

static uint64_t slab_size(unsigned index)
{
	return FIRST_SLAB << index;
}

/* Address space only. A kernel without MADV_WIPEONFORK (before 4.14) tells nobody of a fork
 * either. */
static uint64_t reserve(uint64_t size)
{
	long got = ep_syscall6(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (ep_syscall_failed(got))
		return 0;
	ep_syscall3(SYS_madvise, got, (long)size, MADV_WIPEONFORK);
	ep_syscall3(SYS_madvise, got, (long)size, MADV_DONTDUMP);
	/* A huge page would be taken for a single cell. */
	ep_syscall3(SYS_madvise, got, (long)size, MADV_NOHUGEPAGE);
	return (uint64_t)got;
}

/* The slab's memory, reserved by whoever comes first. */
static uint64_t open_slab(unsigned index)
{
	uint64_t start = __atomic_load_n(&slabs[index].start, __ATOMIC_ACQUIRE);
	uint64_t made;

	if (start)
		return start;
	made = reserve(slab_size(index));
	if (!made)
		return 0;
	if (__atomic_compare_exchange_n(&slabs[index].start, &start, made, false, __ATOMIC_ACQ_REL,
					__ATOMIC_ACQUIRE))
		return made;
	ep_syscall2(SYS_munmap, (long)made, (long)slab_size(index));
	return start;
}

static void *take(uint64_t size)
{
	for (unsigned i = 0; i < SLABS; i++) {
		uint64_t start = open_slab(i), at;

		if (!start)
			return NULL;
		at = __atomic_load_n(&slabs[i].used, __ATOMIC_RELAXED);
		do {
			if (size > slab_size(i) - at)
				break;
		} while (!__atomic_compare_exchange_n(&slabs[i].used, &at, at + size, false,
						      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
		if (size <= slab_size(i) - at)
			return (char *)start + at;
	}
	return NULL;
}

/* In a forked child the kernel has emptied them already. */
bool ep_tables_start(void)
{
	for (unsigned i = 0; i < SLABS; i++)
		slabs[i].used = 0;
	ep_counting_root = take(ROOT_SIZE);
	return ep_counting_root != NULL;
}

/* What *slot leads to; two that make it at once waste some address space. */
static void *follow(void **slot, uint64_t size, bool make)
{
	void *table = __atomic_load_n(slot, __ATOMIC_ACQUIRE), *made;

	if (table || !make)
		return table;
	made = take(size);
	if (!made || __atomic_compare_exchange_n(slot, &table, made, false, __ATOMIC_ACQ_REL,
						 __ATOMIC_ACQUIRE))
		return made;
	return table;
}

uint32_t *ep_tables_cell(uint64_t address, bool make)
{
	void **mid;
	uint32_t *leaf;

	if (!ep_counting_root)
		return NULL;
	mid = follow(&ep_counting_root[address >> 32], MID_SIZE, make);
	if (!mid)
		return NULL;
	leaf = follow(&mid[address >> 16 & 0xffff], LEAF_SIZE, make);
	return leaf ? leaf + (address & 0xffff) : NULL;
}

/* The cells that share a page of memory with this one. */
static const uint32_t *page_of(const uint32_t *cell)
{
	return (const uint32_t *)((uint64_t)cell & -PAGE);
}

bool ep_tables_fresh(const uint32_t *cell)
{
	const volatile uint32_t *page = page_of(cell);

	for (unsigned i = 0; i < PAGE / sizeof(*page); i++)
		if (page[i])
			return false;
	return true;
}

static uint64_t clear_cells(uint32_t *from, uint64_t count)
{
	uint64_t freed = 0;

	for (uint64_t i = 0; i < count; i += PAGE / sizeof(*from))
		freed += ep_tables_fresh(from + i) ? 0 : EP_TABLES_STEP;
	if (freed)
		ep_syscall3(SYS_madvise, (long)from, (long)(count * sizeof(*from)), MADV_DONTNEED);
	return freed;
}

uint64_t ep_tables_clear(uint64_t start, uint64_t end)
{
	uint64_t freed = 0, next;

	for (; start < end; start = next) {
		uint32_t *cell = ep_tables_cell(start, false);

		next = (start + LEAF_CODE) & -LEAF_CODE;
		if (cell)
			freed += clear_cells(cell, (next < end ? next : end) - start);
	}
	return freed;
}
