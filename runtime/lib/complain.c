/* SPDX-License-Identifier: BSD-2-Clause */
/* complain.c: stderr, and the way to it from a thread that does not have it. */
#include "runtime/lib/complain.h"

#include <stdint.h>

#include "runtime/lib/files.h"
#include "runtime/lib/syscalls.h"

/* The runtime's own threads. A tid that has become somebody else's costs him two system calls. */
#define APART 4
static uint32_t apart[APART];
static uint32_t apart_count;

void ep_complain_apart(void)
{
	uint32_t slot = __atomic_fetch_add(&apart_count, 1, __ATOMIC_RELAXED) % APART;

	__atomic_store_n(&apart[slot], (uint32_t)ep_syscall0(SYS_gettid), __ATOMIC_RELAXED);
}

static bool is_apart(void)
{
	uint32_t tid = (uint32_t)ep_syscall0(SYS_gettid);

	for (unsigned i = 0; i < APART; i++)
		if (__atomic_load_n(&apart[i], __ATOMIC_RELAXED) == tid)
			return true;
	return false;
}

/* A copy of the process's descriptor 2, as its main thread has it. Negative: none. */
static long borrow_stderr(void)
{
	long process = ep_syscall2(SYS_pidfd_open, ep_syscall0(SYS_getpid), 0);
	long fd;

	if (ep_syscall_failed(process))
		return -1;
	fd = ep_syscall3(SYS_pidfd_getfd, process, 2, 0);
	ep_fd_close(process);
	return fd;
}

void ep_complain(const struct ep_text *text)
{
	long fd = is_apart() ? borrow_stderr() : 2;

	if (ep_syscall_failed(fd))
		return;
	ep_syscall3(SYS_write, fd, (long)text->bytes, (long)text->used);
	if (fd != 2)
		ep_fd_close(fd);
}
