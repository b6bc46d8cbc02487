/* SPDX-License-Identifier: BSD-2-Clause */
/* counts_load.c: counts from whatever the user named. */
#include "funcount/counts/counts.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coredump/kinds/open.h"
#include "coredump/snapshot/image.h"
#include "coredump/util/readfile.h"
#include "decoder/trace/trace.h"

static int read_text(struct ep_counts **out, int fd, const char *name, struct ep_err *err)
{
	size_t size;
	char *bytes;
	int result = ep_file_read_rest(&bytes, &size, fd, name, SIZE_MAX / 2, err);

	if (result)
		return result;
	result = ep_counts_parse(out, bytes, size, name, err);
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
