/* SPDX-License-Identifier: BSD-2-Clause */
/* procfile.c: open, read and close, and a buffer of the caller's. */
#include "coredump/files/procfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "coredump/util/readfile.h"

#define PROC_FILE_MAX (256u << 20) /* bytes of maps: 2 million lines */

bool ep_procfile_open(struct ep_procfile *file, const char *path)
{
	return ep_procfile_open_at(file, AT_FDCWD, path);
}

bool ep_procfile_open_at(struct ep_procfile *file, int folder, const char *path)
{
	file->fd = openat(folder, path, O_RDONLY | O_CLOEXEC);
	file->begin = file->end = 0;
	file->skipping = false;
	return file->fd >= 0;
}

void ep_procfile_close(struct ep_procfile *file)
{
	int error = errno;

	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
	errno = error;
}

/* Room for a NUL stays behind what is read. False: there is no more. */
static bool refill(struct ep_procfile *file)
{
	ssize_t n;

	memmove(file->bytes, file->bytes + file->begin, file->end - file->begin);
	file->end -= file->begin;
	file->begin = 0;
	n = read(file->fd, file->bytes + file->end, sizeof(file->bytes) - 1 - file->end);
	if (n <= 0)
		return false;
	file->end += (size_t)n;
	return true;
}

char *ep_procfile_next(struct ep_procfile *file, char delimiter)
{
	for (;;) {
		char *line = file->bytes + file->begin;
		size_t size = file->end - file->begin;
		char *end = memchr(line, delimiter, size);
		bool skipped = file->skipping;

		if (end) {
			*end = '\0';
			file->begin += (size_t)(end - line) + 1;
			file->skipping = false;
		} else if (size == sizeof(file->bytes) - 1 || !refill(file)) {
			if (file->begin == file->end)
				return NULL;
			line = file->bytes + file->begin;
			file->bytes[file->end] = '\0';
			file->begin = file->end;
			file->skipping = true;
		} else {
			continue;
		}
		if (!skipped)
			return line;
	}
}

bool ep_procfile_line(const char *path, char *out, size_t size)
{
	return ep_procfile_line_at(AT_FDCWD, path, out, size);
}

bool ep_procfile_line_at(int folder, const char *path, char *out, size_t size)
{
	bool read = ep_procfile_text_at(folder, path, out, size);

	out[strcspn(out, "\n")] = '\0';
	return read;
}

bool ep_procfile_text_at(int folder, const char *path, char *out, size_t size)
{
	int fd = openat(folder, path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, out, size - 1) : -1;
	int error = errno;

	if (fd >= 0)
		close(fd);
	errno = error;
	n = n > 0 && out[n - 1] == '\n' ? n - 1 : n;
	out[n > 0 ? n : 0] = '\0';
	return n >= 0;
}

int ep_proc_read(int folder, const char *name, char **out, size_t *size)
{
	int fd, rc, error;

	fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	rc = ep_file_read_rest(out, size, fd, name, PROC_FILE_MAX, NULL);
	error = rc == EP_E_LIMIT ? EFBIG : errno;
	close(fd);
	return rc ? -error : 0;
}
