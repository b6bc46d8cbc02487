/* SPDX-License-Identifier: BSD-2-Clause */
/* backing.h: the file that an arena lay in (EPITAPH_FILE): shared memory, which is not in a default
 * core. */
#ifndef EPITAPH_BACKING_H
#define EPITAPH_BACKING_H

#include "coredump/memory/source.h"
#include "runtime/format.h"

/*
 * A core whose root names a file: opens that, or the one that it was renamed to, when it holds the
 * arena of this very process (identity and generation), and lets the source read from there.
 * EP_END: no such file, or the source is no core.
 */
int ep_backing_follow(struct ep_source *source, uint64_t root_address, const struct ep_root *root);

#endif
