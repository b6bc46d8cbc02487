/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * altstack.c: an alternate stack for each thread that has none. The lowest words of each say whose
 * it is, and what the kernel would have without it.
 */
#include "runtime/record/altstack.h"

#include <elf.h>
#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>

#include "runtime/arena/inherit.h"
#include "runtime/lib/files.h"
#include "runtime/lib/interpose.h"
#include "runtime/lib/jail.h"
#include "runtime/lib/syscalls.h"
#include "runtime/settings/settings.h"
#include "runtime/x86_64/emulator.h"

#define SIZE  (UINT64_C(64) << 10)
#define GUARD UINT64_C(4096)
#define MAGIC UINT64_C(0x6b63617473207065)

struct label {
	uint64_t magic; /* of this very stack */
	uint64_t flags; /* of the thread without it: 0 or SS_DISABLE */
};

static long set(const stack_t *new, stack_t *old)
{
	return ep_syscall2(SYS_sigaltstack, (long)new, (long)old);
}

/* The program's stacks are executable: gcc's nested functions put code there, also those of a
 * handler with SA_ONSTACK, which runs here. */
static bool stacks_execute(void)
{
	const Elf64_Phdr *header = (const void *)ep_auxv(AT_PHDR);
	uint64_t count = ep_auxv(AT_PHNUM);

	for (uint64_t i = 0; header && i < count; i++)
		if (header[i].p_type == PT_GNU_STACK)
			return header[i].p_flags & PF_X;
	return false;
}

static void start(int flags)
{
	struct label *label;
	stack_t own = {.ss_flags = 0, .ss_size = SIZE}, old;
	long got;

	if (set(NULL, &old) || !(old.ss_flags & SS_DISABLE))
		return;
	got = ep_syscall6(SYS_mmap, 0, GUARD + SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (ep_syscall_failed(got))
		return;
	if (!stacks_execute() ||
	    ep_syscall3(SYS_mprotect, got + (long)GUARD, SIZE, PROT_READ | PROT_WRITE | PROT_EXEC))
		ep_syscall3(SYS_mprotect, got + (long)GUARD, SIZE, PROT_READ | PROT_WRITE);
	own.ss_sp = label = (void *)(got + (long)GUARD);
	label->magic = MAGIC ^ (uint64_t)label;
	label->flags = (uint64_t)flags;
	if (set(&own, NULL))
		ep_syscall2(SYS_munmap, got, GUARD + SIZE);
}

/* Nobody has said anything of a process's first thread. Of others clone(2) has (Linux
 * kernel/fork.c, sas_ss_reset). */
void ep_altstack_start(void)
{
	bool first = ep_syscall0(SYS_gettid) == ep_syscall0(SYS_getpid);

	start(first ? 0 : SS_DISABLE);
}

/* What the program named may be no memory any more. Of no such thing as a mask of that kind the
 * kernel reads the mask first, by a system call that a filter of the program's has to allow;
 * valgrind would complain of it. */
static bool is_readable(const void *at)
{
	return ep_runs_on_valgrind() ||
	       ep_syscall4(SYS_rt_sigprocmask, -1, (long)at, 0, 8) == -EINVAL;
}

bool ep_altstack_is_own(const stack_t *stack)
{
	return !(stack->ss_flags & SS_DISABLE) && stack->ss_size == SIZE &&
	       is_readable(stack->ss_sp) &&
	       ((struct label *)stack->ss_sp)->magic == (MAGIC ^ (uint64_t)stack->ss_sp);
}

void ep_altstack_hide(stack_t *stack)
{
	const struct label *label = stack->ss_sp;

	*stack = (stack_t){.ss_flags = (int)label->flags};
}

void ep_altstack_show(stack_t *stack, uint64_t address)
{
	stack_t own = {.ss_sp = (void *)address, .ss_size = SIZE};

	if (ep_altstack_is_own(&own))
		*stack = own;
}

static void release(const stack_t *stack)
{
	ep_syscall2(SYS_munmap, (long)stack->ss_sp - (long)GUARD, GUARD + SIZE);
}

void ep_altstack_end(void)
{
	stack_t none = {.ss_flags = SS_DISABLE}, now;

	if (set(NULL, &now) || now.ss_flags || !ep_altstack_is_own(&now))
		return;
	set(&none, NULL);
	release(&now);
}

/* ---- what the program asks for ---- */

/* The program has set another one, or none, where ours was or was not. */
static void settle(const stack_t *before, bool own)
{
	stack_t now;

	if (own && ep_inherit() != EP_INHERIT_SHARED)
		release(before);
	if (!set(NULL, &now) && now.ss_flags & SS_DISABLE && (own || ep_settings.crash_snapshot))
		start(SS_DISABLE);
}

EP_INTERPOSER int EP_INTERPOSER_NAME(sigaltstack)(const stack_t *new, stack_t *old);

/* All memory of the caller's is touched by the kernel first. */
int EP_INTERPOSER_NAME(sigaltstack)(const stack_t *new, stack_t *old)
{
	stack_t before, *got = old ? old : &before;
	bool change = new != NULL, own = false;
	long result = set(new, got);

	if (ep_syscall_failed(result)) {
		errno = (int)-result;
		return -1;
	}
	before = *got;
	/* Else the program sees ours. */
	if (ep_jail_permits(EP_JAIL_NO_SIGNALS))
		own = ep_altstack_is_own(&before);
	if (own && old)
		*old = (stack_t){.ss_flags = SS_DISABLE};
	if (change && ep_jail_permits(EP_JAIL_NO_SNAPSHOT))
		settle(&before, own);
	return 0;
}
