/* SPDX-License-Identifier: BSD-2-Clause */
/* alignment_pairs.c: the longest common subsequence of frames and calls. */
#include <string.h>

#include "coredump/util/alloc.h"
#include "decoder/stack/alignment_impl.h"

/* Both sides are paired over this many innermost ones. */
#define PAIRED_MAX 1024

/* Hooks in inlined functions record the address of another copy: all that a call of one shares with
 * its place on the stack is the name. */
static bool is_call(const struct ep_frame_place *place, const struct ep_event *call)
{
	if (place->passed)
		return false;
	if (place->row.inlined)
		return strcmp(place->row.inlined, call->function->name) == 0;
	return place->row.function == call->function ||
	       (place->part_of && place->part_of == call->function);
}

/* `table` has (count + 1) * (calls + 1) cells: the most pairs from (i, j) on outwards. */
static void fill(uint16_t *table, const struct ep_places *places, size_t count,
		 const struct ep_open_calls *open, size_t calls)
{
	size_t width = calls + 1;

	for (size_t i = count; i-- > 0;)
		for (size_t j = calls; j-- > 0;) {
			uint16_t best = table[(i + 1) * width + j];
			uint16_t other = table[i * width + j + 1];

			if (is_call(&places->list[i], ep_open_calls_inner(open, j)))
				best = (uint16_t)(table[(i + 1) * width + j + 1] + 1);
			else if (other > best)
				best = other;
			table[i * width + j] = best;
		}
}

static void walk(const uint16_t *table, struct ep_places *places, size_t count,
		 const struct ep_open_calls *open, size_t calls)
{
	size_t width = calls + 1;

	for (size_t i = 0, j = 0; i < count && j < calls;)
		if (is_call(&places->list[i], ep_open_calls_inner(open, j)))
			places->list[i++].call = j++;
		else if (table[(i + 1) * width + j] >= table[i * width + j + 1])
			i++;
		else
			j++;
}

/* Beyond what the table holds, in lockstep: the frames of a runaway recursion and those that it
 * began in. */
static void pair_rest(struct ep_places *places, size_t paired, const struct ep_open_calls *open)
{
	size_t j = 0;

	for (size_t i = 0; i < paired; i++)
		if (places->list[i].call != EP_ROW_NONE)
			j = places->list[i].call + 1;
	for (size_t i = paired; i < places->count && j < open->count; i++)
		if (is_call(&places->list[i], ep_open_calls_inner(open, j)))
			places->list[i].call = j++;
}

void ep_places_pair(struct ep_places *places, const struct ep_open_calls *open)
{
	size_t calls = open->count < PAIRED_MAX ? open->count : PAIRED_MAX;
	size_t count = places->count < PAIRED_MAX ? places->count : PAIRED_MAX;
	uint16_t *table = ep_calloc((count + 1) * (calls + 1), sizeof(*table));

	for (size_t i = 0; i < places->count; i++)
		places->list[i].call = EP_ROW_NONE;
	fill(table, places, count, open, calls);
	walk(table, places, count, open, calls);
	if (places->count > count)
		pair_rest(places, count, open);
	free(table);
}
