/* SPDX-License-Identifier: BSD-2-Clause */
/* arena_copy.c: counts what there is, then copies, section by section. */
#include "runtime/snapshot/arena_copy.h"

#include <stddef.h>

#include "runtime/arena/arena.h"
#include "runtime/arena/blockcopy.h"
#include "runtime/format_switches.h"
#include "runtime/format_watchdogs.h"
#include "runtime/lib/text.h"
#include "runtime/record/rings.h"
#include "runtime/record/table.h"
#include "runtime/record/tls.h"

#define PAGE         UINT64_C(4096)
#define MORE_THREADS 16  /* that may begin until they are copied */
#define RENEW        256 /* blocks: a MiB */
#define SPARE        4   /* segments of scheduling events */

static uint64_t round_up(uint64_t value, uint64_t to)
{
	return (value + to - 1) / to * to;
}

/* ---- which blocks ---- */

static struct ep_block *next_place(const struct ep_arena_copy *copy)
{
	return (struct ep_block *)(copy->base + copy->rings + copy->blocks * EP_BLOCK_SIZE);
}

static void copy_block(struct ep_arena_copy *copy, const struct ep_block *from)
{
	struct ep_block *to = next_place(copy);

	if (copy->blocks % RENEW == RENEW - 1)
		ep_hold_renew(copy->hold);
	if (!ep_block_copy(to, from, copy->until))
		return;
	to->check = ep_block_check(to, (uint64_t)to - (uint64_t)copy->base, epitaph_root.identity);
	copy->blocks++;
	if (copy->entry && copy->entry->blocks < to->sequence)
		copy->entry->blocks = to->sequence;
}

static void add_block(struct ep_arena_copy *copy, const struct ep_block *block)
{
	if (!copy->base)
		copy->room_blocks++;
	else if (copy->blocks < copy->room_blocks)
		copy_block(copy, block);
}

static uint64_t until(const struct ep_arena_copy *copy)
{
	return copy->base ? copy->until : UINT64_MAX;
}

static bool is_of(const struct ep_arena_copy *copy, const struct ep_thread *thread,
		  const struct ep_block *block)
{
	return block->owner == thread->serial && ep_block_holds(block, until(copy));
}

/*
 * Back in time until a block was entered before `since`: that one is the last that may hold
 * something of after it. Returns its number, from which on blocks are wanted; 0: it was not met.
 * Blocks that were left by a thread that asked for a smaller ring count, as long as they are there.
 */
static uint64_t add_ring(struct ep_arena_copy *copy, const struct ep_thread *thread)
{
	uint64_t ring = thread->ring_size / EP_BLOCK_SIZE, last = UINT64_MAX, taken = 0;
	const struct ep_block *block = ep_rings_last(thread);

	for (uint64_t back = 0; block; block = ep_rings_before(block), back++) {
		uint64_t tsc = block->tsc, sequence = block->sequence;
		bool is = is_of(copy, thread, block);

		/* Round the ring, or behind its end. */
		if (is ? sequence >= last : back > ring)
			break;
		if (!is) /* being entered, or damaged */
			continue;
		last = sequence;
		add_block(copy, block);
		if (tsc < copy->since || sequence == 1)
			return sequence;
		if (++taken == copy->most)
			break;
	}
	return 0;
}

/* A thread that ended before: nothing of it is wanted. One whose end nobody saw has the time of its
 * start there. */
static bool is_wanted(const struct ep_arena_copy *copy, const struct ep_thread *thread)
{
	uint32_t state = __atomic_load_n(&thread->state, __ATOMIC_ACQUIRE);

	if (state == EP_THREAD_FREE || !thread->serial)
		return false;
	return state != EP_THREAD_DEAD || thread->end_tsc >= copy->since ||
	       thread->end_tsc == thread->start_tsc;
}

/* Whoever they belong to, also threads that the table has forgotten. */
static void add_all(struct ep_arena_copy *copy)
{
	const struct ep_block *block = ep_arena_section(EP_SECTION_RINGS, NULL);
	const struct ep_block *end =
		(const struct ep_block *)((char *)ep_arena + ep_arena_opened());

	for (; block < end; block++)
		if (ep_block_holds(block, until(copy)))
			add_block(copy, block);
}

static bool is_whole(const struct ep_arena_copy *copy)
{
	return !copy->since && !copy->most;
}

/* By threads. Of one whose `since` was met what is older is not missed. */
static void add_blocks_of(struct ep_arena_copy *copy, const struct ep_thread *thread)
{
	uint64_t first, entered;

	copy->entry = NULL;
	if (!copy->base) {
		add_ring(copy, thread);
		return;
	}
	copy->entry = &copy->entries[copy->threads - 1];
	entered = copy->entry->blocks;
	copy->entry->ring_offset = copy->rings + copy->blocks * EP_BLOCK_SIZE;
	copy->entry->blocks = 0;
	first = add_ring(copy, thread);
	if (!copy->entry->blocks)
		copy->entry->ring_offset = 0;
	copy->entry->blocks = entered;
	if (first && copy->since)
		copy->entry->ring_first = first;
	copy->entry = NULL;
}

/* It may be entering a block just now, which is in its ring when that is copied. */
static bool may_enter(const struct ep_thread *thread)
{
	return thread->state == EP_THREAD_LIVE && thread != ep_tls.thread;
}

/*
 * How many blocks it had entered at `until`: those that it entered since do not count, as it does
 * where the hold ended before all was copied. If they have overwritten the whole ring, those before
 * the oldest of them count, some of which may be of after `until`.
 */
static uint64_t blocks_until(const struct ep_arena_copy *copy, const struct ep_thread *thread)
{
	uint64_t ring = thread->ring_size / EP_BLOCK_SIZE, blocks = thread->blocks;
	const struct ep_block *block = ep_rings_last(thread);

	for (uint64_t back = 0; block && back <= ring; block = ep_rings_before(block), back++) {
		if (is_of(copy, thread, block))
			break;
		/* Else it is being entered, or damaged. */
		if (block->owner == thread->serial && ep_block_holds(block, UINT64_MAX) &&
		    block->sequence <= blocks)
			blocks = block->sequence - 1;
	}
	return blocks;
}

static void add_thread(struct ep_arena_copy *copy, const struct ep_thread *thread)
{
	if (!is_wanted(copy, thread))
		return;
	if (!copy->base) {
		copy->room_blocks += may_enter(thread);
	} else {
		if (copy->threads == copy->room_threads)
			return;
		copy->entries[copy->threads] = *thread;
		copy->entries[copy->threads].blocks = blocks_until(copy, thread);
		if (is_whole(copy) && thread->ring_offset)
			copy->entries[copy->threads].ring_offset = copy->rings;
	}
	copy->threads++;
	if (!is_whole(copy))
		add_blocks_of(copy, thread);
}

static void add_history(struct ep_arena_copy *copy)
{
	uint32_t count = ep_thread_count();
	const struct ep_thread *threads = ep_arena_section(EP_SECTION_THREADS, NULL);

	copy->threads = copy->blocks = 0;
	for (uint32_t i = 0; i < count; i++)
		add_thread(copy, &threads[i]);
	if (is_whole(copy))
		add_all(copy);
}

uint64_t ep_arena_copy_most_blocks(const struct ep_arena_copy *copy)
{
	const struct ep_block *first = ep_arena_section(EP_SECTION_RINGS, NULL);
	uint64_t end = (uint64_t)ep_arena + ep_arena_opened();

	if (end <= (uint64_t)first)
		return 0;
	if (copy->most && copy->room_blocks)
		return copy->room_blocks + copy->threads;
	return (end - (uint64_t)first) / EP_BLOCK_SIZE;
}

void ep_arena_copy_history(struct ep_arena_copy *copy, struct ep_hold *hold)
{
	copy->hold = hold;
	add_history(copy);
}

/* ---- the rest of an arena ---- */

#define STRINGS 7 /* of struct ep_process, one after the other */

static_assert(offsetof(struct ep_process, runtime) - offsetof(struct ep_process, executable) ==
		      (STRINGS - 1) * sizeof(struct ep_string),
	      "all strings");

static uint64_t string_end(const struct ep_string *string)
{
	return (uint64_t)string->offset + string->length;
}

static uint64_t process_size(void)
{
	uint64_t all, size = sizeof(struct ep_process);
	const struct ep_process *process = ep_arena_section(EP_SECTION_PROCESS, &all);
	const struct ep_string *string = &process->executable;

	for (int i = 0; i < STRINGS; i++, string++)
		if (size < string_end(string))
			size = string_end(string);
	if (size < string_end(&process->oom_file))
		size = string_end(&process->oom_file);
	return round_up(size < all ? size : all, 64);
}

static uint64_t modules_size(const struct ep_arena_copy *copy)
{
	return round_up(sizeof(struct ep_modules) + copy->strings +
				copy->modules * sizeof(struct ep_module),
			64);
}

/* Up to the last entry that is not free. */
static uint64_t table_size(uint32_t type, uint64_t entry)
{
	uint64_t size, count;
	const char *table = ep_arena_section(type, &size);

	if (!table)
		return 0;
	for (count = size / entry; count; count--)
		if (*(const uint32_t *)(table + (count - 1) * entry))
			break;
	return count * entry;
}

static uint64_t stacks_size(void)
{
	uint64_t size, end;
	const struct ep_stacks *head = ep_arena_section(EP_SECTION_STACKS, &size);
	const struct ep_stack_taken *entry;

	if (!head || !head->tsc)
		return 0;
	entry = (const struct ep_stack_taken *)(head + 1);
	end = sizeof(*head) + head->capacity * sizeof(*entry);
	for (uint32_t i = 0; i < head->count && i < head->capacity; i++)
		if (entry[i].offset + entry[i].size > end)
			end = entry[i].offset + entry[i].size;
	return round_up(end < size ? end : size, 64);
}

/* ---- functions that were switched ---- */

static uint32_t at_most(const uint32_t *count, uint32_t most)
{
	uint32_t now = __atomic_load_n(count, __ATOMIC_ACQUIRE);

	return now < most ? now : most;
}

/* What there is now: others may begin to be off until it is copied. */
static void measure_switches(struct ep_arena_copy *copy)
{
	const struct ep_switches *head = ep_arena_section(EP_SECTION_SWITCHES, NULL);

	if (!head)
		return;
	copy->switched = at_most(&head->count, head->capacity);
	copy->switched_control = at_most(&head->control_count, head->control_capacity);
}

static uint64_t switches_size(const struct ep_arena_copy *copy)
{
	uint64_t entries = (uint64_t)copy->switched + copy->switched_control;

	if (!ep_arena_section(EP_SECTION_SWITCHES, NULL))
		return 0;
	return round_up(sizeof(struct ep_switches) + entries * sizeof(struct ep_switched), 64);
}

void ep_arena_copy_measure(struct ep_arena_copy *copy)
{
	const struct ep_modules *modules = ep_arena_section(EP_SECTION_MODULES, NULL);

	copy->base = NULL;
	copy->room_blocks = 0;
	add_history(copy);
	copy->room_threads = (uint32_t)copy->threads + (copy->kept ? 0 : MORE_THREADS);
	copy->modules = __atomic_load_n(&modules->count, __ATOMIC_ACQUIRE);
	copy->strings = modules->strings_end - modules->strings;
	if (!copy->kept) {
		copy->watchdogs = table_size(EP_SECTION_WATCHDOGS, sizeof(struct ep_watchdog));
		copy->stacks = stacks_size();
		copy->kept_ones = table_size(EP_SECTION_KEPT, sizeof(struct ep_kept));
	}
	copy->looks = table_size(EP_SECTION_LOOKS, sizeof(struct ep_look_taken));
	measure_switches(copy);
	ep_sched_copy_plan(&copy->schedule, copy->since, copy->kept ? 0 : SPARE);
	copy->head = round_up(PAGE + process_size() + sizeof(struct ep_clock) +
				      copy->room_threads * sizeof(struct ep_thread) +
				      modules_size(copy) + copy->kept_ones +
				      round_up(copy->looks, 64) + copy->watchdogs + copy->stacks +
				      switches_size(copy) + round_up(copy->schedule.size, 64),
			      PAGE);
}

/* Entries without the room for more, strings right behind them. */
static void copy_modules(struct ep_modules *to, const struct ep_arena_copy *copy)
{
	const struct ep_modules *from = ep_arena_section(EP_SECTION_MODULES, NULL);
	const struct ep_module *entry = (const struct ep_module *)(from + 1);
	struct ep_module *place = (struct ep_module *)(to + 1);
	uint32_t count = copy->modules;

	*to = *from;
	to->count = to->capacity = count;
	to->strings = (uint32_t)(sizeof(*to) + count * sizeof(*entry));
	to->strings_end = to->strings + copy->strings;
	for (; count; count--, entry++, place++) {
		*place = *entry;
		place->path.offset -= from->strings - to->strings;
	}
	ep_bytes_copy((char *)to + to->strings, (const char *)from + from->strings, copy->strings);
}

/* Entries without the room for more, those from outside right behind the others. */
static void copy_switches(struct ep_switches *to, const struct ep_arena_copy *copy)
{
	const struct ep_switches *from = ep_arena_section(EP_SECTION_SWITCHES, NULL);
	const struct ep_switched *entries = (const struct ep_switched *)(from + 1);
	struct ep_switched *places = (struct ep_switched *)(to + 1);

	*to = *from;
	to->count = to->capacity = copy->switched;
	to->control_count = to->control_capacity = copy->switched_control;
	ep_bytes_copy((char *)places, (const char *)entries, copy->switched * sizeof(*entries));
	ep_bytes_copy((char *)(places + copy->switched), (const char *)(entries + from->capacity),
		      copy->switched_control * sizeof(*entries));
}

/* Its place in the copy, which is zero there. */
static char *add_section(struct ep_arena_copy *copy, uint32_t type, uint32_t entry_size,
			 uint64_t size)
{
	struct ep_arena *to = (struct ep_arena *)copy->base;
	uint64_t at = round_up(copy->rings, 64);

	to->sections[to->section_count++] = (struct ep_section){type, entry_size, at, size};
	copy->rings = at + size;
	return copy->base + at;
}

static void copy_section(struct ep_arena_copy *copy, uint32_t type, uint32_t entry_size,
			 uint64_t size)
{
	if (size)
		ep_bytes_copy(add_section(copy, type, entry_size, size),
			      ep_arena_section(type, NULL), size);
}

static void begin_head(struct ep_arena_copy *copy)
{
	struct ep_arena *to = (struct ep_arena *)copy->base;

	ep_bytes_zero(copy->base, copy->head);
	*to = *ep_arena;
	to->hold = 0;
	to->section_count = 0;
	ep_bytes_zero(to->sections, sizeof(to->sections));
	/* Only its magic makes it an arena. */
	ep_bytes_zero(&to->root, sizeof(to->root));
	copy->rings = PAGE;
}

void ep_arena_copy_head(struct ep_arena_copy *copy, char *base)
{
	copy->base = base;
	begin_head(copy);
	copy_section(copy, EP_SECTION_PROCESS, sizeof(struct ep_process), process_size());
	copy_section(copy, EP_SECTION_CLOCK, sizeof(struct ep_clock), sizeof(struct ep_clock));
	copy->entries =
		(struct ep_thread *)add_section(copy, EP_SECTION_THREADS, sizeof(struct ep_thread),
						copy->room_threads * sizeof(struct ep_thread));
	copy_modules((struct ep_modules *)add_section(copy, EP_SECTION_MODULES,
						      sizeof(struct ep_module), modules_size(copy)),
		     copy);
	copy_section(copy, EP_SECTION_KEPT, sizeof(struct ep_kept), copy->kept_ones);
	copy_section(copy, EP_SECTION_LOOKS, sizeof(struct ep_look_taken), copy->looks);
	copy_section(copy, EP_SECTION_WATCHDOGS, sizeof(struct ep_watchdog), copy->watchdogs);
	copy_section(copy, EP_SECTION_STACKS, sizeof(struct ep_stack_taken), copy->stacks);
	if (switches_size(copy))
		copy_switches((struct ep_switches *)add_section(copy, EP_SECTION_SWITCHES,
								sizeof(struct ep_switched),
								switches_size(copy)),
			      copy);
	if (copy->schedule.size)
		copy->events = add_section(copy, EP_SECTION_SCHED, sizeof(struct ep_sched),
					   copy->schedule.size);
	copy->rings = copy->head;
}

uint64_t ep_arena_copy_finish(struct ep_arena_copy *copy, const char *magic, uint64_t address)
{
	struct ep_arena *to = (struct ep_arena *)copy->base;
	uint64_t size = copy->head + copy->blocks * EP_BLOCK_SIZE;
	struct ep_root root = ep_arena->root;

	if (copy->schedule.size)
		ep_sched_copy_fill(&copy->schedule, copy->events, copy->kept);
	to->sections[to->section_count++] =
		(struct ep_section){EP_SECTION_RINGS, sizeof(struct ep_block), copy->rings,
				    copy->blocks * EP_BLOCK_SIZE};
	to->committed = size;
	root.arena_address = address;
	if (copy->kept) {
		to->kept_tsc = copy->until;
		to->kept_since = copy->since;
		root.arena_size = size;
	}
	ep_root_fill(&to->root, &root, magic, address);
	return size;
}
