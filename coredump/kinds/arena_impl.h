/* SPDX-License-Identifier: BSD-2-Clause */
/* arena_impl.h: what the files that read an arena file share. */
#ifndef EPITAPH_ARENA_IMPL_H
#define EPITAPH_ARENA_IMPL_H

#include "coredump/kinds/arena_file.h"

/*
 * Fills `out` for the arena file open as `fd`, which its process had mapped at `address`.
 * `oom_file`: the path in process->oom_file, "" none.
 */
void ep_arena_life(struct ep_arena_file *out, int fd, const struct ep_process *process,
		   uint64_t address, const char *oom_file);

#endif
