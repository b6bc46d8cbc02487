/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * steady.c: reads each piece of a running process's arena twice, and the
 * headers of its blocks a third time. A check word that is the same before and
 * after says whose records lie between: its owner wipes it before anything else
 * of the block. What the first look found written is so by the second. A
 * thread's blocks that were entered after the first look at any of them are
 * left out: the one before may have been read when it was not full yet, and
 * nobody would know.
 */
#include "coredump/steady.h"

#include <stdlib.h>
#include <string.h>

#include "coredump/source_impl.h"

#define PIECE \
	16384u /* bytes: few enough that little is overwritten meanwhile */

static bool is_block(const struct ep_block *block, uint64_t offset,
		     const struct ep_root_found *found)
{
	return block->check &&
	       block->check ==
		       ep_block_check(block, offset, found->root.identity);
}

static uint32_t words_of(const struct ep_block *block)
{
	uint32_t words = EP_BLOCK_RECORDS;

	while (words && !block->records[words - 1])
		words--;
	return words;
}

/* `first` becomes what is right of it; `second` was read later, and `check` is
 * the check word after that. */
static void settle(struct ep_block *first, const struct ep_block *second,
		   uint64_t check, uint64_t until)
{
	uint32_t words = words_of(first);

	if (first->check != second->check || first->check != check ||
	    first->tsc > until)
		memset(first, 0, sizeof(*first));
	else
		memcpy(first->records, second->records,
		       words * sizeof(first->records[0]));
}

/* When the block's thread was first met: `begun`, if it is now. */
static uint64_t until_of(struct ep_steady *steady, const struct ep_block *block,
			 uint64_t begun)
{
	uint64_t *until = &steady->until[block->owner % EP_STEADY_OWNERS];

	if (*until == 0)
		*until = begun;
	return *until;
}

/* `begun`: TSC before the piece was read. */
static void settle_piece(struct ep_steady *steady, struct ep_source *source,
			 const struct ep_root_found *found, uint64_t address,
			 uint8_t *bytes, size_t size, uint64_t begun)
{
	static struct ep_block again[PIECE / EP_BLOCK_SIZE];
	const size_t count = size / EP_BLOCK_SIZE;
	uint64_t check;

	/* Whatever cannot be read any more has changed. */
	memset(again, 0, sizeof(again));
	ep_source_read(source, address, again, count * EP_BLOCK_SIZE, NULL,
		       NULL);
	for (size_t i = 0; i < count; i++) {
		uint64_t at = address + i * EP_BLOCK_SIZE;
		struct ep_block first;

		memcpy(&first, bytes + i * EP_BLOCK_SIZE, sizeof(first));
		if (!is_block(&first, at - found->arena_address, found))
			continue;
		check = 0;
		ep_source_read(source, at + offsetof(struct ep_block, check),
			       &check, sizeof(check), NULL, NULL);
		settle(&first, &again[i], check,
		       until_of(steady, &first, begun));
		memcpy(bytes + i * EP_BLOCK_SIZE, &first, sizeof(first));
	}
}

void ep_steady_deinit(struct ep_steady *steady)
{
	free(steady->until);
	steady->until = NULL;
}

int ep_steady_read(struct ep_steady *steady, struct ep_source *source,
		   const struct ep_root_found *found, uint64_t address,
		   void *out, size_t size, size_t *done, struct ep_err *err)
{
	uint8_t *bytes = out;
	int rc = EP_OK;

	if (!source->changing || address % EP_PAGE)
		return ep_source_read(source, address, out, size, done, err);
	*done = 0;
	if (!steady->until)
		steady->until =
			calloc(EP_STEADY_OWNERS, sizeof(*steady->until));
	if (!steady->until)
		return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
	while (*done < size && rc == EP_OK) {
		size_t piece = size - *done < PIECE ? size - *done : PIECE;
		uint64_t begun = __builtin_ia32_rdtsc();
		size_t got;

		rc = ep_source_read(source, address + *done, bytes + *done,
				    piece, &got, err);
		settle_piece(steady, source, found, address + *done,
			     bytes + *done, got, begun);
		*done += got;
	}
	return rc;
}
