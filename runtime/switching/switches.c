/* SPDX-License-Identifier: BSD-2-Clause */
/* switches.c: one switch after the other. */
#include "runtime/switching/switches.h"

#include "runtime/arena/arena.h"
#include "runtime/arena/inherit.h"
#include "runtime/facts/loadmap.h"
#include "runtime/lib/hookcode.h"
#include "runtime/lib/signals.h"
#include "runtime/lib/syscalls.h"
#include "runtime/lib/text.h"
#include "runtime/sled_code.h"
#include "runtime/switching/family.h"
#include "runtime/switching/flip.h"
#include "runtime/switching/function.h"
#include "runtime/switching/site_table.h"
#include "runtime/switching/switched.h"
#include "runtime/switching/undumped.h"
#include "runtime/switching/window.h"
#include "runtime/x86_64/tsc.h"

#define PAGE       UINT64_C(4096)
#define SITES_MOST 1024 /* at once */
#define HOPELESS   256
#define BUCKETS    4096 /* of visits */
/* After as many of a place the hooks of its page go off: what runs less often costs less than to
 * change it, and a process that is soon over has changed nothing. */
#define VISITS     200
#define HEARD_MOST 64     /* functions of children, at a time */
#define FORKS_FEW  3      /* of who is no server */
#define SEGMENTS   32     /* of code, of a server */
#define VAIN_MOST  100000 /* visits of hooks that cannot be changed, until all are left alone */

/* ---- one at a time ---- */

static uint32_t busy;
static uint64_t signals; /* of the holder, before */

/* Its holder has no signals: a handler that leaves by longjmp, or a cancellation, would leave it
 * locked. */
static bool try_lock(void)
{
	uint64_t before;
	uint32_t free = 0;

	if (__atomic_load_n(&busy, __ATOMIC_RELAXED))
		return false;
	before = ep_signals_block(0);
	if (__atomic_compare_exchange_n(&busy, &free, 1, false, __ATOMIC_ACQUIRE,
					__ATOMIC_RELAXED)) {
		signals = before;
		return true;
	}
	ep_signals_restore(before);
	return false;
}

static void lock(void)
{
	while (!try_lock())
		ep_syscall0(SYS_sched_yield);
}

static void unlock(void)
{
	uint64_t before = signals;

	__atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
	ep_signals_restore(before);
}

void ep_switches_wait(void)
{
	if (!ep_inherits_nothing())
		return;
	lock();
	unlock();
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

/* NULL: there is no room for it. */
static struct ep_hook_site *note_site(const struct ep_place *place, enum ep_site_reason reason,
				      bool off)
{
	uint32_t pages = ep_site_pages();
	struct ep_hook_site *site = ep_site_note(place);

	if (!site)
		return NULL;
	if (ep_site_pages() != pages)
		ep_code_leave_out(place->place);
	ep_site_set(site, reason, off);
	return site;
}

static bool set_site(struct ep_flip *flip, const struct ep_place *place, enum ep_site_reason reason,
		     bool off)
{
	struct ep_hook_site *site = note_site(place, reason, off);
	bool changed = site && ep_site_apply(flip, site, is_off_outside);

	ep_switches()->flips += changed;
	return changed;
}

/* Of a piece of code: what was found, and what of it was changed. */
struct found {
	uint64_t sites, changed;
};

static void set_places(struct ep_flip *flip, size_t count, enum ep_site_reason reason, bool off,
		       struct found *found)
{
	found->sites += count;
	for (unsigned turn = 0; turn < 2; turn++)
		for (size_t i = 0; i < count; i++)
			if (places[i].is_return == (turn == (unsigned)off))
				found->changed += set_site(flip, &places[i], reason, off);
}

/* Entries before returns when they go off, after them when they come back. */
static void set_sites(struct ep_flip *flip, uint64_t start, uint64_t end,
		      enum ep_site_reason reason, bool off, struct found *found)
{
	size_t count;

	do {
		count = ep_sites_in(start, end, places, SITES_MOST);
		set_places(flip, count, reason, off, found);
		start = count ? places[count - 1].place + ep_place_size(&places[count - 1]) : end;
	} while (count == SITES_MOST);
}

/* ---- everything, by visits of hooks ---- */

static uint8_t visits[BUCKETS]; /* racy on purpose: a visit that is not counted is the next one */
static uint32_t vain, unknown;
/* Places where no site is that we know, by their last bits; racy likewise. */
static uint64_t hopeless[HOPELESS];

static bool is_everything_off(void)
{
	return (__atomic_load_n(&ep_arena->gate, __ATOMIC_SEQ_CST) &
		(EP_GATE_OFF | EP_GATE_FLIP)) == (EP_GATE_OFF | EP_GATE_FLIP);
}

static void leave_code_alone(void)
{
	__atomic_fetch_and(&ep_arena->gate, ~EP_GATE_FLIP, __ATOMIC_SEQ_CST);
}

/* Returns first. */
static void all_on(struct ep_flip *flip, void *unused)
{
	uint64_t count;
	struct ep_hook_site *sites = ep_site_table(&count);

	(void)unused;
	for (unsigned turn = 0; turn < 2; turn++)
		for (uint64_t i = 0; i < count; i++) {
			if (!sites[i].all || sites[i].is_return == turn)
				continue;
			ep_site_set(&sites[i], EP_OFF_ALL, false);
			ep_switches()->flips += ep_site_apply(flip, &sites[i], is_off_outside);
		}
}

/* A piece of code that a hook ran in. */
struct range {
	uint64_t start, end; /* 0: none */
	uint64_t last;       /* where its segment ends: a site may reach beyond `end` */
};

struct visit {
	struct range of_hook, of_function;
	struct found found;
};

/* Who switches on from outside may have found them on as yet, and left it at that. */
static void look_again(struct ep_flip *flip, const struct ep_place *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct ep_hook_site *site = ep_site_note(&list[i]);

		if (site && !__atomic_load_n(&site->all, __ATOMIC_SEQ_CST))
			ep_switches()->flips += ep_site_apply(flip, site, is_off_outside);
	}
}

/* All of it that lies in one page. False: it is to be done site by site. */
static bool leave_page(struct ep_flip *flip, uint64_t start, uint64_t end, uint64_t last,
		       struct found *found)
{
	size_t count, changed;
	const struct ep_place *list = ep_window_open(start, end, last, &count);

	for (size_t i = 0; list && i < count; i++)
		if (!note_site(&list[i], EP_OFF_ALL, true))
			return false;
	if (!list || !ep_window_off(flip, &changed))
		return false;
	ep_switches()->flips += changed;
	found->sites += count;
	found->changed += changed;
	look_again(flip, list, count);
	return true;
}

static uint64_t at_most(uint64_t value, uint64_t most)
{
	return value < most ? value : most;
}

static void leave_range(struct ep_flip *flip, const struct range *range, struct found *found)
{
	for (uint64_t at = range->start, end; at < range->end; at = end) {
		end = at_most((at & -PAGE) + PAGE, range->end);
		if (!leave_page(flip, at, end, range->last, found))
			set_sites(flip, at, at_most(end + EP_SLED_CODE_SIZE, range->last),
				  EP_OFF_ALL, true, found);
	}
}

/* Everything may have been switched on since: whoever did that has not seen these sites. */
static void visit(struct ep_flip *flip, void *argument)
{
	struct visit *it = argument;

	leave_range(flip, &it->of_hook, &it->found);
	leave_range(flip, &it->of_function, &it->found);
	if (!is_everything_off())
		all_on(flip, NULL);
}

/* What a hook that cannot be switched off costs is what a mask costs: not more. */
static void come_in_vain(void)
{
	ep_switches()->unflippable++;
	if (++vain > VAIN_MOST / VISITS)
		leave_code_alone();
}

static void make_visit(struct visit *it, uint64_t address)
{
	struct ep_place place;

	if (!ep_flip_run(visit, it) && !ep_flip_possible())
		leave_code_alone();
	else if (it->found.changed)
		vain = 0;
	else
		come_in_vain();
	/* A conditional jump to a hook, say: it returns to the caller's place. */
	if (!it->found.changed && !ep_site_at(address - EP_SITE_CODE_SIZE, &place))
		__atomic_store_n(&hopeless[address % HOPELESS], address, __ATOMIC_RELAXED);
}

/* A library that nobody has announced, say one that was linked without the wrapper; looked for ever
 * less often. */
static bool look_for_module(void)
{
	unknown++;
	if (unknown & (unknown - 1))
		return false;
	ep_loadmap_stale();
	ep_loadmap_refresh();
	return true;
}

/* The pages of code, with all hooks of which one goes off: each is copied for it anyway. */
static struct range pages_of(uint64_t from, uint64_t to)
{
	struct range range = {from, to, to};
	uint64_t start, end;
	bool has_header;

	if (!ep_code_segment(to - 1, &start, &end, &has_header) &&
	    !(look_for_module() && ep_code_segment(to - 1, &start, &end, &has_header)))
		return range;
	range.start = from & -PAGE;
	if (range.start < start)
		range.start = start;
	range.end = at_most(((to - 1) & -PAGE) + PAGE, end);
	range.last = end;
	return range;
}

static void find_and_visit(uint64_t address, uint64_t function)
{
	struct visit it = {.of_hook = pages_of(address - EP_SLED_CODE_SIZE, address)};

	if (function < it.of_hook.start || function >= it.of_hook.end)
		it.of_function = pages_of(function, function + 1);
	if (!try_lock())
		return;
	make_visit(&it, address);
	publish(ep_switches());
	unlock();
	if (it.found.changed)
		ep_family_tell(EP_FAMILY_VISITED, function, 0);
}

void ep_switch_visit(uint64_t address, uint64_t function)
{
	uint8_t *seen = &visits[(address ^ address >> 12) % BUCKETS];

	if (++*seen < VISITS)
		return;
	*seen = 0;
	if (!ep_switches())
		leave_code_alone();
	else if (__atomic_load_n(&hopeless[address % HOPELESS], __ATOMIC_RELAXED) == address)
		come_in_vain();
	else if (!__atomic_load_n(&busy, __ATOMIC_RELAXED) && ep_inherits_nothing())
		find_and_visit(address, function);
}

/* ---- everything, for the children of a server ---- */

/* Code all of whose hooks went off at once; `number` is that of the time when everything did. */
static struct {
	struct range segments[SEGMENTS];
	unsigned count, forks;
	uint32_t number;
	uint64_t sites; /* in the table, that were looked at */
} server;

static bool is_done(uint64_t address)
{
	for (unsigned i = 0; i < server.count; i++)
		if (address >= server.segments[i].start && address < server.segments[i].end)
			return true;
	return false;
}

static void leave_segment(uint64_t address)
{
	struct visit it = {.of_function = {0}};
	bool has_header;

	if (is_done(address) || server.count == SEGMENTS ||
	    !ep_code_segment(address, &it.of_function.start, &it.of_function.end, &has_header))
		return;
	it.of_function.last = it.of_function.end;
	server.segments[server.count++] = it.of_function;
	ep_flip_run(visit, &it);
}

static void leave_all(void)
{
	struct ep_family_function functions[HEARD_MOST];
	struct ep_hook_site *sites;
	uint64_t count;

	for (unsigned heard = HEARD_MOST; heard == HEARD_MOST;) {
		heard = ep_family_hear(EP_FAMILY_VISITED, functions, HEARD_MOST);
		for (unsigned i = 0; i < heard; i++)
			leave_segment(functions[i].address);
	}
	sites = ep_site_table(&count);
	for (; server.sites < count; server.sites++)
		leave_segment(sites[server.sites].place);
}

/*
 * Each child of a server would switch off what it runs, in a copy of the code of its own, which the
 * processor's caches then hold once for each. So who forks again and again does it once for all of
 * them: all hooks of the modules that have any which ran.
 */
void ep_switch_before_fork(void)
{
	if (!ep_switches() || !is_everything_off() || ++server.forks < FORKS_FEW ||
	    !ep_inherits_nothing() || !try_lock())
		return;
	if (server.number != ep_switches()->all_count) {
		server.number = ep_switches()->all_count;
		server.count = 0;
		server.sites = 0;
	}
	leave_all();
	publish(ep_switches());
	unlock();
}

/* ---- everything off and on ---- */

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

/* Where the code cannot be changed any more, what is off stays so: some calls without the others
 * would be a false story. */
static void switch_on(void)
{
	if (ep_switches() && ep_switches()->flips && !ep_flip_possible())
		return;
	note_all(false, true);
	__atomic_fetch_and(&ep_arena->gate, ~(EP_GATE_OFF | EP_GATE_FLIP), __ATOMIC_SEQ_CST);
	ep_flip_run(all_on, NULL);
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

struct switch_work {
	uint64_t start, end, rate;
	struct ep_switched *function;
	unsigned reason;
	bool off;
	struct found found;
};

static void switch_sites(struct ep_flip *flip, void *argument)
{
	struct switch_work *it = argument;

	ep_switched_begin(it->function, it->reason, it->off, it->rate);
	set_sites(flip, it->start, it->end, reason_of(it->reason), it->off, &it->found);
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
		 ep_switched_reasons(it->start) & EP_SWITCH_KEPT);
}

/* Of the holder of the lock; a work without a function has nothing to do. */
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
		orders[i].changed = any && works[i].found.changed != 0;
	publish(ep_switches());
}

void ep_switch_functions(struct ep_switch_order *orders, unsigned count, unsigned reason, bool off)
{
	for (unsigned i = 0; i < count; i++)
		orders[i].changed = false;
	if (!ep_switches() || !count || count > EP_SWITCH_MANY || !ep_inherits_nothing() ||
	    !try_lock())
		return;
	switch_functions(orders, count, reason, off);
	unlock();
}

bool ep_switch_function(uint64_t address, unsigned reason, bool off)
{
	struct ep_switch_order order = {.address = address};

	if (!ep_switches() || !ep_inherits_nothing())
		return false;
	lock();
	switch_functions(&order, 1, reason, off);
	unlock();
	return order.changed;
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
	if (!ep_switches() || !ep_switches()->sites)
		return;
	lock();
	ep_sites_look_again();
	ep_site_forget(start, end);
	ep_switched_forget(start, end);
	unlock();
}

void ep_switches_look_again(void)
{
	ep_sites_look_again();
	ep_bytes_zero(hopeless, sizeof(hopeless));
	vain = 0;
	if (ep_arena && ep_arena->gate & EP_GATE_OFF && ep_flip_possible())
		__atomic_fetch_or(&ep_arena->gate, EP_GATE_FLIP, __ATOMIC_SEQ_CST);
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
		if (!is_everything_off())
			ep_site_set(&sites[i], EP_OFF_ALL, false);
		ep_site_apply(flip, &sites[i], is_off_outside);
	}
}

static void forget_threads(void)
{
	bool was_busy = busy != 0;

	busy = 0;
	ep_flip_reset();
	if (was_busy)
		ep_flip_run(finish, NULL);
}

void ep_switches_start(void)
{
	struct ep_switches *head;

	ep_switched_start();
	head = ep_switches();
	if (!head) {
		busy = 0;
		return;
	}
	forget_threads();
	for (unsigned i = 0; i < EP_SWITCH_HOOKS; i++)
		head->hooks[i] = ep_hook_address(i);
	if (ep_arena->gate & EP_GATE_OFF && !head->all_count) {
		note_all(true, true);
		note_all(true, false);
	}
	ep_flip_possible(); /* who looks from outside wants to know */
	publish(head);
}

void ep_switches_keep(void)
{
	if (ep_switches())
		ep_switched_copy();
}
