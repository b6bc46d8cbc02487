/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arena_file.h: the file of EPITAPH_FILE as a source: an arena as it lay in memory, and the
 * question whether its process still runs. It has neither registers nor stacks; its threads are
 * those of the arena's table.
 */
#ifndef EPITAPH_ARENA_FILE_H
#define EPITAPH_ARENA_FILE_H

#include "coredump/memory/source.h"
#include "runtime/format.h"

enum ep_life {
	EP_LIFE_UNKNOWN,
	EP_LIFE_RUNS,
	EP_LIFE_ENDED,
};

struct ep_arena_file {
	enum ep_life life;
	char how[160];      /* how that is known; for people */
	bool oom_known;     /* the kernel's count could be read */
	uint64_t oom_kills; /* processes of its memory cgroup that the kernel killed since it
			       started */
};

/* As ep_source_open. A process that still runs goes on while it is read. */
int ep_source_open_arena(struct ep_source **out, const char *path, struct ep_err *err);

/* NULL: it is another kind of source. Borrowed. */
const struct ep_arena_file *ep_source_arena_file(const struct ep_source *source);

#endif
