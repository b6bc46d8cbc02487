/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * confine.h: a process gives up, for good, all but its memory and the descriptors that it has open:
 * for what reads bytes that a stranger made, with code of the size of an ELF library. What it may
 * still do is read, write, seek, map memory that is not executable, and end.
 */
#ifndef EPITAPH_CONFINE_H
#define EPITAPH_CONFINE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "coredump/util/error.h"

/* Who it becomes where the crashed user is root, or nobody here. */
#define EP_NOBODY 65534u

struct ep_confinement {
	uid_t uid; /* of whom it takes the rights, when it is root */
	gid_t gid;
	uint64_t memory;  /* RLIMIT_AS, bytes */
	uint64_t file;    /* RLIMIT_FSIZE, bytes */
	unsigned seconds; /* RLIMIT_CPU */
};

/* Closes every descriptor but those, and fills 0, 1 and 2 with /dev/null. `keep` ascends when it
 * returns. */
void ep_confine_descriptors(int *keep, size_t count);

/*
 * In this order: limits, groups and ids, capabilities; it can be neither traced nor dumped
 * (PR_SET_DUMPABLE), and dies with its parent; no_new_privs, the filter. A system call that names a
 * file answers EACCES, any other that is not in the list kills the process with SIGSYS.
 * EP_E_PERMISSION: one of it could not be done; the caller is to end.
 */
int ep_confine(const struct ep_confinement *confinement, struct ep_err *err);

#endif
