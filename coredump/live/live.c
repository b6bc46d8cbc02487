/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live.c: a running process as a source. It is not stopped: what is read may be from different
 * moments. A process that ends meanwhile is told so.
 */
#include "coredump/live/live.h"

#include <ctype.h>
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "coredump/files/procfile.h"
#include "coredump/live/living.h"
#include "coredump/memory/source_impl.h"
#include "coredump/util/alloc.h"

/* ---- reading ---- */

static int gone(const struct ep_source *source, uint64_t at, struct ep_err *err)
{
	return ep_fail(err, EP_E_IO, at,
		       "%s: the process has ended while it was read, or has started another "
		       "program",
		       source->name);
}

static bool has_ended(const struct ep_source *source)
{
	return source->process >= 0 ? ep_living_ended(source->process) : !ep_living_is(source->pid);
}

static int live_fault(const struct ep_source *source, const struct ep_segment *segment, uint64_t at,
		      struct ep_err *err)
{
	if (has_ended(source))
		return gone(source, at, err);
	if (segment)
		return ep_fail(err, EP_E_UNSAVED, at,
			       "%s: 0x%" PRIx64 " is mapped, but cannot be read", source->name, at);
	return ep_fail(err, EP_E_UNMAPPED, at, "%s: 0x%" PRIx64 " is not mapped", source->name, at);
}

/* By the memory's descriptor, never by a number. */
static int live_read(struct ep_source *source, const struct ep_segment *segment, uint64_t at,
		     void *out, size_t size, size_t *got, struct ep_err *err)
{
	ssize_t n = -1;

	if (at <= INT64_MAX)
		n = pread(source->fd, out, size, (off_t)at);
	/* The memory has no user any more (proc_pid_mem(5)). */
	if (n == 0 && size)
		return gone(source, at, err);
	if (n < 0)
		return live_fault(source, segment, at, err);
	*got = (size_t)n;
	return EP_OK;
}

static const struct ep_source_ops live_ops = {
	.read = live_read,
	.fault = live_fault,
	.unbounded = true,
};

/* ---- maps ---- */

struct maps_line {
	uint64_t start, end, offset, inode;
	unsigned major, minor;
	char flags[5];
	char *path; /* in the line */
};

static bool maps_parse(char *line, struct maps_line *out)
{
	int path = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
		   &out->start, &out->end, out->flags, &out->offset, &out->major, &out->minor,
		   &out->inode, &path) != 7 ||
	    path == 0 || out->start >= out->end)
		return false;
	out->path = line + path;
	return true;
}

static uint32_t maps_flags(const char *text)
{
	return (text[0] == 'r' ? PF_R : 0) | (text[1] == 'w' ? PF_W : 0) |
	       (text[2] == 'x' ? PF_X : 0);
}

#define MAPS_MOST (1u << 20)         /* lines: 16 times what a kernel allows by default */
#define PATH_MOST ((size_t)32 << 20) /* bytes of different paths, one after the other */
#define PIECE     ((size_t)64 << 10) /* that is read at once; a line is shorter */

/* What is kept of the list: paths, of which many lines have the same. */
struct maps {
	struct ep_source *source;
	EP_ARRAY(char) paths;
	size_t last; /* where the path of the mapping before lies */
};

/* Its place in `paths`. */
static size_t path_add(struct maps *maps, const char *path)
{
	size_t size = strlen(path) + 1, at = maps->paths.count;

	if (at && strcmp(maps->paths.list + maps->last, path) == 0)
		return maps->last;
	ep_array_reserve(&maps->paths, at + size);
	memcpy(maps->paths.list + at, path, size);
	maps->paths.count += size;
	return maps->last = at;
}

static void maps_add(struct maps *maps, const struct maps_line *line)
{
	uint64_t size = line->end - line->start;

	*ep_array_add(&maps->source->segments) = (struct ep_segment){
		.address = line->start,
		.memory_size = size,
		.saved_size = size,
		.present_size = size,
		.flags = maps_flags(line->flags),
	};
	/* A place for the moment: the paths move as they grow. */
	if (line->inode != 0 && line->path[0] == '/')
		*ep_array_add(&maps->source->mappings) =
			(struct ep_mapping){line->start,
					    line->end,
					    line->offset,
					    (const char *)(uintptr_t)path_add(maps, line->path),
					    makedev(line->major, line->minor),
					    line->inode};
}

/* Of `text` all whole lines; returns how many bytes of them. */
static size_t maps_lines(struct maps *maps, char *text, size_t size)
{
	struct maps_line parsed;
	char *line = text, *end;

	while ((end = memchr(line, '\n', size - (size_t)(line - text)))) {
		*end = '\0';
		if (maps_parse(line, &parsed))
			maps_add(maps, &parsed);
		line = end + 1;
	}
	return (size_t)(line - text);
}

static int maps_all(struct maps *maps, int fd, struct ep_err *err)
{
	const struct ep_source *source = maps->source;
	char *text = ep_malloc(PIECE);
	size_t size = 0, used;
	int rc = EP_OK;
	ssize_t n;

	while (rc == EP_OK && (n = read(fd, text + size, PIECE - size)) != 0) {
		if (n < 0)
			rc = ep_fail(err, EP_E_IO, 0, "%s: its list of mappings: %m", source->name);
		else
			size += (size_t)n;
		used = maps_lines(maps, text, size);
		size -= used;
		memmove(text, text + used, size);
		if (rc == EP_OK && (source->segments.count > MAPS_MOST ||
				    maps->paths.count > PATH_MOST || size == PIECE))
			rc = ep_fail(err, EP_E_LIMIT, 0,
				     "%s: it has more than %u mappings, or more than %zu MiB of "
				     "names of what is mapped",
				     source->name, MAPS_MOST, PATH_MOST >> 20);
	}
	free(text);
	return rc;
}

static int maps_read(struct ep_source *source, struct ep_err *err)
{
	struct maps maps = {.source = source};
	int fd = openat(source->folder, "maps", O_RDONLY | O_CLOEXEC), rc;

	if (fd < 0)
		return ep_fail(err, errno == EACCES ? EP_E_PERMISSION : EP_E_IO, 0,
			       "%s: /proc/%d/maps: %m", source->name, (int)source->tid);
	rc = maps_all(&maps, fd, err);
	close(fd);
	for (size_t i = 0; i < source->mappings.count; i++)
		source->mappings.list[i].path =
			maps.paths.list + (uintptr_t)source->mappings.list[i].path;
	source->mapping_text = maps.paths.list;
	return rc;
}

/* ---- threads ---- */

/* Without a main thread that has ended: of all that end it alone stays, and no core has it. */
static int threads_read(struct ep_source *source, struct ep_err *err)
{
	int list = openat(source->folder, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = list >= 0 ? fdopendir(list) : NULL;
	struct dirent *entry;

	if (!dir)
		return ep_fail(err, EP_E_IO, 0, "%s: /proc/%d/task: %m", source->name,
			       (int)source->tid);
	while ((entry = readdir(dir))) {
		uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);
		struct ep_source_thread *thread;
		char path[64];

		if (!isdigit((unsigned char)entry->d_name[0]) ||
		    (source->tid != source->pid && tid == (uint32_t)source->pid))
			continue;
		thread = ep_array_add(&source->threads);
		thread->tid = tid;
		snprintf(path, sizeof(path), "task/%u/comm", tid);
		ep_procfile_line_at(source->folder, path, thread->name, sizeof(thread->name));
	}
	closedir(dir);
	return EP_OK;
}

/* ---- opening ---- */

static int ptrace_scope(void)
{
	char text[16];

	ep_procfile_line("/proc/sys/kernel/yama/ptrace_scope", text, sizeof(text));
	return atoi(text);
}

/* Has this process CAP_SYS_PTRACE? It may still be that of another user namespace
 * (user_namespaces(7)). */
static bool may_trace(void)
{
	unsigned long long effective = 0;
	struct ep_procfile file;
	const char *line;

	ep_procfile_open(&file, "/proc/self/status");
	while ((line = ep_procfile_next(&file, '\n')))
		if (sscanf(line, "CapEff: %llx", &effective) == 1)
			break;
	ep_procfile_close(&file);
	return effective >> CAP_SYS_PTRACE & 1;
}

/* The process's ids, from its status: the folder itself is root's when the process is not
 * dumpable. The effective user id is returned, (uid_t)-1: not told. */
static uid_t owner_read(struct ep_source *source)
{
	struct ep_procfile file;
	unsigned effective = (unsigned)-1;
	bool uid = false, gid = false;
	char *line;

	ep_procfile_open_at(&file, source->folder, "status");
	while ((line = ep_procfile_next(&file, '\n'))) {
		uid |= sscanf(line, "Uid: %u %u", &source->uid, &effective) == 2;
		gid |= sscanf(line, "Gid: %u", &source->gid) == 1;
	}
	ep_procfile_close(&file);
	source->owner_known = uid && gid;
	return effective;
}

static int not_permitted(struct ep_source *source, struct ep_err *err)
{
	int scope = ptrace_scope();

	if (scope == 3)
		return ep_fail(err, EP_E_PERMISSION, 0,
			       "%s: permission denied: kernel.yama.ptrace_scope is 3, nobody may "
			       "read another process until the next boot; take a core",
			       source->name);
	if (may_trace())
		return ep_fail(
			err, EP_E_PERMISSION, 0,
			"%s: permission denied, in spite of CAP_SYS_PTRACE: the process is in "
			"another user namespace (lsns -t user), or a security module (SELinux, "
			"AppArmor, Landlock) keeps it; read it from where it runs, or take a core",
			source->name);
	if (geteuid() == 0)
		return ep_fail(err, EP_E_PERMISSION, 0,
			       "%s: permission denied, though root: this container lacks "
			       "CAP_SYS_PTRACE (docker run --cap-add=SYS_PTRACE)",
			       source->name);
	if (scope > 0)
		return ep_fail(err, EP_E_PERMISSION, 0,
			       "%s: permission denied: kernel.yama.ptrace_scope is %d; run as root",
			       source->name, scope);
	if (owner_read(source) == geteuid())
		return ep_fail(err, EP_E_PERMISSION, 0,
			       "%s: permission denied, though it is yours: it has privileges "
			       "(setuid, file capabilities) or is not dumpable (prctl); run as "
			       "root, or with CAP_SYS_PTRACE",
			       source->name);
	return ep_fail(err, EP_E_PERMISSION, 0,
		       "%s: permission denied; run as the user of the process, or as root, or with "
		       "CAP_SYS_PTRACE",
		       source->name);
}

/* False also where the executable may not be read. */
static bool is_32_bit(int folder)
{
	unsigned char ident[EI_NIDENT];
	int fd = openat(folder, "exe", O_RDONLY | O_CLOEXEC);
	bool narrow;

	if (fd < 0)
		return false;
	narrow = read(fd, ident, sizeof(ident)) == sizeof(ident) && ident[EI_CLASS] == ELFCLASS32;
	close(fd);
	return narrow;
}

static int process_open(struct ep_source *source, struct ep_err *err)
{
	struct ep_living living;

	if (!ep_living_open(&living, source->pid))
		return ep_fail(err, EP_E_IO, 0,
			       "%s: no such process; if it has crashed, name its core",
			       source->name);
	source->folder = living.folder;
	source->tid = living.tid;
	if (!living.tid)
		return ep_fail(err, EP_E_IO, 0,
			       "%s: a zombie: it has ended, its memory is gone; name its core",
			       source->name);
	source->process = ep_living_process(&living);
	if (source->process < 0 && errno == ESRCH)
		return gone(source, 0, err);
	if (living.kernels)
		return ep_fail(err, EP_E_FORMAT, 0,
			       "%s: a thread of the kernel, it has no memory of its own",
			       source->name);
	if (is_32_bit(source->folder))
		return ep_fail(err, EP_E_FORMAT, 0,
			       "%s: a 32-bit program; only 64-bit ones of x86-64 are traced",
			       source->name);
	return EP_OK;
}

/* One descriptor for all reads and writes: by another one they could be of another program. */
static int memory_open(struct ep_source *source, struct ep_err *err)
{
	source->fd = openat(source->folder, "mem", O_RDWR | O_CLOEXEC);
	if (source->fd >= 0)
		return EP_OK;
	source->unwritable = errno;
	source->fd = openat(source->folder, "mem", O_RDONLY | O_CLOEXEC);
	if (source->fd >= 0)
		return EP_OK;
	return errno == EACCES || errno == EPERM ? not_permitted(source, err)
						 : gone(source, 0, err);
}

/* A program that was started meanwhile lies elsewhere, or has other users: its memory is not the
 * one that was opened before. */
static bool is_same_program(const struct ep_source *source)
{
	char *auxv = NULL;
	size_t size = 0;
	bool same = ep_proc_read(source->folder, "auxv", &auxv, &size) == 0 &&
		    size == source->auxv_size && memcmp(auxv, source->auxv, size) == 0;

	free(auxv);
	return same;
}

static int live_load(struct ep_source *source, struct ep_err *err)
{
	int rc = process_open(source, err), got;

	if (rc)
		return rc;
	got = ep_proc_read(source->folder, "auxv", (char **)&source->owned_auxv,
			   &source->auxv_size);
	if (got == -EACCES || got == -EPERM)
		return not_permitted(source, err);
	if (got)
		return gone(source, 0, err);
	source->auxv = source->owned_auxv;
	rc = memory_open(source, err);
	rc = rc ? rc : maps_read(source, err);
	if (rc == EP_E_PERMISSION && source->fd >= 0)
		return not_permitted(source, err);
	rc = rc ? rc : threads_read(source, err);
	if (rc)
		return rc;
	owner_read(source);
	if (source->segments.count == 0 || !is_same_program(source) || has_ended(source))
		return gone(source, 0, err);
	return EP_OK;
}

uint64_t ep_source_live_resident(const struct ep_source *source)
{
	unsigned long long resident = 0, swapped = 0;
	struct ep_procfile file;
	bool known = false;
	char *line;

	ep_procfile_open_at(&file, source->folder, "status");
	while ((line = ep_procfile_next(&file, '\n'))) {
		known |= sscanf(line, "VmRSS: %llu", &resident) == 1;
		sscanf(line, "VmSwap: %llu", &swapped);
	}
	ep_procfile_close(&file);
	return known ? (resident + swapped) * 1024 : UINT64_MAX;
}

int ep_source_live_memory(const struct ep_source *source)
{
	struct ep_living living;
	int memory = openat(source->folder, "mem", O_RDONLY | O_CLOEXEC);

	/* The thread by which it is seen may have ended before others. */
	if (memory < 0 && source->process >= 0 && ep_living_open(&living, source->pid)) {
		memory = openat(living.folder, "mem", O_RDONLY | O_CLOEXEC);
		ep_living_close(&living);
	}
	if (memory >= 0 && has_ended(source)) {
		close(memory);
		return -1;
	}
	return memory;
}

/* The thread by which it is seen may end in between, and others live on. */
#define TRIES 8

int ep_source_open_live(struct ep_source **out, pid_t pid, struct ep_err *err)
{
	struct ep_source *source;
	char name[32];
	int rc = EP_E_IO;

	snprintf(name, sizeof(name), "pid:%d", (int)pid);
	for (int i = 0; i < TRIES && rc == EP_E_IO; i++) {
		source = ep_source_new(EP_SOURCE_LIVE, &live_ops, name, NULL);
		source->pid = pid;
		source->changing = true;
		rc = live_load(source, err);
		if (rc == EP_OK)
			*out = source;
		else
			ep_source_close(source);
		/* Of a process that is not there, nothing is there later. */
		if (rc == EP_E_IO && !ep_living_is(pid))
			break;
	}
	return rc;
}
