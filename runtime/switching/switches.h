/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * switches.h: hooks that come and go, a function at a time (everything at once: everything.h),
 * while all threads run. What is off, why and since when lies in the arena (EP_SECTION_SWITCHES).
 * Off: entries first, then returns; on: returns first, so that a call whose entry was recorded has
 * its return recorded unless it was open just then. Thread and signal safe, keeps errno; one thread
 * changes something at a time, and who is in the slow path of a hook never waits for it. A forked
 * child begins with what is off in its parent.
 *
 *   place in the code → site (site.h) → function (range.h) → switched, for a reason
 */
#ifndef EPITAPH_SWITCHES_H
#define EPITAPH_SWITCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/format_switches.h"

/* Lays out the section of a new arena; in a forked child with what the parent had off, which
 * ep_switches_keep has copied before the parent's arena was left. */
void ep_switches_start(void);
void ep_switches_keep(void);

/*
 * The function that holds `address` goes off for `reason` (EP_SWITCH_NAME, EP_SWITCH_BUDGET), or
 * that reason for it to be off ends. False: nothing changed (already so, no sites, somebody wants
 * it traced, it cannot be). Some 10 us; waits for a thread that is at it. Not in signal handlers.
 */
bool ep_switch_function(uint64_t address, unsigned reason, bool off);

/*
 * The same of some at once, EP_SWITCH_MANY at the most, for which the way to the code is opened but
 * once; waits for nobody: nothing changes while another thread is at it. `rate`, calls a second, 0
 * unknown, is noted when they go off; `changed` says what became of each.
 */
#define EP_SWITCH_MANY 64
struct ep_switch_order {
	uint64_t address, rate;
	bool changed;
};
void ep_switch_functions(struct ep_switch_order *orders, unsigned count, unsigned reason, bool off);

/* No more functions can go off: there is no room to tell of them. */
bool ep_switches_full(void);

/* Why the function that holds `address` is off, EP_SWITCH_, of itself or from outside, and whether
 * it is to be kept on (EP_SWITCH_KEPT: DOFUNTRACE, epitaph_trace, `epitaph control PID trace`). */
unsigned ep_switch_reasons(uint64_t address);

/* The program wants the function that holds `address` traced, whatever it costs; or no more so. Not
 * in signal handlers. */
void ep_switch_keep(uint64_t address, bool kept);

/* A module has gone from [start, end): what was off there is no more. May wait for the thread that
 * switches something. */
void ep_switches_forget(uint64_t start, uint64_t end);

/* Libraries came: hooks that could not be switched off are tried once more. */
void ep_switches_look_again(void);

/* No other thread changes code when this returns, or will for what it began before. */
void ep_switches_wait(void);

#endif
