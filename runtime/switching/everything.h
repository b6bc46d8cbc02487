/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * everything.h: all hooks off, or on again. The gate in the arena's head says at once what is
 * wanted; hooks in the code go off as they run, all of their page together, so that a process
 * changes no more code than it uses. Thread and signal safe, keeps errno.
 */
#ifndef EPITAPH_EVERYTHING_H
#define EPITAPH_EVERYTHING_H

#include <stdbool.h>
#include <stdint.h>

/* Off (hooks follow as they run), or on again: then all hooks are on when it returns. Not in signal
 * handlers. */
void ep_everything_switch(bool off);

/* Everything goes off for the budget, at once; waits for nobody. False: nothing changed. */
bool ep_everything_leave(void);

/* It is off for that, and code is changed for it. What runs seldom stays in the code, so that there
 * are visits. */
bool ep_everything_is_left(void);

/* It comes back from that, as by ep_everything_switch; waits for nobody. False: it did not. */
bool ep_everything_return(void);

/* Everything is off, and code is changed for it. */
bool ep_everything_is_off(void);

/*
 * A hook ran, will return to `address`, and is of a function at `function`, though everything is
 * off: when it has run some hundred times, all hooks of the pages that hold the two go off. By the
 * slow path; waits for nobody.
 */
void ep_everything_visit(uint64_t address, uint64_t function);

/* ns of CPU time that this took, for hooks to go off, since it was asked last. */
uint64_t ep_everything_spent(void);

/* Before a fork: what children visited while everything is off goes off here, so that those to
 * come inherit it. Up to some 100 us, when there are news. */
void ep_everything_before_fork(void);

/* A new arena that begins with everything off says since when. */
void ep_everything_begin(void);

/* Libraries came: hooks that could not be switched off are tried once more. */
void ep_everything_look_again(void);

#endif
