/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crash.h: a process that the kernel is dumping, as core_pattern's words name it (core(5)): from
 * the handler's arguments and /proc/PID, which stays until the dump has been read.
 *
 * A pid may be another's by the time that it is looked at: all is read through one descriptor of
 * /proc/PID, which stays the same process's, and nothing of one that the kernel does not dump.
 */
#ifndef EPITAPH_CRASH_H
#define EPITAPH_CRASH_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "coredump/memory/source.h"

#define EP_CRASH_GROUPS 256 /* supplementary ones; more are not used */

/* Of a thread, as we number users: proc_pid_status(5). */
struct ep_credentials {
	uid_t uid[4]; /* real, effective, saved, file system */
	gid_t gid[4];
	gid_t groups[EP_CRASH_GROUPS];
	unsigned group_count;
	uint64_t capabilities; /* effective, in its own user namespace */
};

struct ep_crash {
	pid_t pid, tid;             /* in the initial pid namespace */
	pid_t inner_pid, inner_tid; /* in the process's own */
	uid_t uid;                  /* real */
	gid_t gid;
	uid_t account; /* who is answerable for it: uid, but of a process in a user namespace
			  whoever made that */
	int signal;
	uint64_t time;       /* seconds since 1970 */
	uint64_t seen;       /* ns since 1970, when we were told */
	unsigned dumpable;   /* prctl PR_GET_DUMPABLE: 1 the user's, 2 root's */
	uint64_t limit;      /* RLIMIT_CORE, soft: bytes */
	int cpu;             /* -1 unknown */
	char comm[17];       /* of the thread */
	char path[PATH_MAX]; /* of the executable, as its own root has it; "" unknown */
	char host[65];
	int proc;     /* /proc/PID, or that of a thread of it that has not ended (live/living.h),
			 ep_crash_close; -1: there is no such process any more, and only what words
			 said is known */
	bool foreign; /* in another user namespace than we are */
	bool mixed;   /* not all of its users, or groups, are the same one */
	bool secure;  /* it was started with privileges (AT_SECURE), or that is not known */
	struct ep_credentials credentials; /* of the thread */
};

/*
 * `words`: %P %I %s %t %d %c %C %u %g %F, in that order; those behind %d may be missing or empty.
 * EP_E_USAGE: they are not the kernel's; EP_END: the kernel does not dump a process of that pid,
 * which began before and is that user's. Then only the words are known, and crash->proc is -1.
 */
int ep_crash_read(struct ep_crash *crash, char *const *words, int count, struct ep_err *err);

/*
 * The rest, by crash->pid and crash->tid (0: found, as the signal is), and `pidfd` (-1: unknown),
 * which says that the pid is still the same process's. EP_END as above.
 */
int ep_crash_of(struct ep_crash *crash, int pidfd, struct ep_err *err);

/*
 * Sets crash->account, the user to whom the crash is charged, from crash->pid and crash->uid alone:
 * before the rest is read, and without waiting for anybody. `pidfd` as above. What the process
 * cannot tell is left as it is.
 */
void ep_crash_account(struct ep_crash *crash, int pidfd);

/* A crash of which nothing is known. */
void ep_crash_init(struct ep_crash *crash);
void ep_crash_close(struct ep_crash *crash);

/*
 * May the crashed user read the process's memory? Only if nobody else's privileges ever touched it:
 * it was dumpable for its user, all its user and group ids are the same, and it was not started
 * with more (setuid, file capabilities), as AT_SECURE says.
 */
bool ep_crash_is_users_own(const struct ep_crash *crash);

/* A file of the process: /proc/PID/NAME; -1 and errno. */
int ep_crash_open(const struct ep_crash *crash, const char *name, int flags);

#endif
