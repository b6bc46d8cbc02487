/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * interpose.S: dlopen and dlmopen, ended by a jump, so that the real one sees
 * its caller's return address: by that the dynamic linker knows whose RUNPATH
 * and whose namespace to use.
 */
#ifdef EP_SHARED
#define PUBLIC(name) name
#else
#define PUBLIC(name) epitaph_##name /* see interpose.h */
#endif

	.text

	.macro	interposer name, before
	.globl	\name
	.type	\name, @function
	.p2align 4
\name:
	.cfi_startproc
	endbr64
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	pushq	%rdx
	.cfi_adjust_cfa_offset 8
	call	\before			/* the real one's address */
	popq	%rdx
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	jmp	*%rax
	.cfi_endproc
	.size	\name, . - \name
	.endm

	interposer PUBLIC(dlopen), ep_interpose_dlopen
	interposer PUBLIC(dlmopen), ep_interpose_dlmopen

	.section .note.GNU-stack, "", @progbits
