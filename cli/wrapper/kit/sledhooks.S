/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sledhooks.S: what a sled calls where the process's runtime is too far away for a call of 32 bits.
 * A sled calls nobody before a runtime has written there, so there is one. As hooks.S otherwise;
 * the unwind table of the return's is that of its hook (x86_64/hooks.S).
 */
	.section .epitaph.plt, "ax", @progbits
	.macro	stub own, hook, skip
	.weak	epitaph_\hook
	.globl	\own
	.hidden	\own
	.type	\own, @function
	.p2align 5
\own:
	.cfi_startproc
	.cfi_def_cfa_offset \skip + 8
	.cfi_offset %rip, -\skip - 8
	endbr64
	jmp	*epitaph_\hook@GOTPCREL(%rip)
	.cfi_endproc
	.p2align 5
	.size	\own, . - \own
	.endm

	stub	epitaph_to_sled_entry, __xray_entry__, 0
	stub	epitaph_to_sled_return, __xray_return__, 128

	/* struct ep_sleds (runtime/dso/sleds.h). Here and not in C: what is weak, hidden and only in
	 * data gcc 12 does not call hidden, and the linker would take another module's. */
	.section .data, "aw", @progbits
	.weak	__start_xray_instr_map
	.hidden	__start_xray_instr_map
	.weak	__stop_xray_instr_map
	.hidden	__stop_xray_instr_map
	.globl	epitaph_own_sleds
	.hidden	epitaph_own_sleds
	.type	epitaph_own_sleds, @object
	.p2align 3
epitaph_own_sleds:
	.quad	__start_xray_instr_map
	.quad	__stop_xray_instr_map
	.quad	epitaph_to_sled_entry
	.quad	epitaph_to_sled_return
	.quad	0
	.quad	0
	.size	epitaph_own_sleds, . - epitaph_own_sleds
	.section .note.GNU-stack, "", @progbits
