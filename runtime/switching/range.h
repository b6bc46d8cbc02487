/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * range.h: the code of the function that holds an address. Where unwind tables describe it they say
 * (function.h). What was compiled without them (-fno-asynchronous-unwind-tables) is found by its
 * hooks: from the first byte of the function whose entry's hook comes last before the address, on
 * along its instructions to where none of them leads, and never into the next entry's function. So
 * a return's hook in a part of another function that lies behind it (.cold) is not taken for its
 * own; what is uncertain is left out.
 */
#ifndef EPITAPH_RANGE_H
#define EPITAPH_RANGE_H

#include <stdbool.h>
#include <stdint.h>

/* [*start, *end), process virtual. `address` may also be that of nops before the first byte, which
 * patchable functions have. False: no module of the load map holds it, or no function that is
 * known. Some us; signal safe. */
bool ep_function_range(uint64_t address, uint64_t *start, uint64_t *end);

/* The same of one that no table describes, by the code in [low, high) alone. */
bool ep_function_range_by_hooks(uint64_t address, uint64_t low, uint64_t high, uint64_t *start,
				uint64_t *end);

#endif
