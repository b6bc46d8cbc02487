/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live.h: a running process as a source. Its number is looked up once, when it is opened: from then
 * on everything is read below the descriptor of its folder in /proc, which never becomes another
 * process's, and its memory by one descriptor, which never becomes another program's. So what
 * somebody has in mind for the number, or for the memory of the next program, cannot be met.
 */
#ifndef EPITAPH_LIVE_H
#define EPITAPH_LIVE_H

#include "coredump/memory/source.h"

/* As ep_source_open. The process goes on while it is read. */
int ep_source_open_live(struct ep_source **out, pid_t pid, struct ep_err *err);

/* Bytes that the process really has in memory and in swap, of all its mappings: what it maps costs
 * it nothing. UINT64_MAX: not known. */
uint64_t ep_source_live_resident(const struct ep_source *source);

/*
 * The memory that the process has now, for reading, to be closed: another one than the source reads
 * when it has started another program since. -1: it has ended, or may not be read any more.
 */
int ep_source_live_memory(const struct ep_source *source);

#endif
