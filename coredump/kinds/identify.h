/* SPDX-License-Identifier: BSD-2-Clause */
/* identify.h: what kind of source a name means. */
#ifndef EPITAPH_IDENTIFY_H
#define EPITAPH_IDENTIFY_H

#include "coredump/memory/source.h"

/* EP_SOURCE_LIVE and its *pid, 0 for what can be none ("pid:0"); _FUNTRACE, _ARENA: a regular file
 * that begins as one; else _CORE: whether it is one is learned by opening it. */
enum ep_source_kind ep_identify(const char *name, pid_t *pid);

#endif
