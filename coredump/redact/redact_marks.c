/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * redact_marks.c: what a program said in its rings. The marks stay, with their times and places: of
 * a note its format's address, of a span a name that stands for the one that it had.
 */
#include <string.h>

#include "coredump/redact/redact_impl.h"

#define DATA_BYTES 3 /* of a text in one word */
#define TEXT_MAX   (EP_MARK_DATA_MAX * DATA_BYTES)

/* ---- words ---- */

static bool is_escape(uint64_t word, unsigned type)
{
	return (word & EP_ADDRESS_MASK) < EP_ESCAPE_LIMIT && word % EP_ESCAPE_TYPES == type;
}

static void set(uint64_t *word, uint32_t payload)
{
	*word = ep_escape_make(EP_ESCAPE_DATA, payload);
}

static void stand_for(const struct ep_redaction *r, uint64_t *words, unsigned count)
{
	uint8_t text[TEXT_MAX] = {0};

	for (unsigned i = 0; i < count; i++)
		for (unsigned k = 0; k < DATA_BYTES; k++)
			text[DATA_BYTES * i + k] = (uint8_t)(ep_escape_payload(words[i]) >> 8 * k);
	ep_redact_token(r, text, DATA_BYTES * count);
	for (unsigned i = 0; i < count; i++)
		set(&words[i], (uint32_t)text[DATA_BYTES * i] |
				       (uint32_t)text[DATA_BYTES * i + 1] << 8 |
				       (uint32_t)text[DATA_BYTES * i + 2] << 16);
}

/* The `count` data words of a mark that are there. */
static void redact_data(const struct ep_redaction *r, unsigned kind, uint64_t *words,
			unsigned count)
{
	unsigned values = kind == EP_MARK_WATCHDOG || kind == EP_MARK_NOTE ? 4 : 2;

	/* What is thrown is a type of the program's, as its functions are. */
	if ((kind >= EP_MARK_THROW && kind <= EP_MARK_FRESH) || kind == EP_MARK_PARENT)
		return;
	if (kind != EP_MARK_NOTE && kind != EP_MARK_SPAN_BEGIN && kind != EP_MARK_SPAN_END &&
	    kind != EP_MARK_WATCHDOG)
		values = 0;
	/* More arguments of the note before. */
	if (kind == EP_MARK_NOTE && count >= 2 && ep_escape_payload(words[0]) == 0 &&
	    ep_escape_payload(words[1]) == 0)
		values = 2;
	if (count <= values)
		return;
	words += values;
	count -= values;
	if (values && kind != EP_MARK_NOTE) {
		stand_for(r, words, count);
		return;
	}
	for (unsigned i = 0; i < count; i++)
		set(&words[i], kind == EP_MARK_NOTE && i == 0 ? EP_NOTE_MORE : 0);
}

static void redact_records(const struct ep_redaction *r, uint64_t *records)
{
	uint64_t *end = records + EP_BLOCK_RECORDS;

	for (uint64_t *at = records; at < end; at++) {
		unsigned payload = ep_escape_payload(*at), count = 0;

		if (is_escape(*at, EP_ESCAPE_DATA)) {
			set(at, 0); /* of no mark */
		} else if (is_escape(*at, EP_ESCAPE_MARK)) {
			while (count < (payload >> 5 & EP_MARK_DATA_MAX) && at + 1 + count < end &&
			       is_escape(at[1 + count], EP_ESCAPE_DATA))
				count++;
			redact_data(r, payload % EP_MARKS, at + 1, count);
			at += count;
		}
	}
}

/* ---- blocks ---- */

/* Of a block whose check word fails: could this be the header of one that was being entered, or of
 * an earlier generation? */
static bool may_be_header(const struct ep_block *block)
{
	return block->reserved == 0 && block->owner != 0 && block->owner < (1u << 20) &&
	       block->every <= 64 && block->sequence < (UINT64_C(1) << 40) &&
	       block->tsc < (UINT64_C(1) << 62);
}

static bool is_zero(const struct ep_block *block)
{
	const uint64_t *words = (const uint64_t *)(const void *)block;

	for (size_t i = 0; i < EP_BLOCK_SIZE / sizeof(*words); i++)
		if (words[i])
			return false;
	return true;
}

void ep_redact_block(struct ep_redaction *r, struct ep_block *block, uint64_t offset)
{
	if (block->check && block->check == ep_block_check(block, offset, r->identity)) {
		if (r->words & EP_REDACTED_NOTES)
			redact_records(r, block->records);
		return;
	}
	if (is_zero(block))
		return;
	/* It stays a damaged one, but nobody knows what was written there. */
	memset(block->records, 0, sizeof(block->records));
	if (!may_be_header(block)) {
		memset(block, 0, sizeof(*block));
		block->check = 2;
	}
}
