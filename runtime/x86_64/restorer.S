/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * restorer.S: what a signal handler installed by a raw system call returns to. At its first
 * instruction rsp points to the kernel's ucontext; the call frame information says where in it the
 * interrupted registers are, so that a debugger unwinds through. It looks at the address before a
 * return address, hence the nop.
 */
#define UC_RSP 160 /* offsets of uc_mcontext.gregs (man 2 sigreturn) */

	.text

/* DW_CFA_expression: register \number is saved at rsp + \offset. */
	.macro	saved number, offset
	.cfi_escape 0x10, \number, 3, 0x77, (\offset & 0x7f) | 0x80, \offset >> 7
	.endm

	.macro	restorer name
	.hidden	\name
	.globl	\name
	.type	\name, @function
	.p2align 4
	.cfi_startproc
	.cfi_signal_frame
	/* DW_CFA_def_cfa_expression: the word at rsp + UC_RSP. */
	.cfi_escape 0x0f, 4, 0x77, (UC_RSP & 0x7f) | 0x80, UC_RSP >> 7, 0x06
	saved	8, 40
	saved	9, 48
	saved	10, 56
	saved	11, 64
	saved	12, 72
	saved	13, 80
	saved	14, 88
	saved	15, 96
	saved	5, 104			/* rdi */
	saved	4, 112			/* rsi */
	saved	6, 120			/* rbp */
	saved	3, 128			/* rbx */
	saved	1, 136			/* rdx */
	saved	0, 144			/* rax */
	saved	2, 152			/* rcx */
	saved	7, 160			/* rsp */
	saved	16, 168			/* rip */
	nop
\name:
	.endm

	.macro	restorer_end name
	movq	$15, %rax		/* rt_sigreturn */
	syscall
	.cfi_endproc
	.size	\name, . - \name
	.endm

	restorer ep_restorer
	restorer_end ep_restorer

	/* Of fatal signals (fatal.S): their handler has returned. */
	restorer ep_fatal_restorer
	movq	%rsp, %rdi
	call	ep_fatal_returned
	restorer_end ep_fatal_restorer

	.section .note.GNU-stack, "", @progbits
