/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * caller.c: calls each function of called.c, the plain one and the traced one, with the same values
 * in every register, and compares all that the function's convention makes it keep, what it
 * returned, and what it counted. `caller ROUNDS`; exit status 1: something differed. Not traced
 * itself: the registers are loaded and stored by assembly, so no compiler's choice hides a register
 * that a hook changed.
 */
#include <cpuid.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RAX, RBX, RCX, RDX, RSI, RDI, RBP, R8, R9, R10, R11, R12, R13, R14, R15, GPRS };
static const char *const gpr_names[GPRS] = {"rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "r8",
					    "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
#define BIT(n) (1u << (n))
#define SYSV   (BIT(RBX) | BIT(RBP) | BIT(R12) | BIT(R13) | BIT(R14) | BIT(R15))
#define ALL    (BIT(GPRS) - 1)

struct registers {
	uint64_t gpr[GPRS];     /* 0 */
	uint64_t flags;         /* 120 */
	uint32_t mxcsr, x87;    /* 128 */
	uint64_t unused[7];     /* 136 */
	uint8_t vector[16][32]; /* 192: xmm, and what ymm has more */
} __attribute__((aligned(64)));
_Static_assert(offsetof(struct registers, vector) == 192, "the assembly below");

/* Calls `function` with the registers of *in; *out is what they are then. has_avx: also the upper
 * halves. */
void call(void *function, const struct registers *in, struct registers *out, long has_avx);
void interrupt(void *function, const struct registers *in, struct registers *out, long has_avx);

__asm__("	.text\n"
	/* The words that the call needs lie where no register has to hold them. */
	"	.local	called, avx, result, stack\n"
	"	.comm	called, 8\n"
	"	.comm	avx, 8\n"
	"	.comm	result, 8\n"
	"	.comm	stack, 8\n"
	"	.macro	begin name\n"
	"	.globl	\\name\n"
	"	.type	\\name, @function\n"
	"\\name:\n"
	"	pushq	%rbx\n	pushq	%rbp\n	pushq	%r12\n	pushq	%r13\n	pushq	%r14\n	"
	"pushq	%r15\n"
	"	subq	$136, %rsp\n" /* 8 too many: aligned; the arguments in memory, and
					 Microsoft's home of registers */
	"	movq	%rdi, called(%rip)\n"
	"	movq	%rdx, result(%rip)\n"
	"	movq	%rcx, avx(%rip)\n"
	"	movq	%rsp, stack(%rip)\n"
	"	movl	$16, %ecx\n"
	"	xorl	%eax, %eax\n"
	"1:	movq	120(%rsi), %rdx\n" /* whatever, but the same in both */
	"	movq	%rdx, (%rsp,%rax,8)\n"
	"	incl	%eax\n"
	"	cmpl	%ecx, %eax\n"
	"	jne	1b\n"
	"	testq	$1, avx(%rip)\n"
	"	jz	2f\n"
	"	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
	"	vmovups	192+32*\\n(%rsi), %ymm\\n\n"
	"	.endr\n"
	"	jmp	3f\n"
	"2:\n"
	"	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
	"	movups	192+32*\\n(%rsi), %xmm\\n\n"
	"	.endr\n"
	"3:	movq	0(%rsi), %rax\n	movq	8(%rsi), %rbx\n	movq	16(%rsi), %rcx\n	"
	"movq	24(%rsi), %rdx\n"
	"	movq	40(%rsi), %rdi\n	movq	48(%rsi), %rbp\n	movq	56(%rsi), "
	"%r8\n	movq	64(%rsi), %r9\n"
	"	movq	72(%rsi), %r10\n	movq	80(%rsi), %r11\n	movq	88(%rsi), "
	"%r12\n	movq	96(%rsi), %r13\n"
	"	movq	104(%rsi), %r14\n	movq	112(%rsi), %r15\n	movq	32(%rsi), "
	"%rsi\n"
	"	.endm\n"
	"	.macro	end name\n"
	"	movq	stack(%rip), %rsp\n"
	"	pushfq\n"
	"	pushq	%rsi\n"
	"	movq	result(%rip), %rsi\n"
	"	movq	%rax, 0(%rsi)\n	movq	%rbx, 8(%rsi)\n	movq	%rcx, 16(%rsi)\n	"
	"movq	%rdx, 24(%rsi)\n"
	"	movq	%rdi, 40(%rsi)\n	movq	%rbp, 48(%rsi)\n	movq	%r8, "
	"56(%rsi)\n	movq	%r9, 64(%rsi)\n"
	"	movq	%r10, 72(%rsi)\n	movq	%r11, 80(%rsi)\n	movq	%r12, "
	"88(%rsi)\n	movq	%r13, 96(%rsi)\n"
	"	movq	%r14, 104(%rsi)\n	movq	%r15, 112(%rsi)\n"
	"	popq	32(%rsi)\n	popq	120(%rsi)\n"
	"	stmxcsr	128(%rsi)\n	fnstcw	132(%rsi)\n"
	"	testq	$1, avx(%rip)\n"
	"	jz	2f\n"
	"	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
	"	vmovups	%ymm\\n, 192+32*\\n(%rsi)\n"
	"	.endr\n"
	"	vzeroupper\n"
	"	jmp	3f\n"
	"2:\n"
	"	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n"
	"	movups	%xmm\\n, 192+32*\\n(%rsi)\n"
	"	.endr\n"
	"3:	cld\n"
	"	addq	$136, %rsp\n"
	"	popq	%r15\n	popq	%r14\n	popq	%r13\n	popq	%r12\n	popq	%rbp\n	"
	"popq	%rbx\n"
	"	ret\n"
	"	.size	\\name, . - \\name\n"
	"	.endm\n"

	"	begin	call\n"
	"	call	*called(%rip)\n"
	"	end	call\n"

	/* As the processor does it (Intel SDM, volume 3, 6.14.2): ss, rsp, rflags, cs, rip; iretq
	   works for everybody. */
	"	begin	interrupt\n"
	"	andq	$-16, %rsp\n"
	"	pushq	%rax\n"
	"	pushq	stack(%rip)\n"
	"	pushfq\n"
	"	pushq	%rax\n"
	"	pushq	%rax\n"
	"	movl	%ss, %eax\n"
	"	movq	%rax, 32(%rsp)\n"
	"	movl	%cs, %eax\n"
	"	movq	%rax, 8(%rsp)\n"
	"	leaq	9f(%rip), %rax\n"
	"	xchgq	%rax, (%rsp)\n"
	"	jmp	*called(%rip)\n"
	"9:	end	interrupt\n");

/* ---- what is called ---- */

#define MS   (SYSV | BIT(RDI) | BIT(RSI))
#define MOST (ALL & ~BIT(R11))
/* Registers with arguments: clang lets a function with no_caller_saved_registers change them, gcc
 * does not. */
#ifdef __clang__
#define KEEPS(arguments) (ALL & ~(arguments))
#else
#define KEEPS(arguments) ALL
#endif

#define BOTH(name) extern char plain_##name[], traced_##name[]
BOTH(leaf);
BOTH(sysv);
BOTH(doubles);
BOTH(tail);
BOTH(last);
BOTH(indirect);
BOTH(nothing);
BOTH(counts);
BOTH(calls_clones);
BOTH(chained);
BOTH(ms);
BOTH(ms_doubles);
BOTH(ms_tail);
BOTH(ms_calls);
BOTH(ms_counts);
#ifdef __clang__
BOTH(most);
BOTH(most_calls);
BOTH(all);
BOTH(all_calls);
extern char plain_reg[] __asm__("__regcall3__plain_reg");
extern char traced_reg[] __asm__("__regcall3__traced_reg");
extern char plain_reg_doubles[] __asm__("__regcall3__plain_reg_doubles");
extern char traced_reg_doubles[] __asm__("__regcall3__traced_reg_doubles");
BOTH(vector);
#endif
#ifdef GENERAL
BOTH(keeps);
BOTH(keeps_counts);
BOTH(keeps_calls);
BOTH(keeps_empty);
BOTH(keeps_returns);
BOTH(general);
BOTH(naked);
BOTH(naked_adds);
BOTH(naked_jumps);
BOTH(interrupt);
BOTH(interrupt_counts);
extern volatile long plain_general_calls, traced_general_calls;
extern long plain_general_quiet, traced_general_quiet;
#endif

struct sink {
	long words[4];
};
void plain_take(struct sink *sink);
void traced_take(struct sink *sink);
long traced_leaf_(long a) __asm__("traced_leaf");

enum returns { NOTHING, LONG, DOUBLE, INTERRUPT };
static const struct callee {
	const char *name;
	void *plain, *traced;
	unsigned kept, vectors;
	enum returns returns;
} callees[] = {
#define ROW(name, kept, vectors, returns)                                  \
	{                                                                  \
#name, plain_##name, traced_##name, kept, vectors, returns \
	}
	ROW(leaf, SYSV, 0, LONG),
	ROW(sysv, SYSV, 0, LONG),
	ROW(doubles, SYSV, 0, DOUBLE),
	ROW(tail, SYSV, 0, DOUBLE),
	ROW(last, SYSV, 0, LONG),
	ROW(indirect, SYSV, 0, LONG),
	ROW(nothing, SYSV, 0, NOTHING),
	ROW(counts, SYSV, 0, NOTHING),
	ROW(calls_clones, SYSV, 0, LONG),
	ROW(chained, SYSV, 0, LONG),
	ROW(ms, MS, 0xffc0, LONG),
	ROW(ms_doubles, MS, 0xffc0, DOUBLE),
	ROW(ms_tail, MS, 0xffc0, DOUBLE),
	ROW(ms_calls, MS, 0xffc0, LONG),
	ROW(ms_counts, MS, 0xffc0, NOTHING),
#ifdef __clang__
	ROW(most, MOST, 0, NOTHING),
	ROW(most_calls, MOST, 0, NOTHING),
	ROW(all, MOST, 0xffff, NOTHING),
	ROW(all_calls, MOST, 0xffff, NOTHING),
	ROW(reg, BIT(RBX) | BIT(RBP), 0xff00, LONG),
	ROW(reg_doubles, SYSV, 0xf000, DOUBLE),
	ROW(vector, SYSV, 0, DOUBLE),
#endif
#ifdef GENERAL
	ROW(keeps, KEEPS(BIT(RDI)), 0xffff, NOTHING),
	ROW(keeps_counts, KEEPS(BIT(RDI)), 0xffff, NOTHING),
	ROW(keeps_calls, KEEPS(BIT(RDI) | BIT(RSI)), 0xffff, NOTHING),
	ROW(keeps_empty, ALL, 0xffff, NOTHING),
	ROW(keeps_returns, KEEPS(BIT(RDI) | BIT(RSI)) & ~BIT(RAX), 0xffff, LONG),
	ROW(general, SYSV, 0xffff, LONG),
	ROW(naked, ALL & ~BIT(RAX), 0xffff, LONG),
	ROW(naked_adds, ALL & ~BIT(RAX), 0xffff, LONG),
	ROW(naked_jumps, SYSV, 0xffff, LONG),
	ROW(interrupt, ALL, 0xffff, INTERRUPT),
	ROW(interrupt_counts, ALL, 0xffff, INTERRUPT),
#endif
};
#define CALLEES (sizeof(callees) / sizeof(*callees))

static unsigned long wrong, n;
static uint64_t seed = 88172645463325252;

static uint64_t random_word(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static void differs(const struct callee *callee, const char *what, unsigned number)
{
	if (wrong++ < 10)
		fprintf(stderr, "round %lu: %s: %s%.0u differs\n", n, callee->name, what, number);
}

static void compare(const struct callee *callee, const struct registers *in,
		    const struct registers *plain, const struct registers *traced)
{
	unsigned gprs = callee->kept | (callee->returns == LONG ? BIT(RAX) : 0);
	unsigned vectors = callee->vectors;
	struct sink one = {0}, other = {0};

	for (unsigned i = 0; i < GPRS; i++) {
		if (gprs & BIT(i) && plain->gpr[i] != traced->gpr[i])
			differs(callee, gpr_names[i], 0);
		if (callee->kept & BIT(i) && in->gpr[i] != plain->gpr[i])
			differs(callee, "untraced: ", i);
	}
	for (unsigned i = 0; i < 16; i++) {
		if (vectors & BIT(i) && memcmp(plain->vector[i], traced->vector[i], 32))
			differs(callee, "ymm", i);
		if (vectors & BIT(i) && memcmp(plain->vector[i], in->vector[i], 16))
			differs(callee, "untraced: xmm", i);
	}
	if (callee->returns == DOUBLE && memcmp(plain->vector[0], traced->vector[0], 8))
		differs(callee, "what it returns in xmm0", 0);
	if (plain->mxcsr != traced->mxcsr || plain->x87 != traced->x87 ||
	    (plain->flags ^ traced->flags) & 0x400)
		differs(callee, "a control word", 0);
	plain_take(&one);
	traced_take(&other);
#ifdef GENERAL
	one.words[2] = plain_general_calls;
	one.words[3] = plain_general_quiet;
	other.words[2] = traced_general_calls;
	other.words[3] = traced_general_quiet;
#endif
	if (memcmp(&one, &other, sizeof(one)))
		differs(callee, "what it counts", 0);
}

int main(int argc, char **argv)
{
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	static struct registers in, plain, traced;
	struct sink forgotten;
	long has_avx = __builtin_cpu_supports("avx") != 0;

	for (n = 0; n < rounds; n++)
		for (size_t i = 0; i < CALLEES; i++) {
			const struct callee *callee = &callees[i];

			for (unsigned j = 0; j < GPRS; j++)
				in.gpr[j] = random_word();
			in.flags = random_word();
			for (unsigned j = 0; j < 16; j++) {
				for (unsigned k = 0; k < 4; k++)
					((uint64_t *)in.vector[j])[k] = random_word();
				*(double *)in.vector[j] = (double)(int16_t)random_word();
			}
			plain = traced = in;
			(callee->returns == INTERRUPT ? interrupt : call)(callee->plain, &in,
									  &plain, has_avx);
			(callee->returns == INTERRUPT ? interrupt : call)(callee->traced, &in,
									  &traced, has_avx);
			compare(callee, &in, &plain, &traced);
			/* So that each hook comes to stand at a block's end. */
			if (random_word() % 8 == 0)
				traced_leaf_(1);
			traced_take(&forgotten);
		}
	return wrong != 0;
}
