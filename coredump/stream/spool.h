/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * spool.h: a core that comes as a stream, laid down as a sparse file: what is kept lies at its own
 * offset, so core.c reads it like any core; the rest is told from what was kept, and never read as
 * zeroes.
 *
 * The file has no name (TMPDIR, else /var/tmp). All of a core is kept when it is small, or its
 * notes come last; else headers, notes, arenas, the stacks of its threads, the beginnings of all
 * mappings and the ends of those that are writable: what a snapshot would hold, and room around it.
 * Memory does not grow with the core; on disk it takes SPOOL_BUDGET beside arenas and stacks.
 */
#ifndef EPITAPH_SPOOL_H
#define EPITAPH_SPOOL_H

#include "coredump/memory/source_impl.h"

/*
 * Reads the stream `input` (taken over) up to the first byte of memory: sets source->fd to the
 * file, source->file_size to what the headers promise.
 */
int ep_spool_open(struct ep_source *source, int input, struct ep_err *err);
/* The same of the kernel's own stream, whose memory is read elsewhere: nothing behind the notes is
 * taken from it, and `file` (taken over), which may be unable to grow, is where it is laid down. */
int ep_spool_open_head(struct ep_source *source, int input, int file, struct ep_err *err);

/* No more is wanted: whoever writes to the stream is told, by its closing. */
void ep_spool_leave(struct ep_spool *spool);

/*
 * Reads on to the stream's end. source->segments are sorted and disjoint, and threads known;
 * afterwards they are split into what was kept and what was not (EP_SEGMENT_UNKEPT), and file_size
 * is what came. A damaged stream is a warning. EP_E_IO: no room on the disk.
 */
int ep_spool_gather(struct ep_source *source, struct ep_err *err);

void ep_spool_close(struct ep_spool *spool); /* NULL is allowed */

/* "zstd", "gzip", …, "none" for a plain pipe. Static or borrowed. */
const char *ep_spool_filter(const struct ep_spool *spool);

#endif
