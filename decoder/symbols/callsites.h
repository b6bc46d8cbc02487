/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * callsites.h: what a function's caller gave it: DWARF's call sites (DWARF 5, section 3.4; GNU's
 * before it) say how to calculate an argument's register from what the caller has kept.
 */
#ifndef EPITAPH_CALLSITES_H
#define EPITAPH_CALLSITES_H

#include "decoder/symbols/inlines.h"
#include "decoder/symbols/location.h"

/*
 * The value that register `number` (0-15; of 17-32 the lowest 8 bytes) had when the call was made
 * that `caller` waits for: its `address` is within that call's instruction, and ends it. Only of a
 * call that names `callee`, the symbol of the function that is being executed: it may have got
 * there by another one's jump. Sets caller->base. False: unknown.
 */
bool ep_callsite_register(struct ep_inlines *inlines, struct ep_location_frame *caller,
			  const char *callee, unsigned number, uint64_t *out);

#endif
