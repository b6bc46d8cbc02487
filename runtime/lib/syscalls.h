/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * syscalls.h: raw system calls, inline. They touch no errno, need no TLS and no PLT, are no
 * cancellation points, and cannot be replaced by the traced program: safe in constructors, signal
 * handlers and clones.
 *
 * Each returns what the kernel returned: a negative errno on failure
 * (-4095 … -1). x86-64; psABI, appendix A.2: arguments in rdi rsi rdx r10 r8 r9, rcx and r11 are
 * lost.
 */
#ifndef EPITAPH_SYSCALLS_H
#define EPITAPH_SYSCALLS_H

#include <stdbool.h>
#include <sys/syscall.h>

static inline bool ep_syscall_failed(long result)
{
	return (unsigned long)result >= -4095ul;
}

static inline long ep_syscall6(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

static inline long ep_syscall5(long number, long a, long b, long c, long d, long e)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
			 : "rcx", "r11", "memory");
	return result;
}

static inline long ep_syscall4(long number, long a, long b, long c, long d)
{
	register long r10 __asm__("r10") = d;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return result;
}

static inline long ep_syscall3(long number, long a, long b, long c)
{
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"(number), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return result;
}

static inline long ep_syscall2(long number, long a, long b)
{
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"(number), "D"(a), "S"(b)
			 : "rcx", "r11", "memory");
	return result;
}

static inline long ep_syscall1(long number, long a)
{
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "0"(number), "D"(a) : "rcx", "r11", "memory");
	return result;
}

static inline long ep_syscall0(long number)
{
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "0"(number) : "rcx", "r11", "memory");
	return result;
}

#endif
