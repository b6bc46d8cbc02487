/* SPDX-License-Identifier: BSD-2-Clause */
/* registers.h: a thread's registers in the order of a core's NT_PRSTATUS (struct
 * user_regs_struct). */
#ifndef EPITAPH_X86_64_REGISTERS_H
#define EPITAPH_X86_64_REGISTERS_H

#include <stdint.h>
#include <sys/user.h>
#include <ucontext.h>

#include "runtime/lib/syscalls.h"

/* Those of the function that this is written in, as far as a caller's frame can be found from them;
 * the others are 0. */
#define EP_REGISTERS_HERE(registers)                                                              \
	__asm__ volatile("movq %%r15, %c1(%0)\n\tmovq %%r14, %c2(%0)\n\t"                         \
			 "movq %%r13, %c3(%0)\n\tmovq %%r12, %c4(%0)\n\t"                         \
			 "movq %%rbp, %c5(%0)\n\tmovq %%rbx, %c6(%0)\n\t"                         \
			 "movq %%rsp, %c7(%0)\n\tleaq 0f(%%rip), %%rax\n"                         \
			 "0:\tmovq %%rax, %c8(%0)"                                                \
			 :                                                                        \
			 : "r"(registers), "i"(__builtin_offsetof(struct user_regs_struct, r15)), \
			   "i"(__builtin_offsetof(struct user_regs_struct, r14)),                 \
			   "i"(__builtin_offsetof(struct user_regs_struct, r13)),                 \
			   "i"(__builtin_offsetof(struct user_regs_struct, r12)),                 \
			   "i"(__builtin_offsetof(struct user_regs_struct, rbp)),                 \
			   "i"(__builtin_offsetof(struct user_regs_struct, rbx)),                 \
			   "i"(__builtin_offsetof(struct user_regs_struct, rsp)),                 \
			   "i"(__builtin_offsetof(struct user_regs_struct, rip))                  \
			 : "rax", "memory")

#define EP_ARCH_GET_FS 0x1003 /* asm/prctl.h */
#define EP_ARCH_GET_GS 0x1004

static inline void ep_registers_complete(struct user_regs_struct *registers)
{
	unsigned long base = 0;

	if (!registers->cs) {
		registers->cs = 0x33; /* 64-bit user code, as Linux has it */
		registers->ss = 0x2b;
		registers->eflags = 0x202;
	}
	registers->orig_rax = (unsigned long long)-1; /* in no system call */
	if (!ep_syscall2(SYS_arch_prctl, EP_ARCH_GET_FS, (long)&base))
		registers->fs_base = base;
	base = 0;
	if (!ep_syscall2(SYS_arch_prctl, EP_ARCH_GET_GS, (long)&base))
		registers->gs_base = base;
}

/* Those of the interrupted thread, from a signal handler's context. */
static inline void ep_registers_from(struct user_regs_struct *registers, const ucontext_t *context)
{
	const greg_t *from = context->uc_mcontext.gregs;

	registers->r15 = (unsigned long long)from[REG_R15];
	registers->r14 = (unsigned long long)from[REG_R14];
	registers->r13 = (unsigned long long)from[REG_R13];
	registers->r12 = (unsigned long long)from[REG_R12];
	registers->rbp = (unsigned long long)from[REG_RBP];
	registers->rbx = (unsigned long long)from[REG_RBX];
	registers->r11 = (unsigned long long)from[REG_R11];
	registers->r10 = (unsigned long long)from[REG_R10];
	registers->r9 = (unsigned long long)from[REG_R9];
	registers->r8 = (unsigned long long)from[REG_R8];
	registers->rax = (unsigned long long)from[REG_RAX];
	registers->rcx = (unsigned long long)from[REG_RCX];
	registers->rdx = (unsigned long long)from[REG_RDX];
	registers->rsi = (unsigned long long)from[REG_RSI];
	registers->rdi = (unsigned long long)from[REG_RDI];
	registers->rip = (unsigned long long)from[REG_RIP];
	registers->rsp = (unsigned long long)from[REG_RSP];
	registers->eflags = (unsigned long long)from[REG_EFL];
	registers->cs = (unsigned long long)from[REG_CSGSFS] & 0xffff;
	registers->ss = (unsigned long long)from[REG_CSGSFS] >> 48;
}

#endif
