/* SPDX-License-Identifier: BSD-2-Clause */
/* counts_load.c: counts from whatever the user named. */
#include "funcount/counts/counts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coredump/snapshot/image.h"
#include "decoder/trace/trace.h"

static int failed(const char *name, struct ep_err *err)
{
	return ep_fail(err, EP_E_IO, 0, "%s: %s", name, strerror(errno));
}

/* All of a regular file; the caller frees *bytes. */
static int read_all(int fd, size_t size, const char *name, char **bytes, struct ep_err *err)
{
	char *all = malloc(size + 1);
	size_t done = 0;
	ssize_t got = 1;

	if (!all)
		return ep_fail(err, EP_E_MEMORY, 0, "%s: no memory", name);
	while (done < size && got > 0) {
		got = read(fd, all + done, size - done);
		if (got < 0 && errno == EINTR)
			got = 1;
		else if (got > 0)
			done += (size_t)got;
	}
	if (got >= 0 && done == size) {
		*bytes = all;
		return EP_OK;
	}
	free(all);
	return got < 0 ? failed(name, err)
		       : ep_fail(err, EP_E_TRUNCATED, done, "%s: shorter than it was", name);
}

static int read_text(struct ep_counts **out, int fd, const char *name, struct ep_err *err)
{
	struct stat status;
	char *bytes;
	int result;

	if (fstat(fd, &status))
		return failed(name, err);
	result = read_all(fd, (size_t)status.st_size, name, &bytes, err);
	if (result)
		return result;
	result = ep_counts_parse(out, bytes, (size_t)status.st_size, name, err);
	free(bytes);
	return result;
}

/* A descriptor of the file when it begins as text of counts does, else -1. */
static int open_text(const char *name)
{
	char head[32];
	struct stat status;
	ssize_t got;
	int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return -1;
	got = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) ? pread(fd, head, sizeof(head), 0)
								 : -1;
	if (got > 0 && ep_counts_is_text(head, (size_t)got))
		return fd;
	close(fd);
	return -1;
}

/* Of a process: its arena, taken apart as for a trace. */
static int read_source(struct ep_counts **out, struct ep_source *source, struct ep_err *err)
{
	struct ep_root_found found;
	struct ep_image image = {0};
	struct ep_trace *trace = NULL;
	int result = ep_root_find(source, &found, err);

	if (!result)
		result = ep_image_read(&image, source, &found, err);
	if (!result)
		result = ep_trace_create(&trace, &image, err);
	if (!result)
		result = ep_counts_from_trace(out, trace, err);
	ep_trace_destroy(trace);
	ep_image_deinit(&image);
	return result;
}

static int load_source(struct ep_counts **out, const char *name, struct ep_err *err)
{
	struct ep_source *source;
	int result = ep_source_open(&source, name, err);

	if (result)
		return result;
	result = read_source(out, source, err);
	if (result)
		ep_err_prefix(err, "%s", name);
	ep_source_close(source);
	return result;
}

int ep_counts_load(struct ep_counts **out, const char *name, struct ep_err *err)
{
	int fd = open_text(name), result;

	if (fd < 0)
		return load_source(out, name, err);
	result = read_text(out, fd, name, err);
	close(fd);
	return result;
}
