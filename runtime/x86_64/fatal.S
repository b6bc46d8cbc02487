/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fatal.S: what the kernel calls for a fatal signal (runtime/fatal/fatal.c). Where the program has
 * a handler it becomes that one, on the stack and with the registers with which the kernel calls
 * handlers; all others are those that were interrupted, or ones that nobody may use.
 */
#include "runtime/x86_64/sigframe.h"

	.text
	.globl	ep_fatal_entry
	.hidden	ep_fatal_entry
	.type	ep_fatal_entry, @function
	.p2align 4
ep_fatal_entry:
	.cfi_startproc
	endbr64
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	pushq	%rdx
	.cfi_adjust_cfa_offset 8
	cld
	call	ep_fatal_signal		/* rax: its handler */
	movq	%rdx, %r11		/* 0, or a frame elsewhere */
	popq	%rdx
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	testq	%rax, %rax
	jz	2f
	testq	%r11, %r11
	jz	1f
	movq	%r11, %rsp
	leaq	EP_FRAME_INFO(%rsp), %rsi
	leaq	EP_FRAME_CONTEXT(%rsp), %rdx
1:	movq	%rax, %r11
	xorl	%eax, %eax
	jmp	*%r11
2:	ret
	.cfi_endproc
	.size	ep_fatal_entry, . - ep_fatal_entry

	.section .note.GNU-stack, "", @progbits
