/* SPDX-License-Identifier: BSD-2-Clause */
/* hookcode.h: the hooks' own code, as something that can be changed. */
#ifndef EPITAPH_HOOKCODE_H
#define EPITAPH_HOOKCODE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Makes each hook return at once, for good: a `ret` over its first byte. A thread that is inside of
 * one goes on. False: the kernel refuses writable code. Signal safe.
 */
bool ep_hooks_end(void);

/*
 * Lets the hooks look for the thread's rseq_cs (record/asks.h) `place` bytes behind its ep_tls,
 * where at first they look at ep_tls itself, and makes their descriptors. Once, before other
 * threads run hooks. Returns the address of those: one for each byte that a timing mask ends in
 * lies that far behind it, and the one that times the next record HOOK_NEXT behind it
 * (x86_64/offsets.h). 0: nothing has changed, as the kernel refuses.
 */
uint64_t ep_hooks_move(int64_t place);

/* The address of a hook: 0 __fentry__, 1 __return__, 2 and 3 those of __cyg_profile_*, 4 and
 * 5 those of sleds. */
uint64_t ep_hook_address(unsigned number);

/* `address` lies in the code of a hook. */
bool ep_hooks_contain(uint64_t address);

#endif
