/* SPDX-License-Identifier: BSD-2-Clause */
/* arena.c: checksums of an arena made right after a change, so that the change reaches the readers
 * behind them. Bytes only: no reader is used. */
#include "tests/fuzz/arena.h"

#include "coredump/find/root.h"
#include "tests/fuzz/fuzz.h"

#define PAGE 4096u

static struct ep_section section_of(const uint8_t *bytes, uint32_t type)
{
	struct ep_arena arena;

	memcpy(&arena, bytes, sizeof(arena));
	for (unsigned i = 0; i < EP_SECTION_MAX; i++)
		if (arena.sections[i].type == type)
			return arena.sections[i];
	return (struct ep_section){0};
}

static void repair_anchors(uint8_t *bytes, size_t size)
{
	uint64_t offset = section_of(bytes, EP_SECTION_CLOCK).offset;
	struct ep_clock clock;

	if (offset % 64 || offset > size || size - offset < sizeof(clock))
		return;
	memcpy(&clock, bytes + offset, sizeof(clock));
	for (unsigned i = 0; i < EP_ANCHORS; i++) {
		struct ep_anchor *a = &clock.anchors[i];

		a->check = a->tsc ^ a->monotonic_raw ^ a->realtime ^ a->width ^ EP_ANCHOR_KEY;
	}
	memcpy(bytes + offset, &clock, sizeof(clock));
}

static void repair_blocks(uint8_t *bytes, size_t size, uint64_t identity)
{
	uint64_t offset = section_of(bytes, EP_SECTION_RINGS).offset;

	if (offset % PAGE)
		offset = PAGE;
	for (; offset < size && size - offset >= PAGE; offset += PAGE) {
		struct ep_block block;

		memcpy(&block, bytes + offset, EP_BLOCK_HEADER);
		if (!block.tsc && !block.sequence)
			continue;
		block.check = ep_block_check(&block, offset, identity);
		memcpy(bytes + offset, &block, EP_BLOCK_HEADER);
	}
}

void fuzz_repair_root(uint8_t *bytes)
{
	uint32_t crc = ep_crc32(bytes, offsetof(struct ep_root, crc));

	memcpy(bytes + offsetof(struct ep_root, crc), &crc, sizeof(crc));
}

void fuzz_repair_arena(uint8_t *bytes, size_t size)
{
	struct ep_arena arena;

	if (size < PAGE)
		return;
	memcpy(&arena, bytes, sizeof(arena));
	memcpy(arena.root.magic, EP_ARENA_MAGIC, EP_MAGIC_SIZE);
	arena.root.major = EP_FORMAT_MAJOR;
	arena.block_size = EP_BLOCK_SIZE;
	memcpy(bytes, &arena, sizeof(arena));
	fuzz_repair_root(bytes);
	repair_anchors(bytes, size);
	repair_blocks(bytes, size, arena.root.identity);
}

void fuzz_put_marks(uint8_t *bytes, size_t size, unsigned seed)
{
	uint64_t random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	uint64_t words[8];
	uint64_t value = 0;
	size_t at, from;
	unsigned data = random >> 20 & 7, kind = (random >> 24) % 14;

	if (size < 2 * PAGE)
		return;
	at = PAGE + (random >> 32) % (size - PAGE - sizeof(words)) / 8 * 8;
	if (data > 6)
		data = 6;
	words[0] = ep_escape_make(EP_ESCAPE_MARK,
				  kind | data << 5 | (uint32_t)(random >> 5 & 0xffff) << 10);
	for (unsigned i = 0; i < data; i++) {
		if (i % 2 == 0) {
			from = at ^ (random >> (i + 3) & 0x1f8);
			from = from + 8 > size ? 0 : from;
			memcpy(&value, bytes + from, 8);
			value &= EP_ADDRESS_MASK;
		}
		words[1 + i] = ep_escape_make(EP_ESCAPE_DATA, value & 0x3ffffff);
		value >>= 26;
	}
	memcpy(bytes + at, words, 8 * (1 + data));
}
