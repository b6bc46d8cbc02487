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
 * Adds `distance` to where the hooks test whether a record is untimed: at first, at
 * ep_tls.timing_mask. Once, before other threads run hooks. False: the kernel refuses; some may be
 * moved then.
 */
bool ep_hooks_move(int32_t distance);

/* The address of a hook: 0 __fentry__, 1 __return__, 2 and 3 those of __cyg_profile_*, 4 and
 * 5 those of sleds. */
uint64_t ep_hook_address(unsigned number);

/* `address` lies in the code of a hook. */
bool ep_hooks_contain(uint64_t address);

#endif
