/* SPDX-License-Identifier: BSD-2-Clause */
/* identify.c: the name itself, then the first bytes of the file that has it. */
#include "coredump/kinds/identify.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coredump/files/regularfile.h"
#include "coredump/funtrace/funtrace.h"

/* Digits and nothing else, of a pid's size; 0: it is none. */
static pid_t pid_parse(const char *text)
{
	size_t length = strlen(text);
	uint64_t value = 0;

	if (length <= 10 && strspn(text, "0123456789") == length)
		value = strtoull(text, NULL, 10);
	return value <= INT32_MAX ? (pid_t)value : 0;
}

/* Only of a regular file: to open a pipe and close it again would end who writes into it. */
static enum ep_source_kind kind_by_head(const char *path)
{
	char head[EP_MAGIC_SIZE] = "";
	int fd = ep_regular_file_open(path);
	ssize_t got = fd >= 0 ? pread(fd, head, sizeof(head), 0) : -1;

	if (fd >= 0)
		close(fd);
	if (got == sizeof(head) && memcmp(head, EP_ARENA_MAGIC, sizeof(head)) == 0)
		return EP_SOURCE_ARENA;
	if (got > 0 && ep_funtrace_is(head, (size_t)got))
		return EP_SOURCE_FUNTRACE;
	return EP_SOURCE_CORE;
}

enum ep_source_kind ep_identify(const char *name, pid_t *pid)
{
	bool prefixed = strncmp(name, "pid:", 4) == 0;
	struct stat st;

	*pid = pid_parse(prefixed ? name + 4 : name);
	if ((prefixed || *pid) && stat(name, &st) != 0)
		return EP_SOURCE_LIVE;
	return kind_by_head(name);
}
