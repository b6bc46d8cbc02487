/* SPDX-License-Identifier: BSD-2-Clause */
/* slurp.c: a whole file as text, pipes too. */
#include "funcount/filter/slurp.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Room for one byte at least, and for the NUL. */
static int make_room(char **text, size_t used, size_t *room)
{
	char *grown;

	if (used + 1 < *room)
		return EP_OK;
	*room = *room ? *room * 2 : 65536;
	grown = realloc(*text, *room);
	if (!grown)
		return EP_E_MEMORY;
	*text = grown;
	return EP_OK;
}

static int read_all(int fd, char **text, size_t *size, size_t most)
{
	size_t room = 0;
	ssize_t got = 1;

	*text = NULL;
	*size = 0;
	while (got) {
		if (make_room(text, *size, &room))
			return EP_E_MEMORY;
		got = read(fd, *text + *size, room - *size - 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return EP_E_IO;
		*size += (size_t)got;
		if (*size > most)
			return EP_E_LIMIT;
	}
	(*text)[*size] = 0;
	return EP_OK;
}

int ep_slurp_facts(char **text, size_t *size, struct stat *facts, const char *path, size_t most,
		   struct ep_err *err)
{
	const char *called = path ? path : "standard input";
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : 0, rc, failed;
	size_t length;
	char *bytes = NULL;

	if (fd < 0)
		return ep_fail(err, EP_E_IO, 0, "%s: %s", called, strerror(errno));
	rc = fstat(fd, facts) ? EP_E_IO : read_all(fd, &bytes, &length, most);
	failed = errno;
	if (path)
		close(fd);
	if (!rc) {
		*text = bytes;
		*size = length;
		return EP_OK;
	}
	free(bytes);
	if (rc == EP_E_IO)
		return ep_fail(err, EP_E_IO, 0, "%s: %s", called, strerror(failed));
	if (rc == EP_E_LIMIT)
		return ep_fail(err, EP_E_LIMIT, 0, "%s: longer than %zu bytes", called, most);
	return ep_fail(err, EP_E_MEMORY, 0, "%s: out of memory", called);
}

int ep_slurp(char **text, size_t *size, const char *path, size_t most, struct ep_err *err)
{
	struct stat facts;

	return ep_slurp_facts(text, size, &facts, path, most, err);
}
