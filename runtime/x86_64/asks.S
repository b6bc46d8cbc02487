/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * asks.S: descriptors of critical sections without an instruction, which rseq_cs points to
 * (record/asks.h; layout: linux/rseq.h, struct rseq_cs). The lowest byte of a descriptor's address is that
 * of a timing mask. They overlap: a word is one's versions, another's start or length.
 *
 * A page of the object's own: the kernel ends a process that it cannot read a descriptor of.
 */
#define SIGNATURE 0x53053053 /* what glibc registers: bits/rseq.h, RSEQ_SIG */

	.section .data.rel.ro.ep_asks, "aw", @progbits
	.p2align 8
	.globl	ep_asks_next, ep_asks_masks
	.hidden	ep_asks_next, ep_asks_masks
	/* Each: version and flags, 0; start; length, 0; where it would go on, behind the signature. */
masks:
	.quad	0
	.quad	0, 0			/* 08: versions, start */
	.quad	0, abort		/*     length, and on; 18: versions, start */
	.quad	0, abort		/*     length, and on */
	.quad	0, 0, 0, abort		/* 38 */
	.org	masks + 0x78
	.quad	0, 0, 0, abort		/* 78 */
	.org	masks + 0xf8
	.quad	0, 0, 0, abort		/* f8 */
	.org	masks + 0x200
next:
	.quad	0, 0, 0, abort
	.long	SIGNATURE
abort:
	.p2align 3
	/* For code that has no register for an address. */
ep_asks_masks:
	.quad	masks
ep_asks_next:
	.quad	next

	.section .note.GNU-stack, "", @progbits
