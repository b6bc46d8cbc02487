/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * front.S: what the kernel calls in front of a program's handler of a fatal signal
 * (runtime/fatal/fatal.c): looks at it, and becomes that handler. All other registers are the
 * interrupted ones, which nobody may use.
 */
	.text
	.globl	ep_front
	.hidden	ep_front
	.type	ep_front, @function
	.p2align 4
ep_front:
	.cfi_startproc
	endbr64
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	pushq	%rdx
	.cfi_adjust_cfa_offset 8
	cld
	call	ep_front_begin
	popq	%rdx
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	movq	%rax, %r11
	xorl	%eax, %eax
	jmp	*%r11
	.cfi_endproc
	.size	ep_front, . - ep_front

	.section .note.GNU-stack, "", @progbits
