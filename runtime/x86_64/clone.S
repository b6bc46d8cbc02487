/* SPDX-License-Identifier: BSD-2-Clause */
/* clone.S: the one way in which the runtime makes threads and processes: no libc, no thread-local
 * memory. */
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
	movq	%r8, %rdx		/* parent_tid */
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
