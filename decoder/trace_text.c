/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trace_text.c: text that was written over records, as a string does that runs
 * away. Of blocks whose check word fails it is their beginning that is looked
 * at; the check word does not cover records, so of the others those are text
 * of which at least two follow each other and that are in no module.
 */
#include <string.h>

#include "decoder/trace_parts.h"

#define LOOK    256u /* bytes of a torn block that are looked at */
#define ENOUGH  16u  /* of those that are not NUL, and */
#define PERCENT 90u  /* of these that a terminal could show */
#define RUN     2u   /* records */

static bool is_text(uint8_t c)
{
	return (c >= ' ' && c < 0x7f) || (c >= '\t' && c <= '\r');
}

/* The first text that is found is kept. */
static void keep(struct ep_trace_damage *damage, const uint8_t *from,
		 const uint8_t *end)
{
	size_t size = 0;

	if (damage->text[0])
		return;
	while (from + size < end && size < sizeof(damage->text) - 1 &&
	       is_text(from[size]))
		size++;
	memcpy(damage->text, from, size);
	damage->text[size] = '\0';
}

bool ep_trace_text_in_torn(struct ep_trace *trace, const struct ep_block *block)
{
	const uint8_t *bytes = (const uint8_t *)block;
	unsigned shown = 0, all = 0, first = LOOK;

	for (unsigned i = 0; i < LOOK; i++) {
		all += bytes[i] != 0;
		shown += is_text(bytes[i]);
		if (is_text(bytes[i]) && first == LOOK)
			first = i;
	}
	if (all < ENOUGH || shown * 100 < all * PERCENT)
		return false;
	keep(&trace->damage, bytes + first, bytes + EP_BLOCK_SIZE);
	return true;
}

static bool is_text_word(const struct ep_trace *trace, uint64_t word)
{
	const uint64_t address = word & ((UINT64_C(1) << 47) - 1);
	uint8_t bytes[sizeof(word)];

	/* Most are sorted out by a byte that ASCII does not have. */
	if (word & UINT64_C(0x8080808080808080))
		return false;
	memcpy(bytes, &word, sizeof(word));
	for (size_t i = 0; i < sizeof(word); i++)
		if (!is_text(bytes[i]))
			return false;
	return !ep_trace_module_at(trace, address, 0);
}

static void look_at_block(struct ep_trace *trace, const struct ep_block *block)
{
	const uint8_t *bytes = (const uint8_t *)block->records;
	unsigned run = 0;

	for (unsigned i = 0; i < EP_BLOCK_RECORDS; i++) {
		size_t at;

		if (!is_text_word(trace, block->records[i])) {
			run = 0;
			continue;
		}
		if (++run < RUN)
			continue;
		trace->damage.records_text += run == RUN ? RUN : 1;
		/* It may begin inside of a record. */
		at = (i + 1 - RUN) * sizeof(uint64_t);
		while (at > 0 && is_text(bytes[at - 1]))
			at--;
		keep(&trace->damage, bytes + at,
		     bytes + sizeof(block->records));
	}
}

/* What lies between sound records is nearer to where it began than what took
 * the header of a block. */
void ep_trace_find_text(struct ep_trace *trace)
{
	char torn[sizeof(trace->damage.text)];

	memcpy(torn, trace->damage.text, sizeof(torn));
	trace->damage.text[0] = '\0';
	for (uint64_t i = 0; i < trace->block_count; i++)
		look_at_block(trace, trace->all_blocks[i].block);
	if (!trace->damage.text[0])
		memcpy(trace->damage.text, torn, sizeof(torn));
}
