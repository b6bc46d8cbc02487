/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jumps.S: assembled once for each NAME that leaves calls or goes on with others, where the
 * runtime's own cannot be found first: in a plug-in the C library's was there before it, in a
 * program that was linked statically with a sanitizer, the sanitizer's. Linked with --wrap=NAME:
 * the runtime notes it and jumps to what would have been called without us, be it whose it may.
 */
#define JOIN(a, b)  a##b
#define WITH(a, b)  JOIN(a, b)
#define WRAPPED     WITH(__wrap_, NAME)

	.text
	.globl	WRAPPED
	.hidden	WRAPPED
	.type	WRAPPED, @function
	.p2align 4
WRAPPED:
	.cfi_startproc
	endbr64
	movq	WITH(__real_, NAME)@GOTPCREL(%rip), %r11
	jmp	*WITH(epitaph_given_, NAME)@GOTPCREL(%rip)
	.cfi_endproc
	.size	WRAPPED, . - WRAPPED
	.section .note.GNU-stack, "", @progbits
