/* SPDX-License-Identifier: BSD-2-Clause */
/* core.h: an ELF core, or a snapshot, as a source. */
#ifndef EPITAPH_CORE_H
#define EPITAPH_CORE_H

#include "coredump/files/held.h"
#include "coredump/memory/source.h"

/* As ep_source_open, of a core; `-` is standard input. */
int ep_source_open_core(struct ep_source **out, const char *path, struct ep_err *err);

/*
 * A process that the kernel dumps: headers and notes come from the pipe `stream` (taken over, and
 * closed when they are read), memory and files from what `held` has open, which must outlive the
 * source. Nothing is opened.
 */
int ep_source_open_held(struct ep_source **out, int stream, const struct ep_held *held,
			struct ep_err *err);

#endif
