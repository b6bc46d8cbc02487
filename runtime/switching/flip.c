/* SPDX-License-Identifier: BSD-2-Clause */
/* flip.c: by file, else by hand; what was refused once is not tried again. */
#include "runtime/switching/flip.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "runtime/format_switches.h"
#include "runtime/lib/files.h"
#include "runtime/lib/jail.h"
#include "runtime/lib/syscalls.h"
#include "runtime/x86_64/emulator.h"

#define PAGE UINT64_C(4096)

static uint32_t how = EP_FLIP_UNKNOWN, why_not;

static void give_up(uint32_t why)
{
	why_not = why;
	how = EP_FLIP_NONE;
}

bool ep_flip_possible(void)
{
	if (ep_jail_inherited() && how != EP_FLIP_NONE)
		give_up(EP_FLIP_JAIL);
	else if (how == EP_FLIP_UNKNOWN && ep_runs_on_valgrind())
		give_up(EP_FLIP_EMULATOR);
	return how != EP_FLIP_NONE;
}

uint32_t ep_flip_how(uint32_t *reason)
{
	*reason = why_not;
	return how;
}

void ep_flip_refuse(uint32_t reason)
{
	give_up(reason);
}

bool ep_flip_begin(struct ep_flip *flip)
{
	flip->fd = -1;
	if (!ep_flip_possible())
		return false;
	if (how != EP_FLIP_MPROTECT)
		flip->fd = ep_syscall4(SYS_openat, AT_FDCWD, (long)"/proc/self/mem",
				       O_RDWR | O_CLOEXEC, 0);
	return true;
}

void ep_flip_end(struct ep_flip *flip)
{
	if (flip->fd >= 0)
		ep_fd_close(flip->fd);
}

static bool write_by_file(const struct ep_flip *flip, uint64_t place, uint8_t byte)
{
	if (flip->fd < 0 || ep_syscall4(SYS_pwrite64, flip->fd, (long)&byte, 1, (long)place) != 1)
		return false;
	how = EP_FLIP_FILE;
	return true;
}

/* Threads go on running the page meanwhile, so it stays executable. */
static bool write_by_hand(uint64_t place, uint8_t byte)
{
	uint64_t page = place & -PAGE;

	if (how == EP_FLIP_FILE) /* not a refusal: it has no descriptor left, or the code is gone */
		return false;
	if (ep_syscall3(SYS_mprotect, (long)page, (long)PAGE, PROT_READ | PROT_WRITE | PROT_EXEC)) {
		give_up(EP_FLIP_REFUSED);
		return false;
	}
	__atomic_store_n((uint8_t *)place, byte, __ATOMIC_RELEASE);
	ep_syscall3(SYS_mprotect, (long)page, (long)PAGE, PROT_READ | PROT_EXEC);
	how = EP_FLIP_MPROTECT;
	return true;
}

bool ep_flip_byte(struct ep_flip *flip, uint64_t place, uint8_t from, uint8_t to)
{
	uint8_t now;

	if (!ep_memory_read(place, &now, 1) || (now != from && now != to))
		return false;
	return now == to || write_by_file(flip, place, to) || write_by_hand(place, to);
}
