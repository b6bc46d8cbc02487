/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * regularfile.c: opens a file only after a look at what it is. A descriptor of O_PATH opens
 * nothing; /proc/self/fd is the way from it to the same file, whatever became of its name
 * meanwhile. No open() here, which is ours (elffile.c) and asks for these.
 */
#include "coredump/files/regularfile.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HANDLE   (O_PATH | O_CLOEXEC)
#define READ     (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
#define CONFIGFS 0x62656570 /* fs/configfs/mount.c; no header has it */

enum allowed { FILES, FILES_AND_CGROUPS };

/* File systems whose regular files are the kernel's doors, and automounts that nobody has mounted
 * yet. */
static bool is_of_kernel(int handle, enum allowed allowed)
{
	static const uint32_t kinds[] = {
		PROC_SUPER_MAGIC, SYSFS_MAGIC,          DEBUGFS_MAGIC,      TRACEFS_MAGIC,
		SECURITYFS_MAGIC, BPF_FS_MAGIC,         DEVPTS_SUPER_MAGIC, EFIVARFS_MAGIC,
		PSTOREFS_MAGIC,   NSFS_MAGIC,           BINFMTFS_MAGIC,     SELINUX_MAGIC,
		SMACK_MAGIC,      RDTGROUP_SUPER_MAGIC, AUTOFS_SUPER_MAGIC, CONFIGFS,
	};
	struct statfs fs;

	if (fstatfs(handle, &fs) != 0)
		return true;
	if (fs.f_type == CGROUP_SUPER_MAGIC || fs.f_type == CGROUP2_SUPER_MAGIC)
		return allowed != FILES_AND_CGROUPS;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if ((uint32_t)fs.f_type == kinds[i])
			return true;
	return false;
}

/* Takes over `handle`, which is -1 after a failure. */
static int open_regular(int handle, enum allowed allowed)
{
	int fd = -1, error = EINVAL;
	struct stat st;
	char self[64];

	if (handle < 0)
		return -1;
	if (fstat(handle, &st) == 0 && S_ISREG(st.st_mode) && !is_of_kernel(handle, allowed)) {
		snprintf(self, sizeof(self), "/proc/self/fd/%d", handle);
		fd = openat(AT_FDCWD, self, READ);
		/* Without /proc there is no way that is safe. */
		error = errno == ENOENT ? EOPNOTSUPP : errno;
	}
	close(handle);
	errno = error;
	return fd;
}

int ep_regular_file_open(const char *path)
{
	return open_regular(openat(AT_FDCWD, path, HANDLE), FILES);
}

int ep_cgroup_file_open(const char *path)
{
	return open_regular(openat(AT_FDCWD, path, HANDLE), FILES_AND_CGROUPS);
}

/* ---- what root and the reader own ---- */

#define LINKS_MAX 40 /* as the kernel's own limit (path_resolution(7)) */

/* 0: root or the reader chose what this is; else an errno. */
static int judge_owner(int handle, const struct stat *st)
{
	if (st->st_uid != 0 && st->st_uid != geteuid())
		return EPERM;
	if (S_ISDIR(st->st_mode) && (st->st_mode & S_IWOTH) && !(st->st_mode & S_ISVTX))
		return EPERM;
	return is_of_kernel(handle, FILES) ? EPERM : 0;
}

int ep_regular_file_open_owned(const char *path)
{
	int at = open("/", HANDLE), links = 0, error = strlen(path) < PATH_MAX ? 0 : ENAMETOOLONG;
	char left[PATH_MAX], target[PATH_MAX], name[NAME_MAX + 1];
	struct stat st;

	if (!error)
		strcpy(left, path);
	while (!error) {
		const char *step = left + strspn(left, "/"), *rest = step + strcspn(step, "/");
		ssize_t size;
		int next;

		if (step == rest)
			return open_regular(at, FILES);
		error = ENAMETOOLONG;
		if ((size_t)(rest - step) >= sizeof(name))
			break;
		memcpy(name, step, (size_t)(rest - step));
		name[rest - step] = '\0';
		next = openat(at, name, HANDLE | O_NOFOLLOW);
		error = next < 0 || fstat(next, &st) != 0 ? errno : judge_owner(next, &st);
		if (error) {
			close(next);
		} else if (!S_ISLNK(st.st_mode)) {
			close(at);
			at = next;
			memmove(left, rest, strlen(rest) + 1);
		} else {
			/* Its text takes the place of its name; what begins with / begins at the
			 * root. */
			size = readlinkat(next, "", target, sizeof(target) - 1);
			close(next);
			if (size <= 0 || ++links > LINKS_MAX)
				error = size <= 0 ? ENOENT : ELOOP;
			else if ((size_t)size + strlen(rest) >= sizeof(target))
				error = ENAMETOOLONG;
			else
				strcpy(target + size, rest);
			strcpy(left, error ? "" : target);
			if (left[0] == '/') {
				close(at);
				at = open("/", HANDLE);
			}
		}
	}
	close(at);
	errno = error;
	return -1;
}

/* ---- below a directory ---- */

/* Each component by itself, none of them a link. */
static int walk(int folder, const char *path)
{
	int at = fcntl(folder, F_DUPFD_CLOEXEC, 3);

	while (at >= 0 && *path) {
		char name[NAME_MAX + 1];
		size_t length = strcspn(path, "/");
		int next = -1, error = ENAMETOOLONG;

		if (length && length < sizeof(name)) {
			memcpy(name, path, length);
			name[length] = '\0';
			error = EXDEV;
			if (strcmp(name, "..") != 0) {
				next = openat(at, name, HANDLE | O_NOFOLLOW);
				error = errno;
			}
			close(at);
			at = next;
			errno = error;
		} else if (length) {
			close(at);
			errno = error;
			return -1;
		}
		path += length + (path[length] == '/');
	}
	return at;
}

int ep_regular_file_open_below(int folder, const char *path)
{
	struct open_how how = {
		.flags = HANDLE,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
	};
	int handle;

	if (*path == '/') {
		errno = EXDEV;
		return -1;
	}
	handle = (int)syscall(SYS_openat2, folder, path, &how, sizeof(how));
	/* EPERM: the filters of older containers. */
	if (handle < 0 && (errno == ENOSYS || errno == EPERM))
		handle = walk(folder, path);
	return open_regular(handle, FILES);
}
