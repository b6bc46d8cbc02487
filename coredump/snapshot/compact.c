/* SPDX-License-Identifier: BSD-2-Clause */
/* compact.c: section by section into a second arena, which never is larger: a section takes at most
 * its old size, and begins where the one before ends. */
#include "coredump/snapshot/compact.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"
#include "runtime/format.h"
#include "runtime/format_switches.h"
#include "runtime/format_watchdogs.h"

#define PAGE  UINT64_C(4096)
#define ALIGN UINT64_C(64)
#define SPARE 4u /* empty segments, for coredump/find/leftover.h */
#define WHOLE UINT64_MAX

struct compaction {
	const uint8_t *from;
	uint8_t *to;
	uint64_t size, used; /* of `to` */
	uint64_t identity;
	uint64_t threads, thread_size, thread_count; /* of `to` */
};

static uint64_t round_up(uint64_t value, uint64_t to)
{
	return (value + to - 1) / to * to;
}

static bool is_zero(const uint8_t *bytes, uint64_t size)
{
	return size == 0 || (!bytes[0] && !memcmp(bytes, bytes + 1, size - 1));
}

/* ---- tables: entries up to the last that is not zero ---- */

static uint64_t table(struct compaction *c, const struct ep_section *from, uint8_t *to)
{
	uint64_t size = from->entry_size, count = from->size / size;
	const uint8_t *bytes = c->from + from->offset;

	while (count && is_zero(bytes + (count - 1) * size, size))
		count--;
	memcpy(to, bytes, count * size);
	return count * size;
}

static uint64_t threads(struct compaction *c, const struct ep_section *from, uint8_t *to)
{
	uint64_t size;

	if (from->entry_size < sizeof(struct ep_thread))
		return WHOLE;
	size = table(c, from, to);
	c->threads = (uint64_t)(to - c->to);
	c->thread_size = from->entry_size;
	c->thread_count = size / from->entry_size;
	return size;
}

static uint64_t bytes(struct compaction *c, const struct ep_section *from, uint8_t *to)
{
	uint64_t size = from->size;

	while (size && !c->from[from->offset + size - 1])
		size--;
	size = round_up(size, ALIGN);
	size = size < from->size ? size : from->size;
	memcpy(to, c->from + from->offset, size);
	return size;
}

static uint64_t all(struct compaction *c, const struct ep_section *from, uint8_t *to)
{
	memcpy(to, c->from + from->offset, from->size);
	return from->size;
}

static uint64_t stacks(struct compaction *c, const struct ep_section *from, uint8_t *to)
{
	struct ep_stacks head;

	if (from->size < sizeof(head))
		return WHOLE;
	memcpy(&head, c->from + from->offset, sizeof(head));
	return head.tsc ? all(c, from, to) : 0;
}

/* ---- functions that were switched: entries of the process, right behind them those from outside
 * ---- */

static uint64_t switches(struct compaction *c, const struct ep_section *from, uint8_t *to)
{
	const uint8_t *source = c->from + from->offset;
	struct ep_switches head, made;
	uint64_t size = from->entry_size, own, other;

	if (from->size < sizeof(head))
		return WHOLE;
	memcpy(&head, source, sizeof(head));
	own = head.count < head.capacity ? head.count : head.capacity;
	other = head.control_count < head.control_capacity ? head.control_count
							   : head.control_capacity;
	if (((uint64_t)head.capacity + head.control_capacity) > (from->size - sizeof(head)) / size)
		return WHOLE;
	made = head;
	made.capacity = (uint32_t)own;
	made.control_capacity = (uint32_t)other;
	memcpy(to, &made, sizeof(made));
	memcpy(to + sizeof(made), source + sizeof(head), own * size);
	memcpy(to + sizeof(made) + own * size, source + sizeof(head) + head.capacity * size,
	       other * size);
	return sizeof(made) + (own + other) * size;
}

/* ---- the load map: entries, and right behind them strings ---- */

static void module(const struct ep_modules *from, const struct ep_modules *to, uint8_t *entry)
{
	struct ep_module one;

	memcpy(&one, entry, sizeof(one));
	if (one.path.offset >= from->strings && one.path.offset <= from->strings_end)
		one.path.offset -= from->strings - to->strings;
	memcpy(entry, &one, sizeof(one));
}

static uint64_t modules(struct compaction *c, const struct ep_section *from, uint8_t *to)
{
	const uint8_t *source = c->from + from->offset;
	struct ep_modules head, made;
	uint64_t entries, strings;

	if (from->size < sizeof(head) || from->entry_size < sizeof(struct ep_module))
		return WHOLE;
	memcpy(&head, source, sizeof(head));
	entries = (uint64_t)head.count * from->entry_size;
	if (head.count > head.capacity || head.strings > head.strings_end ||
	    head.strings_end > from->size || sizeof(head) + entries > head.strings)
		return WHOLE;
	strings = head.strings_end - head.strings;
	made = head;
	made.capacity = head.count;
	made.strings = (uint32_t)(sizeof(head) + entries);
	made.strings_end = (uint32_t)(made.strings + strings);
	memcpy(to, &made, sizeof(made));
	memcpy(to + sizeof(made), source + sizeof(head), entries);
	memcpy(to + made.strings, source + head.strings, strings);
	for (uint32_t i = 0; i < head.count; i++)
		module(&head, &made, to + sizeof(made) + (uint64_t)i * from->entry_size);
	return made.strings_end;
}

/* ---- scheduling events: segments in use, the oldest first ---- */

struct segment {
	uint64_t sequence, offset; /* of its first chunk; from the section's start */
};

static int by_sequence(const void *a, const void *b)
{
	const struct segment *x = a, *y = b;

	return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

/* One whose numbers follow each other, as readers take them; returns its size with its head, 0:
 * none. */
static uint64_t chunk(const struct compaction *c, const uint8_t *section, uint64_t at,
		      uint64_t room, uint64_t *sequence)
{
	const struct ep_sched_chunk *one = (const void *)(section + at);
	uint64_t size;

	if (room < sizeof(*one) || !one->check || (*sequence && one->sequence != *sequence + 1))
		return 0;
	size = sizeof(*one) + round_up(one->size, 8);
	if (size > room || one->check != ep_sched_check(one, at, c->identity))
		return 0;
	*sequence = one->sequence;
	return size;
}

static void segment(const struct compaction *c, const uint8_t *section, uint64_t from,
		    uint8_t *to_section, uint64_t to)
{
	uint64_t at = 0, size, sequence = 0;

	while ((size = chunk(c, section, from + at, EP_SCHED_SEGMENT - at, &sequence))) {
		struct ep_sched_chunk *copy = (void *)(to_section + to + at);

		memcpy(copy, section + from + at, size);
		copy->check = ep_sched_check(copy, to + at, c->identity);
		at += size;
	}
}

static size_t segments(const struct compaction *c, const struct ep_sched *head,
		       const uint8_t *section, struct segment *list)
{
	size_t count = 0;

	for (uint64_t at = 0; head->pool_size - at >= EP_SCHED_SEGMENT; at += EP_SCHED_SEGMENT) {
		struct segment one = {0, head->pool_offset + at};

		if (chunk(c, section, one.offset, EP_SCHED_SEGMENT, &one.sequence))
			list[count++] = one;
	}
	if (count)
		qsort(list, count, sizeof(*list), by_sequence);
	return count;
}

static bool sched_is_known(const struct ep_section *from, const struct ep_sched *head)
{
	return head->segment_size == EP_SCHED_SEGMENT && head->formats_used <= head->formats_size &&
	       head->formats_offset >= sizeof(*head) && head->formats_offset <= from->size &&
	       head->formats_size <= from->size - head->formats_offset &&
	       head->pool_offset >= head->formats_offset + head->formats_size &&
	       head->pool_offset % 8 == 0 && head->pool_offset <= from->size &&
	       head->pool_size <= from->size - head->pool_offset;
}

static uint64_t sched(struct compaction *c, const struct ep_section *from, uint8_t *to)
{
	const uint8_t *section = c->from + from->offset;
	struct ep_sched head, made;
	struct segment *list;
	size_t count, most;

	if (from->size < sizeof(head))
		return WHOLE;
	memcpy(&head, section, sizeof(head));
	if (!sched_is_known(from, &head))
		return WHOLE;
	most = head.pool_size / EP_SCHED_SEGMENT;
	list = ep_calloc(most, sizeof(*list));
	count = segments(c, &head, section, list);
	made = head;
	made.formats_offset = round_up(sizeof(head), ALIGN);
	/* What was in use was there, so all of it has room. */
	made.formats_size = head.formats_used;
	made.pool_offset = made.formats_offset + round_up(made.formats_used, 8);
	made.pool_size = (count + SPARE < most ? count + SPARE : most) * EP_SCHED_SEGMENT;
	if (made.pool_offset > head.pool_offset) {
		free(list);
		return WHOLE;
	}
	memcpy(to, &made, sizeof(made));
	memcpy(to + made.formats_offset, section + head.formats_offset, made.formats_used);
	for (size_t i = 0; i < count; i++)
		segment(c, section, list[i].offset, to, made.pool_offset + i * EP_SCHED_SEGMENT);
	free(list);
	return made.pool_offset + made.pool_size;
}

/* ---- rings: blocks, and those that are being entered ---- */

static uint64_t rings(struct compaction *c, const struct ep_section *from, uint8_t *to)
{
	uint64_t size = 0;

	for (uint64_t at = 0; from->size - at >= EP_BLOCK_SIZE; at += EP_BLOCK_SIZE) {
		const struct ep_block *block = (const void *)(c->from + from->offset + at);
		struct ep_block *copy = (void *)(to + size);
		bool holds = block->check &&
			     block->check == ep_block_check(block, from->offset + at, c->identity);

		/* Where it lies may say what it is. */
		if (block->check && !holds)
			return WHOLE;
		if (!holds && is_zero((const void *)block, EP_BLOCK_SIZE))
			continue;
		memcpy(copy, block, EP_BLOCK_SIZE);
		if (holds)
			copy->check = ep_block_check(copy, (uint64_t)((uint8_t *)copy - c->to),
						     c->identity);
		size += EP_BLOCK_SIZE;
	}
	return size;
}

/* ---- all of it ---- */

static const struct kind {
	uint32_t type;
	uint64_t align;
	/* Copies to a place with room for the section; its size there. */
	uint64_t (*copy)(struct compaction *c, const struct ep_section *from, uint8_t *to);
} kinds[] = {
	{EP_SECTION_PROCESS, ALIGN, bytes},   {EP_SECTION_CLOCK, ALIGN, all},
	{EP_SECTION_THREADS, ALIGN, threads}, {EP_SECTION_MODULES, ALIGN, modules},
	{EP_SECTION_KEPT, ALIGN, table},      {EP_SECTION_WATCHDOGS, ALIGN, table},
	{EP_SECTION_STACKS, ALIGN, stacks},   {EP_SECTION_SCHED, ALIGN, sched},
	{EP_SECTION_RINGS, PAGE, rings},      {EP_SECTION_SWITCHES, ALIGN, switches},
	{EP_SECTION_LOOKS, ALIGN, table},
};

static const struct kind *kind_of(uint32_t type)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (kinds[i].type == type)
			return &kinds[i];
	return NULL;
}

/* Sections come in the order of their places, each behind the other; what lies beyond the bytes
 * that there are (of rings) is not there yet. */
static bool section(struct compaction *c, struct ep_section *one)
{
	const struct kind *kind = kind_of(one->type);
	struct ep_section from = *one;
	uint64_t at, size;

	if (!kind || !from.entry_size || from.offset % kind->align || from.offset > c->size)
		return false;
	at = round_up(c->used, kind->align);
	if (at > from.offset)
		return false;
	if (from.size > c->size - from.offset)
		from.size = c->size - from.offset;
	size = kind->copy(c, &from, c->to + at);
	if (size == WHOLE)
		return false;
	one->offset = at;
	one->size = size;
	c->used = at + size;
	return true;
}

/* Where blocks begin: their owners tell the rest. */
static void set_rings(const struct compaction *c, uint64_t rings)
{
	for (uint64_t i = 0; i < c->thread_count; i++) {
		struct ep_thread thread;
		uint8_t *at = c->to + c->threads + i * c->thread_size;

		memcpy(&thread, at, sizeof(thread));
		if (thread.ring_offset)
			thread.ring_offset = rings;
		memcpy(at, &thread, sizeof(thread));
	}
}

static bool compact(struct compaction *c)
{
	struct ep_arena arena;
	unsigned kept = 0;

	memcpy(&arena, c->from, sizeof(arena));
	c->used = PAGE;
	if (arena.section_count > EP_SECTION_MAX || arena.root.identity != c->identity ||
	    arena.committed != c->size)
		return false;
	for (unsigned i = 0; i < arena.section_count; i++) {
		if (!section(c, &arena.sections[i]))
			return false;
		if (arena.sections[i].type == EP_SECTION_RINGS)
			set_rings(c, arena.sections[i].offset);
		if (arena.sections[i].size || arena.sections[i].type == EP_SECTION_RINGS)
			arena.sections[kept++] = arena.sections[i];
	}
	memset(&arena.sections[kept], 0, (EP_SECTION_MAX - kept) * sizeof(arena.sections[0]));
	arena.section_count = kept;
	arena.hold = 0;
	arena.committed = c->used = round_up(c->used, PAGE);
	memcpy(c->to, &arena, sizeof(arena));
	return c->used <= c->size;
}

uint64_t ep_arena_compact(uint8_t *bytes, uint64_t size, uint64_t identity)
{
	struct compaction c = {.from = bytes, .size = size, .identity = identity};
	bool done;

	if (size < PAGE || size % PAGE)
		return size;
	/* A page more: a table's last entry may reach behind it. */
	c.to = ep_calloc(1, size + PAGE);
	done = compact(&c);
	if (done)
		memcpy(bytes, c.to, c.used);
	free(c.to);
	return done ? c.used : size;
}
