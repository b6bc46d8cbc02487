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
#include <sys/uio.h>
#include <unistd.h>

#include "coredump/files/procfile.h"
#include "coredump/live/living.h"
#include "coredump/memory/source_impl.h"

/* ---- reading ---- */

static int gone(const struct ep_source *source, uint64_t at, struct ep_err *err)
{
	return ep_fail(err, EP_E_IO, at, "%s: the process has ended while it was read",
		       source->name);
}

static int live_fault(const struct ep_source *source, const struct ep_segment *segment, uint64_t at,
		      struct ep_err *err)
{
	if (!ep_living_is(source->pid))
		return gone(source, at, err);
	if (segment)
		return ep_fail(err, EP_E_UNSAVED, at,
			       "%s: 0x%" PRIx64 " is mapped, but cannot be read", source->name, at);
	return ep_fail(err, EP_E_UNMAPPED, at, "%s: 0x%" PRIx64 " is not mapped", source->name, at);
}

static ssize_t read_once(const struct ep_source *source, uint64_t at, void *out, size_t size)
{
	struct iovec local = {out, size};
	struct iovec remote = {(void *)(uintptr_t)at, size};
	ssize_t n = process_vm_readv(source->tid, &local, 1, &remote, 1, 0);

	/* Not allowed, not there, or a page without read permission, which only /proc/TID/mem
	 * gives; that goes on when its thread ends before others. */
	if (n <= 0 && source->fd >= 0 && at <= INT64_MAX)
		n = pread(source->fd, out, size, (off_t)at);
	return n;
}

static int live_read(struct ep_source *source, const struct ep_segment *segment, uint64_t at,
		     void *out, size_t size, size_t *got, struct ep_err *err)
{
	ssize_t n = read_once(source, at, out, size);

	if (n <= 0)
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

static void maps_add(struct ep_source *source, const struct maps_line *line)
{
	uint64_t size = line->end - line->start;

	*ep_array_add(&source->segments) = (struct ep_segment){
		.address = line->start,
		.memory_size = size,
		.saved_size = size,
		.present_size = size,
		.flags = maps_flags(line->flags),
	};
	if (line->inode != 0 && line->path[0] == '/')
		*ep_array_add(&source->mappings) =
			(struct ep_mapping){line->start,
					    line->end,
					    line->offset,
					    line->path,
					    makedev(line->major, line->minor),
					    line->inode};
}

static int maps_read(struct ep_source *source, struct ep_err *err)
{
	size_t size;
	struct maps_line parsed;
	char *next, *line;
	int rc = ep_proc_read(source->folder, "maps", &source->mapping_text, &size);

	if (rc) {
		source->mapping_text = NULL;
		errno = -rc;
		return ep_fail(err, rc == -EACCES ? EP_E_PERMISSION : EP_E_IO, 0,
			       "%s: /proc/%d/maps: %m", source->name, (int)source->tid);
	}
	next = source->mapping_text;
	while ((line = strsep(&next, "\n")))
		if (maps_parse(line, &parsed))
			maps_add(source, &parsed);
	return EP_OK;
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

static int live_load(struct ep_source *source, struct ep_err *err)
{
	size_t size = 0;
	uint8_t byte;
	int rc = process_open(source, err);

	if (rc)
		return rc;
	source->fd = openat(source->folder, "mem", O_RDONLY | O_CLOEXEC);
	rc = maps_read(source, err);
	if (rc == EP_E_PERMISSION)
		return not_permitted(source, err);
	if (rc)
		return rc;
	rc = threads_read(source, err);
	if (rc)
		return rc;
	if (ep_proc_read(source->folder, "auxv", (char **)&source->owned_auxv, &size) == 0)
		source->auxv = source->owned_auxv;
	source->auxv_size = size;
	if (source->segments.count == 0)
		return gone(source, 0, err);
	owner_read(source);
	if (source->fd < 0 && read_once(source, source->segments.list[0].address, &byte, 1) < 0 &&
	    errno == EPERM)
		return not_permitted(source, err);
	return EP_OK;
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
