/* SPDX-License-Identifier: BSD-2-Clause */
/* systemcall.c: names are made from <asm/unistd_64.h> when this is built. */
#include "decoder/code/systemcall.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/user.h>

#include "coredump/snapshot/redacted.h"

#define SMALL   65536u /* below it an argument is no address */
#define UNKNOWN 6

static const char *const names[] = {
#include <systemcall_names.h> /* generated, in the build folder */
};
#define NAMES (sizeof(names) / sizeof(*names))

/* Arguments of those in which threads are found waiting, and some more
 * (man 2). */
static const struct {
	const char *name;
	unsigned count;
} takes[] = {
	{"read", 3},
	{"write", 3},
	{"open", 3},
	{"close", 1},
	{"poll", 3},
	{"lseek", 3},
	{"mmap", 6},
	{"munmap", 2},
	{"ioctl", 3},
	{"readv", 3},
	{"writev", 3},
	{"select", 5},
	{"sched_yield", 0},
	{"pause", 0},
	{"nanosleep", 2},
	{"sendto", 6},
	{"recvfrom", 6},
	{"sendmsg", 3},
	{"recvmsg", 3},
	{"accept", 3},
	{"accept4", 4},
	{"connect", 3},
	{"wait4", 4},
	{"waitid", 5},
	{"kill", 2},
	{"tkill", 2},
	{"tgkill", 3},
	{"futex", 6},
	{"epoll_wait", 4},
	{"epoll_pwait", 6},
	{"clock_nanosleep", 4},
	{"ppoll", 5},
	{"pselect6", 6},
	{"rt_sigtimedwait", 4},
	{"rt_sigsuspend", 2},
	{"msgrcv", 5},
	{"semop", 3},
	{"semtimedop", 4},
	{"flock", 2},
	{"fcntl", 3},
	{"fsync", 1},
	{"fdatasync", 1},
	{"openat", 4},
	{"pread64", 4},
	{"pwrite64", 4},
	{"exit", 1},
	{"exit_group", 1},
	{"getpid", 0},
	{"io_getevents", 5},
	{"splice", 6},
	{"brk", 1},
	{"madvise", 3},
	{"mprotect", 3},
	{"sched_setaffinity", 3},
};

const char *ep_systemcall_name(uint64_t number)
{
	return number < NAMES ? names[number] : NULL;
}

static unsigned arguments_of(const char *name)
{
	for (size_t i = 0; name && i < sizeof(takes) / sizeof(*takes); i++)
		if (strcmp(takes[i].name, name) == 0)
			return takes[i].count;
	return UNKNOWN;
}

bool ep_systemcall_of(struct ep_source *source, const struct ep_source_thread *thread,
		      struct ep_systemcall *out)
{
	struct user_regs_struct regs;
	struct elf_prstatus status;
	uint8_t instruction[2];

	static_assert(sizeof(status.pr_reg) == sizeof(regs), "x86-64");
	if (!thread->prstatus || thread->prstatus_size < sizeof(status))
		return false;
	memcpy(&status, thread->prstatus, sizeof(status));
	memcpy(&regs, &status.pr_reg, sizeof(regs));
	if ((int64_t)regs.orig_rax < 0 || regs.rip < 2)
		return false;
	/* Code is often not in a core, but in its file. */
	if (ep_source_read(source, regs.rip - 2, instruction, sizeof(instruction), NULL, NULL) ==
		    EP_OK &&
	    (instruction[0] != 0x0f || instruction[1] != 0x05))
		return false;
	*out = (struct ep_systemcall){regs.orig_rax,
				      {regs.rdi, regs.rsi, regs.rdx, regs.r10, regs.r8, regs.r9},
				      (ep_source_redacted(source) & EP_REDACTED_REGISTERS) != 0};
	return true;
}

const char *ep_systemcall_text(char *out, size_t size, const struct ep_systemcall *call)
{
	const char *name = ep_systemcall_name(call->number);
	unsigned count = arguments_of(name);
	size_t at = 0;

	if (name)
		at = (size_t)snprintf(out, size, "%s(", name);
	else
		at = (size_t)snprintf(out, size, "system call %" PRIu64 "(", call->number);
	if (call->redacted && at < size)
		at += (size_t)snprintf(out + at, size - at, "…");
	for (unsigned i = 0; !call->redacted && i < count && at < size; i++) {
		uint64_t value = call->arguments[i];
		int32_t low = (int32_t)value;
		const char *comma = i ? ", " : "";

		/* Descriptors and the like are ints, -1 among them. */
		if (value < SMALL || (low < 0 && low > -(int)SMALL &&
				      (value >> 32 == 0 || value >> 32 == UINT32_MAX)))
			at += (size_t)snprintf(out + at, size - at, "%s%" PRId32, comma, low);
		else
			at += (size_t)snprintf(out + at, size - at, "%s0x%" PRIx64, comma, value);
	}
	if (at < size)
		snprintf(out + at, size - at, ")");
	return out;
}
