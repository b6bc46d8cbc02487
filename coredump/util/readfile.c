/* SPDX-License-Identifier: BSD-2-Clause */
/* readfile.c: read(2) until there is no more: pipes and the kernel's files have no size. */
#include "coredump/util/readfile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coredump/util/array.h"

#define PIECE 65536u /* bytes of room at least */

static int failed(const char *path, struct ep_err *err)
{
	return ep_fail(err, errno == EACCES || errno == EPERM ? EP_E_PERMISSION : EP_E_IO, 0,
		       "%s: %m", path);
}

int ep_file_read_rest(char **bytes, size_t *size, int fd, const char *path, size_t most,
		      struct ep_err *err)
{
	EP_ARRAY(char) text = {0};
	ssize_t got = 1;

	while (got && text.count <= most) {
		ep_array_reserve(&text, text.count + PIECE);
		got = read(fd, text.list + text.count, text.capacity - text.count - 1);
		if (got < 0 && errno != EINTR) {
			free(text.list);
			return failed(path, err);
		}
		text.count += got > 0 ? (size_t)got : 0;
	}
	if (text.count > most) {
		free(text.list);
		return ep_fail(err, EP_E_LIMIT, 0, "%s: longer than %zu bytes", path, most);
	}
	text.list[text.count] = '\0';
	*bytes = text.list;
	*size = text.count;
	return EP_OK;
}

int ep_file_read_all(char **bytes, size_t *size, struct stat *facts, const char *path, size_t most,
		     struct ep_err *err)
{
	const char *name = path ? path : "standard input";
	/* Not by open(), which is ours (files/elffile.c). */
	int fd = path ? openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO, rc;

	if (fd < 0)
		return failed(name, err);
	rc = facts && fstat(fd, facts) ? failed(name, err)
				       : ep_file_read_rest(bytes, size, fd, name, most, err);
	if (path)
		close(fd);
	return rc;
}

int ep_file_read(int fd, const char *path, uint64_t offset, void *out, size_t size, size_t *got,
		 struct ep_err *err)
{
	size_t done = 0;
	ssize_t n = 1;

	while (done < size && n > 0 && offset + done <= INT64_MAX) {
		n = pread(fd, (char *)out + done, size - done, (off_t)(offset + done));
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n > 0)
			done += (size_t)n;
	}
	if (got)
		*got = done;
	if (done == size)
		return EP_OK;
	if (n < 0)
		return ep_fail(err, EP_E_IO, offset + done, "%s: offset 0x%" PRIx64 ": %m", path,
			       offset + done);
	return ep_fail(err, EP_E_TRUNCATED, offset + done,
		       "%s: ends at offset 0x%" PRIx64 ", %zu bytes early", path, offset + done,
		       size - done);
}
