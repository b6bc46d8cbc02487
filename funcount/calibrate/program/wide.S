/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wide.S: 8,192 leaves and 2,048 functions that call three of them each, 1.25 MiB, assembled twice,
 * with hooks and, by TRACED, without: what a hook costs in code that does not fit into the caches
 * of instructions and of branches. By hand, as a compiler takes a minute for as many.
 *
 *	group 0 … 63 call leaves 0 … 255, group 64 … 127 leaves 256 … 511, and so on: a region is
 *	40 KiB, so that what is walked over is as large as one likes.
 */
#include "funcount/calibrate/program/wide.h"

#ifdef TRACED
#define ENTER     call __fentry__
#define LEAVE     call __return__
#define NAME(end) ep_wide_##end##_traced
#else
#define ENTER
#define LEAVE
#define NAME(end) ep_wide_##end##_plain
#endif

	.text
	.balign 4096
	.global NAME(leaves)
NAME(leaves):
	.set i, 0
	.rept EP_WIDE_LEAVES * EP_WIDE_REGIONS
	.balign EP_WIDE_SIZE
	ENTER
	mov	8 * (i & 63)(%rdi), %rax
	add	%rsi, %rax
	test	$(1 << (i & 3)), %al
	jz	1f
	imul	$(i | 1), %rax, %rax
	xor	8 * ((i >> 2) & 63)(%rdi), %rax
	jmp	2f
1:	add	8 * ((i >> 3) & 63)(%rdi), %rax
	ror	$3, %rax
2:	mov	%rax, 8 * ((i >> 1) & 63)(%rdi)
	add	%rsi, %rax
	cmp	%rsi, %rax
	jg	3f
	incq	8 * 64(%rdi)
3:	LEAVE
	ret
	.set i, i + 1
	.endr

	.balign EP_WIDE_SIZE
	.global NAME(groups)
NAME(groups):
	.set i, 0
	.rept EP_WIDE_GROUPS * EP_WIDE_REGIONS
	.balign EP_WIDE_SIZE
	.set first, i / EP_WIDE_GROUPS * EP_WIDE_LEAVES
	ENTER
	push	%rbx
	mov	%rdi, %rbx
	call	NAME(leaves) + (first + (i * 5 + 3) % EP_WIDE_LEAVES) * EP_WIDE_SIZE
	mov	%rax, %rsi
	mov	%rbx, %rdi
	call	NAME(leaves) + (first + (i * 77 + 11) % EP_WIDE_LEAVES) * EP_WIDE_SIZE
	mov	%rax, %rsi
	test	$1, %al
	jz	1f
	incq	8 * 65(%rbx)
1:	mov	%rbx, %rdi
	call	NAME(leaves) + (first + (i * 149 + 100) % EP_WIDE_LEAVES) * EP_WIDE_SIZE
	pop	%rbx
	LEAVE
	ret
	.set i, i + 1
	.endr

	.section .note.GNU-stack, "", @progbits
