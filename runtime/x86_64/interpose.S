/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * interpose.S: what comes before a function of somebody else's, ended by a jump to it, so that it
 * sees its own caller: by that the dynamic linker knows whose RUNPATH to use, the unwinder where to
 * begin, and setjmp where to return twice. Called as NAME is, so all argument registers are kept
 * (System V psABI AMD64, 3.2.3; al too, for makecontext has variable arguments).
 */
#ifdef EP_SHARED
#define PUBLIC(name) name
#else
#define PUBLIC(name) epitaph_##name /* see interpose.h */
#endif

	.text

	.macro	keep register
	pushq	\register
	.cfi_adjust_cfa_offset 8
	.endm
	.macro	restore register
	popq	\register
	.cfi_adjust_cfa_offset -8
	.endm

	/* \before gets the first two arguments, the place of the call, the third and fourth
	 * argument, and where the place lies on the stack (the caller's rbp is nine words below),
	 * and returns the real one's address. %r11 is where to go on; 0: there. */
	.macro	go_on before
	keep	%rdi
	keep	%rsi
	keep	%rdx
	keep	%rcx
	keep	%r8
	keep	%r9
	keep	%rax
	keep	%r11
	keep	%rbp			/* aligns the stack for C, too */
	movq	%rcx, %r8
	movq	%rdx, %rcx
	leaq	72(%rsp), %r9
	movq	(%r9), %rdx
	call	\before
	restore	%r11
	restore	%r11
	testq	%r11, %r11
	cmovzq	%rax, %r11
	restore	%rax
	restore	%r9
	restore	%r8
	restore	%rcx
	restore	%rdx
	restore	%rsi
	restore	%rdi
	jmp	*%r11
	.endm

	.macro	interposer name, before
	.globl	\name
	.type	\name, @function
	.p2align 4
\name:
	.cfi_startproc
	endbr64
	xorl	%r11d, %r11d
	go_on	\before
	.cfi_endproc
	.size	\name, . - \name
	.endm

	/*
	 * The same, and epitaph_given_\jump, which has the real one in %r11 (the wrapper's
	 * kit/jumps.S): it is another's that ours was not found before, or ours.
	 */
	.macro	interposer_given name, jump, before
	.globl	\name
	.type	\name, @function
	.globl	epitaph_given_\jump
	.type	epitaph_given_\jump, @function
	.p2align 4
epitaph_given_\jump:
	.cfi_startproc
	endbr64
	is_ours	\jump
	jne	2f
.Lown_\jump:
\name:
	endbr64
	xorl	%r11d, %r11d
2:	go_on	\before
	.cfi_endproc
	.size	\name, . - \name
	.size	epitaph_given_\jump, . - epitaph_given_\jump
	.endm

	/* Whether %r11 is what we put in front of \jump. Clobbers r10. */
	.macro	is_ours jump
#ifdef EP_SHARED
	leaq	.Lown_\jump(%rip), %r10
#else
	.weak	epitaph_plain_\jump	/* the wrapper's kit/interpose.S */
	movq	epitaph_plain_\jump@GOTPCREL(%rip), %r10
#endif
	cmpq	%r10, %r11
	.endm

	interposer PUBLIC(dlopen), ep_before_dlopen
	interposer PUBLIC(dlmopen), ep_before_dlmopen

	interposer PUBLIC(_Unwind_RaiseException), ep_before_raise
	interposer PUBLIC(_Unwind_Resume_or_Rethrow), ep_before_rethrow
	interposer PUBLIC(_Unwind_SetIP), ep_before_landing

	interposer_given PUBLIC(setjmp), setjmp, ep_before_setjmp
	interposer_given PUBLIC(_setjmp), _setjmp, ep_before__setjmp
	interposer_given PUBLIC(__sigsetjmp), __sigsetjmp, ep_before_sigsetjmp
	interposer_given PUBLIC(longjmp), longjmp, ep_before_longjmp
	interposer_given PUBLIC(_longjmp), _longjmp, ep_before__longjmp
	interposer_given PUBLIC(siglongjmp), siglongjmp, ep_before_siglongjmp
	interposer_given PUBLIC(__longjmp_chk), __longjmp_chk, ep_before_longjmp_chk
	interposer_given PUBLIC(getcontext), getcontext, ep_before_getcontext
	interposer_given PUBLIC(setcontext), setcontext, ep_before_setcontext
	interposer_given PUBLIC(swapcontext), swapcontext, ep_before_swapcontext
	interposer_given PUBLIC(makecontext), makecontext, ep_before_makecontext

	interposer PUBLIC(prctl), ep_before_prctl
	interposer PUBLIC(syscall), ep_before_syscall

	interposer PUBLIC(_Fork), ep_before__Fork
	interposer PUBLIC(clone), ep_before_clone

	interposer PUBLIC(_exit), ep_before__exit
	interposer PUBLIC(_Exit), ep_before__Exit
	interposer PUBLIC(execve), ep_before_execve
	interposer PUBLIC(execv), ep_before_execv
	interposer PUBLIC(execvp), ep_before_execvp
	interposer PUBLIC(execvpe), ep_before_execvpe
	interposer PUBLIC(execl), ep_before_execl
	interposer PUBLIC(execle), ep_before_execle
	interposer PUBLIC(execlp), ep_before_execlp
	interposer PUBLIC(fexecve), ep_before_fexecve
	interposer PUBLIC(execveat), ep_before_execveat

	/*
	 * vfork returns twice upon one stack, on which the child goes on first: what the parent
	 * needs lies elsewhere, and %rbx, which each has for itself, knows where. The real one may
	 * be another's wrapper, which does the same. With shadow stacks the child, which shares the
	 * parent's, jumps back, as from the C library's vfork: it must not pop what the parent
	 * will.
	 */
	.globl	PUBLIC(vfork)
	.type	PUBLIC(vfork), @function
	.globl	epitaph_given_vfork
	.type	epitaph_given_vfork, @function
	.p2align 4
epitaph_given_vfork:
	.cfi_startproc
	endbr64
	is_ours	vfork
	jne	3f
.Lown_vfork:
PUBLIC(vfork):
	endbr64
	xorl	%r11d, %r11d
3:	movq	%rsp, %rdi
	movq	(%rsp), %rsi
	movq	%r11, %rdx
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	ep_before_vfork
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	testq	%rdx, %rdx
	jnz	1f
	jmp	*%rax
1:	popq	(%rdx)
	.cfi_adjust_cfa_offset -8
	.cfi_undefined %rip
	movq	%rbx, 8(%rdx)
	movq	%rdx, %rbx
	call	*%rax
	movq	(%rbx), %rcx
	testl	%eax, %eax
	jnz	2f
	movq	8(%rbx), %rbx
	notrack	jmp *%rcx
2:	pushq	%rcx
	.cfi_adjust_cfa_offset 8
	.cfi_restore %rip
	pushq	%rax
	.cfi_adjust_cfa_offset 8
	movq	%rbx, %rdi
	leaq	8(%rsp), %rsi
	movq	8(%rbx), %rbx
	call	ep_after_vfork
	popq	%rax
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	PUBLIC(vfork), . - PUBLIC(vfork)
	.size	epitaph_given_vfork, . - epitaph_given_vfork

	/* Only given: \code, with what is in %r11. */
	.macro	given name, code:vararg
	.globl	epitaph_given_\name
	.type	epitaph_given_\name, @function
	.p2align 4
epitaph_given_\name:
	.cfi_startproc
	endbr64
	\code
	.cfi_endproc
	.size	epitaph_given_\name, . - epitaph_given_\name
	.endm

	given	__cxa_throw, go_on ep_before_throw
	given	__cxa_rethrow, go_on ep_before_throw_again
	given	_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE, \
		go_on ep_before_throw_kept
	/* The sixth argument, the third; C calls the real one. */
	given	__gxx_personality_v0, movq %r11, %r9; jmp ep_personality
	given	__gcc_personality_v0, movq %r11, %r9; jmp ep_personality
	given	pthread_setname_np, movq %r11, %rdx; jmp ep_setname

	.section .note.GNU-stack, "", @progbits
