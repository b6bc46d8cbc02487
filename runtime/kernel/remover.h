/* SPDX-License-Identifier: BSD-2-Clause */
/* remover.h: a process of the runtime's own that removes the ftrace instance, as that takes 50 ms
 * and the program need not wait for it. */
#ifndef EPITAPH_REMOVER_H
#define EPITAPH_REMOVER_H

#include <stdbool.h>

#include "runtime/lib/helper.h"

/* When that drain has let go of the instance. False: there is a remover still, or can be none. */
bool ep_remover_start(struct ep_helper *drain);

/* The same for an instance that the drain is only beginning to make, when the drain is gone. */
bool ep_remover_abandon(struct ep_helper *drain);

/* It shares the memory of the process: no more when this returns. False: there was none. */
bool ep_remover_wait(void);

/* What the one before left behind, if it is over. */
void ep_remover_bury(void);

/* In a forked child: there is none. */
void ep_remover_forget(void);

#endif
