/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * interpose.S: in a dynamic executable with the static runtime, the functions
 * of libc that the runtime stands in front of (runtime/interpose.h has the
 * list, and frame-symbols.sh compares). Weak: a program that has its own
 * function of that name keeps it. A jump, not a call: dlopen looks at its
 * return address.
 */
	.text
	.macro	interpose name
	.weak	\name
	.type	\name, @function
	.p2align 4
\name:
	.cfi_startproc
	endbr64
	jmp	epitaph_\name
	.cfi_endproc
	.size	\name, . - \name
	.endm

	interpose dlopen
	interpose dlmopen
	interpose dlclose
	interpose pthread_setname_np
	.section .note.GNU-stack, "", @progbits
