/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * switched.h: the section of switches in the arena: its head, and an entry for each function that
 * was ever switched. One writer at a time, who has the turn (turn.h); entries from outside are
 * written by `epitaph control` meanwhile.
 */
#ifndef EPITAPH_SWITCHED_H
#define EPITAPH_SWITCHED_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/format_switches.h"

/* Lays it out in a new arena, with what ep_switched_copy has kept. */
void ep_switched_start(void);
void ep_switched_copy(void);

/* The section; NULL: there is none. */
struct ep_switches *ep_switches(void);

/* The entry of the function that begins at `start`; `make`: it gets one. NULL: none. */
struct ep_switched *ep_switched_find(uint64_t start, uint64_t end, bool make);

/* The reason comes or goes: before the first byte of code is changed, and after the last. */
void ep_switched_begin(struct ep_switched *function, unsigned reason, bool off, uint64_t rate);
void ep_switched_end(struct ep_switched *function, unsigned reason, bool off);

void ep_switched_keep(struct ep_switched *function, bool kept);

/* EP_SWITCH_ of the entries, ours and from outside, that hold `address`. */
unsigned ep_switched_reasons(uint64_t address);
unsigned ep_switched_from_outside(uint64_t address);

/* Functions in [start, end) are on, for they are gone. */
void ep_switched_forget(uint64_t start, uint64_t end);

#endif
