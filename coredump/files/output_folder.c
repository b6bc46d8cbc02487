/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * output_folder.c: files first, then the folder aside that they are linked into, then its name, by
 * one rename. A folder that it replaces changes places with it, and is emptied afterwards: of what
 * is known to be ours, file by file.
 */
#include "coredump/files/output_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coredump/files/target.h"

static int failed(const char *path, struct ep_err *err)
{
	return ep_fail(err, errno == EACCES || errno == EPERM ? EP_E_PERMISSION : EP_E_IO, 0,
		       "%s: %m", path);
}

/* ---- a folder aside, and the end of the process ---- */

/* The one that has a name aside; removed by exit(3). A child that was forked meanwhile
 * leaves its parent's alone. */
static struct ep_output_folder *unfinished;
static pid_t unfinished_of;

/* Also in a handler of signals: system calls alone. */
static void aside_remove(struct ep_output_folder *folder)
{
	int directory = open(folder->aside, O_PATH | O_DIRECTORY | O_CLOEXEC);

	for (size_t i = 0; directory >= 0 && i < folder->file_count; i++)
		unlinkat(directory, folder->files[i].name, 0);
	if (directory >= 0)
		close(directory);
	rmdir(folder->aside);
}

void ep_output_folder_remove_aside(void)
{
	if (unfinished && unfinished_of == getpid())
		aside_remove(unfinished);
	unfinished = NULL;
}

/* Makes it. 0, or -1 and errno. */
static int aside_make(struct ep_output_folder *folder)
{
	static bool registered;
	char name[PATH_MAX];
	int length = snprintf(name, sizeof(name), "%s.XXXXXX", folder->path);

	if (length >= (int)sizeof(name)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if (!registered)
		registered = atexit(ep_output_folder_remove_aside) == 0;
	if (!mkdtemp(name))
		return -1;
	strcpy(folder->aside, name);
	unfinished = folder;
	unfinished_of = getpid();
	return 0;
}

static void aside_forget(struct ep_output_folder *folder)
{
	if (unfinished == folder)
		unfinished = NULL;
	folder->aside[0] = '\0';
}

/* ---- what is there ---- */

/* A file of a name that is ours: it may go. */
static bool is_ours(const struct ep_output_folder *folder, int directory, const char *name)
{
	struct stat st;

	return folder->ours(name) && fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       !S_ISDIR(st.st_mode);
}

/* Nothing, or only what may go. */
static int look_inside(const struct ep_output_folder *folder, struct ep_err *err)
{
	DIR *directory = opendir(folder->path);
	struct dirent *entry;
	int rc = EP_OK;

	if (!directory)
		return failed(folder->path, err);
	while (rc != EP_E_USAGE && (entry = readdir(directory))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		rc = EP_END;
		if (!is_ours(folder, dirfd(directory), entry->d_name))
			rc = ep_fail(err, EP_E_USAGE, 0,
				     "%s: a folder with other files in it (%.100s): name a new one",
				     folder->path, entry->d_name);
	}
	closedir(directory);
	if (rc == EP_END && !folder->replace)
		return ep_fail(err, EP_E_USAGE, 0,
			       "%s: exists already; --overwrite replaces the tables in it",
			       folder->path);
	return rc == EP_END ? EP_OK : rc;
}

static int look(struct ep_output_folder *folder, const char *path, struct ep_err *err)
{
	char plain[PATH_MAX];
	struct ep_target target;
	size_t length = strlen(path);
	int rc;

	while (length > 1 && path[length - 1] == '/')
		length--;
	if (length >= sizeof(plain))
		return ep_fail(err, EP_E_USAGE, 0, "\"%.100s\": name too long", path);
	snprintf(plain, sizeof(plain), "%.*s", (int)length, path);
	rc = ep_target_look(&target, plain, err);
	if (rc)
		return rc;
	strcpy(folder->path, target.path);
	ep_target_close(&target);
	if (!target.mode)
		return EP_OK;
	if (!S_ISDIR(target.mode))
		return ep_fail(err, EP_E_USAGE, 0, "%s: exists already, and is no folder", path);
	return look_inside(folder, err);
}

/* ---- opening ---- */

static void parent_of(const char *path, char out[PATH_MAX])
{
	const char *slash = strrchr(path, '/');

	if (slash)
		snprintf(out, PATH_MAX, "%.*s", (int)(slash - path) + 1, path);
	else
		snprintf(out, PATH_MAX, ".");
}

static int open_nameless(const struct ep_output_folder *folder)
{
	char parent[PATH_MAX];

	parent_of(folder->path, parent);
	return open(parent, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
}

int ep_output_folder_open(struct ep_output_folder *folder, const char *path, bool replace,
			  bool (*ours)(const char *name), struct ep_err *err)
{
	const char *last = strrchr(path, '/');
	int rc, fd;

	*folder = (struct ep_output_folder){.replace = replace, .ours = ours};
	last = last ? last + 1 : path;
	/* They cannot be renamed over. */
	if (strcmp(last, ".") == 0 || strcmp(last, "..") == 0)
		return ep_fail(err, EP_E_USAGE, 0, "%s: name a folder that is to be made", path);
	rc = look(folder, path, err);
	if (rc)
		return rc;
	fd = open_nameless(folder);
	folder->nameless = fd >= 0;
	if (fd >= 0)
		close(fd);
	else if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)
		return failed(folder->path, err);
	else if (aside_make(folder) != 0)
		return failed(folder->path, err);
	return EP_OK;
}

/* In the folder aside. */
static int open_named(const struct ep_output_folder *folder, const char *name)
{
	int directory = open(folder->aside, O_PATH | O_DIRECTORY | O_CLOEXEC), fd, reason;

	if (directory < 0)
		return -1;
	fd = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	reason = errno;
	close(directory);
	errno = reason;
	return fd;
}

int ep_output_folder_add(struct ep_output_folder *folder, const char *name, int *fd,
			 struct ep_err *err)
{
	struct ep_output_folder_file *file = &folder->files[folder->file_count];

	if (folder->file_count == EP_OUTPUT_FOLDER_FILES)
		return ep_fail(err, EP_E_LIMIT, 0, "%s: too many files", folder->path);
	snprintf(file->name, sizeof(file->name), "%s", name);
	/* A signal may come behind its making. */
	folder->file_count++;
	file->fd = folder->nameless ? open_nameless(folder) : open_named(folder, name);
	if (file->fd < 0) {
		folder->file_count--;
		return failed(folder->path, err);
	}
	*fd = file->fd;
	return EP_OK;
}

/* ---- ending ---- */

static int link_all(const struct ep_output_folder *folder)
{
	int directory = open(folder->aside, O_PATH | O_DIRECTORY | O_CLOEXEC), rc = 0, reason;

	if (directory < 0)
		return -1;
	for (size_t i = 0; rc == 0 && i < folder->file_count; i++) {
		char self[64];

		snprintf(self, sizeof(self), "/proc/self/fd/%d", folder->files[i].fd);
		rc = linkat(AT_FDCWD, self, directory, folder->files[i].name, AT_SYMLINK_FOLLOW);
	}
	reason = errno;
	close(directory);
	errno = reason;
	return rc;
}

/* Network file systems tell a full disk only now. */
static int close_all(struct ep_output_folder *folder)
{
	int reason = 0;

	for (size_t i = 0; i < folder->file_count; i++)
		if (close(folder->files[i].fd) != 0)
			reason = errno;
	folder->file_count = 0;
	errno = reason;
	return reason ? -1 : 0;
}

/* The folder that was there before, by the name that is left for it. */
static void remove_old(const struct ep_output_folder *folder, const char *path)
{
	DIR *directory = opendir(path);
	struct dirent *entry;

	while (directory && (entry = readdir(directory)))
		if (folder->ours(entry->d_name))
			unlinkat(dirfd(directory), entry->d_name, 0);
	if (directory)
		closedir(directory);
	rmdir(path);
}

/* In one step: at no moment is neither there. */
static int swap(struct ep_output_folder *folder)
{
	if (renameat2(AT_FDCWD, folder->aside, AT_FDCWD, folder->path, RENAME_EXCHANGE) != 0)
		return -1;
	remove_old(folder, folder->aside);
	return 0;
}

/* Over an empty folder, or none, a rename does it. */
static int name_settle(struct ep_output_folder *folder)
{
	if (rename(folder->aside, folder->path) == 0)
		return 0;
	if (!folder->replace || (errno != ENOTEMPTY && errno != EEXIST))
		return -1;
	/* It may have changed. */
	if (look_inside(folder, NULL) != EP_OK) {
		errno = EEXIST;
		return -1;
	}
	return swap(folder);
}

static int settle(struct ep_output_folder *folder)
{
	if (folder->nameless && (aside_make(folder) != 0 || link_all(folder) != 0))
		return -1;
	return name_settle(folder);
}

int ep_output_folder_commit(struct ep_output_folder *folder, struct ep_err *err)
{
	sigset_t all, before;
	int rc = EP_OK;

	/* From here on it is a matter of milliseconds. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	if (settle(folder) != 0) {
		rc = errno == EINVAL && folder->replace
			     ? ep_fail(err, EP_E_IO, 0,
				       "%s: this file system cannot replace a folder: remove it "
				       "first",
				       folder->path)
			     : failed(folder->path, err);
		ep_output_folder_abandon(folder);
	} else {
		aside_forget(folder);
		if (close_all(folder) != 0)
			rc = failed(folder->path, err);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return rc;
}

void ep_output_folder_abandon(struct ep_output_folder *folder)
{
	if (folder->aside[0])
		aside_remove(folder);
	aside_forget(folder);
	close_all(folder);
}
