/* SPDX-License-Identifier: BSD-2-Clause */
/* embedded.c: which sources an export may hold, and their texts. */
#include "decoder/names/embedded.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coredump/files/regularfile.h"
#include "coredump/util/alloc.h"
#include "coredump/util/readfile.h"

#define SOURCE_MAX (8 << 20) /* bytes: more is no source that one reads */
#define NAMES      3

/* ---- directories ---- */

static void folder_deinit(struct ep_embedded_folder *folder)
{
	if (folder->fd >= 0)
		close(folder->fd);
	for (size_t i = 0; i < NAMES; i++)
		free(folder->names[i]);
}

static void cut_slashes(char *path)
{
	size_t length = strlen(path);

	while (length && path[length - 1] == '/')
		path[--length] = '\0';
}

static char *absolute(const char *path)
{
	char *here, *joined;

	if (*path == '/')
		return ep_strdup(path);
	while (strncmp(path, "./", 2) == 0)
		path += 2;
	if (strcmp(path, ".") == 0)
		path = "";
	here = get_current_dir_name(); /* as compilers write it down */
	joined = here ? ep_asprintf("%s/%s", here, path) : NULL;
	free(here);
	return joined;
}

/* 0, or an errno. */
static int folder_open(struct ep_embedded_folder *folder, const char *path)
{
	folder->fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (folder->fd < 0)
		return errno;
	folder->names[0] = ep_strdup(path);
	folder->names[1] = absolute(path);
	folder->names[2] = realpath(path, NULL);
	for (size_t i = 0; i < NAMES; i++) {
		if (!folder->names[i])
			return errno;
		cut_slashes(folder->names[i]);
	}
	return 0;
}

int ep_embedded_add(struct ep_embedded *embedded, const char *directory, struct ep_err *err)
{
	struct ep_embedded_folder folder = {.fd = -1};
	int error = folder_open(&folder, directory);

	if (error) {
		folder_deinit(&folder);
		return ep_fail(err, EP_E_IO, 0, "%s: %s", directory, strerror(error));
	}
	ep_array_push(&embedded->folders, folder);
	return EP_OK;
}

void ep_embedded_deinit(struct ep_embedded *embedded)
{
	for (size_t i = 0; i < embedded->folders.count; i++)
		folder_deinit(&embedded->folders.list[i]);
	for (size_t i = 0; i < embedded->files.count; i++)
		free(embedded->files.list[i]);
	ep_array_deinit(&embedded->folders);
	ep_array_deinit(&embedded->files);
}

/* ---- files ---- */

/* What of `path` comes below the directory called `name`; NULL: nothing. */
static const char *below(const char *path, const char *name)
{
	size_t length = strlen(name);

	if (strncmp(path, name, length) != 0 || path[length] != '/')
		return NULL;
	path += length;
	return path + strspn(path, "/");
}

static bool has_hidden_part(const char *path)
{
	return *path == '.' || strstr(path, "/.");
}

static int folder_find(const struct ep_embedded_folder *folder, const char *path)
{
	const char *rest = *path == '/' ? NULL : path;

	for (size_t i = 0; i < NAMES; i++) {
		const char *within = below(path, folder->names[i]);

		if (within)
			rest = within;
	}
	if (!rest || has_hidden_part(rest))
		return -1;
	return ep_regular_file_open_below(folder->fd, rest);
}

int ep_embedded_open(const struct ep_embedded *embedded, const char *path)
{
	int fd = -1;

	while (strncmp(path, "./", 2) == 0)
		path += 2;
	for (size_t i = 0; i < embedded->folders.count && fd < 0; i++)
		fd = folder_find(&embedded->folders.list[i], path);
	return fd;
}

int ep_embedded_read(struct ep_embedded *embedded, const char *path, char **text, size_t *size)
{
	char *bytes = NULL;
	size_t length = 0;
	int fd = ep_embedded_open(embedded, path), rc;

	if (fd < 0)
		return EP_END;
	rc = ep_file_read_rest(&bytes, &length, fd, path, SOURCE_MAX, NULL);
	close(fd);
	if (rc)
		return EP_END;
	ep_array_push(&embedded->files, ep_strdup(path));
	*text = bytes;
	*size = length;
	return EP_OK;
}
