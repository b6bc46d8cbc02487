/* SPDX-License-Identifier: BSD-2-Clause */
/* mark.c: values and text → data words. */
#include "runtime/record/mark.h"

#include "runtime/record/ring.h"

#define DATA_BITS  26
#define DATA_MASK  ((UINT64_C(1) << DATA_BITS) - 1)
#define DATA_BYTES 3 /* of a text in one word */
static_assert(2 * DATA_BITS == EP_MARK_VALUE_BITS, "format");

void ep_mark_init(struct ep_mark *mark, unsigned kind)
{
	mark->kind = kind;
	mark->count = 0;
}

static void add(struct ep_mark *mark, uint64_t payload)
{
	mark->words[++mark->count] =
		ep_escape_make(EP_ESCAPE_DATA, (uint32_t)(payload & DATA_MASK));
}

bool ep_mark_value(struct ep_mark *mark, uint64_t value)
{
	if (mark->count + 2 > EP_MARK_DATA_MAX)
		return false;
	add(mark, value);
	add(mark, value >> DATA_BITS);
	return true;
}

void ep_mark_text(struct ep_mark *mark, const char *text)
{
	while (*text && mark->count < EP_MARK_DATA_MAX) {
		uint64_t payload = 0;

		for (unsigned i = 0; i < DATA_BYTES && *text; i++)
			payload |= (uint64_t)(unsigned char)*text++ << 8 * i;
		add(mark, payload);
	}
}

void ep_mark_finish(struct ep_mark *mark)
{
	mark->words[0] = ep_escape_make(EP_ESCAPE_MARK, mark->kind | mark->count << 5);
}

void ep_mark_record(struct ep_mark *mark)
{
	ep_mark_finish(mark);
	ep_ring_mark(mark->words, 1 + mark->count);
}
