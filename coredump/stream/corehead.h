/* SPDX-License-Identifier: BSD-2-Clause */
/* corehead.h: the first bytes of a file that should be a core. */
#ifndef EPITAPH_COREHEAD_H
#define EPITAPH_COREHEAD_H

#include "coredump/util/error.h"

/* EP_OK: it has the header of an x86-64 ELF core. Else err says what it is, and what to do next.
 * `fd` is a regular file of `size` bytes; `path` is for messages. */
int ep_core_head_check(int fd, const char *path, uint64_t size, struct ep_err *err);

#endif
