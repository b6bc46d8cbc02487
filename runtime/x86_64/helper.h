/* SPDX-License-Identifier: BSD-2-Clause */
/* helper.h: a thread that libc knows nothing of: no thread-local memory of its own, raw system
 * calls only. */
#ifndef EPITAPH_X86_64_HELPER_H
#define EPITAPH_X86_64_HELPER_H

#include <stdint.h>
#include <sys/syscall.h>

/*
 * Begins run() on the stack that ends at `top`, with the caller's signal mask. run() must not
 * return, but end with the system call exit; *tid is its tid until then, and 0 after, with a futex
 * wake-up. Its tid or a negative errno.
 */
static inline long ep_helper_begin(void (*run)(void), void *top, uint32_t *tid)
{
	/* CLONE_VM FS FILES SIGHAND THREAD SYSVSEM PARENT_SETTID CHILD_CLEARTID */
	const long flags = 0x100 | 0x200 | 0x400 | 0x800 | 0x10000 | 0x40000 | 0x100000 | 0x200000;
	register uint32_t *child __asm__("r10") = tid;
	register void (*function)(void) __asm__("r12") = run;
	long result;

	__asm__ volatile("syscall\n\t"
			 "testq %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "xorl %%ebp, %%ebp\n\t"
			 "call *%%r12\n\t"
			 "hlt\n"
			 "1:"
			 : "=a"(result)
			 : "0"((long)SYS_clone), "D"(flags), "S"(top), "d"(tid), "r"(child),
			   "r"(function)
			 : "rcx", "r11", "memory");
	return result;
}

#endif
