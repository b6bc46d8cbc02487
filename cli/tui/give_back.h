/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * give_back.h: the terminal as it was, also where a signal ends the process, ours or another's:
 * what it takes is put together beforehand. One terminal a process.
 */
#ifndef EPITAPH_GIVE_BACK_H
#define EPITAPH_GIVE_BACK_H

#include <stdbool.h>
#include <stddef.h>

/* Remembers the terminal's modes; from now on SIGINT, SIGTERM, SIGHUP, SIGQUIT and what a fault
 * raises give it back before the process dies of them, but for those that are ignored or, of
 * faults, handled by somebody else. `in` and `out` are the terminal's. */
void ep_give_back_begin(int in, int out);
/* The terminal was given back by other means; the signals do what they did. */
void ep_give_back_end(void);

/* What is to be written in the end, 500 bytes of it at most: `count` of terminfo's sequences, whose
 * delays are left out; NULL, of those that the terminal does not have. Nothing at first. */
void ep_give_back_set(const char *const *sequences, size_t count);

/* While it is so the first SIGINT does not end the process, and is what ep_give_back_interrupted
 * answers then, until this is called anew. */
void ep_give_back_hold_interrupt(bool hold);
bool ep_give_back_interrupted(void);

#endif
