/* SPDX-License-Identifier: BSD-2-Clause */
/* switches.c: one switch after the other. */
#include "runtime/switching/switches.h"

#include <sched.h>
#include <stddef.h>
#include <sys/mman.h>

#include "runtime/arena/arena.h"
#include "runtime/arena/inherit.h"
#include "runtime/arena/pause.h"
#include "runtime/lib/hookcode.h"
#include "runtime/lib/syscalls.h"
#include "runtime/lib/text.h"
#include "runtime/settings/settings.h"
#include "runtime/switching/flip.h"
#include "runtime/switching/function.h"
#include "runtime/switching/site_table.h"
#include "runtime/switching/switched.h"
#include "runtime/x86_64/tsc.h"

#define SITES_MOST 1024 /* of one function; those beyond stay as they are */
#define BUCKETS    4096 /* of visits */
#define VISITS                                                                         \
	16 /* after as many a function's hooks go off: what runs less often costs less \
	      than to change it */
#define VAIN_MOST 100000 /* visits of hooks that cannot be changed, until all are left alone */

/* ---- one at a time ---- */

static uint32_t busy;

static bool try_lock(void)
{
	uint32_t free = 0;

	return __atomic_compare_exchange_n(&busy, &free, 1, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

static void lock(void)
{
	while (!try_lock())
		ep_syscall0(SYS_sched_yield);
}

static void unlock(void)
{
	__atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
}

/* What only the holder of the lock touches. */
static struct ep_place places[SITES_MOST];

/* Numbers that readers want of the table, and how code is changed. */
static void publish(struct ep_switches *head)
{
	uint64_t count;

	head->sites = (uint64_t)ep_site_table(&count);
	head->site_count = count;
	head->pages = ep_site_pages();
	head->how = ep_flip_how(&head->why_not);
}

/* ---- sites of a function ---- */

static bool is_off_outside(uint64_t place)
{
	return ep_switched_from_outside(place) & EP_SWITCH_CONTROL;
}

static bool set_site(struct ep_flip *flip, const struct ep_place *place, enum ep_site_reason reason,
		     bool off)
{
	struct ep_hook_site *site = ep_site_note(place);
	struct ep_switches *head = ep_switches();
	bool changed;

	if (!site)
		return false;
	ep_site_set(site, reason, off);
	changed = ep_site_apply(flip, site, is_off_outside);
	head->flips += changed;
	return changed;
}

/* Entries before returns when they go off, after them when they come back. True: a byte changed. */
static bool set_sites(struct ep_flip *flip, uint64_t start, uint64_t end,
		      enum ep_site_reason reason, bool off)
{
	size_t count = ep_sites_in(start, end, places, SITES_MOST);
	bool changed = false;

	for (unsigned turn = 0; turn < 2; turn++)
		for (size_t i = 0; i < count; i++)
			if (places[i].is_return == (turn == (unsigned)off))
				changed |= set_site(flip, &places[i], reason, off);
	return changed;
}

/* ---- everything ---- */

static uint8_t visits[BUCKETS]; /* racy on purpose: a visit that is not counted is the next one */
static uint32_t vain;

static bool is_everything_off(void)
{
	return (__atomic_load_n(&ep_arena->gate, __ATOMIC_SEQ_CST) &
		(EP_GATE_OFF | EP_GATE_FLIP)) == (EP_GATE_OFF | EP_GATE_FLIP);
}

static void leave_code_alone(void)
{
	__atomic_fetch_and(&ep_arena->gate, ~EP_GATE_FLIP, __ATOMIC_SEQ_CST);
}

/* Everything may have been switched on since: whoever did that has not seen these sites. */
static void set_back(struct ep_flip *flip, uint64_t first)
{
	uint64_t count;
	struct ep_hook_site *sites = ep_site_table(&count);

	if (is_everything_off())
		return;
	for (uint64_t i = first; i < count; i++) {
		ep_site_set(&sites[i], EP_OFF_ALL, false);
		ep_site_apply(flip, &sites[i], is_off_outside);
	}
}

static bool visit_function(struct ep_flip *flip, uint64_t address)
{
	uint64_t start, end;

	if (!ep_function_range(address, &start, &end)) {
		start = address - 5;
		end = address;
	}
	return set_sites(flip, start, end, EP_OFF_ALL, true);
}

static void visit(uint64_t address, uint64_t function)
{
	struct ep_flip flip;
	bool changed;

	if (!ep_flip_begin(&flip)) {
		leave_code_alone();
		return;
	}
	changed = visit_function(&flip, address);
	if (function != address)
		changed |= visit_function(&flip, function);
	if (!is_everything_off())
		set_back(&flip, 0);
	ep_flip_end(&flip);
	if (changed)
		return;
	ep_switches()->unflippable++;
	if (!ep_flip_possible() || ++vain > VAIN_MOST / VISITS)
		leave_code_alone();
}

void ep_switch_visit(uint64_t address, uint64_t function)
{
	uint8_t *seen = &visits[(address ^ address >> 12) % BUCKETS];

	if (++*seen < VISITS)
		return;
	*seen = 0;
	if (!ep_switches()) {
		leave_code_alone();
		return;
	}
	if (!try_lock())
		return;
	if (ep_inherits_nothing())
		visit(address, function);
	publish(ep_switches());
	unlock();
}

/* Returns first. */
static void all_on(struct ep_flip *flip)
{
	uint64_t count;
	struct ep_hook_site *sites = ep_site_table(&count);

	for (unsigned turn = 0; turn < 2; turn++)
		for (uint64_t i = 0; i < count; i++) {
			if (!sites[i].all || sites[i].is_return == turn)
				continue;
			ep_site_set(&sites[i], EP_OFF_ALL, false);
			ep_switches()->flips += ep_site_apply(flip, &sites[i], is_off_outside);
		}
}

static void note_all(bool off, bool begins)
{
	struct ep_switches *head = ep_switches();
	struct ep_off_interval *at;

	if (!head || (!off && !head->all_count))
		return;
	if (off && begins) {
		at = &head->all[head->all_count++ % EP_ALL_OFF];
		*at = (struct ep_off_interval){.off_begin = ep_tsc()};
		return;
	}
	at = &head->all[(head->all_count - 1) % EP_ALL_OFF];
	*(off ? &at->off_end : begins ? &at->on_begin : &at->on_end) = ep_tsc();
}

static void switch_on(void)
{
	struct ep_flip flip;

	note_all(false, true);
	__atomic_fetch_and(&ep_arena->gate, ~(EP_GATE_OFF | EP_GATE_FLIP), __ATOMIC_SEQ_CST);
	if (ep_flip_begin(&flip)) {
		all_on(&flip);
		ep_flip_end(&flip);
	}
	note_all(false, false);
}

static void switch_off(void)
{
	uint32_t bits = EP_GATE_OFF | (ep_flip_possible() ? EP_GATE_FLIP : 0);

	note_all(true, true);
	__atomic_fetch_add(&ep_arena->pauses, 1, __ATOMIC_RELAXED);
	__atomic_fetch_or(&ep_arena->gate, bits, __ATOMIC_SEQ_CST);
	note_all(true, false);
}

void ep_switch_all(bool off)
{
	if (!ep_arena || ep_overwritten())
		return;
	lock();
	if (off != !!(ep_arena->gate & EP_GATE_OFF))
		(off ? switch_off : switch_on)();
	if (ep_switches())
		publish(ep_switches());
	unlock();
}

/* ---- a function ---- */

static enum ep_site_reason reason_of(unsigned reason)
{
	return reason == EP_SWITCH_BUDGET ? EP_OFF_BUDGET : EP_OFF_NAME;
}

static bool switch_range(uint64_t start, uint64_t end, unsigned reason, bool off, uint64_t rate)
{
	struct ep_switched *function = ep_switched_find(start, end, off);
	struct ep_flip flip;
	bool changed;

	if (!function || !(function->reasons & reason) == !off ||
	    (reason == EP_SWITCH_BUDGET && off && function->reasons & EP_SWITCH_KEPT) ||
	    !ep_flip_begin(&flip))
		return false;
	ep_switched_begin(function, reason, off, rate);
	changed = set_sites(&flip, start, end, reason_of(reason), off);
	ep_switched_end(function, reason, off, changed);
	ep_flip_end(&flip);
	return changed;
}

static bool switch_function(uint64_t address, unsigned reason, bool off, uint64_t rate)
{
	uint64_t start, end;
	bool changed = false;

	if (ep_inherits_nothing() && ep_function_range(address, &start, &end))
		changed = switch_range(start, end, reason, off, rate);
	publish(ep_switches());
	return changed;
}

bool ep_switch_function(uint64_t address, unsigned reason, bool off, uint64_t rate)
{
	bool changed;

	if (!ep_switches() || !try_lock())
		return false;
	changed = switch_function(address, reason, off, rate);
	unlock();
	return changed;
}

bool ep_switch_function_wait(uint64_t address, unsigned reason, bool off)
{
	bool changed;

	if (!ep_switches())
		return false;
	lock();
	changed = switch_function(address, reason, off, 0);
	unlock();
	return changed;
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
	lock();
	function = ep_switched_find(start, end, kept);
	if (function)
		ep_switched_keep(function, kept);
	unlock();
}

void ep_switches_forget(uint64_t start, uint64_t end)
{
	if (!ep_switches() || !ep_switches()->sites || !try_lock())
		return;
	ep_site_forget(start, end);
	ep_switched_forget(start, end);
	unlock();
}

/* ---- the section ---- */

void ep_switches_start(void)
{
	struct ep_switches *head;

	busy = 0;
	ep_switched_start();
	head = ep_switches();
	if (!head)
		return;
	for (unsigned i = 0; i < EP_SWITCH_HOOKS; i++)
		head->hooks[i] = ep_hook_address(i);
	if (ep_arena->gate & EP_GATE_OFF && !head->all_count) {
		note_all(true, true);
		note_all(true, false);
	}
	publish(head);
}

void ep_switches_keep(void)
{
	if (ep_switches())
		ep_switched_copy();
}
