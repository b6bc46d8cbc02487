/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fatal.S: what the kernel calls for a fatal signal (runtime/fatal.c). Where
 * the program has a handler it becomes that one, on the stack and with the
 * registers with which the kernel calls handlers; all others are those that
 * were interrupted, or ones that nobody may use.
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
	cld
	call	ep_fatal_signal
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	testq	%rax, %rax		/* its handler; rdx: the frame for it */
	jz	1f
	movq	%rdx, %rsp
	leaq	EP_FRAME_INFO(%rsp), %rsi
	leaq	EP_FRAME_CONTEXT(%rsp), %rdx
	movq	%rax, %r11
	xorl	%eax, %eax
	jmp	*%r11
1:	ret
	.cfi_endproc
	.size	ep_fatal_entry, . - ep_fatal_entry

	.section .note.GNU-stack, "", @progbits
