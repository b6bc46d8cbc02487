/* SPDX-License-Identifier: BSD-2-Clause */
/* switches.c: functions, one switch after the other; what a child begins with. */
#include "runtime/switching/switches.h"

#include "runtime/arena/inherit.h"
#include "runtime/lib/hookcode.h"
#include "runtime/switching/everything.h"
#include "runtime/switching/range.h"
#include "runtime/switching/site_switch.h"
#include "runtime/switching/site_table.h"
#include "runtime/switching/switched.h"
#include "runtime/switching/turn.h"

/* ---- a function ---- */

static enum ep_site_reason reason_of(unsigned reason)
{
	return reason == EP_SWITCH_BUDGET ? EP_OFF_BUDGET : EP_OFF_NAME;
}

struct switch_work {
	uint64_t start, end, rate;
	struct ep_switched *function;
	unsigned reason;
	bool off;
	struct ep_site_switch_sum sum;
};

static void switch_sites(struct ep_flip *flip, void *argument)
{
	struct switch_work *it = argument;

	ep_switched_begin(it->function, it->reason, it->off, it->rate);
	ep_site_switch(flip, it->start, it->end, reason_of(it->reason), it->off, &it->sum);
	ep_switched_end(it->function, it->reason, it->off);
}

/* There is something to do. */
static bool prepare(struct switch_work *it, uint64_t address)
{
	struct ep_switched *function;

	if (!ep_function_range(address, &it->start, &it->end))
		return false;
	function = ep_switched_find(it->start, it->end, it->off);
	it->function = function;
	return function && !(function->reasons & it->reason) != !it->off &&
	       !(it->reason == EP_SWITCH_BUDGET && it->off &&
		 (function->reasons | ep_switched_from_outside(it->start)) & EP_SWITCH_KEPT);
}

/* Of who has the turn; a work without a function has nothing to do. */
static struct switch_work works[EP_SWITCH_MANY];

static void switch_works(struct ep_flip *flip, void *count)
{
	for (unsigned i = 0; i < *(const unsigned *)count; i++)
		if (works[i].function)
			switch_sites(flip, &works[i]);
}

static void switch_functions(struct ep_switch_order *orders, unsigned count, unsigned reason,
			     bool off)
{
	bool any = false;

	for (unsigned i = 0; i < count; i++) {
		works[i] =
			(struct switch_work){.reason = reason, .off = off, .rate = orders[i].rate};
		if (prepare(&works[i], orders[i].address))
			any = true;
		else
			works[i].function = NULL;
	}
	any = any && ep_flip_run(switch_works, &count);
	for (unsigned i = 0; i < count; i++)
		orders[i].changed = any && works[i].sum.changed != 0;
	ep_site_switch_publish();
}

void ep_switch_functions(struct ep_switch_order *orders, unsigned count, unsigned reason, bool off)
{
	for (unsigned i = 0; i < count; i++)
		orders[i].changed = false;
	if (!ep_switches() || !count || count > EP_SWITCH_MANY || !ep_inherits_nothing() ||
	    !ep_turn_try())
		return;
	switch_functions(orders, count, reason, off);
	ep_turn_end();
}

bool ep_switch_function(uint64_t address, unsigned reason, bool off)
{
	struct ep_switch_order order = {.address = address};

	if (!ep_switches() || !ep_inherits_nothing())
		return false;
	ep_turn_take();
	switch_functions(&order, 1, reason, off);
	ep_turn_end();
	return order.changed;
}

bool ep_switches_full(void)
{
	return ep_switches() && ep_switches()->count == ep_switches()->capacity;
}

unsigned ep_switch_reasons(uint64_t address)
{
	return ep_switches() ? ep_switched_reasons(address) : 0;
}

void ep_switch_keep(uint64_t address, bool kept)
{
	struct ep_switched *function;
	uint64_t start, end;

	if (!ep_switches() || !ep_function_range(address, &start, &end))
		return;
	ep_turn_take();
	function = ep_switched_find(start, end, kept);
	if (function)
		ep_switched_keep(function, kept);
	ep_turn_end();
}

void ep_switches_forget(uint64_t start, uint64_t end)
{
	if (!ep_switches() || !ep_switches()->sites)
		return;
	ep_turn_take();
	ep_sites_look_again();
	ep_site_pages_forget();
	ep_site_forget(start, end);
	ep_switched_forget(start, end);
	ep_turn_end();
}

void ep_switches_look_again(void)
{
	ep_sites_look_again();
	ep_site_pages_forget();
	ep_everything_look_again();
}

void ep_switches_wait(void)
{
	if (!ep_inherits_nothing())
		return;
	ep_turn_take();
	ep_turn_end();
}

/* ---- the section ---- */

/* The code of a child is what it was when it was forked: perhaps a switch of another thread's was
 * half done, and nobody is here who goes on. */
static void finish(struct ep_flip *flip, void *unused)
{
	uint64_t count;
	struct ep_hook_site *sites = ep_site_table(&count);

	(void)unused;
	for (uint64_t i = 0; i < count; i++) {
		if (!ep_everything_is_off())
			ep_site_set(&sites[i], EP_OFF_ALL, false);
		ep_site_switch_apply(flip, &sites[i]);
	}
}

static void forget_threads(void)
{
	bool was_taken = ep_turn_reset();

	ep_flip_reset();
	if (was_taken)
		ep_flip_run(finish, NULL);
}

void ep_switches_start(void)
{
	struct ep_switches *head;

	ep_switched_start();
	head = ep_switches();
	if (!head) {
		ep_turn_reset();
		return;
	}
	forget_threads();
	for (unsigned i = 0; i < EP_SWITCH_HOOKS; i++)
		head->hooks[i] = ep_hook_address(i);
	ep_everything_begin();
	ep_flip_possible(); /* who looks from outside wants to know */
	ep_site_switch_publish();
}

void ep_switches_keep(void)
{
	if (ep_switches())
		ep_switched_copy();
}
