/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clone.S: long ep_clone(unsigned long flags, void *stack_end, int *clear, void (*run)(void)): a
 * thread or process that calls run() on a stack of its own and must not return. No libc, no
 * thread-local memory: with `clear` and CLONE_CHILD_CLEARTID the kernel empties it when the thread
 * is gone.
 */
	.text
	.hidden	ep_clone
	.globl	ep_clone
	.type	ep_clone, @function
	.p2align 4
ep_clone:
	.cfi_startproc
	endbr64
	movq	%rdx, %r10		/* child_tid */
	movq	%rcx, %r9		/* kept by the system call */
	xorl	%edx, %edx
	xorl	%r8d, %r8d
	andq	$-16, %rsi
	movl	$56, %eax		/* clone */
	syscall
	testq	%rax, %rax
	jz	1f
	ret
1:	.cfi_undefined rip		/* unwinding ends here */
	xorl	%ebp, %ebp
	call	*%r9
	hlt
	.cfi_endproc
	.size	ep_clone, . - ep_clone

	.section .note.GNU-stack, "", @progbits
