/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hooks_rdtsc.S: hooks that read the clock and nothing else: the floor of any tracer that times
 * each event. Registers are kept as the hooks must keep them.
 */
	.text
	.globl __fentry__, __return__
	.type __fentry__, @function
	.type __return__, @function
	.p2align 4
__fentry__:
	mov %rax, %r10
	mov %rdx, %r11
	rdtsc
	mov %r10, %rax
	mov %r11, %rdx
	ret
	.p2align 4
__return__:
	movq %rax, %xmm8
	movq %rdx, %xmm9
	rdtsc
	movq %xmm8, %rax
	movq %xmm9, %rdx
	ret
	.section .note.GNU-stack, "", @progbits
