/* SPDX-License-Identifier: BSD-2-Clause */
/* handle.h: what is done about a crash: a snapshot, and the core for the previous handler. */
#ifndef EPITAPH_HANDLE_H
#define EPITAPH_HANDLE_H

#include "coredump/handler/store.h"

/* Crashes that are handled at once; a user has half of these places. */
#define EP_HANDLED_AT_ONCE 64u

/* Descriptors, signals and umask of a handler. */
void ep_handle_settle(void);

/* Takes a snapshot and passes the stream on, which is taken over. What goes wrong is logged in the
 * store. */
void ep_handle_crash(const struct ep_store *store, const struct ep_crash *crash, int stream);

#endif
