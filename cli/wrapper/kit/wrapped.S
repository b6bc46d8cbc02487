/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wrapped.S: in a static program, the functions that the runtime stands in front of. Linked with
 * --wrap=NAME: a call of NAME comes here, and the runtime finds the real one in a table, in the
 * order of runtime/lib/interpose.h. libc.a itself calls _setjmp, so that it must be linked; the
 * unwinder is only when the program has it.
 */
	.section .data.rel.ro, "aw", @progbits
	.globl	epitaph_wrapped
	.hidden	epitaph_wrapped
	.type	epitaph_wrapped, @object
	.p2align 3
epitaph_wrapped:
	.text

	.macro	wrap name
	.globl	__wrap_\name
	.type	__wrap_\name, @function
	.p2align 4
__wrap_\name:
	.cfi_startproc
	endbr64
	jmp	epitaph_\name
	.cfi_endproc
	.size	__wrap_\name, . - __wrap_\name
	.section .data.rel.ro
	.quad	__real_\name
	.text
	.endm

	.weak	__real__Unwind_RaiseException
	.weak	__real__Unwind_Resume_or_Rethrow
	.weak	__real__Unwind_SetIP
	wrap	_Unwind_RaiseException
	wrap	_Unwind_Resume_or_Rethrow
	wrap	_Unwind_SetIP
	wrap	setjmp
	wrap	_setjmp
	wrap	__sigsetjmp
	wrap	longjmp
	wrap	_longjmp
	wrap	siglongjmp
	wrap	__longjmp_chk
	wrap	getcontext
	wrap	setcontext
	wrap	swapcontext
	wrap	makecontext
	wrap	vfork
	wrap	unshare
	wrap	setns
	wrap	setuid
	wrap	setgid
	wrap	seteuid
	wrap	setegid
	wrap	setreuid
	wrap	setregid
	wrap	setresuid
	wrap	setresgid
	wrap	setgroups
	wrap	capset
	wrap	prctl
	wrap	syscall

	/* Those that only the program would bring along. */
	.weak	__real_sigaltstack
	.weak	__real_signal
	.weak	__real_bsd_signal
	.weak	__real_ssignal
	.weak	__real_sysv_signal
	.weak	__real___sysv_signal
	wrap	sigaction
	wrap	sigaltstack
	wrap	signal
	wrap	bsd_signal
	wrap	ssignal
	wrap	sysv_signal
	wrap	__sysv_signal

	wrap	mmap
	wrap	mmap64
	wrap	munmap
	wrap	mprotect
	wrap	mremap
	wrap	madvise
	wrap	mlockall
	wrap	setrlimit
	wrap	setrlimit64
	wrap	prlimit
	wrap	prlimit64

	wrap	_exit
	wrap	_Exit
	wrap	execve
	wrap	execv
	wrap	execvp
	wrap	execvpe
	wrap	execl
	wrap	execle
	wrap	execlp
	wrap	fexecve
	wrap	execveat

	.section .data.rel.ro
	.size	epitaph_wrapped, . - epitaph_wrapped
	.section .note.GNU-stack, "", @progbits
