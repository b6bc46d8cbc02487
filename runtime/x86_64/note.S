/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * note.S: epitaph_note_at(site, format, ...): makes a va_list of its arguments (variadic.h), for
 * the runtime's C code knows no vector registers.
 */
	.text
	.globl	epitaph_note_at
	.type	epitaph_note_at, @function
	.p2align 4
epitaph_note_at:
	.cfi_startproc
	endbr64
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	subq	$208, %rsp		/* saved registers: 176, va_list: 24 */
	movq	%rdx, 16(%rsp)
	movq	%rcx, 24(%rsp)
	movq	%r8, 32(%rsp)
	movq	%r9, 40(%rsp)
	testb	%al, %al		/* how many vector registers, at most */
	jz	1f
	movaps	%xmm0, 48(%rsp)
	movaps	%xmm1, 64(%rsp)
	movaps	%xmm2, 80(%rsp)
	movaps	%xmm3, 96(%rsp)
	movaps	%xmm4, 112(%rsp)
	movaps	%xmm5, 128(%rsp)
	movaps	%xmm6, 144(%rsp)
	movaps	%xmm7, 160(%rsp)
1:	movl	$16, 176(%rsp)		/* rdi and rsi are taken */
	movl	$48, 180(%rsp)
	leaq	16(%rbp), %rax
	movq	%rax, 184(%rsp)
	movq	%rsp, 192(%rsp)
	leaq	176(%rsp), %rdx
	movq	8(%rbp), %rcx
	call	ep_note
	leave
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	epitaph_note_at, . - epitaph_note_at

	.section .note.GNU-stack, "", @progbits
