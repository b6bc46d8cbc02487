/* SPDX-License-Identifier: BSD-2-Clause */
/* hookcode.c: writes over a few bytes of each hook. */
#include "runtime/lib/hookcode.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "runtime/lib/files.h"
#include "runtime/lib/syscalls.h"
#include "runtime/lib/text.h"

#define PAGE UINT64_C(4096)

/* x86_64/hooks.S: those of this very runtime, whoever's the linker finds. */
extern char ep_hooks_begin[], ep_hook_entry[], ep_hook_return[], ep_hook_enter[], ep_hook_exit[],
	ep_hook_sled_entry[], ep_hook_sled_return[], ep_hooks_end_here[];

static const struct {
	char *at;
	uint8_t byte; /* that ends it, as `ret` … */
	uint8_t here; /* … at this distance */
} hooks[] = {
	{ep_hook_entry, 0xc3, 0},
	{ep_hook_return, 0xc3, 0},
	{ep_hook_enter, 0xc3, 0},
	{ep_hook_exit, 0xc3, 0},
	{ep_hook_sled_entry, 0xc3, 0},
	/* Behind its endbr64; with the two bytes that follow, ret $128. */
	{ep_hook_sled_return, 0xc2, 4},
};
#define HOOKS (sizeof(hooks) / sizeof(*hooks))

/* Where each has the place of what it tests, four bytes: so far behind ep_hooks_begin. */
extern const uint32_t ep_hook_tests[HOOKS];

uint64_t ep_hook_address(unsigned number)
{
	return number < HOOKS ? (uint64_t)hooks[number].at : 0;
}

bool ep_hooks_contain(uint64_t address)
{
	return address >= (uint64_t)ep_hooks_begin && address < (uint64_t)ep_hooks_end_here;
}

struct change {
	char *at;
	uint32_t bytes;
	uint32_t size; /* how many of them */
};

/* Code need not be writable for that, unless a kernel is told otherwise (proc_mem.force_override,
 * Linux 6.12). */
static bool write_by_file(const struct change *changes, unsigned count)
{
	long fd = ep_fd_open_own("mem", O_RDWR);
	bool done = fd >= 0;

	if (fd < 0)
		return false;
	for (unsigned i = 0; i < count; i++)
		done &= ep_syscall4(SYS_pwrite64, fd, (long)&changes[i].bytes, changes[i].size,
				    (long)changes[i].at) == (long)changes[i].size;
	ep_fd_close(fd);
	return done;
}

static bool write_by_hand(const struct change *changes, unsigned count)
{
	uint64_t start = (uint64_t)ep_hooks_begin & -PAGE;
	uint64_t size = (uint64_t)ep_hooks_end_here - start;

	if (ep_syscall3(SYS_mprotect, (long)start, (long)size, PROT_READ | PROT_WRITE | PROT_EXEC))
		return false;
	for (unsigned i = 0; i < count; i++)
		ep_bytes_copy(changes[i].at, &changes[i].bytes, changes[i].size);
	ep_syscall3(SYS_mprotect, (long)start, (long)size, PROT_READ | PROT_EXEC);
	return true;
}

bool ep_hooks_end(void)
{
	struct change changes[HOOKS];

	for (unsigned i = 0; i < HOOKS; i++)
		changes[i] = (struct change){hooks[i].at + hooks[i].here, hooks[i].byte, 1};
	return write_by_file(changes, HOOKS) || write_by_hand(changes, HOOKS);
}

bool ep_hooks_move(int32_t distance)
{
	struct change changes[HOOKS];

	for (unsigned i = 0; i < HOOKS; i++) {
		char *at = ep_hooks_begin + ep_hook_tests[i];
		uint32_t now;

		ep_bytes_copy(&now, at, sizeof(now));
		changes[i] = (struct change){at, now + (uint32_t)distance, sizeof(now)};
	}
	return write_by_file(changes, HOOKS) || write_by_hand(changes, HOOKS);
}
