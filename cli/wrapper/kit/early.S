/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * early.S: hooks of static programs. There IFUNC resolvers (gcc's own, of target_clones, among
 * them) run before the C library has set up thread-local memory, which the real hooks use. Linked
 * with --wrap=HOOK: until the first function of .preinit_array ran, a hook does nothing. Touches
 * flags only.
 */
	.text
	.macro	guarded hook, binding=.globl
	\binding	__wrap_\hook
	.type	__wrap_\hook, @function
	.p2align 4
__wrap_\hook:
	.cfi_startproc
	endbr64
	cmpb	$0, begun(%rip)
	jne	__real_\hook	/* no jmp: that would be a site of its own (runtime/site_code.h) */
	ret
	.cfi_endproc
	.size	__wrap_\hook, . - __wrap_\hook
	.endm

	guarded	__fentry__
	guarded	__return__
	guarded	__cyg_profile_func_enter, .weak		/* own.S may be linked */
	guarded	__cyg_profile_func_exit, .weak

	.type	begin, @function
begin:
	.cfi_startproc
	endbr64
	movb	$1, begun(%rip)
	ret
	.cfi_endproc
	.size	begin, . - begin

	/* This is a static program (runtime/lib/interpose.c). */
	.globl	epitaph_static
	.hidden	epitaph_static
	.type	epitaph_static, @object
	.section .rodata
epitaph_static:
	.byte	1
	.size	epitaph_static, 1

	.local	begun
	.comm	begun, 1, 1

	.section .preinit_array, "aw", @preinit_array
	.p2align 3
	.quad	begin
	.section .note.GNU-stack, "", @progbits
