/* SPDX-License-Identifier: BSD-2-Clause */
/* steady.h: an arena's bytes out of a process that goes on recording. */
#ifndef EPITAPH_STEADY_H
#define EPITAPH_STEADY_H

#include "coredump/root.h"

/*
 * ep_source_read, of the arena that was found, by ascending addresses. In a
 * running process a block that was entered anew while it was read, or later
 * than the first one was read, is zero in `out`, as if it had never been there;
 * of one that is being written, only the records before the first look's last
 * are taken. So none is missing between two that are there. *until is 0 before
 * the first call for an arena, then left alone (TSC); *done counts as there,
 * and must not be NULL.
 */
int ep_steady_read(struct ep_source *source, const struct ep_root_found *found,
		   uint64_t address, void *out, size_t size, size_t *done,
		   uint64_t *until, struct ep_err *err);

#endif
