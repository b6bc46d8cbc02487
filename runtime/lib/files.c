/* SPDX-License-Identifier: BSD-2-Clause */
/* files.c: /proc, /sys and own memory by raw system calls. */
#include "runtime/lib/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/uio.h>

#include "runtime/lib/jail.h"
#include "runtime/lib/syscalls.h"
#include "runtime/lib/text.h"

long ep_fd_open(const char *path)
{
	return ep_syscall4(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0);
}

/* Older than Linux 3.17, or where a security module knows the usual name alone, it is that. */
long ep_fd_open_own(const char *name, int flags)
{
	static const char *const folders[] = {"/proc/thread-self/", "/proc/self/"};
	struct ep_text text;
	char path[64];
	long fd = -1;

	for (unsigned i = 0; i < 2 && fd < 0; i++) {
		ep_text_init(&text, path, sizeof path);
		ep_text_add(&text, folders[i]);
		ep_text_add(&text, name);
		fd = ep_syscall4(SYS_openat, AT_FDCWD, (long)path, flags | O_CLOEXEC, 0);
	}
	return fd;
}

void ep_fd_close(long fd)
{
	ep_syscall1(SYS_close, fd);
}

long ep_fd_read(long fd, void *out, size_t size)
{
	size_t done = 0;

	while (done < size) {
		long got = ep_syscall3(SYS_read, fd, (long)out + (long)done, (long)(size - done));

		if (got == -EINTR)
			continue;
		if (got < 0 && !done)
			return got;
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return (long)done;
}

/* What getdents64 gives: entry.size bytes, and then the next. */
struct entry {
	uint64_t inode;
	int64_t offset;
	uint16_t size;
	uint8_t type;
	char name[];
};

void ep_folder_begin(struct ep_folder *folder, long fd)
{
	folder->fd = fd;
	folder->at = folder->end = 0;
}

const char *ep_folder_next(struct ep_folder *folder)
{
	const struct entry *entry;

	if (folder->at >= folder->end) {
		folder->at = 0;
		folder->end = ep_syscall3(SYS_getdents64, folder->fd, (long)folder->bytes,
					  sizeof folder->bytes);
	}
	if (folder->end <= 0)
		return NULL;
	entry = (const struct entry *)(folder->bytes + folder->at);
	folder->at += entry->size;
	return entry->name;
}

void ep_folder_end(struct ep_folder *folder)
{
	if (folder->fd >= 0)
		ep_fd_close(folder->fd);
}

static long load(long fd, void *out, size_t size)
{
	long got;

	if (fd < 0)
		return fd;
	got = ep_fd_read(fd, out, size);
	ep_fd_close(fd);
	return got;
}

long ep_fd_load(const char *path, void *out, size_t size)
{
	return load(ep_fd_open(path), out, size);
}

long ep_fd_load_own(const char *name, void *out, size_t size)
{
	return load(ep_fd_open_own(name, O_RDONLY), out, size);
}

/* Containers' system call filters often refuse process_vm_readv. */
static bool read_by_file(uint64_t address, void *out, size_t size)
{
	long fd = ep_fd_open_own("mem", O_RDONLY);
	long got;

	if (fd < 0)
		return false;
	got = ep_syscall4(SYS_pread64, fd, (long)out, (long)size, (long)address);
	ep_fd_close(fd);
	return got == (long)size;
}

/* A main thread that has ended has no memory, and the process by its number none either: it is the
 * calling thread's too. */
long ep_memory_call(long call, const struct iovec *here, const struct iovec *there, unsigned count)
{
	long got = ep_syscall6(call, ep_syscall0(SYS_getpid), (long)here, 1, (long)there,
			       (long)count, 0);

	if (got == -ESRCH)
		got = ep_syscall6(call, ep_syscall0(SYS_gettid), (long)here, 1, (long)there,
				  (long)count, 0);
	return got;
}

bool ep_memory_read(uint64_t address, void *out, size_t size)
{
	struct iovec here = {out, size};
	struct iovec there = {(void *)address, size};
	long got;

	if (ep_jail_inherited())
		return read_by_file(address, out, size);
	got = ep_memory_call(SYS_process_vm_readv, &here, &there, 1);
	if (got == (long)size)
		return true;
	return (got == -ENOSYS || got == -EPERM || got == -ESRCH) &&
	       read_by_file(address, out, size);
}

unsigned ep_memory_read_places(const uint64_t *addresses, unsigned count, void *out, size_t size)
{
	struct iovec here = {out, count * size}, there[EP_MEMORY_PLACES];
	unsigned done = 0;
	long got = 0;

	for (unsigned i = 0; i < count; i++)
		there[i] = (struct iovec){(void *)addresses[i], size};
	if (!ep_jail_inherited())
		got = ep_memory_call(SYS_process_vm_readv, &here, there, count);
	if (got > 0)
		return (unsigned)((uint64_t)got / size);
	while (done < count && ep_memory_read(addresses[done], (char *)out + done * size, size))
		done++;
	return done;
}

uint64_t ep_auxv(uint64_t type)
{
	uint64_t entries[64][2];
	/* By this name first: valgrind answers it itself, without the vDSO, which it does not map.
	 * Where the main thread has ended it says nothing. */
	long got = ep_fd_load("/proc/self/auxv", entries, sizeof entries);

	if (got <= 0)
		got = ep_fd_load_own("auxv", entries, sizeof entries);

	for (long i = 0; i < got / (long)sizeof entries[0]; i++) {
		if (entries[i][0] == type)
			return entries[i][1];
	}
	return 0;
}
