/* SPDX-License-Identifier: BSD-2-Clause */
/* live.h: files of /proc/PID, for whoever describes a running process. */
#ifndef EPITAPH_LIVE_H
#define EPITAPH_LIVE_H

#include <stddef.h>
#include <sys/types.h>

/* All of /proc/PID/NAME; *out is NUL-terminated beyond *size, to be freed. 0, or a negative
 * errno. */
int ep_proc_read(pid_t pid, const char *name, char **out, size_t *size);

#endif
