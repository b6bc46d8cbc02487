/* SPDX-License-Identifier: BSD-2-Clause */
/* gzip.c: zlib's gzip files behind stdio, so that no writer knows of them. */
#include "cli/common/gzip.h"

#include <errno.h>
#include <unistd.h>
#include <zlib.h>

static void set_errno(gzFile file)
{
	int code = Z_OK;

	gzerror(file, &code);
	if (code != Z_ERRNO || !errno)
		errno = EIO;
}

static ssize_t write_some(void *cookie, const char *bytes, size_t size)
{
	unsigned some = size < 1u << 30 ? (unsigned)size : 1u << 30;

	errno = 0;
	if (gzwrite(cookie, bytes, some) == (int)some)
		return (ssize_t)some;
	set_errno(cookie);
	/* stdio knows a failed write by this, and not by -1. */
	return 0;
}

static int close_it(void *cookie)
{
	int code;

	errno = 0;
	code = gzclose(cookie);
	if (code == Z_OK)
		return 0;
	if (code != Z_ERRNO || !errno)
		errno = EIO;
	return EOF;
}

FILE *ep_gzip_open(int fd)
{
	const cookie_io_functions_t functions = {.write = write_some, .close = close_it};
	int own = dup(fd);
	/* Level 4: half of the time of 6 for a tenth more bytes. */
	gzFile zipped = own < 0 ? NULL : gzdopen(own, "wb4");
	FILE *file = zipped ? fopencookie(zipped, "w", functions) : NULL;

	if (file)
		return file;
	if (zipped)
		gzclose(zipped);
	else if (own >= 0)
		close(own);
	return NULL;
}
