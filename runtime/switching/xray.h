/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xray.h: clang's XRay sleds as sites (site.h; sled_code.h: their bytes). Nothing is paid for them
 * before they are prepared, which happens when their module comes and everything is on, else when
 * it is on again. What a sled calls is the hook, or its module's own way to it (kit/sledhooks.S)
 * where that is too far.
 */
#ifndef EPITAPH_SWITCHING_XRAY_H
#define EPITAPH_SWITCHING_XRAY_H

#include <stdbool.h>

#include "runtime/dso/sleds.h"

/* A module came: its sleds are prepared and on, unless everything is off. Nobody runs its code. */
void ep_xray_add(struct ep_sleds *sleds);

/* It goes. */
void ep_xray_remove(struct ep_sleds *sleds);

/* Everything is on again: those of modules that came while it was off, which threads may be
 * running. Signal safe; keeps errno. */
void ep_xray_on(void);

/* In a forked child: another thread's lock is nobody's there. */
void ep_xray_reset(void);

#endif
