/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * target.c: where an output is going to. Each link is followed by hand, so that its owner is known;
 * the last component of what results is never followed again.
 */
#include "coredump/files/target.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#define LINKS_MAX 40 /* as the kernel's, path_resolution(7) */

static int refused(const char *path, struct ep_err *err)
{
	return ep_fail(err, errno == EACCES || errno == EPERM ? EP_E_PERMISSION : EP_E_IO, 0,
		       "%s: %m", path);
}

/* With its slash; "./" where `path` has none. */
static void directory_of(const char *path, char out[PATH_MAX])
{
	const char *slash = strrchr(path, '/');

	if (slash)
		snprintf(out, PATH_MAX, "%.*s", (int)(slash - path) + 1, path);
	else
		snprintf(out, PATH_MAX, "./");
}

static bool is_planted(const char *directory, const struct stat *st)
{
	struct stat parent;

	return stat(directory, &parent) == 0 && (parent.st_mode & S_ISVTX) &&
	       (parent.st_mode & S_IWOTH) && st->st_uid != geteuid() && st->st_uid != parent.st_uid;
}

static int refuse_planted(const char *path, struct ep_err *err)
{
	return ep_fail(err, EP_E_PERMISSION, 0,
		       "%s: somebody else put it there, in a directory that everybody may write to",
		       path);
}

/* /proc/self/fd/3, which /dev/fd/3 leads to: its text is no name, unless it is a file's. */
static bool is_descriptor(const char *directory, const char *path)
{
	struct statfs fs;
	struct stat st;

	return statfs(directory, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC &&
	       (stat(path, &st) != 0 || !S_ISREG(st.st_mode));
}

/* Replaces the link in `path` by what it says. */
static int follow(char path[PATH_MAX], const char *directory, struct ep_err *err)
{
	char text[PATH_MAX], joined[2 * PATH_MAX];
	ssize_t length = readlink(path, text, sizeof(text) - 1);
	int size;

	if (length < 0)
		return refused(path, err);
	text[length] = '\0';
	size = snprintf(joined, sizeof(joined), "%s%s", *text == '/' ? "" : directory, text);
	if (size >= PATH_MAX)
		return ep_fail(err, EP_E_IO, 0, "%s: %s", path, strerror(ENAMETOOLONG));
	memcpy(path, joined, (size_t)size + 1);
	return EP_OK;
}

/* The links in front of what is there. *through: it is opened by following the last one. */
static int resolve(char path[PATH_MAX], bool *through, struct ep_err *err)
{
	char directory[PATH_MAX];
	struct stat st;
	int rc = EP_OK;

	for (int i = 0; i < LINKS_MAX && rc == EP_OK; i++) {
		if (lstat(path, &st) != 0)
			return EP_OK;
		directory_of(path, directory);
		if (is_planted(directory, &st))
			return refuse_planted(path, err);
		*through = S_ISLNK(st.st_mode) && is_descriptor(directory, path);
		if (*through || !S_ISLNK(st.st_mode))
			return EP_OK;
		rc = follow(path, directory, err);
	}
	return rc ? rc : ep_fail(err, EP_E_IO, 0, "%s: %s", path, strerror(ELOOP));
}

int ep_target_look(struct ep_target *target, const char *path, struct ep_err *err)
{
	bool through = false;
	struct stat st;
	int rc;

	*target = (struct ep_target){.handle = -1};
	if (!*path || strlen(path) >= PATH_MAX)
		return ep_fail(err, EP_E_USAGE, 0, "\"%.100s\": %s", path,
			       *path ? "name too long" : "no file name");
	strcpy(target->path, path);
	rc = resolve(target->path, &through, err);
	if (rc)
		return rc;
	target->handle = open(target->path, O_PATH | O_CLOEXEC | (through ? 0 : O_NOFOLLOW));
	if (target->handle < 0)
		return errno == ENOENT ? EP_OK : refused(target->path, err);
	/* It may be another one by now. */
	if (fstat(target->handle, &st) != 0 || S_ISLNK(st.st_mode)) {
		ep_target_close(target);
		return refuse_planted(target->path, err);
	}
	target->mode = st.st_mode;
	return EP_OK;
}

void ep_target_close(struct ep_target *target)
{
	if (target->handle >= 0)
		close(target->handle);
	target->handle = -1;
}

int ep_target_open(const struct ep_target *target)
{
	char self[64];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", target->handle);
	return open(self, O_WRONLY | O_CLOEXEC | O_NOCTTY);
}
