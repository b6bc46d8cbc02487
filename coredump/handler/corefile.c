/* SPDX-License-Identifier: BSD-2-Clause */
/* corefile.c: whoever resolves a path does so with the crashed thread's rights, and from the root
 * that it had. */
#include "coredump/handler/corefile.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "coredump/handler/core_pattern.h"

#define CORE_MIN 4096 /* bytes of ulimit -c: ELF's min_coredump */
/* linux/sched/coredump.h: SUID_DUMP_ROOT. Its memory is not the user's. */
#define DUMPABLE_ROOT 2
#define FSID          3 /* proc_pid_status(5): the last of the four */

/* ---- rights ---- */

/* Root in a container may have fewer than root. */
static bool capabilities_keep(uint64_t kept)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {0};

	if (syscall(SYS_capget, &head, data) != 0)
		return false;
	for (int i = 0; i < 2; i++) {
		data[i].permitted &= (uint32_t)(kept >> 32 * i);
		data[i].effective = data[i].permitted;
		data[i].inheritable = 0;
	}
	return syscall(SYS_capset, &head, data) == 0;
}

/* A process with the same ones need not be allowed to change them. */
static bool groups_set(const struct ep_credentials *who)
{
	gid_t own[EP_CRASH_GROUPS];
	int count = getgroups(EP_CRASH_GROUPS, own);

	return (count >= 0 && (unsigned)count == who->group_count &&
		memcmp(own, who->groups, (size_t)count * sizeof(*own)) == 0) ||
	       setgroups(who->group_count, who->groups) == 0;
}

/*
 * The file is made by the thread's fsuid and fsgid, its groups and its capabilities; with dumpable
 * 2 by root as to its user id, and nothing more: capabilities stay the thread's. Those of another
 * user namespace are none here.
 */
static bool become(const struct ep_crash *crash)
{
	const struct ep_credentials *who = &crash->credentials;
	uid_t user = crash->dumpable == DUMPABLE_ROOT ? 0 : who->uid[FSID];
	gid_t group = who->gid[FSID];
	uint64_t kept = crash->foreign ? 0 : who->capabilities;

	/* A change of ids forgets whom to die with (prctl(2)); and what he may signal he must not
	 * trace. */
	return groups_set(who) && setresgid(group, group, group) == 0 &&
	       setresuid(user, user, user) == 0 && capabilities_keep(kept) &&
	       prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && prctl(PR_SET_DUMPABLE, 0) == 0;
}

/* ---- the folder ---- */

static int failed(const char *name, const char *what, struct ep_err *err)
{
	return ep_fail(err, errno == EACCES || errno == EPERM ? EP_E_PERMISSION : EP_E_IO, 0,
		       "%s: %s%s%m", name, what, *what ? ": " : "");
}

/* Where names begin: at the process's own root or working directory; with dumpable 2 at the root of
 * all, as a user may choose his own. */
static int base_open(const struct ep_crash *crash, bool absolute)
{
	if (crash->dumpable == DUMPABLE_ROOT)
		return open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return ep_crash_open(crash, absolute ? "root" : "cwd", O_PATH | O_DIRECTORY);
}

/*
 * Links are followed inside of the process's root only, and those of proc(5) not at all: they are
 * ours when we follow them, not the process's. Below a working directory nothing leads out of it.
 */
static int folder_open(int base, const char *name, bool absolute)
{
	struct open_how how = {
		.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_NO_MAGICLINKS | (absolute ? RESOLVE_IN_ROOT : RESOLVE_BENEATH),
	};

	return (int)syscall(SYS_openat2, base, name, &how, sizeof(how));
}

/* ---- the file ---- */

/* A file system, or a mapping of its users, may make another's of it. */
static int file_check(int fd, const char *name, struct ep_err *err)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return failed(name, "", err);
	if (!S_ISREG(st.st_mode) || st.st_nlink != 1)
		return ep_fail(err, EP_E_IO, 0, "%s: not a file that has one name", name);
	if (st.st_uid != geteuid() || (st.st_mode & 0677) != 0600)
		return ep_fail(err, EP_E_IO, 0,
			       "%s: the file system does not keep who owns it and who may read it",
			       name);
	return EP_OK;
}

static int file_make(const struct ep_crash *crash, int folder, const char *name, int *fd,
		     struct ep_err *err)
{
	int rc;

	if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return ep_fail(err, EP_E_IO, 0, "%s: a directory", name);
	/* What lies there may be another user's core, which root would remove. */
	if (crash->dumpable != DUMPABLE_ROOT)
		unlinkat(folder, name, 0);
	*fd = openat(folder, name, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (*fd < 0)
		return failed(name, "", err);
	rc = file_check(*fd, name, err);
	if (rc)
		close(*fd);
	return rc;
}

static int name_open(const struct ep_crash *crash, int base, char *name, int *fd,
		     struct ep_err *err)
{
	bool absolute = *name == '/';
	char *slash = strrchr(name, '/');
	int folder, rc;

	if (!slash)
		return file_make(crash, base, name, fd, err);
	*slash = '\0';
	/* An absolute name inside of a root is one below it. */
	folder = folder_open(base, *name ? name : "/", absolute);
	if (folder < 0 && errno == ENOSYS)
		return ep_fail(
			err, EP_E_VERSION, 0,
			"%s: this kernel cannot keep a path inside of a root (openat2, Linux 5.6)",
			name);
	if (folder < 0)
		return failed(name, "its folder", err);
	rc = file_make(crash, folder, slash + 1, fd, err);
	close(folder);
	return rc;
}

static int name_make(const struct ep_crash *crash, const char *pattern, bool uses_pid,
		     char out[PATH_MAX], struct ep_err *err)
{
	int rc = ep_core_pattern_expand(crash, pattern, out, PATH_MAX, err);
	size_t length;

	if (rc || !uses_pid || ep_core_pattern_has_pid(pattern))
		return rc;
	length = strlen(out);
	if (snprintf(out + length, PATH_MAX - length, ".%d", (int)crash->inner_pid) >=
	    (int)(PATH_MAX - length))
		return ep_fail(err, EP_E_LIMIT, 0, "%.200s…: too long", out);
	return EP_OK;
}

int ep_corefile_open(const struct ep_crash *crash, const char *pattern, bool uses_pid, int *fd,
		     struct ep_err *err)
{
	char name[PATH_MAX];
	int base, rc;

	if (crash->limit < CORE_MIN)
		return EP_END;
	if (crash->dumpable == DUMPABLE_ROOT && *pattern != '/')
		return ep_fail(err, EP_E_PERMISSION, 0,
			       "%s: a program with privileges (dumpable 2) leaves a core at an "
			       "absolute path only",
			       pattern);
	rc = name_make(crash, pattern, uses_pid, name, err);
	if (rc)
		return rc;
	if (crash->proc < 0)
		return ep_fail(err, EP_E_IO, 0, "%s: where it would be is not known any more",
			       name);
	base = base_open(crash, *pattern == '/');
	if (base < 0)
		return failed(name, "its root", err);
	if (become(crash))
		rc = name_open(crash, base, name, fd, err);
	else
		rc = failed(name, "as its user", err);
	close(base);
	return rc;
}
