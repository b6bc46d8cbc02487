/* SPDX-License-Identifier: BSD-2-Clause */
/* many_functions.S: all() calls 40,000 functions that lie 16 bytes apart, each once; none of them has a record of its return. */
	.text
	.globl all
	.type all, @function
all:	push %rbx
	lea first(%rip), %rbx
1:	call *%rbx
	add $16, %rbx
	lea last(%rip), %rax
	cmp %rax, %rbx
	jb 1b
	pop %rbx
	ret
	.size all, .-all
	.balign 16
first:
	.rept 40000
	.balign 16
	call __fentry__
	ret
	.endr
	.balign 16
last:
	ret
	.section .note.GNU-stack,"",@progbits
