/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * target.h: where an output is going to, before anything is written. In a directory like /tmp, in
 * which everybody makes files and nobody removes another's, somebody may have put a link, a FIFO or
 * a file at the name that will be written to: what is neither ours nor the directory's owner's is
 * refused there. The kernel's fs.protected_symlinks, _fifos and _regular (proc(5)) have the same
 * rule, for who opens by that name; we rename over it, and follow links ourselves.
 */
#ifndef EPITAPH_TARGET_H
#define EPITAPH_TARGET_H

#include <limits.h>
#include <sys/types.h>

#include "coredump/util/error.h"

struct ep_target {
	char path[PATH_MAX]; /* symbolic links resolved: to be renamed over */
	int handle;          /* O_PATH of what is there; -1: nothing is */
	mode_t mode;         /* of that; 0: nothing is */
};

/* EP_E_PERMISSION: it was put there by somebody else; EP_E_USAGE: no name; or EP_E_IO. Nothing is
 * open then. */
int ep_target_look(struct ep_target *target, const char *path, struct ep_err *err);
void ep_target_close(struct ep_target *target);

/* A descriptor to write to what is there, which is no regular file: a pipe, a device. -1 and
 * errno. */
int ep_target_open(const struct ep_target *target);

#endif
