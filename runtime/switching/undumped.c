/* SPDX-License-Identifier: BSD-2-Clause */
/* undumped.c: madvise, which also holds in forked children. */
#include "runtime/switching/undumped.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>

#include "runtime/lib/files.h"
#include "runtime/lib/syscalls.h"
#include "runtime/switching/function.h"

#define PAGE         UINT64_C(4096)
#define MAPPED_FILES 4u /* core(5): bit 2 */

static enum { UNKNOWN, DUMPED, LEFT_OUT } files;

/* Hexadecimal, eight digits and the end of a line. */
static bool wants_files(void)
{
	char text[16];
	long size = ep_fd_load("/proc/self/coredump_filter", text, sizeof(text));
	char last = size >= 2 ? text[size - 2] : '4';

	return (unsigned)(last <= '9' ? last - '0' : last - 'a' + 10) & MAPPED_FILES;
}

void ep_code_leave_out(uint64_t address)
{
	uint64_t start, end;
	bool has_header;

	if (files == UNKNOWN)
		files = wants_files() ? DUMPED : LEFT_OUT;
	if (files == DUMPED || !ep_code_segment(address, &start, &end, &has_header) || has_header)
		return;
	start &= -PAGE;
	end = (end + PAGE - 1) & -PAGE;
	ep_syscall3(SYS_madvise, (long)start, (long)(end - start), MADV_DONTDUMP);
}
