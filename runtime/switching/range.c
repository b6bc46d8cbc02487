/* SPDX-License-Identifier: BSD-2-Clause */
/* range.c: entries' hooks around the address, and a walk along the code. */
#include "runtime/switching/range.h"

#include <stddef.h>

#include "runtime/lib/files.h"
#include "runtime/sled_code.h"
#include "runtime/switching/function.h"
#include "runtime/x86_64/instruction.h"
#include "runtime/switching/site.h"

#define SITES      8    /* that are looked at at once */
#define PIECE      1024 /* bytes of code, likewise */
#define LONGEST    15   /* bytes of an instruction */
#define BEHIND     64   /* bytes before the address that are looked at first */
#define BACK_MOST  (UINT64_C(1) << 16)
#define FORTH_MOST (UINT64_C(1) << 20)
#define PROLOGUE   192 /* bytes from a function's first one to its hook, at most */
#define NOPS       32  /* bytes */

/* The entry's hook of a function. */
struct own {
	uint64_t first;       /* its first byte */
	uint64_t place, next; /* the hook's byte that decides; what follows it */
};

/* ---- entries ---- */

static bool is_entry(const struct ep_place *place)
{
	return !place->is_return && place->kind != EP_SITE_JUMP; /* a stub's */
}

/* The first (`last`: the last) entry in [start, end). */
static bool find_entry(uint64_t start, uint64_t end, bool last, struct ep_place *out)
{
	struct ep_place places[SITES];
	bool found = false;
	size_t count;

	do {
		count = ep_sites_in(start, end, places, SITES);
		for (size_t i = 0; i < count; i++) {
			if (!is_entry(&places[i]))
				continue;
			*out = places[i];
			found = true;
			if (!last)
				return true;
		}
		if (count)
			start = places[count - 1].place + ep_place_size(&places[count - 1]);
	} while (count == SITES);
	return found;
}

/* ---- where a function begins ---- */

static bool is_landing_pad(const uint8_t *code)
{
	return code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && code[3] == 0xfa;
}

/* What stands before a hook that comes first: prefix 67, and behind a landing pad nops. */
static uint64_t before_first(uint64_t at, bool prefix)
{
	uint8_t code[NOPS];
	unsigned i = NOPS;

	if (!ep_memory_read(at - NOPS, code, NOPS))
		return at;
	if (prefix && code[i - 1] == 0x67)
		i--;
	for (unsigned k = i; k >= 4; k--) {
		if (is_landing_pad(code + k - 4))
			return at - NOPS + k - 4;
		if (code[k - 1] != 0x90)
			break;
	}
	return at - NOPS + i;
}

/* What an operand names: an address relative to the next instruction, or what lies there (a
 * library's functions are named by its table), or 4 bytes of address. */
static bool names(const uint8_t *code, uint64_t address, uint64_t low, uint64_t high,
		  uint64_t *target)
{
	uint64_t absolute = (uint32_t)ep_code_distance(code);
	uint64_t near = address + 4 + (uint64_t)(int64_t)ep_code_distance(code), slot;
	unsigned opcode = code[-2];

	if ((code[-1] & 0xc7) == 5 && opcode == 0x8d)
		*target = near; /* lea */
	else if ((code[-1] & 0xc7) == 5 && opcode == 0x8b && ep_memory_read(near, &slot, 8))
		*target = slot; /* mov */
	else if ((code[-1] & 0xf8) == 0xb8 || ((code[-1] & 0xf8) == 0xc0 && opcode == 0xc7))
		*target = absolute;
	else
		return false;
	return *target >= low && *target <= high;
}

/* -finstrument-functions tells the hook where its function begins: the nearest operand before the
 * call that names code there; none: the call itself. */
static uint64_t first_of_call(uint64_t place, uint64_t low)
{
	uint8_t code[PROLOGUE];
	uint64_t from = place - low < PROLOGUE ? low : place - PROLOGUE, target;
	struct ep_place other;

	if (place - from < 6 || !ep_memory_read(from, code, place - from))
		return place;
	for (uint64_t at = place - 4; at >= from + 2; at--)
		if (names(code + (at - from), at, from, at - 1, &target))
			return find_entry(target, place, false, &other) ? place : target;
	return place;
}

static uint64_t first_of(const struct ep_place *place, uint64_t low)
{
	if (place->kind == EP_SITE_XRAY_ENTRY)
		return before_first(place->place - 1, false);
	return place->names_function ? first_of_call(place->place, low)
				     : before_first(place->place, true);
}

/* ---- whose ---- */

/* Only nops lie in [from, to): they are the function's that follows. */
static bool are_nops(uint64_t from, uint64_t to)
{
	uint8_t code[NOPS];
	struct ep_code_step step;

	if (to - from > NOPS || !ep_memory_read(from, code, to - from))
		return false;
	for (size_t at = 0; at < to - from; at += step.size) {
		const uint8_t *one = code + at;

		while (one < code + (to - from) - 1 && (*one == 0x66 || *one == 0x2e))
			one++;
		if (!ep_code_step(code + at, to - from - at, from + at, &step) ||
		    !(*one == 0x90 || (one[0] == 0x0f && one[1] == 0x1f) || is_landing_pad(one)))
			return false;
	}
	return true;
}

static struct own make_own(const struct ep_place *place, uint64_t low)
{
	struct own own = {first_of(place, low), place->place, place->place + ep_place_size(place)};

	return own;
}

/* The entry of whose function `address` may be, in [low, high). */
static bool find_own(uint64_t address, uint64_t low, uint64_t high, struct own *own)
{
	uint64_t at = address - low < BEHIND ? low : address - BEHIND, behind = low;
	uint64_t until = high - address < PIECE ? high : address + PIECE;
	struct ep_place place;
	bool found = false;

	while (find_entry(at, until, false, &place)) {
		struct own one = make_own(&place, behind);

		if (one.first > address && !are_nops(address, one.first))
			break;
		*own = one;
		found = true;
		at = behind = one.next;
		if (address <= one.next)
			return true;
	}
	for (uint64_t end = address - low < BEHIND ? low : address - BEHIND;
	     !found && end > low && address - end < BACK_MOST; end = at) {
		at = end - low < PIECE ? low : end - PIECE;
		/* A hook may lie across the end. */
		if (!find_entry(at, end + EP_SLED_CODE_SIZE, true, &place))
			continue;
		*own = make_own(&place, low);
		found = true;
	}
	return found;
}

/* ---- where it ends ---- */

struct walk {
	uint64_t first, entry, limit;
	uint64_t at, reach; /* known to be of the function: the farthest place that it leads to */
	uint64_t end;       /* where it seems to end; 0: it goes on */
};

/* A jump back into it is its own, even behind what seemed to be its end (cases of a switch); but
 * other functions call it by its first byte. */
static void follow(struct walk *walk, const struct ep_code_step *step)
{
	bool direct = step->kind == EP_STEP_BRANCH || step->kind == EP_STEP_JUMP;
	uint64_t next = walk->at + step->size;

	if (walk->end && !(direct && step->target > walk->entry && step->target < walk->end)) {
		walk->at = next;
		return;
	}
	walk->end = 0;
	if (direct && step->target > walk->reach && step->target < walk->limit)
		walk->reach = step->target;
	if (step->kind >= EP_STEP_JUMP && walk->reach < next)
		walk->end = next;
	walk->at = next;
}

/* A hook that is jumped to begins with a `ret` while it is off: all of its bytes are there. */
static unsigned length(const uint8_t *code, size_t size, uint64_t address,
		       struct ep_code_step *step)
{
	struct ep_place place;

	if (!ep_code_step(code, size, address, step))
		return 0;
	if (code[0] == 0xc3 && ep_site_at(address, &place))
		step->size = (unsigned)ep_place_size(&place);
	return step->size;
}

static uint64_t end_of(const struct own *own, uint64_t limit)
{
	struct walk walk = {own->first, own->place, limit, own->first, 0, 0};
	uint8_t code[PIECE + LONGEST];
	struct ep_code_step step;

	while (walk.at < limit) {
		uint64_t from = walk.at;
		size_t got = limit - from < sizeof(code) ? limit - from : sizeof(code);

		if (!ep_memory_read(from, code, got))
			break;
		while (walk.at - from < got && walk.at - from <= PIECE) {
			size_t at = walk.at - from;

			if (!length(code + at, got - at, walk.at, &step))
				return walk.end ? walk.end : walk.at;
			follow(&walk, &step);
		}
	}
	return walk.end ? walk.end : walk.at < limit ? walk.at : limit;
}

bool ep_function_range_by_hooks(uint64_t address, uint64_t low, uint64_t high, uint64_t *start,
				uint64_t *end)
{
	struct own own;
	struct ep_place next;
	uint64_t limit;

	if (!find_own(address, low, high, &own))
		return false;
	limit = high - own.next < FORTH_MOST ? high : own.next + FORTH_MOST;
	if (find_entry(own.next, limit, false, &next))
		limit = first_of(&next, own.next);
	limit = end_of(&own, limit);
	if (address >= limit && address > own.next)
		return false;
	*start = own.first;
	*end = limit;
	return true;
}

bool ep_function_range(uint64_t address, uint64_t *start, uint64_t *end)
{
	uint64_t low, high;

	switch (ep_function_look(address, &low, &high)) {
	case EP_FUNCTION_DESCRIBED:
		*start = low;
		*end = high;
		return true;
	case EP_FUNCTION_BETWEEN:
		return ep_function_range_by_hooks(address, low, high, start, end);
	default:
		return false;
	}
}
