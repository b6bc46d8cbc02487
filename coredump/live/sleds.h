/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sleds.h: clang's XRay sleds of a running process that began with everything off, from outside:
 * nothing of them has been written to, so there is no site yet (runtime/sled_code.h). Here they are
 * prepared as the process does it, which may be at it meanwhile: both write the same bytes.
 */
#ifndef EPITAPH_LIVE_SLEDS_H
#define EPITAPH_LIVE_SLEDS_H

#include "coredump/live/hook_sites.h"

/*
 * Prepares what is not yet, of all modules that came while everything was off; appends their sites,
 * which are off, to `out`. `first`: as struct ep_switches has it. What cannot be read is passed
 * over. EP_E_IO; EP_E_PERMISSION; EP_E_LIMIT.
 */
int ep_sleds_prepare(struct ep_control *control, uint64_t first,
		     const uint64_t hooks[EP_SWITCH_HOOKS], struct ep_found_sites *out,
		     struct ep_err *err);

/* They are on: the process has nothing more to do about them. */
int ep_sleds_done(struct ep_control *control, uint64_t first, struct ep_err *err);

#endif
