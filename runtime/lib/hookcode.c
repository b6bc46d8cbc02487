/* SPDX-License-Identifier: BSD-2-Clause */
/* hookcode.c: writes over the first byte of each hook. */
#include "runtime/lib/hookcode.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "runtime/lib/files.h"
#include "runtime/lib/syscalls.h"

#define PAGE UINT64_C(4096)
#define RET  0xc3

/* x86_64/hooks.S: those of this very runtime, whoever's the linker finds. */
extern char ep_hooks_begin[], ep_hook_entry[], ep_hook_return[], ep_hook_enter[], ep_hook_exit[],
	ep_hooks_end_here[];

static char *const hooks[] = {ep_hook_entry, ep_hook_return, ep_hook_enter, ep_hook_exit};
#define HOOKS (sizeof(hooks) / sizeof(*hooks))

static const uint8_t ret = RET;

uint64_t ep_hook_address(unsigned number)
{
	return number < HOOKS ? (uint64_t)hooks[number] : 0;
}

bool ep_hooks_contain(uint64_t address)
{
	return address >= (uint64_t)ep_hooks_begin && address < (uint64_t)ep_hooks_end_here;
}

/* Code need not be writable for that, unless a kernel is told otherwise (proc_mem.force_override,
 * Linux 6.12). */
static bool write_by_file(void)
{
	long fd = ep_syscall4(SYS_openat, AT_FDCWD, (long)"/proc/self/mem", O_RDWR | O_CLOEXEC, 0);
	bool done = fd >= 0;

	if (fd < 0)
		return false;
	for (unsigned i = 0; i < HOOKS; i++)
		done &= ep_syscall4(SYS_pwrite64, fd, (long)&ret, 1, (long)hooks[i]) == 1;
	ep_fd_close(fd);
	return done;
}

static bool write_by_hand(void)
{
	uint64_t start = (uint64_t)ep_hooks_begin & -PAGE;
	uint64_t size = (uint64_t)ep_hooks_end_here - start;

	if (ep_syscall3(SYS_mprotect, (long)start, (long)size, PROT_READ | PROT_WRITE | PROT_EXEC))
		return false;
	for (unsigned i = 0; i < HOOKS; i++)
		__atomic_store_n((uint8_t *)hooks[i], RET, __ATOMIC_RELEASE);
	ep_syscall3(SYS_mprotect, (long)start, (long)size, PROT_READ | PROT_EXEC);
	return true;
}

bool ep_hooks_end(void)
{
	return write_by_file() || write_by_hand();
}
