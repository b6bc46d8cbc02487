/* SPDX-License-Identifier: BSD-2-Clause */
/* hash.c: what does not belong into the inner loop of a search. */
#include "coredump/util/hash.h"

#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"

#define FIRST 64u
#define MOST  (UINT32_C(1) << 31)

/* FNV-1a, 64 bits (Fowler, Noll, Vo), stirred once more. */
uint32_t ep_hash_bytes(const void *bytes, size_t size)
{
	const unsigned char *byte = bytes;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
	return ep_hash_number(hash);
}

uint32_t ep_hash_text(const char *text)
{
	return ep_hash_bytes(text, strlen(text));
}

static void put(struct ep_hash *table, struct ep_hash_slot slot)
{
	uint32_t at = slot.hash & (table->size - 1);

	while (table->slots[at].number)
		at = (at + 1) & (table->size - 1);
	table->slots[at] = slot;
}

static void grow(struct ep_hash *table)
{
	struct ep_hash old = *table;

	if (old.size == MOST)
		ep_out_of_memory();
	table->size = old.size ? 2 * old.size : FIRST;
	table->slots = ep_calloc(table->size, sizeof(*table->slots));
	for (uint32_t i = 0; i < old.size; i++)
		if (old.slots[i].number)
			put(table, old.slots[i]);
	free(old.slots);
}

void ep_hash_add(struct ep_hash *table, uint32_t hash, uint32_t number)
{
	if (2 * table->count >= table->size)
		grow(table);
	put(table, (struct ep_hash_slot){hash, number + 1});
	table->count++;
}

void ep_hash_deinit(struct ep_hash *table)
{
	free(table->slots);
	memset(table, 0, sizeof(*table));
}
