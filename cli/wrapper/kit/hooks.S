/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hooks.S: the hooks of what is linked without a runtime of its own: shared libraries, and programs
 * that use the shared one. Linked with --wrap=HOOK and hidden, so no C library's empty hook of that
 * name comes before them, and the linker makes a direct call of `call *HOOK@GOTPCREL(%rip)`. They
 * go on to the process's runtime, by a name that nobody else has, or to nothing. That name has no
 * "exit" in it: PostgreSQL's makefile takes a library that needs such a symbol for one that ends
 * the process.
 *
 * The static runtime's hooks have no landing pad, hence notrack (x86_64/hooks.S).
 * Bound when the library is loaded: touches flags only, at the return too. The section has a name
 * of its own and 32 bytes a stub, so that readers know them in a stripped file
 * (decoder/symbols/plt.c).
 */
	.section .epitaph.plt, "ax", @progbits
	.macro	stub hook, name, binding=.globl
	.weak	epitaph_\name
	\binding	__wrap_\hook
	.hidden	__wrap_\hook
	.type	__wrap_\hook, @function
	.p2align 5
__wrap_\hook:
	.cfi_startproc
	endbr64
	cmpq	$0, epitaph_\name@GOTPCREL(%rip)
	je	1f
	notrack jmp *epitaph_\name@GOTPCREL(%rip)
1:	ret
	.cfi_endproc
	.size	__wrap_\hook, . - __wrap_\hook
	.endm

	stub	__fentry__, __fentry__
	stub	__return__, __return__
	/* own.S may come before them. */
	stub	__cyg_profile_func_enter, __cyg_profile_func_enter, .weak
	stub	__cyg_profile_func_exit, __cyg_profile_func_leave, .weak
	.section .note.GNU-stack, "", @progbits
