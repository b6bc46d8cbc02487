/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * strip_targets.h: where the hooks are in a linked file: the addresses that code may call to reach
 * one (the hook itself, its stub in the procedure linkage table, what static programs have before
 * it), and the slots of memory that hold such an address when the program runs (the global offset
 * table).
 */
#ifndef EPITAPH_STRIP_TARGETS_H
#define EPITAPH_STRIP_TARGETS_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coredump/util/array.h"
#include "decoder/symbols/symbol_table.h"

struct ep_addresses {
	uint64_t *list; /* ascending when sorted */
	size_t count, capacity;
};

struct ep_strip_targets {
	struct ep_addresses code;   /* to call or to jump to */
	struct ep_addresses slots;  /* hold one of them */
	struct ep_addresses writes; /* places that relocations write when the program starts */
};

void ep_strip_targets_read(struct ep_strip_targets *targets, Elf *elf,
			   const struct ep_raw_symbols *symbols);
void ep_strip_targets_deinit(struct ep_strip_targets *targets);

bool ep_addresses_have(const struct ep_addresses *addresses, uint64_t address);

/* One of them lies in [start, end). */
bool ep_addresses_between(const struct ep_addresses *addresses, uint64_t start, uint64_t end);

/* The name of a hook, or of what stands before one in a static program. */
bool ep_strip_hook_named(const char *name);

#endif
