/* SPDX-License-Identifier: BSD-2-Clause */
/* live.h: a running process as a source. */
#ifndef EPITAPH_LIVE_H
#define EPITAPH_LIVE_H

#include "coredump/memory/source.h"

/* As ep_source_open. The process goes on while it is read. */
int ep_source_open_live(struct ep_source **out, pid_t pid, struct ep_err *err);

#endif
