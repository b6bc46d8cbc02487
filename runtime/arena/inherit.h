/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inherit.h: whose the runtime's state is. A process that another one makes finds all of it set, as
 * its maker left it at that moment, and may have little of what it speaks of:
 *
 *                        memory       threads, perf's buffers,   descriptors,
 *                                     ftrace instance            actions
 *   EP_INHERIT_NOTHING   its own      its own                    its own
 *   EP_INHERIT_COPY      a copy       the maker's, not here      a copy
 *   EP_INHERIT_SHARED    the maker's  the maker's, not here      a copy
 *
 * Whoever is about to touch, close, unmap, end or wait for something that the state names asks here
 * first. What a child need not keep is forgotten in one place, restart() of start.c, by each
 * module's _forget or _reset.
 */
#ifndef EPITAPH_INHERIT_H
#define EPITAPH_INHERIT_H

#include <stdbool.h>

enum ep_inherit {
	EP_INHERIT_NOTHING, /* this process made it all */
	EP_INHERIT_COPY,    /* forked, and not begun anew yet (start.h) */
	EP_INHERIT_SHARED,  /* a vfork child, a clone that is no thread; or it may not be asked */
};

/* One system call. Async-signal-safe. */
enum ep_inherit ep_inherit(void);

static inline bool ep_inherits_nothing(void)
{
	return ep_inherit() == EP_INHERIT_NOTHING;
}

#endif
