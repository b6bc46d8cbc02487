/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unseen.c: two stacks between which a thread goes on by assembly of its own, which nobody can
 * stand in front of; each is in the middle of calls. Aborts in flow_last.
 */
#include <stdint.h>
#include <stdlib.h>

#define PLAIN __attribute__((noinline, no_instrument_function))
#define FLOW  __attribute__((noinline))

/* Keeps what a call must keep on the stack that is left. */
void switch_stack(uint64_t **left, uint64_t *to);
__asm__(".text\nswitch_stack:\n\t"
	"pushq %rbp\n\tpushq %rbx\n\tpushq %r12\n\tpushq %r13\n\t"
	"pushq %r14\n\tpushq %r15\n\tmovq %rsp, (%rdi)\n\t"
	"movq %rsi, %rsp\n\tpopq %r15\n\tpopq %r14\n\tpopq %r13\n\t"
	"popq %r12\n\tpopq %rbx\n\tpopq %rbp\n\tret");

static uint64_t stack[8192], *other, *own;
static volatile int sink;

FLOW static void flow_leaf(void)
{
	sink++;
}

FLOW static void flow_inner(void)
{
	flow_leaf();
	switch_stack(&other, own);
	flow_leaf();
	sink++;
}

FLOW static void flow_outer(void)
{
	flow_inner();
	sink++;
}

PLAIN static void run(void)
{
	for (;;)
		flow_outer();
}

FLOW static void flow_resume(void)
{
	flow_leaf();
	switch_stack(&own, other);
	sink++;
}

FLOW static void flow_last(void)
{
	abort();
}

int main(void)
{
	other = &stack[8184];
	other[6] = (uint64_t)run;
	for (int i = 0; i < 100; i++)
		flow_resume();
	flow_last();
}
