/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * overwritten.c: text that was written over records, as a string does that runs away. Of blocks
 * whose check word fails it is their beginning that is looked at. The check word does not cover
 * records, so in the others it is where at least two follow each other that are text from end to
 * end and can be no records: in no module, and far from what else the block recorded (a load map
 * may lack modules). From there it goes on, byte by byte, to either side.
 *
 * At its ends a record may be text in part. One in no module is lost. The one before keeps its low
 * bytes, so one in a module has its own address, and what may be text is the stamp. The one after
 * keeps its high bytes, and with a byte or two of text is in its module still: if that may be so,
 * it is believed only when the same address was recorded elsewhere, too.
 */
#include <stdlib.h>
#include <string.h>

#include "decoder/trace/trace_parts.h"

#define LOOK    256u /* bytes of a torn block that are looked at */
#define ENOUGH  16u  /* of those that are not NUL, and */
#define PERCENT 90u  /* of these that a terminal could show */
#define RUN     2u   /* records */

#define HOODS      16u
#define HOOD_SHIFT 30u
#define NEAR       4u /* as many records there are no accident */

static bool is_text(uint8_t c)
{
	return (c >= ' ' && c < 0x7f) || (c >= '\t' && c <= '\r');
}

/* Or a part of a character that ASCII does not have. */
static bool is_texty(uint8_t c)
{
	return is_text(c) || c >= 0x80;
}

static uint8_t byte_of(uint64_t word, unsigned at)
{
	return (uint8_t)(word >> 8 * at);
}

/* The first text that is found is kept. */
static void keep(struct ep_trace_damage *damage, const uint8_t *from, const uint8_t *end)
{
	size_t size = 0;

	if (damage->text[0])
		return;
	while (from + size < end && size < sizeof(damage->text) - 1 && is_text(from[size]))
		size++;
	memcpy(damage->text, from, size);
	damage->text[size] = '\0';
}

bool ep_trace_begins_as_text(struct ep_trace *trace, const struct ep_block *block)
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

/* ---- one block ---- */

/* Where most of a block's records are: 1 GiB each. */
struct hood {
	uint64_t number;
	unsigned count;
};

struct look {
	struct ep_trace *trace;
	struct ep_trace_block *taken;
	const uint64_t *records;
	uint32_t words;
	bool surveyed;
	struct hood hoods[HOODS];
};

static bool all_text(uint64_t word)
{
	if (!ep_trace_may_be_text(word))
		return false;
	for (unsigned i = 0; i < sizeof(word); i++)
		if (!is_text(byte_of(word, i)))
			return false;
	return true;
}

static bool all_texty(uint64_t word)
{
	for (unsigned i = 0; i < sizeof(word); i++)
		if (!is_texty(byte_of(word, i)))
			return false;
	return true;
}

static bool is_escape(uint64_t word)
{
	return (word & EP_ADDRESS_MASK) < EP_ESCAPE_LIMIT;
}

static bool is_data(uint64_t word)
{
	return is_escape(word) && word % EP_ESCAPE_TYPES == EP_ESCAPE_DATA;
}

static void count_hood(struct look *look, uint64_t number)
{
	for (unsigned i = 0; i < HOODS; i++) {
		struct hood *hood = &look->hoods[i];

		if (hood->count && hood->number != number)
			continue;
		hood->number = number;
		hood->count++;
		return;
	}
}

/* Text and what touches it has no say. */
static void survey(struct look *look)
{
	const uint64_t *records = look->records;

	look->surveyed = true;
	for (uint32_t i = 0; i < look->words; i++)
		if (!is_escape(records[i]) && !all_text(records[i]) &&
		    (i == 0 || !all_text(records[i - 1])) &&
		    (i + 1 == look->words || !all_text(records[i + 1])))
			count_hood(look, (records[i] & EP_ADDRESS_MASK) >> HOOD_SHIFT);
}

/* Could it be what the runtime wrote? */
static bool is_likely(struct look *look, uint64_t word)
{
	const uint64_t address = word & EP_ADDRESS_MASK;

	if (is_escape(word) || ep_trace_module_at(look->trace, address, 0))
		return true;
	if (!look->surveyed)
		survey(look);
	for (unsigned i = 0; i < HOODS; i++)
		if (look->hoods[i].count >= NEAR && look->hoods[i].number == address >> HOOD_SHIFT)
			return true;
	return false;
}

static bool is_text_word(struct look *look, uint64_t word)
{
	return all_text(word) && !is_likely(look, word);
}

/* ---- where it begins and ends ---- */

static bool recorded_in(const struct ep_trace_block *taken, uint64_t word, uint32_t from,
			uint32_t end)
{
	for (uint32_t i = 0; i < taken->words; i++)
		if ((i < from || i >= end) &&
		    !((taken->block->records[i] ^ word) & EP_ADDRESS_MASK))
			return true;
	return false;
}

/* The same place of the program, here or in a block next to it. */
static bool recorded_elsewhere(const struct look *look, uint64_t word,
			       const struct ep_trace_over *over)
{
	const struct ep_trace_block *taken = look->taken;
	const struct ep_trace *trace = look->trace;

	if (is_escape(word))
		return false;
	return recorded_in(taken, word, over->from, over->end + 1) ||
	       (taken > trace->all_blocks && recorded_in(taken - 1, word, 0, 0)) ||
	       (taken + 1 < trace->all_blocks + trace->block_count &&
		recorded_in(taken + 1, word, 0, 0));
}

static void find_begin(struct look *look, struct ep_trace_over *over, uint32_t before)
{
	const uint64_t *records = look->records;

	while (over->from > before) {
		uint64_t word = records[over->from - 1];

		if (word == 0 || !is_texty(byte_of(word, 7)))
			return;
		if (is_likely(look, word)) {
			bool letter = is_text(byte_of(word, 7));

			/* Of an escape, nothing tells then what it was. */
			over->from -= letter && is_escape(word);
			over->stamp = letter && !is_escape(word);
			return;
		}
		over->from--;
		if (!all_texty(word))
			return;
	}
}

/* Also its NUL may have come to lie in the next record. */
static bool may_be_end(uint64_t word)
{
	return is_text(byte_of(word, 0)) || byte_of(word, 0) == 0;
}

static void find_end(struct look *look, struct ep_trace_over *over)
{
	const uint64_t *records = look->records;

	while (over->end < look->words) {
		uint64_t word = records[over->end];

		if (word == 0)
			return;
		if (is_likely(look, word)) {
			over->end += may_be_end(word) && !recorded_elsewhere(look, word, over);
			break;
		}
		if (!is_texty(byte_of(word, 0)) && byte_of(word, 0))
			break;
		over->end++;
		if (!all_texty(word))
			break;
	}
	/* Of a mark whose head is lost. */
	while (over->end < look->words && is_data(records[over->end]))
		over->end++;
}

static uint32_t place_of(uint32_t record)
{
	return (uint32_t)offsetof(struct ep_block, records) + record * (uint32_t)sizeof(uint64_t);
}

static void find_text(const struct look *look, struct ep_trace_over *over, uint32_t run)
{
	const uint8_t *bytes = (const uint8_t *)look->taken->block;
	uint32_t begin = place_of(over->from), end = place_of(over->end);

	over->at = place_of(run);
	while (over->at > begin && is_text(bytes[over->at - 1]))
		over->at--;
	while (over->at + over->size < end && over->size < sizeof(look->trace->damage.text) - 1 &&
	       is_text(bytes[over->at + over->size]))
		over->size++;
	keep(&look->trace->damage, bytes + over->at,
	     (const uint8_t *)look->taken->block + EP_BLOCK_SIZE);
}

/* ---- what is found ---- */

/* Behind the last record of a thread's last block, where nothing was written yet: nothing is
 * lost. */
static bool cut_unused(struct look *look, const struct ep_trace_over *over)
{
	const struct ep_trace_block *next = look->taken + 1;
	uint32_t words = over->from;

	if (over->end < look->words || words == 0 || look->records[words - 1] ||
	    (next < look->trace->all_blocks + look->trace->block_count &&
	     next->block->owner == look->taken->block->owner))
		return false;
	while (words && look->records[words - 1] == 0)
		words--;
	look->trace->damage.holes -= over->from - words;
	look->taken->words = words;
	return true;
}

/* Records `run` … `end` - 1 are text. Returns the first that is none. */
static uint32_t add_run(struct look *look, uint32_t run, uint32_t end)
{
	struct ep_trace_over over = {.from = run, .end = end}, *last = NULL;
	struct ep_trace *trace = look->trace;
	uint32_t before = 0;

	if (look->taken->over_count) {
		last = &trace->overs.list[trace->overs.count - 1];
		before = last->end;
	}
	find_begin(look, &over, before);
	find_end(look, &over);
	find_text(look, &over, run);
	if (cut_unused(look, &over))
		return over.end;
	if (last && over.from == before) {
		trace->damage.records_text += over.end - before;
		last->end = over.end;
		return over.end;
	}
	ep_array_push(&trace->overs, over);
	trace->damage.records_text += over.end - over.from;
	if (look->taken->over_count++ == 0)
		look->taken->first_over = trace->overs.count - 1;
	return over.end;
}

static void look_at_block(struct ep_trace *trace, struct ep_trace_block *taken)
{
	struct look look = {.trace = trace,
			    .taken = taken,
			    .records = taken->block->records,
			    .words = taken->words};

	for (uint32_t i = 0; i < look.words; i++) {
		uint32_t run = i;

		if (!ep_trace_may_be_text(look.records[i]))
			continue;
		while (i < look.words && is_text_word(&look, look.records[i]))
			i++;
		if (i - run >= RUN)
			i = add_run(&look, run, i);
	}
}

/* What lies between sound records is nearer to where it began than what took the header of a
 * block. */
void ep_trace_find_overwritten(struct ep_trace *trace)
{
	char torn[sizeof(trace->damage.text)];

	memcpy(torn, trace->damage.text, sizeof(torn));
	trace->damage.text[0] = '\0';
	for (uint64_t i = 0; i < trace->block_count; i++)
		if (trace->all_blocks[i].may_have_text)
			look_at_block(trace, &trace->all_blocks[i]);
	if (!trace->damage.text[0])
		memcpy(trace->damage.text, torn, sizeof(torn));
}
