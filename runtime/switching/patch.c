/* SPDX-License-Identifier: BSD-2-Clause */
/* patch.c: a stretch of code in a buffer, written back when the next place is too far away. */
#include "runtime/switching/patch.h"

#include <sys/mman.h>

#include "runtime/lib/jail.h"
#include "runtime/lib/syscalls.h"

#define PAGE    UINT64_C(4096)
#define STRETCH (4 * PAGE)
#define GAP     2048 /* no page is in between that has none of the places */

static uint8_t buffer[STRETCH];

static void copy(volatile uint8_t *to, const volatile uint8_t *from, uint64_t size)
{
	for (uint64_t i = 0; i < size; i++)
		to[i] = from[i];
}

static bool write_by_file(const struct ep_patch *patch)
{
	uint64_t size = patch->end - patch->start;

	return patch->fd >= 0 && ep_syscall4(SYS_pwrite64, patch->fd, (long)buffer, (long)size,
					     (long)patch->start) == (long)size;
}

static bool write_by_hand(const struct ep_patch *patch)
{
	uint64_t page = patch->start & -PAGE, size = patch->end - page;

	if (ep_jail_inherited() ||
	    ep_syscall3(SYS_mprotect, (long)page, (long)size, PROT_READ | PROT_WRITE | PROT_EXEC))
		return false;
	copy((volatile uint8_t *)patch->start, buffer, patch->end - patch->start);
	ep_syscall3(SYS_mprotect, (long)page, (long)size, PROT_READ | PROT_EXEC);
	return true;
}

static void flush(struct ep_patch *patch)
{
	if (patch->start == patch->end)
		return;
	patch->refused |= !write_by_file(patch) && !write_by_hand(patch);
	patch->pages += ((patch->end - 1) & -PAGE) / PAGE - (patch->start & -PAGE) / PAGE + 1;
	patch->start = patch->end = 0;
}

void ep_patch_begin(struct ep_patch *patch, long fd)
{
	*patch = (struct ep_patch){.fd = fd};
}

uint8_t *ep_patch_at(struct ep_patch *patch, uint64_t place, size_t size)
{
	if (place < patch->start || place > patch->end + GAP ||
	    place + size > patch->start + STRETCH) {
		flush(patch);
		patch->start = patch->end = place;
	}
	if (place + size > patch->end) {
		copy(buffer + (patch->end - patch->start), (const uint8_t *)patch->end,
		     place + size - patch->end);
		patch->end = place + size;
	}
	return buffer + (place - patch->start);
}

bool ep_patch_end(struct ep_patch *patch)
{
	flush(patch);
	return !patch->refused;
}
