/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * own.S: where calls of __cyg_profile_func_enter and _exit go in what has some for itself, by -finstrument-functions of its own
 * (own.h asks the linker for this; what records are other hooks there): to the function of that name, unless that is the runtime's,
 * which would tell each call a second time. Linked with --wrap; without this the weak ones of the runtime, hooks.S or early.S are
 * meant. A function that was compiled by a method whose calls record has another name (tracing.c): it is traced, would come
 * back here, and then has not ended yet.
 */
	.section .epitaph.plt, "ax", @progbits
	.globl	epitaph_calls_own_hooks
	.hidden	epitaph_calls_own_hooks
epitaph_calls_own_hooks:

	.macro	hook name, ours, own
	.weak	epitaph_\ours
	.weak	__real_\name
	.weak	\own
	.globl	__wrap_\name
	.hidden	__wrap_\name
	.type	__wrap_\name, @function
	.p2align 5
__wrap_\name:
	.cfi_startproc
	endbr64
	movq	\own@GOTPCREL(%rip), %r11
	testq	%r11, %r11
	jnz	2f
	movq	__real_\name@GOTPCREL(%rip), %r11
	testq	%r11, %r11
	jz	1f
	cmpq	epitaph_\ours@GOTPCREL(%rip), %r11
	je	1f
	jmp	*%r11
2:	movq	busy@gottpoff(%rip), %r10
	cmpb	$0, %fs:(%r10)
	jne	1f
	movb	$1, %fs:(%r10)
	pushq	%r10
	.cfi_adjust_cfa_offset 8
	call	*%r11
	popq	%r10
	.cfi_adjust_cfa_offset -8
	movb	$0, %fs:(%r10)
1:	ret
	.cfi_endproc
	.size	__wrap_\name, . - __wrap_\name
	.endm

	hook	__cyg_profile_func_enter, __cyg_profile_func_enter, epitaph_own_func_enter
	hook	__cyg_profile_func_exit, __cyg_profile_func_leave, epitaph_own_func_exit

	.section .tbss, "awT", @nobits
	.type	busy, @object
	.size	busy, 1
busy:	.zero	1
	.section .note.GNU-stack, "", @progbits
