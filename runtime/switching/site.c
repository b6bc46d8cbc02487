/* SPDX-License-Identifier: BSD-2-Clause */
/* site.c: looks at each byte that may begin a call. That bytes of something else lead to a hook is
 * one chance in 2^32 for each. */
#include "runtime/switching/site.h"

#include "runtime/lib/files.h"
#include "runtime/lib/hookcode.h"

#define PIECE 1024 /* bytes of code that are read at once */
#define HOPS  3    /* a stub may lead to another one */

static unsigned hook_at(uint64_t address)
{
	unsigned hook = 0;

	while (hook < EP_SWITCH_HOOKS && ep_hook_address(hook) != address)
		hook++;
	return hook;
}

/* Where the stub at `address` goes on; 0: it is none. */
static uint64_t follow(uint64_t address)
{
	uint8_t code[EP_STUB_SIZE];
	uint64_t at, target;

	if (!ep_memory_read(address, code, sizeof(code)))
		return 0;
	switch (ep_stub_look(code, address, &at)) {
	case EP_STUB_JUMP:
		return at;
	case EP_STUB_SLOT:
		return ep_memory_read(at, &target, sizeof(target)) ? target : 0;
	default:
		return 0;
	}
}

/* The number of the hook that code at `target` is or leads to; EP_SWITCH_HOOKS: none. */
static unsigned hook_behind(uint64_t target)
{
	unsigned hook = hook_at(target);

	for (unsigned hop = 0; hop < HOPS && hook == EP_SWITCH_HOOKS; hop++) {
		target = follow(target);
		if (!target)
			break;
		hook = hook_at(target);
	}
	return hook;
}

static bool parse(const uint8_t *code, uint64_t address, struct ep_place *out)
{
	uint64_t target;
	unsigned kind = ep_site_code_look(code, address, &target), hook;

	if (!kind)
		return false;
	hook = hook_behind(target);
	if (hook == EP_SWITCH_HOOKS)
		return false;
	*out = (struct ep_place){address, (uint8_t)kind, hook % 2 != 0};
	return true;
}

bool ep_site_at(uint64_t place, struct ep_place *out)
{
	uint8_t code[EP_SITE_CODE_SIZE];

	return ep_memory_read(place, code, sizeof(code)) && parse(code, place, out);
}

size_t ep_sites_in(uint64_t start, uint64_t end, struct ep_place *out, size_t most)
{
	uint8_t code[PIECE + EP_SITE_CODE_SIZE - 1];
	size_t count = 0, size;

	for (uint64_t at = start; at + EP_SITE_CODE_SIZE <= end; at += size) {
		size = end - at - EP_SITE_CODE_SIZE + 1;
		if (size > PIECE)
			size = PIECE;
		if (!ep_memory_read(at, code, size + EP_SITE_CODE_SIZE - 1))
			break;
		for (size_t i = 0; i < size && count < most; i++)
			count += parse(code + i, at + i, &out[count]);
	}
	return count;
}
