/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * snapshot.h: the process writes its own snapshot, an ELF core as `epitaph extract` writes it
 * (format.h, ep_snapshot_note). Other threads go on: blocks are validated after copying, by whoever
 * reads.
 */
#ifndef EPITAPH_SNAPSHOT_H
#define EPITAPH_SNAPSHOT_H

#include <stdint.h>

/*
 * `path` NULL: ep_settings.output, expanded. `context`: the ucontext_t of a signal handler whose
 * registers describe the calling thread, or NULL: here. 0, or a negative errno: -EBUSY while
 * another snapshot is being written,
 * -ENODEV without an arena. Async-signal-safe: raw system calls, no malloc.
 */
int ep_snapshot_write(const char *path, const void *context);

/*
 * The same for the calling thread, which dies of the signal that `info` (a siginfo_t) tells of, in
 * a handler with `context`: has the signal and all threads, but of the others neither registers nor
 * stacks.
 */
int ep_snapshot_crash(const void *info, const void *context);

/*
 * Writes a snapshot that was kept in memory (kept.h), which must stay kept meanwhile, as
 * ep_snapshot_write does: with neither stacks nor registers.
 * -EINVAL: none of that number. After ep_start. Async-signal-safe.
 */
int ep_snapshot_save(uint64_t number, const char *path);

/*
 * Writes nothing but the arena, for `path`, and leaves holes where it is empty. Its name is given
 * by `name`, which answers 0 or a negative errno. Waits while another thread writes a snapshot;
 * -EBUSY: the caller itself does, and this is a signal handler. After ep_start. Async-signal-safe.
 */
struct ep_new_file;
typedef int (*ep_snapshot_name_fn)(struct ep_new_file *output);
int ep_snapshot_arena(const char *path, ep_snapshot_name_fn name);

/* In a forked child: what a thread of the parent was writing is not ours. */
void ep_snapshot_reset(void);

#endif
