/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * own.h: included before what is compiled with -finstrument-functions of the program's own. It asks
 * the linker for own.S; nothing of it is in the program's memory.
 */
#ifndef __ASSEMBLER__
__asm__(".pushsection .epitaph.own, \"\", @progbits\n"
	"	.quad epitaph_calls_own_hooks\n"
	"	.popsection");
#endif
