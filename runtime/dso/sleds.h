/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sleds.h: what a module that clang gave XRay sleds tells the runtime, if there is one in the
 * process. Unlike hooks, sleds call nobody by themselves.
 */
#ifndef EPITAPH_DSO_SLEDS_H
#define EPITAPH_DSO_SLEDS_H

#include <stdint.h>

#include "runtime/sled_code.h"

/* One of a module, in its data, and the runtime's from loaded to unloading. `epitaph control` reads
 * it from outside. */
struct ep_sleds {
	const struct ep_sled *begin, *end;
	const char *to_entry, *to_return; /* code within 2 GiB that goes on to the hooks */
	struct ep_sleds *next;
	uint64_t state; /* EP_SLEDS_ */
};
static_assert(sizeof(struct ep_sleds) == 48, "read from outside");

#define EP_SLEDS_NEW      0 /* as compiled: everything was off when the module came */
#define EP_SLEDS_PREPARED 1

/* The module is mapped and relocated. */
void epitaph_sleds_loaded(struct ep_sleds *sleds) __attribute__((visibility("default")));

/* It is about to be unmapped. */
void epitaph_sleds_unloading(struct ep_sleds *sleds) __attribute__((visibility("default")));

#endif
