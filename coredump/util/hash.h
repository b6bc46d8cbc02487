/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hash.h: things found by their keys. The table holds numbers, as indices of the owner's array,
 * which may move; what is equal is the owner's word. Zeroes are an empty table; nothing is taken
 * out of one.
 *
 *   uint32_t hash = ep_hash_text(name), at = 0, number;
 *   while ((number = ep_hash_next(&table, hash, &at)) != EP_HASH_NONE)
 *           if (strcmp(list[number].name, name) == 0)
 *                   return number;
 *   ep_hash_add(&table, hash, count++);
 *
 * Open addressing with linear steps, at most half full: one cache line for most looks. Not safe
 * among threads.
 */
#ifndef EPITAPH_HASH_H
#define EPITAPH_HASH_H

#include <stddef.h>
#include <stdint.h>

#define EP_HASH_NONE UINT32_MAX

struct ep_hash_slot {
	uint32_t hash;
	uint32_t number; /* and 1; 0: free */
};

struct ep_hash {
	struct ep_hash_slot *slots;
	uint32_t size; /* a power of 2, or 0 */
	uint32_t count;
};

/* Hashes: of a number (of two: ep_hash_number(first ^ ep_hash_number(second) …)), of bytes, of a
 * text. Good in their high and low bits. */
static inline uint32_t ep_hash_number(uint64_t key)
{
	/* The golden ratio's bits (Knuth, volume 3, section 6.4), and what is above them. */
	uint64_t product = (key ^ key >> 32) * UINT64_C(0x9e3779b97f4a7c15);

	return (uint32_t)(product >> 32 ^ product >> 15);
}

uint32_t ep_hash_bytes(const void *bytes, size_t size);
uint32_t ep_hash_text(const char *text);

/* The next thing that has this hash, or EP_HASH_NONE; *at is 0 before the first. Any addition ends
 * the search. */
static inline uint32_t ep_hash_next(const struct ep_hash *table, uint32_t hash, uint32_t *at)
{
	const struct ep_hash_slot *slot;

	if (table->size == 0)
		return EP_HASH_NONE;
	while ((slot = &table->slots[(hash + *at) & (table->size - 1)])->number) {
		++*at;
		if (slot->hash == hash)
			return slot->number - 1;
	}
	return EP_HASH_NONE;
}

/* `number` is below EP_HASH_NONE. What is there already is there twice. */
void ep_hash_add(struct ep_hash *table, uint32_t hash, uint32_t number);

/* Empty afterwards. */
void ep_hash_deinit(struct ep_hash *table);

#endif
