/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crash.h: a process that the kernel is dumping, as core_pattern's words name
 * it (core(5)): from the handler's arguments and /proc/PID, which stays until
 * the dump has been read.
 */
#ifndef EPITAPH_CRASH_H
#define EPITAPH_CRASH_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "coredump/source.h"

struct ep_crash {
	pid_t pid, tid;             /* in the initial pid namespace */
	pid_t inner_pid, inner_tid; /* in the process's own */
	uid_t uid;                  /* real */
	gid_t gid;
	int signal;
	uint64_t time;       /* seconds since 1970 */
	uint64_t seen;       /* ns since 1970, when we were told */
	unsigned dumpable;   /* prctl PR_GET_DUMPABLE: 1 the user's, 2 root's */
	uint64_t limit;      /* RLIMIT_CORE, soft: bytes */
	int cpu;             /* -1 unknown */
	char comm[17];       /* of the thread */
	char path[PATH_MAX]; /* of the executable, as its own root has it; ""
				unknown */
	char host[65];
};

/*
 * `words`: %P %I %s %t %d %c %C, in that order; the last two may be missing.
 * EP_E_USAGE: they are not the kernel's; EP_E_IO: there is no such process.
 */
int ep_crash_read(struct ep_crash *crash, char *const *words, int count,
		  struct ep_err *err);

/* The rest, by crash->pid and crash->tid of a process that is there; tid and
 * signal too where the tid is 0. EP_E_IO. */
int ep_crash_of(struct ep_crash *crash, struct ep_err *err);

/*
 * Expands `pattern` as the kernel would: for a file name (slashes in names
 * become !), or one word of a handler's command. EP_E_LIMIT: too long.
 */
int ep_crash_expand(const struct ep_crash *crash, const char *pattern,
		    char *out, size_t size, struct ep_err *err);

/* The pattern has the pid in it. */
bool ep_crash_names_pid(const char *pattern);

#endif
