/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * general.c: as called.c, functions that keep all registers or are all assembly. Compiled for
 * general registers only.
 */
#define JOIN(a, b) a##_##b
#define WITH(a, b) JOIN(a, b)
#define NAME(name) WITH(PART, name)
#define KEPT       __attribute__((noinline))

volatile long NAME(general_calls);
long NAME(general_quiet);
#define calls NAME(general_calls)
#define quiet NAME(general_quiet)

KEPT long NAME(general)(long a, long b)
{
	calls += a;
	return a * 3 + b;
}

/* ---- all registers are the caller's ---- */

#define KEEPS __attribute__((no_caller_saved_registers))
KEEPS KEPT void NAME(keeps)(long a)
{
	calls += a;
}
KEEPS KEPT void NAME(keeps_counts)(long a)
{
	quiet += a;
}
KEEPS KEPT void NAME(keeps_empty)(void)
{
	__asm__ volatile("");
}
KEEPS KEPT long NAME(keeps_returns)(long a, long b)
{
	return a + b;
}
/* What it calls must know no other registers, so that gcc lets it. */
KEEPS KEPT void NAME(keeps_calls)(long a, long b)
{
	calls += NAME(general)(a, b);
	quiet += NAME(keeps_returns)(a, b);
}

struct frame;
__attribute__((interrupt)) void NAME(interrupt)(struct frame *frame)
{
	(void)frame;
	calls++;
}
__attribute__((interrupt)) void NAME(interrupt_counts)(struct frame *frame)
{
	(void)frame;
	quiet++;
}

/* ---- all is assembly, by a convention of its own ---- */

__attribute__((naked)) KEPT void NAME(naked)(void)
{
	__asm__("leaq	(%rdi,%rsi), %rax\n\t"
		"xorq	%rdx, %rax\n\t"
		"ret");
}
__attribute__((naked)) KEPT void NAME(naked_adds)(void)
{
	__asm__("leaq	(%r10,%r11), %rax; ret");
}
#define TEXT(a)    #a
#define TEXT_OF(a) TEXT(a)
#ifdef __PIC__
#define PLT "@PLT"
#else
#define PLT
#endif
__attribute__((naked)) KEPT void NAME(naked_jumps)(void)
{
	__asm__("xchgq	%rdi, %rsi\n\t"
		"jmp	" TEXT_OF(PART) "_general" PLT);
}
