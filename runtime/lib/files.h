/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * files.h: small files of /proc and /sys, and the process's own memory, read by raw system calls.
 * Async-signal-safe; nothing here can fault.
 */
#ifndef EPITAPH_FILES_H
#define EPITAPH_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A descriptor that exec closes, or a negative errno. */
long ep_fd_open(const char *path);
/* /proc/self/NAME, opened with such flags: of the thread that asks, since what is the memory's
 * (maps, mem, auxv, exe) is gone from a main thread that has ended, and from /proc/PID with it. */
long ep_fd_open_own(const char *name, int flags);
void ep_fd_close(long fd);

/* Up to `size` bytes from where the file stands; fewer only at its end. Negative errno when the
 * first read fails. */
long ep_fd_read(long fd, void *out, size_t size);

/* A folder's entries, one after the other. */
struct ep_folder {
	long fd;
	long at, end;
	char bytes[2048] __attribute__((aligned(8)));
};

/* `fd`: of the folder, which ep_folder_end closes, or a negative errno. */
void ep_folder_begin(struct ep_folder *folder, long fd);
const char *ep_folder_next(struct ep_folder *folder); /* the next one's name; NULL: no more */
void ep_folder_end(struct ep_folder *folder);

/* The first `size` bytes of a file: how many, or a negative errno. */
long ep_fd_load(const char *path, void *out, size_t size);
long ep_fd_load_own(const char *name, void *out, size_t size); /* as ep_fd_open_own */

struct iovec;
/* process_vm_readv or _writev (`call`) on this very process: bytes, or a negative errno. */
long ep_memory_call(long call, const struct iovec *here, const struct iovec *there, unsigned count);

/*
 * Copies `size` bytes of this process's memory at `address`. False when not all of it could be
 * read, also because it is not mapped or lies past the end of its file (where a plain load would
 * raise SIGBUS); `out` is then undefined.
 */
bool ep_memory_read(uint64_t address, void *out, size_t size);

/* Likewise `size` bytes at each of `count` addresses, EP_MEMORY_PLACES at most, to `out` one behind
 * the other; mostly by one system call. How many: up to the first that could not be read. */
#define EP_MEMORY_PLACES 16
unsigned ep_memory_read_places(const uint64_t *addresses, unsigned count, void *out, size_t size);

/* The value of an auxv entry (AT_PHDR …); 0 when there is none. */
uint64_t ep_auxv(uint64_t type);

#endif
