/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keep.h: functions of DOFUNTRACE (epitaph.h), which the budget leaves alone. The compiler lists
 * each where it begins, in the section __patchable_function_entries (GCC manual, function attribute
 * patchable_function_entry: one nop, which nobody patches). What a program has listed there for
 * itself has more nops, and is none of DOFUNTRACE. Lists come with the constructors of the objects
 * that they are in (dso/keeps.c).
 */
#ifndef EPITAPH_KEEP_H
#define EPITAPH_KEEP_H

#include <stdbool.h>
#include <stdint.h>

/* A module's list comes, or goes with its code. Those beyond 64 are left out. Thread and signal
 * safe, lock free. */
void ep_keep_add(const uint64_t *from, const uint64_t *to);
void ep_keep_remove(const uint64_t *from);

/* The function whose entries have this address in their records is to be kept. */
bool ep_keep_has(uint64_t address);

#endif
