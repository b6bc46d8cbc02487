/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * switches.h: hooks that come and go: everything at once, or a function at a time, while all
 * threads run. What is off, why and since when lies in the arena (EP_SECTION_SWITCHES). Off:
 * entries first, then returns; on: returns first, so that a call whose entry was recorded has its
 * return recorded unless it was open just then. Thread and signal safe, lock free, keeps errno; a
 * forked child begins with what is off in its parent.
 *
 *   place in the code → site (site.h) → function (function.h) → switched, for a reason
 */
#ifndef EPITAPH_SWITCHES_H
#define EPITAPH_SWITCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/format_switches.h"

/* Lays out the section, and notes whether everything is off. After arena and load map; in a forked
 * child with what the parent had off (ep_switches_keep before the arena is emptied). */
void ep_switches_start(void);
void ep_switches_keep(void);

/* The section; NULL: there is none. */
struct ep_switches *ep_switches(void);

/*
 * A hook ran, and will return to `address`, though everything is off: its function's hooks go off
 * when it has run a few times. By the slow path.
 */
void ep_switch_visit(uint64_t address);

/* Everything off (a gate bit, hooks follow as they run), or on again. */
void ep_switch_all(bool off);

/*
 * The function that holds `address` goes off for `reason` (one of EP_SWITCH_), or that reason for
 * it to be off ends; `rate` calls a second, 0 unknown, are noted when it goes off. False: nothing
 * was changed (already so, no sites, somebody wants it traced, cannot be). About 5 us.
 */
bool ep_switch_function(uint64_t address, unsigned reason, bool off, uint64_t rate);

/* Why it is off, EP_SWITCH_, of itself or from outside; EP_SWITCH_KEPT: somebody wants it traced
 * (DOFUNTRACE, epitaph_trace, `epitaph control PID trace`). */
unsigned ep_switch_reasons(uint64_t address);

/* The program wants it traced, whatever it costs; or no more so. */
void ep_switch_keep(uint64_t address, bool kept);

/* A module has gone from [start, end): what was off there is no more. */
void ep_switches_forget(uint64_t start, uint64_t end);

#endif
