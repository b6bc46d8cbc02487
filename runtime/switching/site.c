/* SPDX-License-Identifier: BSD-2-Clause */
/* site.c: looks at each byte that may begin a call. That bytes of something else lead to a hook is
 * one chance in 2^32 for each. */
#include "runtime/switching/site.h"

#include "runtime/lib/files.h"
#include "runtime/lib/hookcode.h"
#include "runtime/sled_code.h"
#include "runtime/switching/function.h"

#define PIECE             1024 /* bytes of code that are read at once */
#define HOPS              3    /* a stub may lead to another one */
#define NO_STUBS          4096
#define KNOWN_STUBS       16
#define NAMING            1u /* those of -finstrument-functions, of three pairs */
#define EP_HOOKS_OF_SLEDS 4u /* the first two hooks of ep_hook_address that only sleds call */

static unsigned hook_at(uint64_t address)
{
	unsigned hook = 0;

	while (hook < EP_SWITCH_HOOKS && ep_hook_address(hook) != address)
		hook++;
	return hook;
}

/* Places of code that were seen to be no stub, so that a function's calls cost no system call each,
 * each time. Racy on purpose: one that is missing is looked at again. */
static uint64_t no_stubs[NO_STUBS];

/* Functions begin at multiples of 16. */
static uint64_t *no_stub(uint64_t address)
{
	return &no_stubs[address * UINT64_C(0x9e3779b97f4a7c15) >> 52];
}

static_assert(NO_STUBS == 1 << 12, "the hash's bits");

static bool is_no_stub(uint64_t address)
{
	return __atomic_load_n(no_stub(address), __ATOMIC_RELAXED) == address;
}

static void note_no_stub(uint64_t address)
{
	__atomic_store_n(no_stub(address), address, __ATOMIC_RELAXED);
}

/* Places that calls lead to, to be read together. */
struct places {
	uint64_t address[EP_MEMORY_PLACES];
	unsigned count;
};

/* Those that are no stubs are noted; of one that cannot be read that is all there is to know. */
static void look_at(struct places *places)
{
	uint8_t code[EP_MEMORY_PLACES][EP_STUB_SIZE];
	uint64_t at;

	for (unsigned from = 0; from < places->count;) {
		unsigned got = ep_memory_read_places(places->address + from, places->count - from,
						     code, EP_STUB_SIZE);

		for (unsigned i = 0; i < got; i++, from++)
			if (ep_stub_look(code[i], places->address[from], &at) == EP_STUB_NONE)
				note_no_stub(places->address[from]);
		if (from < places->count)
			note_no_stub(places->address[from++]);
	}
	places->count = 0;
}

/* Where the stub at `address` goes on; 0: it is none. */
static uint64_t follow(uint64_t address)
{
	uint8_t code[EP_STUB_SIZE];
	uint64_t at, target;

	if (is_no_stub(address))
		return 0;
	if (!ep_memory_read(address, code, sizeof(code))) {
		note_no_stub(address);
		return 0;
	}
	switch (ep_stub_look(code, address, &at)) {
	case EP_STUB_JUMP:
		return at;
	case EP_STUB_SLOT:
		return ep_memory_read(at, &target, sizeof(target)) ? target : 0;
	default:
		note_no_stub(address);
		return 0;
	}
}

/* A stub that led to a hook; 0 is free. A module has few of them, and each of its functions two
 * calls that go there: without this that was half of what it cost to switch one. What a stub leads
 * to is fixed before its module's code runs, and forgotten when modules come or go. */
static struct known_stub {
	uint64_t address;
	uint64_t hook; /* its number + the address: torn, it fits no other one's */
} known_stubs[KNOWN_STUBS];

static struct known_stub *known_stub(uint64_t address)
{
	return &known_stubs[address * UINT64_C(0x9e3779b97f4a7c15) >> 60];
}

static_assert(KNOWN_STUBS == 1 << 4, "the hash's bits");

static unsigned recall_stub(uint64_t address)
{
	const struct known_stub *known = known_stub(address);
	uint64_t hook = __atomic_load_n(&known->hook, __ATOMIC_RELAXED) - address;

	if (__atomic_load_n(&known->address, __ATOMIC_RELAXED) != address ||
	    hook >= EP_SWITCH_HOOKS)
		return EP_SWITCH_HOOKS;
	return (unsigned)hook;
}

static void keep_stub(uint64_t address, unsigned hook)
{
	struct known_stub *known = known_stub(address);

	__atomic_store_n(&known->hook, hook + address, __ATOMIC_RELAXED);
	__atomic_store_n(&known->address, address, __ATOMIC_RELAXED);
}

void ep_sites_look_again(void)
{
	for (size_t i = 0; i < NO_STUBS; i++)
		__atomic_store_n(&no_stubs[i], 0, __ATOMIC_RELAXED);
	for (size_t i = 0; i < KNOWN_STUBS; i++)
		__atomic_store_n(&known_stubs[i].address, 0, __ATOMIC_RELAXED);
}

static bool is_of_same_module(uint64_t one, uint64_t other)
{
	uint64_t start, end;

	return !ep_module_range(one, &start, &end) || (other >= start && other < end);
}

/* The number of the hook that code at `target` is or leads to; EP_SWITCH_HOOKS: none. A stub that
 * was bound to another module's function stays so (one that was not yet leads back into its own):
 * it is no stub of a hook, either. */
static unsigned hook_behind(uint64_t target)
{
	unsigned hook = hook_at(target);
	uint64_t first = target;

	if (hook == EP_SWITCH_HOOKS)
		hook = recall_stub(target);
	if (hook != EP_SWITCH_HOOKS)
		return hook;
	for (unsigned hop = 0; hop < HOPS && hook == EP_SWITCH_HOOKS; hop++) {
		uint64_t next = follow(target);

		if (!next)
			break;
		target = next;
		hook = hook_at(target);
	}
	if (hook == EP_SWITCH_HOOKS && target != first && is_no_stub(target) &&
	    !is_of_same_module(first, target))
		note_no_stub(first);
	if (hook != EP_SWITCH_HOOKS)
		keep_stub(first, hook);
	return hook;
}

bool ep_site_is_hook(uint64_t address)
{
	return hook_behind(address) != EP_SWITCH_HOOKS;
}

/* What calls can lead to: all that lies in their module. */
struct reach {
	uint64_t start, end;
};

/* A call or a jump of one of the hooks that compilers call. */
static unsigned parse_call(const uint8_t *code, uint64_t address, const struct reach *reach,
			   unsigned *hook)
{
	uint64_t target;
	unsigned kind = ep_site_code_look(code, address, &target);

	if (!kind || target < reach->start || target >= reach->end)
		return 0;
	*hook = hook_behind(target);
	return *hook < EP_HOOKS_OF_SLEDS ? kind : 0;
}

/* What sleds call is called by nothing else: of it, the bytes around the call are the site. */
static unsigned parse_sled(const uint8_t *code, size_t size, uint64_t address, unsigned *hook)
{
	uint64_t target;
	enum ep_sled_shape shape = ep_sled_code_look(code, size, address, &target);

	if (shape == EP_SLED_NONE)
		return 0;
	*hook = hook_behind(target);
	return *hook == EP_HOOKS_OF_SLEDS + (shape != EP_SLED_AT_ENTRY) ? ep_sled_shapes[shape].kind
									: 0;
}

static bool parse(const uint8_t *code, size_t size, uint64_t address, const struct reach *reach,
		  struct ep_place *out)
{
	unsigned hook, kind = parse_call(code, address, reach, &hook);

	if (!kind)
		kind = parse_sled(code, size, address, &hook);
	if (!kind)
		return false;
	*out = (struct ep_place){
		.place = address,
		.kind = (uint8_t)kind,
		.is_return = hook % 2 != 0,
		.is_off = code[0] == ep_site_byte(kind, true),
		.names_function = hook / 2 == NAMING,
	};
	return true;
}

bool ep_site_at(uint64_t place, struct ep_place *out)
{
	const struct reach all = {0, UINT64_MAX};
	uint8_t code[EP_SLED_CODE_SIZE];

	if (ep_memory_read(place, code, sizeof(code)))
		return parse(code, sizeof(code), place, &all, out);
	return ep_memory_read(place, code, EP_SITE_CODE_SIZE) &&
	       parse(code, EP_SITE_CODE_SIZE, place, &all, out);
}

size_t ep_place_size(const struct ep_place *place)
{
	return place->kind == EP_SITE_CALL || place->kind == EP_SITE_JUMP ? EP_SITE_CODE_SIZE
									  : EP_SLED_CODE_SIZE;
}

/* What a piece of code might call is looked at first, all together: one by one that was most of
 * what it cost to switch a function. */
static void look_ahead(const uint8_t *code, size_t size, uint64_t address,
		       const struct reach *reach)
{
	struct places places = {.count = 0};
	uint64_t target;

	for (size_t i = 0; i < size; i++) {
		if (!ep_site_code_look(code + i, address + i, &target) || target < reach->start ||
		    target >= reach->end || is_no_stub(target) ||
		    hook_at(target) != EP_SWITCH_HOOKS || recall_stub(target) != EP_SWITCH_HOOKS)
			continue;
		places.address[places.count++] = target;
		if (places.count == EP_MEMORY_PLACES)
			look_at(&places);
	}
	look_at(&places);
}

size_t ep_sites_of(const uint8_t *code, size_t size, size_t got, uint64_t address,
		   struct ep_place *out, size_t most)
{
	struct reach reach = {0, UINT64_MAX};
	size_t count = 0;

	ep_module_range(address, &reach.start, &reach.end);
	if (size > got - EP_SITE_CODE_SIZE + 1)
		size = got - EP_SITE_CODE_SIZE + 1;
	look_ahead(code, size, address, &reach);
	for (size_t i = 0; i < size && count < most;)
		i += parse(code + i, got - i, address + i, &reach, &out[count])
			     ? ep_place_size(&out[count++])
			     : 1;
	return count;
}

size_t ep_sites_at(const uint8_t *code, size_t got, uint64_t address, const uint64_t *places,
		   size_t count, struct ep_place *out)
{
	struct reach reach = {0, UINT64_MAX};
	size_t found = 0;

	ep_module_range(address, &reach.start, &reach.end);
	for (size_t i = 0; i < count; i++) {
		size_t at = places[i] - address;

		if (at + EP_SITE_CODE_SIZE <= got)
			found += parse(code + at, got - at, places[i], &reach, &out[found]);
	}
	return found;
}

size_t ep_sites_in(uint64_t start, uint64_t end, struct ep_place *out, size_t most)
{
	uint8_t code[PIECE + EP_SLED_CODE_SIZE];
	size_t count = 0, found, got;

	for (uint64_t at = start; at + EP_SITE_CODE_SIZE <= end && count < most;) {
		got = end - at < sizeof(code) ? end - at : sizeof(code);
		if (!ep_memory_read(at, code, got))
			break;
		found = ep_sites_of(code, PIECE, got, at, out + count, most - count);
		count += found;
		at += PIECE;
		/* The last of them may reach into the next piece. */
		if (found && at < out[count - 1].place + ep_place_size(&out[count - 1]))
			at = out[count - 1].place + ep_place_size(&out[count - 1]);
	}
	return count;
}
