/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fake_names.h: names without files, for tests of what lies above. A program that includes it has
 * this ep_names_find and not the decoder's (whose object is then not taken from the archive). The
 * address tells all:
 *
 * 	FAKE_KNOWN   + n * FAKE_STEP: function n, bounds known
 * 	FAKE_WAITS   + n * FAKE_STEP: the same, and its code makes a system call
 * 	FAKE_THUNK   + n * FAKE_STEP: the same, and its symbol is a thunk's
 * 	elsewhere: nothing but the address is known
 */
#ifndef EPITAPH_TESTS_FAKE_NAMES_H
#define EPITAPH_TESTS_FAKE_NAMES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decoder/names/names.h"

#define FAKE_KNOWN UINT64_C(0x400000)
#define FAKE_WAITS UINT64_C(0x500000)
#define FAKE_THUNK UINT64_C(0x600000)
#define FAKE_BARE  UINT64_C(0x800000)
#define FAKE_STEP  UINT64_C(0x100)

#define FAKE_BUCKETS 4096u

struct fake_function {
	struct ep_function public;
	struct fake_function *next;
	char name[32];
};

struct ep_names {
	struct fake_function *buckets[FAKE_BUCKETS];
	uint32_t count;
};

static inline void fake_names_free(struct ep_names *names)
{
	for (unsigned i = 0; i < FAKE_BUCKETS; i++)
		while (names->buckets[i]) {
			struct fake_function *next = names->buckets[i]->next;

			free(names->buckets[i]);
			names->buckets[i] = next;
		}
}

const struct ep_function *ep_names_find(struct ep_names *names, uint64_t address, uint64_t tsc)
{
	bool known = address >= FAKE_KNOWN && address < FAKE_BARE;
	uint64_t start = known ? address - address % FAKE_STEP : address;
	struct fake_function **bucket = &names->buckets[start / 16 % FAKE_BUCKETS];
	struct fake_function *one = *bucket;

	(void)tsc;
	while (one && one->public.start != start)
		one = one->next;
	if (one)
		return &one->public;
	one = calloc(1, sizeof(*one));
	if (!one)
		abort();
	one->next = *bucket;
	*bucket = one;
	snprintf(one->name, sizeof(one->name), "%s%llx",
		 start >= FAKE_THUNK && known ? "_ZThn8_" : "f", (unsigned long long)start);
	one->public = (struct ep_function){
		.id = names->count++,
		.name = one->name,
		.symbol = one->name,
		.module = "",
		.start = start,
		.end = known ? start + FAKE_STEP : start,
		.known = known,
	};
	return &one->public;
}

/* It does nothing and returns, or makes a system call before. */
size_t ep_names_code(struct ep_names *names, uint64_t address, void *out, size_t size)
{
	static const uint8_t call[] = {0x0f, 0x05};

	(void)names;
	if (address < FAKE_KNOWN || address >= FAKE_BARE || size != FAKE_STEP)
		return 0;
	memset(out, 0x90, size);
	if (address >= FAKE_WAITS && address < FAKE_THUNK)
		memcpy(out, call, sizeof(call));
	((uint8_t *)out)[size - 1] = 0xc3;
	return size;
}

bool ep_names_word(const struct ep_names *names, uint64_t address, uint64_t *out)
{
	(void)names, (void)address, (void)out;
	return false;
}

/* Formats are where functions are, too: one after the other. */
const char *ep_names_constant_string(struct ep_names *names, uint64_t address, uint64_t tsc)
{
	static const char *const formats[] = {
		"%s %d %.*s %f %m",
		"%5d|%-8.3d|%+i|%hhd|%hu|%lx|%c|%lc|%p\n",
		"%*s|%-*.*s|%ls|%Lf|%-9g|%#m|%.3m|%%|%n",
		"%3$s %1$#x %2$-5c %1$y",
	};

	(void)names, (void)tsc;
	return address >= FAKE_KNOWN && address < FAKE_BARE ? formats[address / FAKE_STEP % 4]
							    : NULL;
}

const struct ep_function *ep_names_span(struct ep_names *names, const char *name)
{
	return ep_names_find(names, FAKE_BARE + (unsigned char)*name, 0);
}

#endif
