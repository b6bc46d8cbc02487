/* SPDX-License-Identifier: BSD-2-Clause */
/* spool_forward.c: a stream that was read from goes on to somebody else, whole
 * and unchanged: what was taken, from the file; the rest as it comes. */
#include "coredump/spool_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static int write_all(int out, const uint8_t *bytes, size_t size)
{
	while (size) {
		ssize_t n = write(out, bytes, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		bytes += n;
		size -= (size_t)n;
	}
	return 0;
}

/* A hole stays one; the file's end is set when all is there. */
static int write_sparse(int out, const uint8_t *bytes, size_t size)
{
	static const uint8_t zeroes[EP_PAGE];
	size_t from = 0;

	for (size_t at = 0, page; at < size; at += page) {
		page = size - at < EP_PAGE ? size - at : EP_PAGE;
		if (memcmp(bytes + at, zeroes, page) != 0)
			continue;
		if (write_all(out, bytes + from, at - from) != 0 ||
		    lseek(out, (off_t)page, SEEK_CUR) < 0)
			return -1;
		from = at + page;
	}
	return write_all(out, bytes + from, size - from);
}

/* Pages that are in a pipe already need no copying. False: this cannot be done
 * here, and nothing was. */
static bool splice_rest(struct ep_source *source, int out, uint64_t *bytes,
			int *error)
{
	ssize_t n;

	*error = 0;
	do {
		n = splice(source->spool->input, NULL, out, NULL,
			   EP_SPOOL_CHUNK, SPLICE_F_MOVE);
		if (n > 0)
			*bytes += (uint64_t)n;
		if (n < 0 && errno == EINVAL)
			return false;
		if (n < 0 && errno != EINTR)
			*error = errno;
	} while (n > 0 || (n < 0 && errno == EINTR));
	return true;
}

static int put(int out, bool sparse, const uint8_t *bytes, size_t size)
{
	return sparse ? write_sparse(out, bytes, size)
		      : write_all(out, bytes, size);
}

static int taken_forward(struct ep_source *source, int out, bool sparse,
			 uint64_t *bytes, struct ep_err *err)
{
	struct ep_spool *spool = source->spool;
	int rc = EP_OK;

	while (*bytes < spool->position && rc == EP_OK) {
		uint64_t left = spool->position - *bytes;
		size_t size = left < EP_SPOOL_CHUNK ? left : EP_SPOOL_CHUNK;

		rc = ep_file_read(source->fd, source->path, *bytes,
				  spool->buffer, size, NULL, err);
		if (rc == EP_OK && put(out, sparse, spool->buffer, size) != 0)
			return ep_fail(err, EP_E_IO, *bytes, "%m");
		*bytes += size;
	}
	return rc;
}

static int rest_forward(struct ep_source *source, int out, bool sparse,
			uint64_t *bytes, struct ep_err *err)
{
	struct ep_spool *spool = source->spool;

	while (!spool->ended) {
		size_t got;
		int rc = ep_spool_take(source, EP_SPOOL_CHUNK, &got, err);

		if (rc)
			return rc;
		if (put(out, sparse, spool->buffer, got) != 0)
			return ep_fail(err, EP_E_IO, *bytes, "%m");
		*bytes += got;
	}
	if (sparse && ftruncate(out, (off_t)*bytes) != 0)
		return ep_fail(err, EP_E_IO, *bytes, "%m");
	return EP_OK;
}

int ep_spool_forward(struct ep_source *source, int out, uint64_t *bytes,
		     struct ep_err *err)
{
	bool sparse = lseek(out, 0, SEEK_CUR) >= 0;
	int rc, error;

	*bytes = 0;
	rc = taken_forward(source, out, sparse, bytes, err);
	if (rc)
		return rc;
	if (sparse || !splice_rest(source, out, bytes, &error))
		return rest_forward(source, out, sparse, bytes, err);
	errno = error;
	return error ? ep_fail(err, EP_E_IO, *bytes, "%m") : EP_OK;
}
