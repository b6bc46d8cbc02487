/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cgroup.h: where the kernel counts the processes that it killed for want of memory, in the
 * caller's memory cgroup: oom_kill of memory.events (version 2) or memory.oom_control (version 1).
 */
#ifndef EPITAPH_CGROUP_H
#define EPITAPH_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/lib/text.h"

/* Puts the file's path into `out` and the count that stands there now into
 * *kills. False: no such file can be read. Uses static memory: one caller at a
 * time. */
bool ep_cgroup_oom_file(struct ep_text *out, uint64_t *kills);

/* The count that stands in such a file now. False: it cannot be read. */
bool ep_cgroup_oom_kills(const char *path, uint64_t *kills);

#endif
