/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * site.h: places in this process's code where a hook is called (site_code.h: what their bytes are).
 * Bytes are taken for one only if they lead exactly to one of this runtime's hooks. Memory is read
 * by system call, for it may be gone. Signal safe.
 */
#ifndef EPITAPH_SITE_H
#define EPITAPH_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/site_code.h"

struct ep_place {
	uint64_t place; /* the address of the byte that decides */
	uint8_t kind;   /* EP_SITE_ */
	bool is_return;
	bool is_off;         /* when it was looked at */
	bool names_function; /* the hook is told where its function begins */
};

/* Whether the code at `address` is a hook, or a stub that leads to one: nothing of it is a site. */
bool ep_site_is_hook(uint64_t address);

/* Whether a site lies at `place` now, on or off. */
bool ep_site_at(uint64_t place, struct ep_place *out);

/* Bytes of a site from its place on. Nothing of it is another one: a tail call's sled has in it
 * what a return's looks like. */
size_t ep_place_size(const struct ep_place *place);

/* All sites of the code at [start, end), on or off, by address, at most `most`: how many. */
size_t ep_sites_in(uint64_t start, uint64_t end, struct ep_place *out, size_t most);

/* The same of code that was read at `address`, `got` bytes of it: those sites that begin in the
 * first `size`. */
size_t ep_sites_of(const uint8_t *code, size_t size, size_t got, uint64_t address,
		   struct ep_place *out, size_t most);

/* The same of those that begin at `places`, `count` addresses in it, in order: what is a site there
 * now. */
size_t ep_sites_at(const uint8_t *code, size_t got, uint64_t address, const uint64_t *places,
		   size_t count, struct ep_place *out);

/* Modules came or went: code that led to no hook may do so now. */
void ep_sites_look_again(void);

#endif
