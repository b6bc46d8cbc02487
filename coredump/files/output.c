/* SPDX-License-Identifier: BSD-2-Clause */
/* output.c: see output.h. O_TMPFILE where the file system has it: then nothing stays behind when we
 * are killed. */
#include "coredump/files/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coredump/files/target.h"

/* ---- opening ---- */

static bool is_stdout(const char *path)
{
	return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0 ||
	       strcmp(path, "/proc/self/fd/1") == 0 || strcmp(path, "/dev/fd/1") == 0;
}

static int open_stdout(struct ep_output *output, struct ep_err *err)
{
	if (isatty(STDOUT_FILENO))
		return ep_fail(err, EP_E_USAGE, 0,
			       "a snapshot is no text for a terminal: name a "
			       "file, or redirect");
	output->fd = dup(STDOUT_FILENO);
	output->direct = true;
	snprintf(output->path, sizeof(output->path), "stdout");
	if (output->fd < 0)
		return ep_fail(err, EP_E_IO, 0, "stdout: %m");
	return EP_OK;
}

static int open_direct(struct ep_output *output, const struct ep_target *target, struct ep_err *err)
{
	output->direct = true;
	output->fd = ep_target_open(target);
	if (output->fd < 0)
		return ep_fail(err, EP_E_IO, 0, "%s: %m", output->path);
	return EP_OK;
}

static void directory_of(const char *path, char *out, size_t size)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		snprintf(out, size, ".");
	else
		snprintf(out, size, "%.*s/", (int)(slash - path), path);
}

static int open_aside(struct ep_output *output, struct ep_err *err)
{
	char directory[PATH_MAX];
	int length;

	directory_of(output->path, directory, sizeof(directory));
	output->fd = open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	if (output->fd >= 0)
		return EP_OK;
	if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
		return ep_fail(err, errno == EACCES || errno == EPERM ? EP_E_PERMISSION : EP_E_IO,
			       0, "%s: %m", output->path);
	length = snprintf(output->aside, sizeof(output->aside), "%s.XXXXXX", output->path);
	if (length >= (int)sizeof(output->aside))
		output->aside[0] = '\0', errno = ENAMETOOLONG;
	else
		output->fd = mkostemp(output->aside, O_CLOEXEC);
	if (output->fd >= 0)
		return EP_OK;
	output->aside[0] = '\0';
	return ep_fail(err, EP_E_IO, 0, "%s: %m", output->path);
}

/* Over a symbolic link: what it points to is replaced, the link stays. */
static int open_at(struct ep_output *output, const struct ep_target *target, const char *path,
		   struct ep_err *err)
{
	struct stat st;

	strcpy(output->path, target->path);
	if (S_ISDIR(target->mode))
		return ep_fail(err, EP_E_USAGE, 0, "%s: a directory", path);
	if (target->mode && !S_ISREG(target->mode))
		return open_direct(output, target, err);
	if (!output->force && lstat(path, &st) == 0)
		return ep_fail(err, EP_E_USAGE, 0, "%s: exists already", path);
	return open_aside(output, err);
}

int ep_output_open(struct ep_output *output, const char *path, bool force, struct ep_err *err)
{
	struct ep_target target;
	int rc;

	memset(output, 0, sizeof(*output));
	output->fd = -1;
	output->force = force;
	if (is_stdout(path))
		return open_stdout(output, err);
	rc = ep_target_look(&target, path, err);
	if (rc)
		return rc;
	rc = open_at(output, &target, path, err);
	ep_target_close(&target);
	return rc;
}

/* ---- ending ---- */

void ep_output_abandon(struct ep_output *output)
{
	if (output->fd >= 0)
		close(output->fd);
	if (output->aside[0])
		unlink(output->aside);
	output->fd = -1;
	output->aside[0] = '\0';
}

/* A nameless file gets one: linkat never writes over a file. */
static int name_give(struct ep_output *output, const char *name)
{
	char self[64];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", output->fd);
	return linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

static int name_aside(struct ep_output *output)
{
	for (int i = 0; i < 100; i++) {
		int length = snprintf(output->aside, sizeof(output->aside), "%s.%d.%d",
				      output->path, (int)getpid(), i);

		if (length >= (int)sizeof(output->aside)) {
			errno = ENAMETOOLONG;
			break;
		}
		if (name_give(output, output->aside) == 0)
			return 0;
		if (errno != EEXIST)
			break;
	}
	output->aside[0] = '\0';
	return -1;
}

static int name_settle(struct ep_output *output)
{
	if (!output->force && !output->aside[0])
		return name_give(output, output->path);
	if (!output->aside[0] && name_aside(output) != 0)
		return -1;
	if (output->force)
		return rename(output->aside, output->path);
	if (renameat2(AT_FDCWD, output->aside, AT_FDCWD, output->path, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	/* A file system without it: a link refuses just the same. */
	if (link(output->aside, output->path) != 0)
		return -1;
	return unlink(output->aside);
}

int ep_output_commit(struct ep_output *output, struct ep_err *err)
{
	int rc = EP_OK;

	if (!output->direct && name_settle(output) != 0) {
		rc = errno == EEXIST
			     ? ep_fail(err, EP_E_USAGE, 0, "%s: exists already", output->path)
			     : ep_fail(err, EP_E_IO, 0, "%s: %m", output->path);
		ep_output_abandon(output);
		return rc;
	}
	output->aside[0] = '\0';
	/* Network file systems tell a full disk only now. */
	if (close(output->fd) != 0) {
		rc = ep_fail(err, EP_E_IO, 0, "%s: %m", output->path);
		if (!output->direct)
			unlink(output->path);
	}
	output->fd = -1;
	return rc;
}
