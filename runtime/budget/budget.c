/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * budget.c: at a block's boundary, and one thread at a time; who finds another one at it goes on.
 * What a thread's events cost is added up; when that is worth a look at its CPU time, it goes into
 * the process's account. An account that is empty sends functions off, one that is full has some
 * back on trial. Our own work has an account too: while it is empty nobody is chosen, and where
 * that leaves tracing too dear for long, everything goes off.
 *
 *   boundary → block's cost → (look) account → empty: choose → queue → flipped, a few a boundary
 *                                            → full:  due    → trial → ripe: on, or off again
 */
#include "runtime/budget/budget.h"

#include <time.h>

#include "runtime/arena/arena.h"
#include "runtime/arena/inherit.h"
#include "runtime/budget/choice.h"
#include "runtime/budget/cost.h"
#include "runtime/budget/keep.h"
#include "runtime/budget/probation.h"
#include "runtime/budget/spender.h"
#include "runtime/facts/clock.h"
#include "runtime/kernel/sched.h"
#include "runtime/kernel/sched_cost.h"
#include "runtime/lib/jail.h"
#include "runtime/lib/vdso.h"
#include "runtime/record/ring.h"
#include "runtime/record/timestamp_rate.h"
#include "runtime/settings/settings.h"
#include "runtime/switching/everything.h"
#include "runtime/switching/family.h"
#include "runtime/switching/flip.h"
#include "runtime/switching/switched.h"
#include "runtime/switching/switches.h"
#include "runtime/x86_64/tsc.h"

/* A thousand records without a time of their own, ns, where hooks follow each other; and the time
 * between two, ns, from which on the second finds nothing of the first: docs/overhead.md. */
#define HOOK_NEAR 1200
#define HOOK_FAR  22

#define US UINT64_C(1000) /* ns */
#define MS UINT64_C(1000000)

#define LOOK_FIRST  (5 * US)   /* of cost, when a thread looks first */
#define LOOK        (20 * US)  /* … and then */
#define CREDIT      (300 * US) /* of cost, that a process begins with */
#define SAVED       (10 * MS)  /* … that it may save up */
#define OWED        (2 * MS)   /* … and owe */
#define OWN_CREDIT  (50 * MS)  /* of own work, that a process begins with, and may save up … */
#define OWN_PART    5          /* … of a fifth of the budget */
#define DEBT        (40 * MS)  /* of cost beyond the budget: the last step */
#define LONG_CALL   (100 * US) /* the story: those stay */
#define SPARED      10         /* looks' worth of marks that were left out, until one is due */
#define SETTLE      10         /* what was done takes effect for so many times as long */
#define TRIAL_AGAIN (100 * MS) /* from trial to trial */
#define QUIET       (100 * MS) /* without an entry in the account: the drain makes one */
#define WINDOW      (100 * MS) /* of the program's time, in which a phase is seen */
#define WHOLE_CPU   (20 * MS)  /* between two looks at the process's CPU time */
#define LATE        (100 * MS) /* of the program's time */
#define SURE        (400 * US) /* of cost, before a choice for little */
#define LEFT        10         /* seconds */
#define IN_VAIN     (250 * MS) /* after nothing was found that could go off */
#define SECOND      (1000 * MS)
#define MILLION     1000000u

#define BLOCKS     64   /* at most, that are looked at */
#define ENOUGH     4    /* at least, with calls as they are now */
#define AT_ONCE    8    /* functions that go off at one boundary … */
#define MANY       256  /* … of a queue of more than as many EP_SWITCH_MANY do */
#define HEARD_MOST 2048 /* of children's, at a fork: all of them */
#define WIDE       768  /* functions: hooks of more are as dear, as far as is known */

/* What the account gets of the budget, of a hundred: costs are known to some part only, and hooks
 * that are off leave larger code: 1.5 to 2 points of measured programs. */
#define HELD 60

/* Of the budget without the clock's part: what is aimed at when functions go off; and up to where
 * they come back. Of a hundred. */
#define AIM    90
#define TRIFLE 100 /* what has less than this part of that is left alone */
#define ROOM   75

/* After the last step, all off: looks a second whether all may come back; on for so many times as
 * long it begins anew. */
#define LEFT_LOOKS 100
#define LEFT_MOST  64
#define FORGIVEN   4

static uint64_t return_look; /* TSC, when all is off */
static uint64_t busy;        /* TSC since when, 0: nobody is at it */

/* What only the holder of `busy` touches. */
static struct {
	struct ep_cost_account account;
	uint64_t hook1000;      /* TSC cycles of a thousand untimed records, of late */
	uint64_t near1000, far; /* the least of it; TSC cycles apart that make the most of it */
	unsigned functions;     /* that were seen in one look back, the most */
	uint64_t look_first, look, second;
	uint32_t clock;        /* what may be read of the time that passes */
	uint64_t changed;      /* when hooks went off or came back last */
	uint64_t quiet;        /* nothing is done until then */
	uint64_t in_vain;      /* nothing is chosen until then */
	uint64_t trial_again;  /* no trial until then */
	uint64_t whole;        /* the process's CPU time is looked at from then on */
	uint64_t second_begun; /* of the head's _last */
	uint64_t cost, cpu;    /* the head's, then */
	uint64_t sched;        /* ns that scheduling events had cost at the last whole look */
	uint64_t sched_cpu;    /* TSC cycles of the process's CPU time then */
	uint32_t sched_share;  /* parts per million, of late */
	uint64_t window_cost, window_work;
	uint32_t settled;              /* share of the window after the last change; 0 not yet */
	uint64_t phase;                /* when one began */
	uint32_t share;                /* hooks', of late */
	uint64_t late_cost, late_work; /* that it comes from */
	uint64_t ns1024;               /* TSC cycles of 1,024 ns */
	uint32_t marks_share;          /* what marks cost, or would, of late */
	uint64_t spent;                /* TSC of the account's last entry */
	uint64_t ticked, tick_cpu;     /* TSC of the drain's, and the CPU time then, TSC cycles */
	uint64_t forked;               /* TSC of the last fork */
	uint64_t own;                  /* TSC cycles of our own work that no account has had yet */
	struct ep_cost_account work;   /* what choosing and switching may take */
	struct ep_cost_account debt;   /* below zero: all that was more than the budget */
	uint64_t left_for;     /* ns of CPU time that everything is off after the last step */
	uint64_t returns;      /* … and the process's CPU time when it comes back */
	uint64_t returned;     /* … when it came back last, 0 never */
	unsigned queued, next; /* functions that are to go off */
	uint64_t rate_cycles;  /* … that their calls were counted in */
	struct ep_choice_victim queue[EP_CHOICE_MOST];
} ledger;
static struct ep_choice choice;
static struct ep_probation probation;

/* ---- what it costs ---- */

/* Before its CPU time is known. */
static uint64_t cost_about(const struct ep_spender *thread)
{
	return thread->clock + thread->marks + thread->records * ledger.hook1000 / 1000;
}

/* What its hooks cost, that had `cpu` cycles. */
static uint64_t hooks_cost(const struct ep_spender *thread, uint64_t cpu)
{
	uint64_t rest = cpu > thread->clock ? cpu - thread->clock : 0;
	uint64_t hook1000 = ep_cost_hook1000(rest, thread->records, ledger.functions,
					     ledger.near1000, ledger.far);

	ledger.hook1000 = (ledger.hook1000 * 3 + hook1000) / 4;
	return thread->records * hook1000 / 1000;
}

/* Scheduling clocks are the kernel's: a system call, 0.2 us. */
static uint64_t cpu_cycles(struct ep_spender *thread)
{
	uint64_t cpu = ep_clock_read(CLOCK_THREAD_CPUTIME_ID), since = cpu - thread->cpu;

	/* A vfork child has its maker's thread-local memory, and another clock. */
	if (cpu < thread->cpu)
		since = 0;
	thread->cpu = cpu;
	return ep_clock_cycles(since);
}

/* The clock's rate gets better while the program runs. */
static void learn_rates(void)
{
	ledger.near1000 = ep_clock_cycles(HOOK_NEAR);
	ledger.ns1024 = ep_clock_cycles(1024);
	ledger.far = ep_clock_cycles(HOOK_FAR);
	if (ledger.hook1000 < ledger.near1000)
		ledger.hook1000 = ledger.near1000;
	ledger.look_first = ep_clock_cycles(LOOK_FIRST);
	ledger.look = ep_clock_cycles(LOOK);
	ledger.second = probation.second = ep_clock_cycles(SECOND);
	ledger.account.most = (int64_t)ep_clock_cycles(SAVED);
	ledger.account.least = -(int64_t)ep_clock_cycles(OWED);
	ledger.work.most = (int64_t)ep_clock_cycles(OWN_CREDIT);
	ledger.work.least = ledger.debt.least = INT64_MIN / 2;
}

/* What the drain and the kernel's recording for it took since the last look: of the account too,
 * and hooks get what is left. */
static void weigh_sched(uint64_t cpu)
{
	uint64_t total = ep_sched_cost(), since = total - ledger.sched;
	uint64_t work = cpu - ledger.sched_cpu;
	uint32_t share;

	if (total < ledger.sched || cpu <= ledger.sched_cpu)
		since = 0;
	ledger.sched = total;
	ledger.sched_cpu = cpu;
	since = ep_clock_cycles(since);
	share = ep_cost_share(since, ep_cost_work(work, since));
	ledger.sched_share = (ledger.sched_share * 3 + (share < MILLION ? share : MILLION)) / 4;
	ledger.own += since;
}

/* For readers: costs of now, and of the last second. */
static void publish(uint64_t cost, uint64_t clock, uint64_t own, uint64_t tsc)
{
	struct ep_switches *head = ep_switches();

	if (!head)
		return;
	head->cost += cost;
	head->cost_clock += clock;
	head->cost_own += own;
	head->cost_tsc = tsc;
	if (tsc < ledger.whole)
		return;
	ledger.whole = tsc + ep_clock_cycles(WHOLE_CPU);
	learn_rates();
	head->cpu = ep_clock_cycles(ep_clock_read(CLOCK_PROCESS_CPUTIME_ID));
	weigh_sched(head->cpu);
	if (tsc - ledger.second_begun < ledger.second)
		return;
	head->cost_last = head->cost - ledger.cost;
	head->cpu_last = head->cpu - ledger.cpu;
	ledger.second_begun = tsc;
	ledger.cost = head->cost;
	ledger.cpu = head->cpu;
}

/* A phase: what tracing costs has fallen to less than half. When it rises, functions go off. */
static void watch_phase(uint64_t cost, uint64_t work, uint64_t tsc)
{
	uint32_t share;

	ledger.window_cost += cost;
	ledger.window_work += work;
	if (ledger.window_work < ep_clock_cycles(WINDOW))
		return;
	share = ep_cost_share(ledger.window_cost, ledger.window_work);
	if (ledger.settled && share < ledger.settled / 2) {
		ep_probation_again(&probation, tsc);
		ledger.settled = share;
	} else if (share > ledger.settled) {
		ledger.settled = share;
	}
	ledger.window_cost = ledger.window_work = 0;
}

static uint32_t clock_may(void)
{
	return ep_settings.budget ? ep_settings.clock_budget / 100 * HELD
				  : ep_settings.clock_budget;
}

/* The clock is read by the time that passes, of which a thread that waits has more. */
static void regulate_clock(uint64_t clock, uint64_t work)
{
	uint32_t has = ep_cost_share(clock, work);

	ledger.clock = ep_cost_clock(ledger.clock, has, clock_may());
	ep_timestamp_rate_allow(ledger.clock, has <= clock_may());
}

/* Of late: since something was changed, and what is longer ago counts less. */
static void weigh_hooks(uint64_t cost, uint64_t clock, uint64_t work)
{
	uint64_t has = ep_mul_div(work, clock_may(), MILLION);

	/* A clock that has more than its part, as the timing is fixed, or all is too many. */
	if (clock > has)
		cost += clock - has;
	ledger.late_cost += cost;
	ledger.late_work += work;
	ledger.share = ep_cost_share(ledger.late_cost, ledger.late_work);
	if (ledger.late_work < ep_clock_cycles(LATE))
		return;
	ledger.late_cost /= 2;
	ledger.late_work /= 2;
}

/* Into the account, and of what the family was lent. A process that waits most of the time may take
 * what the machine can spare (EPITAPH_IDLE_BUDGET), if that is more than its CPU time allows. */
static void spend(uint64_t work, uint64_t cost, uint64_t tsc)
{
	int64_t before = ledger.account.balance;
	uint64_t time = tsc > ledger.spent ? tsc - ledger.spent : 0;

	ledger.spent = tsc;
	if (ep_settings.idle_budget)
		work += ep_cost_idle(work, time, ep_settings.idle_budget, ep_settings.budget);
	ep_cost_add(&ledger.account, work, cost, ep_settings.budget / 100 * HELD);
	ep_cost_add(&ledger.work, work, 0, ep_settings.budget / OWN_PART);
	ep_cost_add(&ledger.debt, work, cost, ep_settings.budget);
	ep_family_spend(before - ledger.account.balance, (int64_t)ep_clock_cycles(CREDIT));
}

uint32_t ep_budget_thin;

/* Marks may have a third of what there is; above that those that change nothing are left out, and
 * the functions that make the others needed go off, as hooks and marks have one share. */
static void weigh_marks(uint64_t cost, uint64_t work)
{
	uint32_t share = ep_cost_share(cost, work), most = ep_settings.budget / 100 * HELD / 3;

	ledger.marks_share = (ledger.marks_share * 3 + (share < MILLION ? share : MILLION)) / 4;
	if (!ep_settings.budget || ledger.marks_share < most / 2)
		__atomic_store_n(&ep_budget_thin, 0, __ATOMIC_RELAXED);
	else if (ledger.marks_share > most)
		__atomic_store_n(&ep_budget_thin, 1, __ATOMIC_RELAXED);
}

/* Of `cpu` cycles, in which tracing cost `cost`, reading the clock `clock` of it. */
static uint64_t enter(uint64_t cpu, uint64_t cost, uint64_t clock, uint64_t tsc)
{
	uint64_t own = ledger.own, work = ep_cost_work(cpu, cost + own);

	ledger.own = 0;
	weigh_hooks(cost - clock, clock, work);
	publish(cost + own, clock, own, tsc);
	regulate_clock(clock, work);
	if (ep_settings.budget) {
		spend(work, cost + own, tsc);
		watch_phase(cost, work, tsc);
	}
	return work;
}

static void account(struct ep_spender *thread, uint64_t tsc)
{
	uint64_t cpu = cpu_cycles(thread);
	uint64_t cost = hooks_cost(thread, cpu) + thread->clock + thread->marks;
	uint64_t work = enter(cpu, cost, thread->clock, tsc);

	weigh_marks(thread->marks + thread->spared, work);
	thread->marks = thread->spared = 0;
	thread->records = thread->clock = 0;
	thread->looked = true;
}

/* ---- our own work ---- */

/* The calling thread's, and that of the threads which change code in its place (flip.h). */
static uint64_t own_clock(void)
{
	return ep_clock_read(CLOCK_THREAD_CPUTIME_ID) + ep_flip_aside();
}

/* Into both accounts; TSC cycles. */
static uint64_t spend_own(uint64_t ns)
{
	uint64_t took = ep_clock_cycles(ns);

	ledger.own += took;
	ledger.work.balance -= (int64_t)took;
	return took;
}

/* ---- who goes off ---- */

static uint32_t hooks_may(unsigned percent)
{
	uint32_t others = clock_may() + ledger.sched_share;
	uint32_t least = ep_settings.budget / 10, whole = ep_settings.budget / 100 * HELD;

	return (whole > others + least ? whole - others : least) / 100 * percent;
}

/* Of late, the oldest first. How many of them, at the end, have calls as they are now. */
static unsigned look_back(const struct ep_tls *tls, unsigned *count)
{
	const struct ep_block *blocks[BLOCKS], *block = ep_ring_block(tls);
	unsigned found = 0, counted = 0;

	while (block && found < BLOCKS) {
		counted += block->tsc >= ledger.changed;
		blocks[found++] = block;
		block = ep_ring_previous_block(tls, block);
	}
	*count = counted;
	if (counted < ENOUGH)
		return 0;
	ep_choice_begin(&choice, ep_clock_cycles(LONG_CALL));
	for (unsigned i = found; i-- > 0;)
		ep_choice_block(&choice, blocks[i], i < counted);
	ledger.rate_cycles = ep_tsc() - blocks[counted - 1]->tsc;
	if (ledger.functions < choice.used && ledger.functions < WIDE) {
		ledger.functions = choice.used < WIDE ? choice.used : WIDE;
		ep_family_tell_use(ledger.functions);
	}
	return found;
}

static void keep_refused(uint64_t tsc)
{
	for (unsigned i = 0; i < EP_PROBATION_SLOTS && probation.refused; i++) {
		uint64_t address = ep_probation_refused(&probation, i, tsc);

		if (address)
			ep_choice_keep(&choice, address);
	}
}

static void choose(const struct ep_tls *tls, uint64_t tsc)
{
	uint32_t aim = hooks_may(AIM);
	uint64_t worth_it; /* calls: to switch a function takes 50 us, and more to try again */
	unsigned counted;

	if (!look_back(tls, &counted))
		return;
	if (ledger.settled && ledger.share / 2 > ledger.settled)
		ep_probation_again(&probation, tsc);
	keep_refused(tsc);
	worth_it = choice.calls * aim / TRIFLE / ledger.share;
	ledger.queued = ep_choice_take(&choice, ep_cost_excess(choice.calls, ledger.share, aim),
				       worth_it, ledger.queue, EP_CHOICE_MOST);
	ledger.next = 0;
	/* What is left stays: looking again would cost and change nothing. */
	if (!ledger.queued)
		ledger.in_vain = tsc + ep_clock_cycles(IN_VAIN);
	if (ledger.queued > MANY)
		ep_choice_sort(ledger.queue, ledger.queued);
}

/* All at once: the way to the code is what costs most. */
static void switch_some(struct ep_switch_order *orders, unsigned count, bool off)
{
	ep_switch_functions(orders, count, EP_SWITCH_BUDGET, off);
	ledger.changed = ep_tsc();
}

static void switch_off(struct ep_switch_order *orders, unsigned count, uint64_t tsc)
{
	unsigned wanted = 0;

	for (unsigned i = 0; i < count; i++) {
		if (!ep_probation_off(&probation, orders[i].address, orders[i].rate, tsc))
			continue;
		if (ep_keep_has(orders[i].address))
			ep_probation_refuse(&probation, orders[i].address, tsc);
		else
			orders[wanted++] = orders[i];
	}
	switch_some(orders, wanted, true);
	for (unsigned i = 0; i < wanted; i++)
		if (orders[i].changed)
			ep_family_tell(EP_FAMILY_BUDGET, orders[i].address, orders[i].rate);
		else if (!(ep_switch_reasons(orders[i].address) & EP_SWITCH_BUDGET))
			ep_probation_refuse(&probation, orders[i].address, tsc);
}

/* The next few of the queue. */
static void switch_queued(uint64_t tsc)
{
	static struct ep_switch_order orders[EP_SWITCH_MANY];
	unsigned most = ledger.queued > MANY ? EP_SWITCH_MANY : AT_ONCE, count = 0;

	while (count < most && ledger.next < ledger.queued) {
		const struct ep_choice_victim *victim = &ledger.queue[ledger.next++];

		orders[count++] = (struct ep_switch_order){
			victim->address,
			ep_mul_div(victim->calls, ledger.second, ledger.rate_cycles + 1), false};
	}
	switch_off(orders, count, tsc);
	ledger.late_cost = ledger.late_work = 0;
	if (ledger.next < ledger.queued)
		return;
	ledger.queued = ledger.next = 0;
	ledger.settled = 0;
	ledger.window_cost = ledger.window_work = 0;
}

/* ---- who comes back ---- */

/* Calls a second, of those that are on trial all together. */
static uint64_t room(void)
{
	uint32_t may = hooks_may(ROOM);
	uint64_t left = ledger.share < may ? may - ledger.share : 0;

	/* Cycles a second for hooks, of a CPU that is never idle; a call has two. */
	return ep_mul_div(ledger.second, left, 1000000) * 1000 / (2 * ledger.hook1000 + 1);
}

static void end_trial(uint64_t tsc)
{
	struct ep_switch_order orders[EP_PROBATION_TRIALS];
	uint64_t address[EP_PROBATION_TRIALS], rate[EP_PROBATION_TRIALS];
	unsigned count = ep_probation_end(&probation, tsc, room(), address, rate);

	for (unsigned i = 0; i < count; i++)
		orders[i] = (struct ep_switch_order){address[i], rate[i], false};
	if (count)
		switch_off(orders, count, tsc);
}

static void begin_trial(uint64_t tsc)
{
	struct ep_switch_order orders[EP_PROBATION_TRIALS];
	uint64_t address[EP_PROBATION_TRIALS];
	unsigned count = ep_probation_begin(&probation, tsc, address);

	ledger.trial_again = tsc + ep_clock_cycles(TRIAL_AGAIN);
	for (unsigned i = 0; i < count; i++)
		orders[i] = (struct ep_switch_order){address[i], 0, false};
	if (count)
		switch_some(orders, count, false);
	for (unsigned i = 0; i < count; i++)
		if (!orders[i].changed && ep_switch_reasons(address[i]) & EP_SWITCH_BUDGET)
			ep_probation_cancel(&probation, address[i], tsc);
}

/* ---- together ---- */

static bool may_try(uint64_t tsc)
{
	return ledger.account.balance >= 0 && !probation.trials && probation.off &&
	       tsc >= ledger.trial_again;
}

static bool costs_too_much(uint64_t tsc)
{
	uint32_t aim = hooks_may(AIM);

	/* Programs have phases of some ms: one that costs a little more is no reason. */
	return ledger.account.balance < 0 && tsc >= ledger.in_vain && ledger.share > aim &&
	       (ledger.share / 4 > aim || ledger.late_cost >= ep_clock_cycles(SURE));
}

/* What the last step spared, and what the next one has to spend: an account that is as at the
 * start, but for what of our own work it `took` to get there, TSC cycles. */
static void begin_anew(uint64_t took, uint64_t tsc)
{
	ledger.account.balance = ledger.debt.balance = 0;
	ledger.work.balance = ledger.work.most - (int64_t)took;
	ledger.late_cost = ledger.late_work = ledger.share = 0;
	ledger.window_cost = ledger.window_work = 0;
	ledger.settled = 0;
	ledger.queued = ledger.next = 0;
	ledger.quiet = ledger.in_vain = 0;
	ledger.changed = ledger.spent = tsc;
}

/*
 * To find out what costs too much, and that it is too much, takes OWN_CREDIT and DEBT. So
 * everything comes back when the process has had the CPU time that the budget allows as much for;
 * soon off again, it is off for twice as long, up to 64 times.
 */
static void note_left(void)
{
	uint64_t now = ep_clock_read(CLOCK_PROCESS_CPUTIME_ID);
	uint64_t least = ep_cost_paid_by(OWN_CREDIT + DEBT, ep_settings.budget);

	if (!ledger.returned || now - ledger.returned > FORGIVEN * ledger.left_for)
		ledger.left_for = least;
	else if (ledger.left_for < least * LEFT_MOST)
		ledger.left_for *= 2;
	ledger.returns = now + ledger.left_for;
	__atomic_store_n(&return_look, ep_tsc() + ledger.second / LEFT_LOOKS, __ATOMIC_RELAXED);
}

static bool is_due(bool looked, uint64_t tsc)
{
	if (ep_probation_ripe(&probation, tsc))
		return true;
	return ledger.work.balance > 0 &&
	       (ledger.queued ||
		(looked && tsc >= ledger.quiet && (costs_too_much(tsc) || may_try(tsc))));
}

static void act(const struct ep_tls *tls, uint64_t tsc)
{
	if (ledger.queued && ledger.work.balance > 0)
		switch_queued(tsc);
	else if (ep_probation_ripe(&probation, tsc))
		end_trial(tsc);
	else if (costs_too_much(tsc))
		choose(tls, tsc);
	else
		begin_trial(tsc);
}

static void work(struct ep_tls *tls, struct ep_spender *thread, bool look, uint64_t tsc)
{
	uint64_t begin, took;
	bool is_hopeless;

	if (look)
		account(thread, tsc);
	if (!ep_settings.budget || !ep_flip_possible())
		return;
	/* The last step: what has to go off would take more than our own work may, or has no room
	 * to be told of, and tracing goes on costing more. A mask costs little at once, and pages
	 * of hooks follow as they run (everything.h). */
	is_hopeless = ledger.debt.balance < -(int64_t)ep_clock_cycles(DEBT) &&
		      (ledger.work.balance <= 0 || ep_switches_full());
	if (is_hopeless && ep_everything_leave()) {
		begin_anew(0, tsc);
		note_left();
		/* If no hook is left, the drain asks: now, unless there is one. */
		ep_sched_look(UINT64_MAX - 1, EP_SCHED_BLOCK);
		return;
	}
	if (!is_due(look, tsc))
		return;
	begin = own_clock();
	act(tls, tsc);
	took = spend_own(own_clock() - begin);
	if (ledger.quiet < tsc + took * SETTLE)
		ledger.quiet = tsc + took * SETTLE;
}

/* A handler may have left the one who is at it by longjmp: after ten seconds it has gone. */
static bool begin_work(uint64_t tsc)
{
	uint64_t since = __atomic_load_n(&busy, __ATOMIC_RELAXED);

	if (since && (tsc < since || tsc - since < LEFT * ledger.second))
		return false;
	return __atomic_compare_exchange_n(&busy, &since, tsc, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

void ep_budget_block(struct ep_tls *tls, uint64_t tsc)
{
	struct ep_spender *thread = ep_spender_of(tls);
	const struct ep_block *block;
	bool look;

	if (!thread || !ep_switches() || tls->gate == &ep_faults_gate || ep_settings.min_duration)
		return;
	block = ep_ring_block(tls);
	if (!block)
		return;
	thread->clock += ep_timestamp_rate_cost(tls, block);
	thread->records += EP_BLOCK_RECORDS;
	ep_probation_count(&probation, block);
	look = cost_about(thread) >= (thread->looked ? ledger.look : ledger.look_first);
	if ((!look && !ledger.queued && !probation.trials) || !begin_work(tsc))
		return;
	work(tls, thread, look, tsc);
	__atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
}

static void try_again(uint64_t tsc)
{
	if (ep_probation_ripe(&probation, tsc))
		end_trial(tsc);
	else if (may_try(tsc))
		begin_trial(tsc);
}

/* What it took since that hooks go off as they run: all is off for longer, until the budget allows
 * for that, too. */
static void spend_visits(uint64_t tsc)
{
	uint64_t spent = ep_everything_spent(), took = ep_clock_cycles(spent);

	if (!spent)
		return;
	ledger.returns += ep_cost_paid_by(spent, ep_settings.budget);
	publish(took, 0, took, tsc);
}

/* What it costs to put all hooks back is told, and a part of what our own work may have from then
 * on. */
void ep_budget_visit(void)
{
	uint64_t tsc = ep_tsc(), begin, took;

	if (tsc < __atomic_load_n(&return_look, __ATOMIC_RELAXED) || !ep_settings.budget ||
	    !ep_everything_is_left() || !begin_work(tsc))
		return;
	__atomic_store_n(&return_look, tsc + ledger.second / LEFT_LOOKS, __ATOMIC_RELAXED);
	spend_visits(tsc);
	begin = own_clock();
	if (ep_clock_read(CLOCK_PROCESS_CPUTIME_ID) >= ledger.returns && ep_everything_return()) {
		took = ep_clock_cycles(own_clock() - begin);
		begin_anew(took, ep_tsc());
		ledger.returned = ep_clock_read(CLOCK_PROCESS_CPUTIME_ID);
		publish(took, 0, took, ep_tsc());
	}
	__atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
}

/* Where nobody has filled a block for long: what is left on hardly runs, and trials follow each
 * other. One that forks tries again at its forks, as its children say what they run. */
void ep_budget_tick(void)
{
	uint64_t tsc = ep_tsc(), cpu, aside;
	bool any = probation.off || probation.trials, still = ledger.spent == ledger.ticked;
	bool quiet = still || tsc - ledger.spent >= ep_clock_cycles(QUIET);

	ep_budget_visit();
	if (!ep_settings.budget || !any || !ep_flip_possible() || ep_everything_is_off() ||
	    tsc - ledger.forked < ledger.second || !(quiet || ep_probation_ripe(&probation, tsc)) ||
	    !begin_work(tsc))
		return;
	if (quiet) {
		cpu = ep_clock_cycles(ep_clock_read(CLOCK_PROCESS_CPUTIME_ID));
		enter(still ? cpu - ledger.tick_cpu : 0, 0, 0, tsc);
		ledger.ticked = tsc;
		ledger.tick_cpu = cpu;
		ledger.trial_again = tsc;
	}
	aside = ep_flip_aside(); /* what the drain takes itself is told as its own (sched_cost.h) */
	try_again(tsc);
	spend_own(ep_flip_aside() - aside);
	__atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
}

void ep_budget_mark(struct ep_tls *tls, uint64_t ns, unsigned spared)
{
	struct ep_spender *thread = ep_spender_of(tls);
	struct ep_switches *head = ep_switches();
	uint64_t tsc;

	if (!thread || !head || tls->gate == &ep_faults_gate || ep_settings.min_duration)
		return;
	if (spared) {
		__atomic_fetch_add(&ep_arena->marks_left_out, spared, __ATOMIC_RELAXED);
		thread->spared += ns * ledger.ns1024 / 1024;
	} else {
		thread->marks += ns * ledger.ns1024 / 1024;
	}
	if (cost_about(thread) < (thread->looked ? ledger.look : ledger.look_first) &&
	    thread->spared < SPARED * ledger.look)
		return;
	tsc = ep_tsc();
	if (!begin_work(tsc))
		return;
	work(tls, thread, true, tsc);
	__atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
}

/* Some of what children have said; false: there was none. */
static bool hear(uint64_t tsc)
{
	struct ep_family_function functions[AT_ONCE];
	struct ep_switch_order orders[AT_ONCE];
	unsigned count = ep_family_hear(EP_FAMILY_BUDGET, functions, AT_ONCE);

	for (unsigned i = 0; i < count; i++)
		orders[i] =
			(struct ep_switch_order){functions[i].address, functions[i].rate, false};
	if (count)
		switch_off(orders, count, tsc);
	return count != 0;
}

void ep_budget_before_fork(void)
{
	uint64_t tsc = ep_tsc(), begun = probation.begin, begin;
	unsigned turns = 0;

	if (!ep_switches() || !ep_settings.budget || !ep_flip_possible() || !ep_inherits_nothing())
		return;
	ep_budget_visit();
	if (!begin_work(tsc))
		return;
	ledger.forked = tsc;
	begin = own_clock();
	while (turns < HEARD_MOST / AT_ONCE && hear(tsc))
		turns++;
	if (!turns)
		try_again(tsc);
	spend_own(own_clock() - begin);
	/* Its children try it, too: they may all end before a trial of theirs is over. */
	for (unsigned i = 0; probation.begin != begun && i < probation.trials; i++)
		ep_family_forget(EP_FAMILY_BUDGET, probation.address[i]);
	__atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
}

void ep_budget_start(void)
{
	struct ep_switches *head = ep_switches();

	if (!head || ep_settings.counting)
		return;
	head->budget = ep_settings.budget;
	ep_sched_besides = ep_settings.budget ? ep_budget_tick : NULL;
	ledger.functions = ep_family_use();
	learn_rates();
	ledger.account.balance = ep_family_credit((int64_t)ep_clock_cycles(CREDIT));
	ledger.work.balance = ledger.work.most;
	ledger.debt.balance = 0;
	ledger.clock = ep_settings.clock_budget;
	ledger.second_begun = ledger.spent = ep_tsc();
	ledger.cost = ledger.cpu = ledger.own = ledger.queued = 0;
	ledger.late_cost = ledger.late_work = ledger.share = ledger.marks_share = 0;
	ep_budget_thin = 0;
	ledger.sched = ledger.sched_cpu = ledger.sched_share = 0;
	/* A child's CPU time begins anew. */
	ledger.returns = ledger.left_for;
	ledger.returned = 0;
	/* What its parent would try now is its parent's to try. */
	ledger.trial_again = ledger.second_begun + ep_clock_cycles(TRIAL_AGAIN);
	if (epitaph_root.generation)
		ep_probation_inherit(&probation, ledger.second_begun);
	busy = 0;
}
