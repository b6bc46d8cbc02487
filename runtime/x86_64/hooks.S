/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hooks.S: the hooks that compilers call, and their way into C.
 *
 * What they may change (System V psABI AMD64, 3.2.3, and what compilers emit): __fentry__ r10, r11
 * and flags (al counts vector arguments of a variadic call); __return__ only flags (r10 and r11 may
 * hold the target of a tail call). No vector register: a function of the Microsoft ABI keeps xmm6-15
 * for its caller, and what is a hook's to use in one convention is an argument in another.
 * __cyg_profile_* are ordinary calls. What sleds call keeps all but flags.
 *
 * What a hook keeps for itself lies in its red zone (psABI, 3.2.2), so the unwind table needs no word
 * on it.
 *
 * The four ways through a hook, by the thread's own cursor and masks, are the labels' names:
 * 	cursor & timing != 0			untimed: advance, store. Tested by the lowest byte of the
 * 						mask first, which the kernel may clear (record/asks.h)
 * 	else the gate is shut			paused: nothing; or this process counts:
 * 						a call adds one; or it is written over:
 * 						C, which sees that
 * 	else cursor & boundary != 0		timed: read the TSC as well
 * 	else					slow: C (runtime/api/hook.c)
 */
#include "runtime/x86_64/offsets.h"

#define GAP_CYCLES 0x40000    /* EP_GAP_CYCLES */
#define COUNTING   0x80000000 /* EP_GATE_COUNTING: no pause */
#define PAUSES     0x7fff0b   /* EP_GATE_: all that pause and leave the code alone */
#define FLIP       0x800000   /* EP_GATE_FLIP: C switches the hook off in the code */
#define TO_C       0x7f8000f4 /* FLIP, and what no gate has: written over */

/*
 * Where the thread's struct lies. In an executable it is a link-time constant (local-exec); a
 * shared library loads the offset (initial-exec) into \scratch.
 */
#ifdef EP_SHARED
#define TLS(field, scratch) %fs:field(scratch)
	.macro tls_base scratch
	movq	ep_tls@gottpoff(%rip), \scratch
	.endm
#else
#define TLS(field, scratch) %fs:ep_tls@tpoff+field
	.macro tls_base scratch
	.endm
#endif

	.text

/* Of this runtime's own hooks, which hookcode.c ends. */
	.macro local_name name
	.globl	\name
	.hidden	\name
	.endm

/*
 * What ep_hooks_move sends to the thread's rseq_cs: the four bytes that end `instruction`, which
 * names a field of ep_tls by FIELD(field, \base).
 */
	.section .rodata.ep_hook_words, "a"
	.p2align 2
	local_name ep_hook_words
ep_hook_words:
	.text
#ifdef EP_SHARED
#define FIELD(field, base) %fs:field(base)
	.macro moved field, instruction:vararg
	{disp32} \instruction
#else
#define FIELD(field, base) %fs:ep_tls@tpoff+field
	.macro moved field, instruction:vararg
	\instruction
#endif
.Lmoved\@:
	.pushsection .rodata.ep_hook_words
	.long	.Lmoved\@ - 4 - ep_hooks_begin, \field
	.popsection
	.endm

/* Not zero: an untimed record. Where nobody asks, the byte is the timing mask's lowest. */
	.macro test_timing cursor, base
	moved	TLS_TIMING, testb \cursor\()b, FIELD(TLS_TIMING, \base)
	.endm

/*
 * The byte is zero. Is the record due, or asked for? Else to \untimed, with the cursor in \cursor
 * again: where a handler has recorded since, that one is looked at. Where nobody asks, the gate
 * stands for the word: not NULL, once a thread records. A word that is NULL in a thread that the
 * kernel does not know is no question.
 */
	.macro due_or_asked cursor, base, untimed
	testl	\cursor\()d, TLS(TLS_TIMING, \base)
	jz	.Ltimed\@
	moved	TLS_GATE, movq FIELD(TLS_GATE, \base), \cursor
	testq	\cursor, \cursor
	jnz	.Lword\@
	movq	TLS(TLS_THREAD, \base), \cursor
	testq	\cursor, \cursor
	jz	.Ltimed\@
	testl	$THREAD_ASKED, THREAD_FLAGS(\cursor)
	jnz	.Ltimed\@
	jmp	.Luntimed\@
.Lword\@:
	cmpq	ep_hook_next(%rip), \cursor
	je	.Ltimed\@
.Luntimed\@:
	movq	TLS(TLS_CURSOR, \base), \cursor
	testl	\cursor\()d, TLS(TLS_TIMING, \base)
	jnz	\untimed
.Ltimed\@:
	.endm

/*
 * A timed record was made. One that was asked for is followed by another, which arms. The exchange
 * fails when the thread was away since. A handler that paused, or entered a block, may have left
 * the word as it found it, but another mask: so that is looked at again. Clobbers rax, rdx.
 */
	.macro arm base
	moved	TLS_GATE, movq FIELD(TLS_GATE, \base), %rax
	testq	%rax, %rax
	jz	.Lasked\@
	cmpq	ep_hook_next(%rip), %rax
	jne	.Larmed\@
.Lagain\@:
	movzbl	TLS(TLS_TIMING, \base), %edx
	addq	ep_hook_masks(%rip), %rdx
	testb	%dl, %dl
	jnz	.Lwanted\@
	movq	ep_hook_next(%rip), %rdx
.Lwanted\@:
	moved	TLS_GATE, cmpxchgq %rdx, FIELD(TLS_GATE, \base)
	jne	.Larmed\@
	movq	%rdx, %rax
	cmpb	%al, TLS(TLS_TIMING, \base)
	jne	.Lagain\@
	jmp	.Larmed\@
.Lasked\@:
	movq	TLS(TLS_THREAD, \base), %rax
	testl	$THREAD_ASKED, THREAD_FLAGS(%rax)
	jz	.Larmed\@
	movq	ep_hook_next(%rip), %rax
	moved	TLS_GATE, movq %rax, FIELD(TLS_GATE, \base)
.Larmed\@:
	.endm

/*
 * The timed way, common to all hooks. In: cursor in \cursor (kept for the retry), the record
 * without its stamp in \word; \word and \tsc are registers or memory.
 * Clobbers rax, rdx, \cursor and \tsc. The cursor advances by an unlocked cmpxchg: a signal handler
 * that recorded in between makes it fail, and the clock is read again, so that times never run
 * backwards in a ring.
 */
	.macro timed_record cursor, base, word, tsc, retry, slow
	movq	TLS(TLS_THREAD, \base), %rax
	cmpq	%rsp, THREAD_STACK_LOW(%rax)
	ja	\slow			/* not the thread's stack: stacks.h */
	cmpq	%rsp, THREAD_STACK_HIGH(%rax)
	jb	\slow
	rdtsc
	shlq	$32, %rdx
	orq	%rdx, %rax
	movq	%rax, \tsc
	movq	%rax, %rdx
	subq	TLS(TLS_LAST, \base), %rdx
	cmpq	$GAP_CYCLES, %rdx
	ja	\slow			/* also when time ran backwards */
	shrq	$3, %rax
	movzwl	%ax, %edx
	cmpl	$1, %edx		/* 0 means untimed: take 1 */
	adcl	$0, %edx
	shlq	$48, %rdx
	movq	\cursor, %rax
	addq	$8, \cursor
	cmpxchgq \cursor, TLS(TLS_CURSOR, \base)
	jne	\retry
	movq	\word, %rax
	orq	%rdx, %rax
	movq	%rax, -8(\cursor)
	movq	\tsc, %rax
	movq	%rax, TLS(TLS_LAST, \base)
	arm	\base
	.endm

/*
 * No untimed record: is the gate open? Shut: on to \paused, at once, for a paused hook should cost
 * what an empty one costs; so this comes before the boundary, which a pause leaves alone. NULL: the
 * thread's first event. Leaves the cursor in \cursor when a timed record is due, else goes to
 * \slow.
 */
	.macro timed_or_slow cursor, base, paused, slow
	movq	TLS(TLS_GATE, \base), \cursor
	testq	\cursor, \cursor
	jz	\slow
	cmpl	$0, (\cursor)
	jne	\paused
	movq	TLS(TLS_CURSOR, \base), \cursor
	testl	\cursor\()d, TLS(TLS_BOUNDARY, \base)
	jz	\slow
	.endm

/*
 * Adds one to this thread's counter of an address, whose bits 32-46 are in \table. \rest loads its
 * next 16 bits into \table, \last the lowest 16. Clobbers \at, \table and flags. The tables:
 * runtime/counting/tables.h.
 */
	.macro count_call at, table, rest, last, slow
	cmpl	$0x7fff, \table\()d
	ja	\slow
	movq	ep_counting_root(%rip), \at
	movq	(\at,\table,8), \at
	testq	\at, \at
	jz	\slow
	\rest
	movq	(\at,\table,8), \at
	testq	\at, \at
	jz	\slow
	\last
	movl	(\at,\table,4), \table\()d
	tls_base \at
	decl	\table\()d		/* no number: the greatest */
	cmpl	TLS(TLS_LIMIT, \at), \table\()d
	jae	\slow
	movq	TLS(TLS_COUNTERS, \at), \at
	incq	(\at,\table,8)
	.endm

/*
 * A gate that sends a hook to C only for the code to be changed: not where that is no call with a
 * rel32, which nobody can change (call *hook@GOTPCREL(%rip), a breakpoint). \at: the gate's
 * address, then clobbered; the hook returns to the address at \up(%rsp).
 */
	.macro	is_no_site at, up, no
	cmpl	$PAUSES | FLIP, (\at)
	ja	.Lto_c_at_once\@	/* written over */
	movq	\up(%rsp), \at
	cmpb	$0xe8, -5(\at)
	jne	\no
.Lto_c_at_once\@:
	.endm

/*
 * The landing pad of an indirect branch, where there may be one: in the shared runtime, which is
 * reached through a PLT. The static one's hooks of method pg are called directly, and the stubs of
 * libraries jump to them with notrack (kit/hooks.S); what that saves pays for the register that a
 * return keeps.
 */
	.macro	landing
#ifdef EP_SHARED
	endbr64
#endif
	.endm

/* By this name, which no C library has, libraries find the hook (the wrapper's kit/hooks.S). */
	.macro	also hook, name, binding=.globl
	\binding	epitaph_\name
	.set	epitaph_\name, \hook
	.endm

/* ---- __fentry__: the traced function's first instruction ---------------- */

	local_name ep_hooks_begin
ep_hooks_begin:
	.globl	__fentry__
	.type	__fentry__, @function
	also	__fentry__, __fentry__
	local_name ep_hook_entry
	.p2align 6
__fentry__:
ep_hook_entry:
	.cfi_startproc
	landing
	tls_base %r11
	movq	TLS(TLS_CURSOR, %r11), %r10
	test_timing %r10, %r11
	jz	.Lentry_not_untimed
.Lentry_untimed:
	addq	$8, %r10
	movq	%r10, TLS(TLS_CURSOR, %r11)
	movq	(%rsp), %r11
	movq	%r11, -8(%r10)
	ret
.Lentry_not_untimed:
	due_or_asked %r10, %r11, .Lentry_untimed
	timed_or_slow %r10, %r11, .Lentry_paused, .Lentry_slow
	movq	%rax, -8(%rsp)
	movq	%rdx, -16(%rsp)
.Lentry_timed:
	timed_record %r10, %r11, (%rsp), -24(%rsp), .Lentry_timed_again, .Lentry_slow_restore
	movq	-8(%rsp), %rax
	movq	-16(%rsp), %rdx
	ret
.Lentry_slow_restore:
	movq	-8(%rsp), %rax
	movq	-16(%rsp), %rdx
.Lentry_slow:
	jmp	slow_at_entry
.Lentry_timed_again:
	movq	%rax, %r10		/* what cmpxchg found: the cursor now */
	testl	%r10d, TLS(TLS_BOUNDARY, %r11)
	jnz	.Lentry_timed
	jmp	.Lentry_slow_restore
.Lentry_paused:
	cmpl	$PAUSES, (%r10)
	ja	.Lentry_count_or_slow
.Lentry_nothing:
	ret
.Lentry_count_or_slow:
	testl	$TO_C, (%r10)
	jnz	.Lentry_to_c
	cmpl	$COUNTING, (%r10)
	jne	.Lentry_nothing
	movl	4(%rsp), %r10d
	count_call %r11, %r10, "movzwl 2(%rsp), %r10d", \
		"movzwl (%rsp), %r10d", .Lentry_slow
	ret
.Lentry_to_c:
	is_no_site %r10, 0, .Lentry_nothing
	jmp	.Lentry_slow
	.cfi_endproc
	.size	__fentry__, . - __fentry__

/* ---- __return__: after the epilogue, before ret or a tail call's jmp ---- */

/*
 * No register is free here. Without one, from stack to ring by push and pop, a call and return took
 * 1.07 times as long.
 */
#ifdef EP_SHARED
#define RETURN_UP 16
#else
#define RETURN_UP 8
#endif
#define RETURN_ADDRESS RETURN_UP(%rsp)
	.macro keep_registers
	pushq	%r10
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r10, 0
#ifdef EP_SHARED
	pushq	%r11
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r11, 0
#endif
	.endm
	.macro restore_registers
#ifdef EP_SHARED
	popq	%r11
	.cfi_adjust_cfa_offset -8
	.cfi_restore %r11
#endif
	popq	%r10
	.cfi_adjust_cfa_offset -8
	.cfi_restore %r10
	.endm

	.globl	__return__
	.type	__return__, @function
	also	__return__, __return__
	local_name ep_hook_return
	.p2align 6
__return__:
ep_hook_return:
	.cfi_startproc
	landing
	keep_registers
	tls_base %r11
	movq	TLS(TLS_CURSOR, %r11), %r10
	test_timing %r10, %r11
	jz	.Lreturn_not_untimed
.Lreturn_untimed:
	addq	$8, %r10
	movq	%r10, TLS(TLS_CURSOR, %r11)
#ifndef EP_SHARED
	movq	%r11, -8(%rsp)
#endif
	movq	RETURN_ADDRESS, %r11
	btsq	$47, %r11
	movq	%r11, -8(%r10)
#ifndef EP_SHARED
	movq	-8(%rsp), %r11
#endif
	.cfi_remember_state
.Lreturn_nothing:
	restore_registers
	ret
	.cfi_restore_state
.Lreturn_not_untimed:
	due_or_asked %r10, %r11, .Lreturn_untimed
	timed_or_slow %r10, %r11, .Lreturn_paused, .Lreturn_slow
	movq	%rax, -8(%rsp)
	movq	%rdx, -16(%rsp)
	movq	RETURN_ADDRESS, %rax
	btsq	$47, %rax
	movq	%rax, -24(%rsp)
.Lreturn_timed:
	timed_record %r10, %r11, -24(%rsp), -32(%rsp), .Lreturn_timed_again, .Lreturn_slow_restore
	movq	-8(%rsp), %rax
	movq	-16(%rsp), %rdx
	jmp	.Lreturn_nothing
.Lreturn_paused:
	testl	$FLIP, (%r10)
	jz	.Lreturn_nothing
	is_no_site %r10, RETURN_UP, .Lreturn_nothing
	jmp	.Lreturn_slow
.Lreturn_slow_restore:
	movq	-8(%rsp), %rax
	movq	-16(%rsp), %rdx
	.cfi_remember_state
.Lreturn_slow:
	restore_registers
	jmp	slow_at_return
	.cfi_restore_state
.Lreturn_timed_again:
	movq	%rax, %r10
	testl	%r10d, TLS(TLS_BOUNDARY, %r11)
	jnz	.Lreturn_timed
	jmp	.Lreturn_slow_restore
	.cfi_endproc
	.size	__return__, . - __return__

/* ---- -finstrument-functions: ordinary calls with the function in rdi ---- */

/* Weak: a program may have functions of these names, for itself. */
	.macro cyg_hook name, alias, own, return
	.weak	\name
#ifndef EP_SHARED
	.weak	__wrap_\name		/* in executables, unless kit/own.S is linked */
	.set	__wrap_\name, \name
#endif
	.type	\name, @function
	also	\name, \alias, .weak	/* as its name is, or tools would call it by this */
	local_name \own
	.p2align 6
\name:
\own:
	.cfi_startproc
	endbr64
	.if	\return
	btsq	$47, %rdi
	.endif
	tls_base %r11
	movq	TLS(TLS_CURSOR, %r11), %r10
	test_timing %r10, %r11
	jz	.Lnot_untimed\@
.Luntimed\@:
	addq	$8, %r10
	movq	%r10, TLS(TLS_CURSOR, %r11)
	movq	%rdi, -8(%r10)
.Lnothing\@:
	ret
.Lnot_untimed\@:
	due_or_asked %r10, %r11, .Luntimed\@
	timed_or_slow %r10, %r11, .Lpaused\@, .Lslow\@
.Ltimed\@:
	timed_record %r10, %r11, %rdi, %rcx, .Ltimed_again\@, .Lslow\@
	ret
.Lpaused\@:
	.if	\return
	testl	$FLIP, (%r10)
	jz	.Lnothing\@
	is_no_site %r10, 0, .Lnothing\@
	jmp	.Lslow\@
	.else
	cmpl	$PAUSES, (%r10)
	jbe	.Lnothing\@
	testl	$TO_C, (%r10)
	jnz	.Lto_c\@
	cmpl	$COUNTING, (%r10)
	jne	.Lnothing\@
	movq	%rdi, %r8
	shrq	$32, %r8
	movl	%edi, %ecx
	shrl	$16, %ecx
	count_call %r11, %r8, "movl %ecx, %r8d", "movzwl %di, %r8d", .Lslow\@
	ret
.Lto_c\@:
	is_no_site %r10, 0, .Lnothing\@
	jmp	.Lslow\@
	.endif
.Ltimed_again\@:
	movq	%rax, %r10
	testl	%r10d, TLS(TLS_BOUNDARY, %r11)
	jnz	.Ltimed\@
.Lslow\@:
	leaq	8(%rsp), %rsi
	movq	(%rsp), %rdx
	pushq	%rbp			/* aligns the stack for C */
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbp, 0
	call	ep_hook_slow
	popq	%rbp
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbp
	ret
	.cfi_endproc
	.size	\name, . - \name
	.endm

	cyg_hook __cyg_profile_func_enter, __cyg_profile_func_enter, ep_hook_enter, 0
	cyg_hook __cyg_profile_func_exit, __cyg_profile_func_leave, ep_hook_exit, 1
/* ---- XRay's sleds: every register is kept -------------------------------- */

/*
 * clang puts sleds also where functions have a calling convention of their own (preserve_most,
 * preserve_none, regcall), whose arguments and kept registers may be any. So only flags are free
 * here, of an entry too.
 *
 * Before it calls the hook of a return, a sled moves the stack pointer below the red zone: there
 * clang's unwind table still has registers, which the call would write over. `ret $128` moves it
 * back. By this hook's own table the stack pointer was never moved, so that unwinders find the sled
 * as it is without.
 */
#define SLED_SKIP 128

	.macro sled_hook name, own, return, slow
	.globl	\name
	.type	\name, @function
	local_name \own
	.p2align 6
\name:
\own:
	.cfi_startproc
	.if	\return
	.cfi_def_cfa_offset SLED_SKIP + 8
	.cfi_offset %rip, -SLED_SKIP - 8
	.endif
	endbr64
	.if	\return
	/* One byte can end it (hookcode.c): 3d made c2, this is `ret $128`. */
	.byte	0x3d, SLED_SKIP, 0, 0, 0	/* cmp $128, %eax */
	.endif
	pushq	%r10
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r10, 0
	pushq	%r11
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r11, 0
	tls_base %r11
	movq	TLS(TLS_CURSOR, %r11), %r10
	test_timing %r10, %r11
	jz	.Lnot_untimed\@
.Luntimed\@:
	addq	$8, %r10
	movq	%r10, TLS(TLS_CURSOR, %r11)
	movq	16(%rsp), %r11
	.if	\return
	btsq	$47, %r11
	.endif
	movq	%r11, -8(%r10)
	.cfi_remember_state
.Lnothing\@:
	popq	%r11
	.cfi_adjust_cfa_offset -8
	.cfi_restore %r11
	popq	%r10
	.cfi_adjust_cfa_offset -8
	.cfi_restore %r10
	.if	\return
	ret	$SLED_SKIP
	.else
	ret
	.endif
	.cfi_restore_state
.Lnot_untimed\@:
	due_or_asked %r10, %r11, .Luntimed\@
	timed_or_slow %r10, %r11, .Lpaused\@, .Lslow\@
	.cfi_remember_state
	.irp	register, %rax, %rdx, %rcx, %rsi
	pushq	\register
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset \register, 0
	.endr
	movq	48(%rsp), %rcx
	.if	\return
	btsq	$47, %rcx
	.endif
.Ltimed\@:
	timed_record %r10, %r11, %rcx, %rsi, .Ltimed_again\@, .Lslow_restore\@
	.irp	register, %rsi, %rcx, %rdx, %rax
	popq	\register
	.cfi_adjust_cfa_offset -8
	.cfi_restore \register
	.endr
	jmp	.Lnothing\@
	.cfi_restore_state
	.cfi_remember_state
	.cfi_adjust_cfa_offset 32
	.cfi_rel_offset %rsi, 0
	.cfi_rel_offset %rcx, 8
	.cfi_rel_offset %rdx, 16
	.cfi_rel_offset %rax, 24
.Ltimed_again\@:
	movq	%rax, %r10
	testl	%r10d, TLS(TLS_BOUNDARY, %r11)
	jnz	.Ltimed\@
.Lslow_restore\@:
	.irp	register, %rsi, %rcx, %rdx, %rax
	popq	\register
	.cfi_adjust_cfa_offset -8
	.cfi_restore \register
	.endr
	.cfi_restore_state
	.cfi_remember_state
.Lslow\@:
	popq	%r11
	.cfi_adjust_cfa_offset -8
	.cfi_restore %r11
	popq	%r10
	.cfi_adjust_cfa_offset -8
	.cfi_restore %r10
	jmp	\slow
	.cfi_restore_state
.Lpaused\@:
	.if	\return
	testl	$FLIP, (%r10)
	jz	.Lnothing\@
	jmp	.Lslow\@
	.else
	cmpl	$PAUSES, (%r10)
	jbe	.Lnothing\@
	testl	$TO_C, (%r10)
	jnz	.Lslow\@
	cmpl	$COUNTING, (%r10)
	jne	.Lnothing\@
	movl	20(%rsp), %r10d
	count_call %r11, %r10, "movzwl 18(%rsp), %r10d", \
		"movzwl 16(%rsp), %r10d", .Lslow\@
	jmp	.Lnothing\@
	.endif
	.cfi_endproc
	.size	\name, . - \name
	.endm

	sled_hook epitaph___xray_entry__, ep_hook_sled_entry, 0, slow_at_entry
	sled_hook epitaph___xray_return__, ep_hook_sled_return, 1, slow_at_sled

/*
 * Descriptors of critical sections without an instruction, which ep_hooks_move makes
 * (record/asks.h), and the addresses of those by masks and of the one that times the next record, 0
 * until then. They lie among the hooks since the kernel ends a process that it cannot read a
 * descriptor of: who takes them away, takes these.
 */
	.p2align 3
	local_name ep_hook_masks
ep_hook_masks:
	.quad	0
	local_name ep_hook_next
ep_hook_next:
	.quad	0
	local_name ep_hook_descriptors
ep_hook_descriptors:
	.fill	HOOK_DESCRIPTORS, 1, 0
	local_name ep_hooks_end_here
ep_hooks_end_here:
	.section .rodata.ep_hook_words
	local_name ep_hook_words_end
ep_hook_words_end:
	.text

/*
 * Into C with every register kept that a call may clobber: ep_hook_slow is compiled for general
 * registers only, so vector and x87 state stay untouched. The stack is aligned here: a nested
 * function has pushed r10 before the hook.
 */
	.macro slow_hook name, return, skip
	.type	\name, @function
	.p2align 4
\name:
	.cfi_startproc
	.cfi_def_cfa_offset \skip + 8
	.cfi_offset %rip, -\skip - 8
	pushq	%rbp
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %rbp, 0
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	pushq	%rax
	pushq	%rcx
	pushq	%rdx
	pushq	%rsi
	pushq	%rdi
	pushq	%r8
	pushq	%r9
	pushq	%r10
	pushq	%r11
	movq	8(%rbp), %rdi
	movq	%rdi, %rdx
	.if	\return
	btsq	$47, %rdi
	.endif
	leaq	16+\skip(%rbp), %rsi
	andq	$-16, %rsp
	cld
	call	ep_hook_slow
	leaq	-72(%rbp), %rsp
	popq	%r11
	popq	%r10
	popq	%r9
	popq	%r8
	popq	%rdi
	popq	%rsi
	popq	%rdx
	popq	%rcx
	popq	%rax
	popq	%rbp
	.cfi_def_cfa %rsp, \skip + 8
	.cfi_restore %rbp
	.if	\skip
	ret	$\skip
	.else
	ret
	.endif
	.cfi_endproc
	.size	\name, . - \name
	.endm

	slow_hook slow_at_entry, 0, 0
	slow_hook slow_at_return, 1, 0
	slow_hook slow_at_sled, 1, SLED_SKIP

	.section .note.GNU-stack, "", @progbits
