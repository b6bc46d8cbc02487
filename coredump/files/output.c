/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * output.c: a file that appears whole or not at all. O_TMPFILE where the file system has it: then
 * nothing stays behind when we are killed.
 */
#include "coredump/files/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coredump/files/target.h"

static int failed(const char *path, struct ep_err *err)
{
	return ep_fail(err, errno == EACCES || errno == EPERM ? EP_E_PERMISSION : EP_E_IO, 0,
		       "%s: %m", path);
}

/* ---- names aside ---- */

/* Outputs of this process that have one: exit(3) removes them. A child that was forked meanwhile
 * leaves its parent's alone. */
static struct ep_output *asides;
static pid_t asides_of;

void ep_output_remove_asides(void)
{
	for (; asides && asides_of == getpid(); asides = asides->next)
		if (asides->aside[0])
			unlink(asides->aside);
}

static void aside_note(struct ep_output *output)
{
	static bool registered;

	if (!registered)
		registered = atexit(ep_output_remove_asides) == 0;
	if (asides_of != getpid())
		asides = NULL;
	asides_of = getpid();
	output->next = asides;
	asides = output;
}

/* It has none any more: of that name there is nothing, or another's. */
static void aside_forget(struct ep_output *output)
{
	struct ep_output **at = &asides;

	while (*at && *at != output)
		at = &(*at)->next;
	if (*at)
		*at = output->next;
	output->aside[0] = '\0';
}

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
			       "a snapshot is no text for a terminal: name a file, or redirect");
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
	return output->fd < 0 ? failed(output->path, err) : EP_OK;
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
		return failed(output->path, err);
	length = snprintf(output->aside, sizeof(output->aside), "%s.XXXXXX", output->path);
	if (length >= (int)sizeof(output->aside))
		errno = ENAMETOOLONG;
	else
		output->fd = mkostemp(output->aside, O_CLOEXEC);
	if (output->fd >= 0) {
		aside_note(output);
		return EP_OK;
	}
	output->aside[0] = '\0';
	return failed(output->path, err);
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

/* *mode: of the file that is there, 0: none is. */
static int open_path(struct ep_output *output, const char *path, mode_t *mode, struct ep_err *err)
{
	struct ep_target target;
	int rc = ep_target_look(&target, path, err);

	if (rc)
		return rc;
	*mode = target.mode;
	rc = open_at(output, &target, path, err);
	ep_target_close(&target);
	return rc;
}

int ep_output_open(struct ep_output *output, const char *path, bool force, struct ep_err *err)
{
	mode_t mode;

	*output = (struct ep_output){.fd = -1, .force = force};
	if (is_stdout(path))
		return open_stdout(output, err);
	return open_path(output, path, &mode, err);
}

/* What a new file gets. */
static mode_t mode_usual(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

int ep_output_open_text(struct ep_output *output, const char *path, struct ep_err *err)
{
	mode_t mode;
	int rc;

	*output = (struct ep_output){.fd = -1, .force = true};
	if (is_stdout(path)) {
		output->file = stdout;
		output->direct = true;
		strcpy(output->path, "stdout");
		return EP_OK;
	}
	rc = open_path(output, path, &mode, err);
	if (rc)
		return rc;
	if (output->direct || fchmod(output->fd, mode ? mode & 0777 : mode_usual()) == 0)
		output->file = fdopen(output->fd, "w");
	if (output->file)
		return EP_OK;
	rc = failed(output->path, err);
	ep_output_abandon(output);
	return rc;
}

/* ---- ending ---- */

/* 0, or -1 and errno. */
static int output_close(struct ep_output *output)
{
	int rc = 0;

	if (output->file && output->file != stdout)
		rc = fclose(output->file);
	else if (output->fd >= 0)
		rc = close(output->fd);
	output->fd = -1;
	output->file = NULL;
	return rc;
}

void ep_output_abandon(struct ep_output *output)
{
	output_close(output);
	if (output->aside[0])
		unlink(output->aside);
	aside_forget(output);
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

/* 0, or -1 and errno. That nobody reads stdout any more is no failure. */
static int text_flush(struct ep_output *output)
{
	if (!output->file)
		return 0;
	if (fflush(output->file) != 0 || ferror(output->file))
		return output->file == stdout && errno == EPIPE ? 0 : -1;
	return output->direct ? 0 : fsync(output->fd);
}

int ep_output_commit(struct ep_output *output, struct ep_err *err)
{
	int rc = EP_OK;

	if (text_flush(output) != 0 || (!output->direct && name_settle(output) != 0)) {
		rc = errno == EEXIST
			     ? ep_fail(err, EP_E_USAGE, 0, "%s: exists already", output->path)
			     : failed(output->path, err);
		ep_output_abandon(output);
		return rc;
	}
	aside_forget(output);
	/* Network file systems tell a full disk only now. */
	if (output_close(output) != 0) {
		rc = failed(output->path, err);
		if (!output->direct)
			unlink(output->path);
	}
	return rc;
}

int ep_output_lock(int *lock, const char *path, struct ep_err *err)
{
	struct ep_target target;
	int rc = ep_target_look(&target, path, err), fd;
	char *slash;

	if (rc)
		return rc;
	ep_target_close(&target);
	slash = strrchr(target.path, '/');
	if (slash)
		slash[slash == target.path] = '\0';
	fd = open(slash ? target.path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return failed(path, err);
	while (flock(fd, LOCK_EX))
		if (errno != EINTR) {
			rc = failed(path, err);
			close(fd);
			return rc;
		}
	*lock = fd;
	return EP_OK;
}
