/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * held.c: what the kernel holds of a process that it dumps. Of /proc/PID/maps numbers are read,
 * which are the kernel's; the names in it are the process's.
 */
#include "coredump/files/held.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "coredump/files/regularfile.h"
#include "coredump/files/procfile.h"

#define FILES_MAX     512u
#define BUFFERS_MAX   1024u
#define INSTANCES_MAX 4u /* of one process: there is one */

/* ---- files ---- */

static int file_open(int proc, uint64_t start, uint64_t end)
{
	char path[96];
	int place, fd;

	snprintf(path, sizeof(path), "map_files/%" PRIx64 "-%" PRIx64, start, end);
	place = openat(proc, path, O_PATH | O_CLOEXEC);
	if (place < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", place);
	fd = ep_regular_file_open(path);
	close(place);
	return fd;
}

static void file_add(struct ep_held *held, int proc, const char *line)
{
	uint64_t start, end, offset, inode;
	int fd;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*4s %" SCNx64 " %*x:%*x %" SCNu64, &start, &end,
		   &offset, &inode) != 4 ||
	    offset != 0 || inode == 0 || held->files.count == FILES_MAX)
		return;
	fd = file_open(proc, start, end);
	if (fd < 0)
		return;
	ep_array_push(&held->files, ((struct ep_held_file){start, fd}));
}

static void files_open(struct ep_held *held, int proc)
{
	struct ep_procfile maps;
	char *line;

	ep_procfile_open_at(&maps, proc, "maps");
	while ((line = ep_procfile_next(&maps, '\n')))
		file_add(held, proc, line);
	ep_procfile_close(&maps);
}

int ep_held_file_at(const struct ep_held *held, uint64_t start)
{
	for (size_t i = 0; i < held->files.count; i++)
		if (held->files.list[i].start == start)
			return fcntl(held->files.list[i].fd, F_DUPFD_CLOEXEC, 3);
	return -1;
}

/* ---- what the kernel traced ---- */

/* False: there is no such CPU. */
static bool buffer_add(struct ep_held *held, int folder, const char *instance, unsigned cpu)
{
	struct ep_held_buffer *buffer;
	char path[320];
	int fd;

	snprintf(path, sizeof(path), "%s/per_cpu/cpu%u/trace_pipe_raw", instance, cpu);
	fd = openat(folder, path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return false;
	buffer = ep_array_add(&held->buffers);
	buffer->cpu = cpu;
	buffer->fd = fd;
	snprintf(buffer->instance, sizeof(buffer->instance), "%.*s",
		 (int)sizeof(buffer->instance) - 1, instance);
	return true;
}

/* "epitaph.PID.": of that pid in whatever namespace; the parser knows which by the rest of the
 * name, which nobody can guess. */
static void instances_open(struct ep_held *held, const char *mount, pid_t inner)
{
	const struct dirent *entry;
	char path[64], prefix[32];
	unsigned met = 0;
	DIR *folder;

	snprintf(path, sizeof(path), "%s/instances", mount);
	snprintf(prefix, sizeof(prefix), "epitaph.%d.", (int)inner);
	folder = opendir(path);
	while (folder && met < INSTANCES_MAX && (entry = readdir(folder))) {
		if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0 ||
		    strlen(entry->d_name) >= sizeof(held->buffers.list->instance))
			continue;
		met++;
		for (unsigned cpu = 0; held->buffers.count < BUFFERS_MAX; cpu++)
			if (!buffer_add(held, dirfd(folder), entry->d_name, cpu))
				break;
	}
	if (folder)
		closedir(folder);
}

/* Such a file is no process's memory to the kernel: one that grew would be ended by nobody. */
static int head_create(void)
{
	int fd = memfd_create("head", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || (ftruncate(fd, EP_HELD_HEAD) == 0 &&
		       fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SEAL) == 0))
		return fd;
	close(fd);
	return -1;
}

int ep_held_open(struct ep_held *held, int proc, pid_t inner, struct ep_err *err)
{
	*held = (struct ep_held){.memory = -1, .head = head_create()};
	if (held->head < 0)
		return ep_fail(err, EP_E_IO, 0, "memory for its headers: %m");
	held->memory = openat(proc, "mem", O_RDONLY | O_CLOEXEC);
	if (held->memory < 0)
		return ep_fail(err, EP_E_IO, 0, "its memory: %m");
	files_open(held, proc);
	instances_open(held, "/sys/kernel/tracing", inner);
	if (held->buffers.count == 0)
		instances_open(held, "/sys/kernel/debug/tracing", inner);
	return EP_OK;
}
