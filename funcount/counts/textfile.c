/* SPDX-License-Identifier: BSD-2-Clause */
/* textfile.c: see textfile.h. */
#include "funcount/counts/textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
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

/* The mode of the file that is replaced, or what a new one gets. */
static mode_t mode_for(const struct ep_target *target)
{
	mode_t mask;

	if (target->mode)
		return target->mode & 0777;
	mask = umask(0);
	umask(mask);
	return 0666 & ~mask;
}

static int open_aside(struct ep_textfile *out, const struct ep_target *target, struct ep_err *err)
{
	int length = snprintf(out->aside, sizeof(out->aside), "%s.XXXXXX", out->path), fd;

	if (length >= (int)sizeof(out->aside)) {
		out->aside[0] = '\0';
		return ep_fail(err, EP_E_USAGE, 0, "%.100s: name too long", out->path);
	}
	fd = mkostemp(out->aside, O_CLOEXEC);
	if (fd < 0) {
		out->aside[0] = '\0';
		return failed(out->path, err);
	}
	if (fchmod(fd, mode_for(target)) == 0)
		out->file = fdopen(fd, "w");
	if (out->file)
		return EP_OK;
	close(fd);
	unlink(out->aside);
	return failed(out->path, err);
}

static int open_direct(struct ep_textfile *out, const struct ep_target *target, struct ep_err *err)
{
	int fd = ep_target_open(target);

	out->file = fd < 0 ? NULL : fdopen(fd, "w");
	return out->file ? EP_OK : failed(out->path, err);
}

int ep_textfile_open(struct ep_textfile *out, const char *path, struct ep_err *err)
{
	struct ep_target target;
	int rc;

	*out = (struct ep_textfile){0};
	if (!strcmp(path, "-")) {
		out->file = stdout;
		snprintf(out->path, sizeof(out->path), "stdout");
		return EP_OK;
	}
	rc = ep_target_look(&target, path, err);
	if (rc)
		return rc;
	strcpy(out->path, target.path);
	rc = target.mode && !S_ISREG(target.mode) ? open_direct(out, &target, err)
						  : open_aside(out, &target, err);
	ep_target_close(&target);
	return rc;
}

int ep_textfile_commit(struct ep_textfile *out, struct ep_err *err)
{
	bool whole = fflush(out->file) == 0 && !ferror(out->file);

	if (out->file == stdout)
		return whole || errno == EPIPE ? EP_OK : failed(out->path, err);
	if (out->aside[0] && whole)
		whole = fsync(fileno(out->file)) == 0;
	if (whole && out->aside[0])
		whole = rename(out->aside, out->path) == 0;
	if (!whole) {
		int rc = failed(out->path, err);

		ep_textfile_abandon(out);
		return rc;
	}
	out->aside[0] = '\0';
	ep_textfile_abandon(out);
	return EP_OK;
}

void ep_textfile_abandon(struct ep_textfile *out)
{
	if (out->file && out->file != stdout)
		fclose(out->file);
	if (out->aside[0])
		unlink(out->aside);
	*out = (struct ep_textfile){0};
}

int ep_textfile_lock(int *lock, const char *path, struct ep_err *err)
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
