/* SPDX-License-Identifier: BSD-2-Clause */
/* crash.c: of /proc, nothing is allocated (relay.h). */
#include "coredump/handler/crash.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/auxvec.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "coredump/files/procfile.h"
#include "coredump/live/living.h"
#include "coredump/util/number.h"

/* ---- the process ---- */

int ep_crash_open(const struct ep_crash *crash, const char *name, int flags)
{
	if (crash->proc < 0) {
		errno = ESRCH;
		return -1;
	}
	return openat(crash->proc, name, flags | O_CLOEXEC);
}

/* ---- is it the one? ---- */

/* Seconds since 1970 when it began: the 22nd field of /proc/PID/stat, clock ticks since the boot
 * (proc_pid_stat(5)). False: not told. */
static bool start_read(const struct ep_crash *crash, uint64_t *start)
{
	struct timespec now, running;
	unsigned long long ticks;
	char line[1024];
	const char *after;

	/* The name, which may hold anything, ends with the last parenthesis. */
	if (!ep_procfile_text_at(crash->proc, "stat", line, sizeof(line)) ||
	    !(after = strrchr(line, ')')) ||
	    sscanf(after + 1,
		   " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d "
		   "%llu",
		   &ticks) != 1)
		return false;
	clock_gettime(CLOCK_REALTIME, &now);
	clock_gettime(CLOCK_BOOTTIME, &running);
	*start = (uint64_t)(now.tv_sec - running.tv_sec) + ticks / (uint64_t)sysconf(_SC_CLK_TCK);
	return true;
}

/* Does the descriptor's process still have that pid? fdinfo tells it in every kernel that has
 * pidfds, as pidfd_open(2) says: -1 when it is gone. */
static bool pidfd_is_of(int pidfd, pid_t pid)
{
	struct ep_procfile file;
	char path[64], *line;
	int told = 0;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pidfd);
	ep_procfile_open(&file, path);
	while ((line = ep_procfile_next(&file, '\n')))
		if (sscanf(line, "Pid: %d", &told) == 1)
			break;
	ep_procfile_close(&file);
	return told == (int)pid;
}

/* ---- the process ---- */

/* "Uid:\t1\t1\t1\t1": real, effective, saved, file system. */
static bool ids_parse(const char *line, const char *name, unsigned ids[4])
{
	size_t length = strlen(name);

	return strncmp(line, name, length) == 0 &&
	       sscanf(line + length, "%u %u %u %u", &ids[0], &ids[1], &ids[2], &ids[3]) == 4;
}

/* Each is followed by a blank: one without was cut, and is another's. */
static void groups_parse(struct ep_credentials *credentials, const char *text)
{
	char *end;

	credentials->group_count = 0;
	while (credentials->group_count < EP_CRASH_GROUPS) {
		unsigned long group = strtoul(text, &end, 10);

		if (end == text || *end != ' ')
			break;
		credentials->groups[credentials->group_count++] = (gid_t)group;
		text = end;
	}
}

/* /proc/PID/status or that of a task: who it is. Also the innermost name of it (*inner, the last
 * number of the line `names`), and whether it is being dumped. */
static bool status_read(const struct ep_crash *crash, const char *name, struct ep_credentials *out,
			const char *names, pid_t *inner, bool *dumping)
{
	struct ep_procfile file;
	unsigned long long capabilities = 0;
	bool users = false, groups = false;
	const char *last;
	char *line;

	ep_procfile_open_at(&file, crash->proc, name);
	while ((line = ep_procfile_next(&file, '\n'))) {
		last = strrchr(line, '\t');
		users |= ids_parse(line, "Uid:", out->uid);
		groups |= ids_parse(line, "Gid:", out->gid);
		if (strncmp(line, "Groups:\t", 8) == 0)
			groups_parse(out, line + 8);
		else if (sscanf(line, "CapEff: %llx", &capabilities) == 1)
			out->capabilities = capabilities;
		else if (strncmp(line, names, strlen(names)) == 0 && last)
			*inner = (pid_t)atoi(last + 1);
		else if (strncmp(line, "CoreDumping:", 12) == 0 && last)
			*dumping = atoi(last + 1) == 1;
	}
	ep_procfile_close(&file);
	return users && groups;
}

static bool is_mixed(const struct ep_credentials *one)
{
	for (int i = 1; i < 4; i++)
		if (one->uid[i] != one->uid[0] || one->gid[i] != one->gid[0])
			return true;
	return false;
}

/* A thread may have others than its process has, by raw system calls. */
static void thread_read(struct ep_crash *crash)
{
	struct ep_credentials own;
	bool dumping = false;
	char path[64];

	memset(&own, 0, sizeof(own));
	snprintf(path, sizeof(path), "task/%d/status", (int)crash->tid);
	if (status_read(crash, path, &own, "NSpid:", &crash->inner_tid, &dumping)) {
		crash->mixed |= is_mixed(&own) || own.uid[0] != crash->credentials.uid[0] ||
				own.gid[0] != crash->credentials.gid[0];
		crash->credentials = own;
		crash->uid = own.uid[0];
		crash->gid = own.gid[0];
	}
	snprintf(path, sizeof(path), "task/%d/comm", (int)crash->tid);
	ep_procfile_text_at(crash->proc, path, crash->comm, sizeof(crash->comm));
}

/* AT_SECURE of the kernel's own auxiliary vector: not of the core, which somebody might have
 * written. */
static bool is_secure(const struct ep_crash *crash)
{
	int fd = ep_crash_open(crash, "auxv", O_RDONLY);
	bool secure = true;
	uint64_t pair[2];

	while (fd >= 0 && read(fd, pair, sizeof(pair)) == sizeof(pair) && pair[0] != AT_NULL)
		if (pair[0] == AT_SECURE)
			secure = pair[1] != 0;
	if (fd >= 0)
		close(fd);
	return secure;
}

/*
 * A user may have as many user ids as he likes in user namespaces of his own: it is he who has to
 * share, by whom the outermost of them is owned (ioctl_nsfs(2)). Those that root makes are told by
 * the process's own user.
 */
static uid_t account_of(struct ep_crash *crash)
{
	int fd = ep_crash_open(crash, "ns/user", O_RDONLY), outer;
	uid_t account = crash->uid, owner;
	struct stat home, there;

	if (stat("/proc/self/ns/user", &home) != 0)
		home.st_ino = 0;
	crash->foreign = fd < 0 || fstat(fd, &there) != 0 || there.st_ino != home.st_ino;
	while (fd >= 0 && fstat(fd, &there) == 0 && there.st_ino != home.st_ino &&
	       ioctl(fd, NS_GET_OWNER_UID, &owner) == 0) {
		account = owner ? owner : crash->uid;
		outer = ioctl(fd, NS_GET_PARENT);
		close(fd);
		fd = outer;
	}
	if (fd >= 0)
		close(fd);
	return account;
}

/* The kernel names the executable as the process does, below its own root. */
static void path_inside(struct ep_crash *crash)
{
	char root[PATH_MAX];
	ssize_t n;

	n = readlinkat(crash->proc, "root", root, sizeof(root) - 1);
	root[n > 0 ? n : 0] = '\0';
	if (n > 1 && strncmp(crash->path, root, (size_t)n) == 0 && crash->path[n] == '/')
		memmove(crash->path, crash->path + n, strlen(crash->path + n) + 1);
}

static void host_take(struct ep_crash *crash)
{
	struct utsname name;

	if (uname(&name) == 0)
		snprintf(crash->host, sizeof(crash->host), "%s", name.nodename);
}

/* As the process calls it, which may be in a UTS namespace of its own. Where it cannot be entered,
 * the host's name stands. */
static void host_read(struct ep_crash *crash)
{
	struct stat own, others;
	int home, there;

	host_take(crash);
	home = open("/proc/self/ns/uts", O_RDONLY | O_CLOEXEC);
	there = ep_crash_open(crash, "ns/uts", O_RDONLY);
	if (home >= 0 && there >= 0 && fstat(home, &own) == 0 && fstat(there, &others) == 0 &&
	    own.st_ino != others.st_ino && setns(there, CLONE_NEWUTS) == 0) {
		host_take(crash);
		setns(home, CLONE_NEWUTS);
	}
	if (home >= 0)
		close(home);
	if (there >= 0)
		close(there);
}

static void names_read(struct ep_crash *crash)
{
	static const char deleted[] = " (deleted)";
	ssize_t n;

	n = readlinkat(crash->proc, "exe", crash->path, sizeof(crash->path) - 1);
	crash->path[n > 0 ? n : 0] = '\0';
	if (n > (ssize_t)strlen(deleted) && strcmp(crash->path + n - strlen(deleted), deleted) == 0)
		crash->path[(size_t)n - strlen(deleted)] = '\0';
	path_inside(crash);
	host_read(crash);
}

/* ---- who dumps ---- */

#define PF_DUMPCORE 0x00000200u /* linux/sched.h, in /proc/PID/stat */

/* Fields of /proc/PID/stat and the like, behind the name, which may hold anything (proc(5)): flags
 * and exit_code. While a process is dumped that is its signal (fs/coredump.c, zap_process; since
 * Linux 5.14 the process's own file has it). */
static bool stat_read(const struct ep_crash *crash, const char *path, unsigned *flags,
		      int *exit_code)
{
	char line[1024], *at;

	ep_procfile_text_at(crash->proc, path, line, sizeof(line));
	at = strrchr(line, ')');
	if (!at || sscanf(at, ") %*c %*d %*d %*d %*d %*d %u", flags) != 1)
		return false;
	at = strrchr(at, ' ');
	*exit_code = at ? atoi(at) : 0;
	return true;
}

/* The thread that the kernel has write the core; 0: none. */
static pid_t dumper_find(const struct ep_crash *crash)
{
	int fd = ep_crash_open(crash, "task", O_RDONLY | O_DIRECTORY);
	DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;
	pid_t found = 0;

	while (folder && !found && (entry = readdir(folder)) != NULL) {
		unsigned flags = 0;
		char path[320];
		int ignored;

		snprintf(path, sizeof(path), "task/%s/stat", entry->d_name);
		if (stat_read(crash, path, &flags, &ignored) && flags & PF_DUMPCORE)
			found = (pid_t)atoi(entry->d_name);
	}
	if (folder)
		closedir(folder);
	return found;
}

/* What a handler's words say and a socket does not. */
static void dumper_read(struct ep_crash *crash)
{
	unsigned flags;
	int exit_code;

	crash->tid = dumper_find(crash);
	if (crash->tid == 0)
		crash->tid = crash->pid;
	if (stat_read(crash, "stat", &flags, &exit_code))
		crash->signal = exit_code & 0x7f;
}

/* ---- before the rest ---- */

void ep_crash_account(struct ep_crash *crash, int pidfd)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", (int)crash->pid);
	crash->account = crash->uid;
	crash->proc = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (crash->proc < 0)
		return;
	ep_procfile_text_at(crash->proc, "comm", crash->comm, sizeof(crash->comm));
	if (pidfd < 0 || pidfd_is_of(pidfd, crash->pid))
		crash->account = account_of(crash);
	ep_crash_close(crash);
}

/* ---- all of it ---- */

void ep_crash_init(struct ep_crash *crash)
{
	struct timespec now;

	memset(crash, 0, sizeof(*crash));
	clock_gettime(CLOCK_REALTIME, &now);
	crash->seen = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	crash->proc = crash->cpu = -1;
	crash->mixed = crash->secure = true;
}

void ep_crash_close(struct ep_crash *crash)
{
	if (crash->proc >= 0)
		close(crash->proc);
	crash->proc = -1;
}

static int not_the_one(struct ep_crash *crash, const char *why, struct ep_err *err)
{
	ep_crash_close(crash);
	return ep_fail(err, EP_END, 0, "pid %d %s: nothing of it is read, only the core goes on",
		       (int)crash->pid, why);
}

int ep_crash_of(struct ep_crash *crash, int pidfd, struct ep_err *err)
{
	struct ep_credentials *own = &crash->credentials;
	struct ep_living living;
	bool dumping = false;
	uint64_t start;

	/* The threads that wait for the dump still have the memory; a main thread that ended
	 * before has none. */
	if (!ep_living_open(&living, crash->pid))
		return not_the_one(crash, "is not there any more", err);
	crash->proc = living.folder;
	if (pidfd >= 0 && !pidfd_is_of(pidfd, crash->pid))
		return not_the_one(crash, "is another process's by now", err);
	if (!status_read(crash, "status", own, "NStgid:", &crash->inner_pid, &dumping) || !dumping)
		return not_the_one(crash, "is not being dumped", err);
	if (!start_read(crash, &start) || start > crash->time + 1)
		return not_the_one(crash, "began after the crash", err);
	crash->uid = own->uid[0];
	crash->gid = own->gid[0];
	crash->mixed = is_mixed(own);
	crash->secure = is_secure(crash);
	if (crash->tid == 0)
		dumper_read(crash);
	thread_read(crash);
	crash->account = account_of(crash);
	names_read(crash);
	return EP_OK;
}

enum { PID, TID, SIGNAL, TIME, DUMPABLE, LIMIT, CPU, USER, GROUP, PIDFD, WORDS };

static int words_parse(uint64_t values[WORDS], char *const *words, int count, struct ep_err *err)
{
	for (int i = 0; i < WORDS; i++) {
		bool wide = i == TIME || i == LIMIT;

		values[i] = UINT64_MAX;
		if (i < count &&
		    !ep_number_parse(words[i], 0,
				     wide                      ? UINT64_MAX
				     : i == USER || i == GROUP ? UINT32_MAX
							       : INT32_MAX,
				     &values[i]) &&
		    i <= DUMPABLE)
			return ep_fail(err, EP_E_USAGE, 0,
				       "\"%s\" is not what the kernel gives a handler", words[i]);
	}
	if (count <= DUMPABLE || values[PID] == 0)
		return ep_fail(err, EP_E_USAGE, 0,
			       "too few words: the kernel gives PID, TID, signal, time, dumpable "
			       "and limit");
	return EP_OK;
}

int ep_crash_read(struct ep_crash *crash, char *const *words, int count, struct ep_err *err)
{
	uint64_t values[WORDS];
	int rc, pidfd = -1;

	ep_crash_init(crash);
	rc = words_parse(values, words, count, err);
	if (rc)
		return rc;
	crash->pid = crash->inner_pid = (pid_t)values[PID];
	crash->tid = crash->inner_tid = (pid_t)values[TID];
	crash->signal = (int)values[SIGNAL];
	crash->time = values[TIME];
	crash->dumpable = (unsigned)values[DUMPABLE];
	crash->limit = values[LIMIT];
	crash->cpu = values[CPU] > INT32_MAX ? -1 : (int)values[CPU];
	crash->uid = crash->account = (uid_t)values[USER];
	crash->gid = (gid_t)values[GROUP];
	if (values[PIDFD] <= INT32_MAX)
		pidfd = (int)values[PIDFD];
	/* The kernel's is for us, not for whom we start. */
	fcntl(pidfd, F_SETFD, FD_CLOEXEC);
	rc = ep_crash_of(crash, pidfd, err);
	if (rc == EP_OK && values[USER] <= UINT32_MAX &&
	    (values[USER] != crash->uid || values[GROUP] != crash->gid))
		rc = not_the_one(crash, "is another user's", err);
	return rc;
}

bool ep_crash_is_users_own(const struct ep_crash *crash)
{
	return crash->proc >= 0 && crash->dumpable == 1 && !crash->mixed && !crash->secure;
}
