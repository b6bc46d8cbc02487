/* SPDX-License-Identifier: BSD-2-Clause */
/* cost.c: the arithmetic. */
#include "runtime/budget/cost.h"

#define MILLION    UINT64_C(1000000)
#define SHARE_MOST (100 * MILLION)

/* The clock's part is changed by no more than half at a time, and has at least this much, of a
 * million. */
#define CLOCK_LEAST 100

/* Of a thousand: what a cycle between two hooks adds to the second one; and for each function. */
#define APART     200
#define WIDE_EACH 4 / 5

void ep_cost_add(struct ep_cost_account *account, uint64_t work, uint64_t cost, uint32_t share)
{
	uint64_t earned = work / MILLION * share + work % MILLION * share / MILLION;
	int64_t balance = account->balance + (int64_t)earned - (int64_t)cost;

	if (balance > account->most)
		balance = account->most;
	account->balance = balance < account->least ? account->least : balance;
}

uint64_t ep_cost_idle(uint64_t work, uint64_t time, uint32_t idle, uint32_t share)
{
	uint64_t most = share ? time / share * idle : 0;

	return most > work ? most - work : 0;
}

uint64_t ep_cost_hook1000(uint64_t cpu, uint64_t records, unsigned functions, uint64_t near,
			  uint64_t far)
{
	uint64_t each = APART + functions * WIDE_EACH;
	uint64_t period = records ? cpu / records : 0; /* the hook and what lies between */
	uint64_t cost;

	if (period > 16 * far)
		period = 16 * far;
	/* cost = near + each (period − cost), in thousands */
	cost = (near + each * period) * 1000 / (1000 + each);
	if (cost < near)
		cost = near;
	return cost < near + each * far ? cost : near + each * far;
}

uint32_t ep_cost_share(uint64_t cost, uint64_t work)
{
	/* Far below what overflows: two hours of cost. */
	uint64_t share = work ? cost * MILLION / work : SHARE_MOST;

	return (uint32_t)(share < SHARE_MOST ? share : SHARE_MOST);
}

uint64_t ep_cost_work(uint64_t cpu, uint64_t cost)
{
	return cost < cpu / 4 * 3 ? cpu - cost : cpu / 4;
}

uint64_t ep_cost_paid_by(uint64_t cost, uint32_t share)
{
	return cost * MILLION / share;
}

uint64_t ep_cost_excess(uint64_t calls, uint32_t has, uint32_t wants)
{
	return has > wants ? calls - calls * wants / has : 0;
}

uint32_t ep_cost_clock(uint32_t now, uint32_t has, uint32_t wants)
{
	uint64_t next = has ? (uint64_t)now * wants / has : wants;

	if (next < now / 2)
		next = now / 2;
	if (next > 2 * (uint64_t)now)
		next = 2 * (uint64_t)now;
	if (next < CLOCK_LEAST)
		next = CLOCK_LEAST;
	return (uint32_t)(next < wants ? next : wants);
}
