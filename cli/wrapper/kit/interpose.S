/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * interpose.S: in a dynamic executable with the static runtime, the functions that the runtime
 * stands in front of (runtime/lib/interpose.h has the
 * list, and frame-symbols.sh compares). Weak: a program that has its own function of that name
 * keeps it. A jump, not a call: dlopen looks at its return address. epitaph_plain_NAME: the same,
 * whoever defines NAME.
 */
	.text
	.macro	interpose name
	.weak	\name
	.type	\name, @function
	.globl	epitaph_plain_\name
	.hidden	epitaph_plain_\name
	.p2align 4
epitaph_plain_\name:
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

	interpose _Unwind_RaiseException
	interpose _Unwind_Resume_or_Rethrow
	interpose _Unwind_SetIP
	interpose setjmp
	interpose _setjmp
	interpose __sigsetjmp
	interpose longjmp
	interpose _longjmp
	interpose siglongjmp
	interpose __longjmp_chk
	interpose getcontext
	interpose setcontext
	interpose swapcontext
	interpose makecontext
	interpose vfork

	interpose unshare
	interpose setns
	interpose setuid
	interpose setgid
	interpose seteuid
	interpose setegid
	interpose setreuid
	interpose setregid
	interpose setresuid
	interpose setresgid
	interpose setgroups
	interpose capset
	interpose prctl
	interpose syscall

	interpose _exit
	interpose _Exit
	interpose execve
	interpose execv
	interpose execvp
	interpose execvpe
	interpose execl
	interpose execle
	interpose execlp
	interpose fexecve
	interpose execveat
	interpose initgroups
	interpose _Fork
	interpose clone
	interpose sigaction
	interpose sigaltstack
	interpose signal
	interpose bsd_signal
	interpose ssignal
	interpose sysv_signal
	interpose __sysv_signal
	interpose mmap
	interpose mmap64
	interpose munmap
	interpose mprotect
	interpose mremap
	interpose madvise
	interpose mlockall
	interpose setrlimit
	interpose setrlimit64
	interpose prlimit
	interpose prlimit64
	.section .note.GNU-stack, "", @progbits
