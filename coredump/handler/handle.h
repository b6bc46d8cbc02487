/* SPDX-License-Identifier: BSD-2-Clause */
/* handle.h: what is done about a crash: a snapshot, and the core for the previous handler. */
#ifndef EPITAPH_HANDLE_H
#define EPITAPH_HANDLE_H

#include "coredump/handler/store.h"

/* Descriptors, signals and umask of a handler. */
void ep_handle_settle(void);

/* Takes a snapshot and passes the stream on, which is taken over. What goes wrong is logged in the
 * store. There is a place for it (ep_store_enter). */
void ep_handle_crash(const struct ep_store *store, const struct ep_crash *crash, int stream);

#endif
