/* SPDX-License-Identifier: BSD-2-Clause */
/* keep.c: lists stay where they are, and are read by system call, for they may go meanwhile. */
#include "runtime/budget/keep.h"

#include <stddef.h>

#include "runtime/lib/files.h"

#define LISTS 64
#define PIECE 64

/* A record has the function's first byte or what follows the hook's call; what is listed lies
 * between: endbr64 may stand before it, and the nop and the call come after. */
#define BEFORE 4
#define AFTER  16

static struct {
	uint64_t from; /* 0: free */
	uint64_t to;
} lists[LISTS];

void ep_keep_add(const uint64_t *from, const uint64_t *to)
{
	for (unsigned i = 0; i < LISTS && from < to; i++) {
		uint64_t none = 0;

		if (!__atomic_compare_exchange_n(&lists[i].to, &none, (uint64_t)to, false,
						 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			continue;
		__atomic_store_n(&lists[i].from, (uint64_t)from, __ATOMIC_RELEASE);
		return;
	}
}

void ep_keep_remove(const uint64_t *from)
{
	for (unsigned i = 0; i < LISTS; i++) {
		if (__atomic_load_n(&lists[i].from, __ATOMIC_ACQUIRE) != (uint64_t)from)
			continue;
		__atomic_store_n(&lists[i].from, 0, __ATOMIC_RELEASE);
		__atomic_store_n(&lists[i].to, 0, __ATOMIC_RELEASE);
		return;
	}
}

/*
 * -fpatchable-function-entry=N of the program's own lists every function there, with N nops. One of
 * DOFUNTRACE has one, whatever N is, behind the landing pad if there is one. (gcc writes nops of a
 * byte, clang as long ones as it can.)
 */
static bool has_one_nop(uint64_t entry)
{
	uint8_t code[5];

	return ep_memory_read(entry, code, sizeof(code)) && code[0] == 0x90 && code[1] != 0x90 &&
	       !(code[1] == 0xf3 && code[2] == 0x0f && code[3] == 0x1e && code[4] == 0xfa);
}

static bool is_listed(uint64_t from, uint64_t to, uint64_t address)
{
	uint64_t entries[PIECE];

	while (from < to) {
		size_t count = (to - from) / sizeof(*entries);

		if (count > PIECE)
			count = PIECE;
		if (!count || !ep_memory_read(from, entries, count * sizeof(*entries)))
			return false;
		for (size_t i = 0; i < count; i++)
			if (address + BEFORE - entries[i] < BEFORE + AFTER &&
			    has_one_nop(entries[i]))
				return true;
		from += count * sizeof(*entries);
	}
	return false;
}

bool ep_keep_has(uint64_t address)
{
	for (unsigned i = 0; i < LISTS; i++) {
		uint64_t from = __atomic_load_n(&lists[i].from, __ATOMIC_ACQUIRE);

		if (from && is_listed(from, lists[i].to, address))
			return true;
	}
	return false;
}
