/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watchdog.h: deadlines that a program sets itself (epitaph.h). A feed is two stores into the
 * arena, where a core finds all that is known of each; one thread, the watcher (helper.h), compares
 * them with the clock.
 */
#ifndef EPITAPH_WATCHDOG_H
#define EPITAPH_WATCHDOG_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/epitaph.h"

/* epitaph_watchdog_create; `started`: the runtime is there. */
struct epitaph_watchdog *ep_watchdog_create(const char *name, uint64_t deadline_ns,
					    epitaph_watchdog_action action, bool started);

/* For an arena that is new, also a forked child's: no watchdogs, no watcher. */
void ep_watchdog_begin(void);

/* Around calls that a second thread would break (sched.h): true if there was a watcher. It is gone
 * between the two; what is missed meanwhile is seen late.
 */
bool ep_watchdog_leave(void);
void ep_watchdog_return(void);

/* … when something is next fed. */
void ep_watchdog_return_later(void);

#endif
