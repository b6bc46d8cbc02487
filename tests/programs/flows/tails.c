/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tails.c: calls that are the last thing their caller does, so that compilers make jumps of them:
 * direct, by a pointer, from one to the other and back, at the end of a recursion.
 *
 * 	outer
 * 		leaf
 * 		direct
 * 			leaf
 * 			leaf  tail
 * 		pointer
 * 			leaf
 * 			leaf  tail
 * 		even
 * 			odd  tail
 * 				even  tail
 * 					leaf  tail
 * 		again
 * 			leaf
 * 			by  tail
 * 				leaf
 * 				again  tail
 * 					leaf
 * 					by  tail
 * 						leaf
 * 						leaf  tail
 * 	last  open
 */
#include <stdlib.h>

#include "flow.h"

static int flow_odd(int n);
static int (*volatile indirect)(int);

FLOW static int flow_leaf(int n)
{
	DONE;
	return n + 1;
}

FLOW static int flow_direct(int n)
{
	return flow_leaf(flow_leaf(n));
}

FLOW static int flow_pointer(int n)
{
	n = flow_leaf(n);
	return indirect(n);
}

FLOW static int flow_even(int n)
{
	return n == 0 ? flow_leaf(n) : flow_odd(n - 1);
}

FLOW static int flow_odd(int n)
{
	return flow_even(n - 1);
}

static int flow_again(int n);

FLOW static int flow_by(int n)
{
	n = flow_leaf(n);
	return n > 3 ? indirect(n) : flow_again(n);
}

FLOW static int flow_again(int n)
{
	n = flow_leaf(n);
	return flow_by(n);
}

FLOW static void flow_outer(void)
{
	indirect = flow_leaf;
	flow_leaf(1);
	flow_direct(1);
	flow_pointer(1);
	flow_even(2);
	flow_again(0);
	DONE;
}

FLOW static void flow_last(void)
{
	abort();
}

int main(void)
{
	flow_outer();
	flow_last();
}
