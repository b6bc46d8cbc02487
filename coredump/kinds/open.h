/* SPDX-License-Identifier: BSD-2-Clause */
/* open.h: a source by what the user named, whatever kind it is. */
#ifndef EPITAPH_OPEN_H
#define EPITAPH_OPEN_H

#include "coredump/kinds/core.h"
#include "coredump/live/live.h"
#include "coredump/memory/source.h"

/*
 * Opens an existing file, `pid:N`, or digits that name no file: a pid; `-`: standard input. Pipes
 * and compressed files are cores that come as streams (spool.h). On failure *out is untouched and
 * err says what to do next (not a core: what it is; permission: which one).
 */
int ep_source_open(struct ep_source **out, const char *name, struct ep_err *err);
/* The same; of a funtrace.raw that sample, counted from 0. EP_E_USAGE for any other file, EP_END
 * when there is no such sample. */
int ep_source_open_sample(struct ep_source **out, const char *name, size_t sample,
			  struct ep_err *err);

#endif
