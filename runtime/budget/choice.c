/* SPDX-License-Identifier: BSD-2-Clause */
/* choice.c: a table of functions by address, a stack of open calls, and a heap in order of worth.
 */
#include "runtime/budget/choice.h"

#include "runtime/lib/text.h"

/* A function's return lies behind its entry, and not far. */
#define FAR     (UINT64_C(1) << 20) /* bytes */
#define NEAREST 4                   /* open calls that are looked at for a return's */
#define NEAR    (UINT64_C(1) << 16) /* bytes: of a frame that was left, which may have no hooks */

/* TSC cycles: of calls shorter than this it is the number that counts, for each function that goes
 * costs as well. */
#define LEAST_TIME 2000

/* With one long call in so many a function is of short ones, one of which was interrupted. */
#define SELDOM 64

/* A call between two timed records that are as far apart may have been long. With one such in so
 * many calls the function stays: there are few others that it can have been. */
#define DOUBT 2

void ep_choice_begin(struct ep_choice *choice, uint64_t long_call)
{
	ep_bytes_zero(choice, sizeof(*choice));
	choice->long_call = long_call;
}

/* NULL: the table is as full as it may be. */
static struct ep_choice_function *find(struct ep_choice *choice, uint64_t address)
{
	uint64_t at = address * UINT64_C(0x9e3779b97f4a7c15) >> 52;

	static_assert(EP_CHOICE_SLOTS == 1 << 12, "the hash's bits");
	while (choice->functions[at].address && choice->functions[at].address != address)
		at = (at + 1) % EP_CHOICE_SLOTS;
	if (choice->functions[at].address)
		return &choice->functions[at];
	if (choice->used >= EP_CHOICE_SLOTS / 4 * 3)
		return NULL;
	choice->used++;
	choice->functions[at].address = address;
	return &choice->functions[at];
}

static void enter(struct ep_choice *choice, uint64_t address, uint64_t now, bool counted)
{
	struct ep_choice_function *function = find(choice, address);

	if (!function)
		return;
	if (counted) {
		function->calls++;
		choice->calls++;
	}
	if (choice->depth < EP_CHOICE_DEPTH) {
		choice->open[choice->depth].function = function;
		choice->open[choice->depth].begin = now;
	}
	choice->depth++;
}

static void end(struct ep_choice *choice, unsigned index, uint64_t now)
{
	struct ep_choice_function *function = choice->open[index].function;
	uint64_t time = now - choice->open[index].begin;

	function->time += time;
	function->longs += time >= choice->long_call;
}

/* One of its calls ended at a time that is not known. */
static void end_untimed(struct ep_choice *choice, struct ep_choice_function *function)
{
	if (function->ended == choice->timed + 1 || choice->ended >= EP_CHOICE_ENDED)
		return;
	function->ended = choice->timed + 1;
	choice->ended_by[choice->ended++] = function;
}

/* A record has a time, `since` the one before that had. */
static void doubt(struct ep_choice *choice, uint64_t since)
{
	for (unsigned i = 0; i < choice->ended && since >= choice->long_call; i++)
		choice->ended_by[i]->doubts++;
	choice->ended = 0;
	choice->timed++;
}

/* The open call, of the innermost few, whose entry lies nearest below; -1: none. */
static int callee_of(const struct ep_choice *choice, uint64_t address, uint64_t far)
{
	uint64_t nearest = far;
	int found = -1;

	for (unsigned i = 0; i < NEAREST && i < choice->depth; i++) {
		unsigned index = choice->depth - 1 - i;
		uint64_t apart;

		if (index >= EP_CHOICE_DEPTH)
			continue;
		apart = address - choice->open[index].function->address;
		if (apart < nearest) {
			nearest = apart;
			found = (int)index;
		}
	}
	return found;
}

static void leave(struct ep_choice *choice, uint64_t address, uint64_t now, bool timed)
{
	int index = callee_of(choice, address, FAR);

	if (index >= 0) {
		end(choice, (unsigned)index, now);
		if (!timed)
			end_untimed(choice, choice->open[index].function);
		choice->depth = (unsigned)index;
	} else if (choice->depth > EP_CHOICE_DEPTH) {
		choice->depth--;
	} else if (!choice->depth && now - choice->begin >= choice->long_call &&
		   choice->left < EP_CHOICE_LEFT) {
		choice->returned[choice->left++] = address;
	}
}

/* ---- calls that end without a return ---- */

/* All but the outermost `depth` of the open calls. */
static void end_above(struct ep_choice *choice, unsigned depth, uint64_t now)
{
	for (unsigned i = choice->depth; i-- > depth;)
		if (i < EP_CHOICE_DEPTH)
			end(choice, i, now);
	if (choice->depth > depth)
		choice->depth = depth;
}

/* An exception has left a frame of code at `address`. */
static void leave_frame(struct ep_choice *choice, uint64_t address, uint64_t now)
{
	int index = callee_of(choice, address, NEAR);

	if (index >= 0)
		end_above(choice, (unsigned)index, now);
}

static void save(struct ep_choice *choice, uint64_t buffer)
{
	unsigned at = choice->saved;

	for (unsigned i = 0; i < EP_CHOICE_SAVED; i++)
		if (choice->saves[i].buffer == buffer)
			at = i;
	choice->saves[at].buffer = buffer;
	choice->saves[at].depth = choice->depth;
	if (at == choice->saved)
		choice->saved = (at + 1) % EP_CHOICE_SAVED;
}

static void resume(struct ep_choice *choice, uint64_t buffer, uint64_t now)
{
	for (unsigned i = 0; i < EP_CHOICE_SAVED; i++)
		if (choice->saves[i].buffer == buffer)
			end_above(choice, choice->saves[i].depth, now);
}

static uint64_t value_at(const struct ep_block *block, unsigned at)
{
	uint64_t value = ep_escape_payload(block->records[at]);

	static_assert(EP_MARK_VALUE_BITS == 2 * 26, "format");
	return value | (uint64_t)ep_escape_payload(block->records[at + 1]) << 26;
}

/* The mark whose head is at `at` of the block's records. */
static void take_mark(struct ep_choice *choice, const struct ep_block *block, unsigned at,
		      uint64_t now)
{
	unsigned head = ep_escape_payload(block->records[at]);
	unsigned kind = head & 31, count = head >> 5 & 31;

	if (at + count >= EP_BLOCK_RECORDS || count < 2)
		return;
	if (kind == EP_MARK_SAVE)
		save(choice, value_at(block, at + 1));
	else if (kind == EP_MARK_RESUME || kind == EP_MARK_PARENT)
		resume(choice, value_at(block, at + 1), now);
	for (unsigned i = 1; kind == EP_MARK_LEFT && i < count; i += 2)
		leave_frame(choice, value_at(block, at + i), now);
}

/* The time that a timed word has, after `now`; a large gap's `high` bits come before it. */
static uint64_t time_of(uint64_t word, uint64_t now, uint64_t high, bool escaped)
{
	uint64_t ticks = now >> EP_TICK_SHIFT, stamp = word >> EP_STAMP_SHIFT;

	if (escaped)
		ticks += ((high << 16 | stamp) - ticks) & ((UINT64_C(1) << 42) - 1);
	else
		ticks += (stamp - ticks) & 0xffff;
	return ticks << EP_TICK_SHIFT;
}

void ep_choice_block(struct ep_choice *choice, const struct ep_block *block, bool counted)
{
	uint64_t now = block->tsc, high = 0;
	bool escaped = false;

	if (!choice->begin)
		choice->begin = choice->end = now;
	doubt(choice, now > choice->end ? now - choice->end : 0);
	for (unsigned i = 0; i < EP_BLOCK_RECORDS && block->records[i]; i++) {
		uint64_t word = block->records[i], address = word & EP_ADDRESS_MASK;
		bool escape = address < EP_ESCAPE_LIMIT, timed = word >> EP_STAMP_SHIFT;
		unsigned type = escape ? word % EP_ESCAPE_TYPES : 0;

		if (type == EP_ESCAPE_TIME) {
			high = ep_escape_payload(word);
			escaped = true;
			continue;
		}
		if (type == EP_ESCAPE_DATA)
			continue;
		if (timed) {
			uint64_t before = now;

			now = time_of(word, now, high, escaped);
			doubt(choice, now - before);
		}
		escaped = false;
		if (type == EP_ESCAPE_MARK)
			take_mark(choice, block, i, now);
		if (escape)
			continue;
		if (word & EP_RETURN_BIT)
			leave(choice, address, now, timed);
		else
			enter(choice, address, now, counted);
	}
	choice->end = now;
}

/* ---- whom it meets ---- */

/* Calls that are still open have their time as well; and they may get long yet. */
static void end_open(struct ep_choice *choice)
{
	for (unsigned i = 0; i < choice->depth && i < EP_CHOICE_DEPTH; i++) {
		end(choice, i, choice->end);
		choice->open[i].function->doubts++;
	}
}

/* Returns whose calls began before all this: their functions ran long. */
static void end_left(struct ep_choice *choice)
{
	for (unsigned i = 0; i < choice->left; i++) {
		struct ep_choice_function *nearest = NULL;

		for (unsigned j = 0; j < EP_CHOICE_SLOTS; j++) {
			struct ep_choice_function *function = &choice->functions[j];

			if (function->address && choice->returned[i] - function->address < FAR &&
			    (!nearest || function->address > nearest->address))
				nearest = function;
		}
		if (nearest)
			nearest->longs++;
	}
}

void ep_choice_keep(struct ep_choice *choice, uint64_t address)
{
	struct ep_choice_function *function = find(choice, address);

	if (function)
		function->longs = function->calls;
}

static bool stays(const struct ep_choice_function *function)
{
	return (uint64_t)function->longs * SELDOM >= function->calls ||
	       (uint64_t)function->doubts * DOUBT >= function->calls;
}

/* Most events for the least time: calls by the time of one. */
static uint64_t worth(const struct ep_choice_function *function)
{
	uint64_t calls = function->calls;

	return (calls * calls << 20) / (function->time + calls * LEAST_TIME);
}

/* The heap's function at `at` goes down to where none below it is worth more. */
static void sink(struct ep_choice *choice, unsigned at, unsigned count)
{
	const struct ep_choice_function *all = choice->functions;
	uint16_t moved = choice->heap[at];
	uint64_t own = worth(&all[moved]);

	for (unsigned next; (next = 2 * at + 1) < count; at = next) {
		if (next + 1 < count &&
		    worth(&all[choice->heap[next + 1]]) > worth(&all[choice->heap[next]]))
			next++;
		if (worth(&all[choice->heap[next]]) <= own)
			break;
		choice->heap[at] = choice->heap[next];
	}
	choice->heap[at] = moved;
}

unsigned ep_choice_take(struct ep_choice *choice, uint64_t wanted, uint64_t least,
			struct ep_choice_victim *victims, unsigned most)
{
	unsigned count = 0, taken = 0;
	uint64_t sum = 0;

	doubt(choice, UINT64_MAX);
	end_open(choice);
	end_left(choice);
	for (unsigned i = 0; i < EP_CHOICE_SLOTS; i++)
		if (choice->functions[i].address && !stays(&choice->functions[i]) &&
		    choice->functions[i].calls >= least)
			choice->heap[count++] = (uint16_t)i;
	for (unsigned i = count / 2; i-- > 0;)
		sink(choice, i, count);
	while (count && taken < most && sum < wanted) {
		const struct ep_choice_function *function = &choice->functions[choice->heap[0]];

		victims[taken++] = (struct ep_choice_victim){function->address, function->calls};
		sum += function->calls;
		choice->heap[0] = choice->heap[--count];
		sink(choice, 0, count);
	}
	return taken;
}

void ep_choice_sort(struct ep_choice_victim *victims, unsigned count)
{
	for (unsigned gap = count / 2; gap; gap /= 2)
		for (unsigned i = gap; i < count; i++) {
			struct ep_choice_victim moved = victims[i];
			unsigned at = i;

			for (; at >= gap && victims[at - gap].address > moved.address; at -= gap)
				victims[at] = victims[at - gap];
			victims[at] = moved;
		}
}
