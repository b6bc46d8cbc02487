/* SPDX-License-Identifier: BSD-2-Clause */
/* contexts.h: parents that wait in vfork. */
#ifndef EPITAPH_CONTEXTS_H
#define EPITAPH_CONTEXTS_H

#include <stdint.h>

/*
 * In a forked child: threads that waited in vfork are not here. But for the caller: it was forked
 * by a signal handler, or by a vfork child, whose maker had the tid `except`.
 */
void ep_vfork_reset(uint32_t except);

#endif
