/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * snapshot.h: the process writes its own snapshot, an ELF core as `epitaph
 * extract` writes it (format.h, ep_snapshot_note). Other threads go on:
 * blocks are validated after copying, by whoever reads.
 */
#ifndef EPITAPH_SNAPSHOT_H
#define EPITAPH_SNAPSHOT_H

#include <stdint.h>

/*
 * `path` NULL: ep_settings.output, expanded. `context`: the ucontext_t of a
 * signal handler whose registers describe the calling thread, or NULL: here.
 * 0, or a negative errno: -EBUSY while another snapshot is being written,
 * -ENODEV without an arena. Async-signal-safe: raw system calls, no malloc.
 */
int ep_snapshot_write(const char *path, const void *context);

/*
 * Writes a snapshot that was kept in memory (kept.h), which must stay kept
 * meanwhile, as ep_snapshot_write does: with neither stacks nor registers.
 * -EINVAL: none of that number. After ep_start. Async-signal-safe.
 */
int ep_snapshot_save(uint64_t number, const char *path);

/* In a forked child: what a thread of the parent was writing is not ours. */
void ep_snapshot_reset(void);

#endif
