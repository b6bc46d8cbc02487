/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fatal.S: what the kernel calls for a fatal signal. Where the program has a handler it becomes
 * that one, on the stack and with the registers with which the kernel calls handlers; all others
 * are those that were interrupted, or ones that nobody may use.
 */
#include "runtime/x86_64/sigframe.h"

	.text

/* The beginning of \name: asks \function in C, with a handler's arguments, which are kept. Its
 * answer is in %rax and %r11. */
	.macro	begin name, function
	.globl	\name
	.hidden	\name
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
	cld
	call	\function
	movq	%rdx, %r11
	popq	%rdx
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	.endm

/* Its end: becomes the handler in %rax. */
	.macro	become_handler
	movq	%rax, %r11
	xorl	%eax, %eax
	jmp	*%r11
	.endm

	/* Our own handler (runtime/fatal/fatal.c): %r11 is 0, or a frame elsewhere. */
	begin	ep_fatal_entry, ep_fatal_signal
	testq	%rax, %rax
	jz	.Lno_handler
	testq	%r11, %r11
	jz	.Lsame_frame
	movq	%r11, %rsp
	leaq	EP_FRAME_INFO(%rsp), %rsi
	leaq	EP_FRAME_CONTEXT(%rsp), %rdx
.Lsame_frame:
	become_handler
.Lno_handler:
	ret
	.cfi_endproc
	.size	ep_fatal_entry, . - ep_fatal_entry

	/* What stands in front of the program's (runtime/fatal/front.c). */
	begin	ep_front, ep_front_begin
	become_handler
	.cfi_endproc
	.size	ep_front, . - ep_front

	.section .note.GNU-stack, "", @progbits
