/* SPDX-License-Identifier: BSD-2-Clause */
/* everything.c: a gate that says so, and pages of code that follow as their hooks run. */
#include "runtime/switching/everything.h"

#include <time.h>

#include "runtime/arena/arena.h"
#include "runtime/arena/inherit.h"
#include "runtime/facts/clock.h"
#include "runtime/facts/loadmap.h"
#include "runtime/lib/text.h"
#include "runtime/lib/vdso.h"
#include "runtime/sled_code.h"
#include "runtime/switching/family.h"
#include "runtime/switching/function.h"
#include "runtime/switching/site_switch.h"
#include "runtime/switching/switched.h"
#include "runtime/switching/turn.h"
#include "runtime/switching/window.h"
#include "runtime/x86_64/tsc.h"

#define PAGE     UINT64_C(4096)
#define HOPELESS 256
#define BUCKETS  (1u << 16) /* of visits */
/* After as many of a place the hooks of its page go off: what runs less often costs less than to
 * change it, and a process that is soon over has changed nothing. */
#define VISITS     200
#define HEARD_MOST 64 /* functions of children, at a time */
#define FORKS_FEW  3  /* of who is no server */
#define SEGMENTS   32 /* of code, of a server */
#define AHEAD_MOST 63 /* pages */
/* Everything that went off for the budget is to come back: what runs seldom stays in the code, and
 * asks when. Visits a second that all of it may have, 0.1 % of a processor; and of a place whose
 * page goes off, how many make that it goes, too. */
#define SELDOM    16000
#define WINDOWS   16 /* in a second: what ran often before one says nothing about what runs in it */
#define SPARED    (VISITS / 8)
#define VAIN_MOST 100000 /* visits of hooks that cannot be changed, until all are left alone */

/* ---- by visits of hooks ---- */

/* Of the places of a bucket together: with 20,000 hooks three of four have one to themselves. Racy
 * on purpose: a visit that is not counted is the next one. */
static uint8_t visits[BUCKETS];
static uint32_t vain, unknown;
/* Places where no site is that we know, by their last bits; racy likewise. */
static uint64_t hopeless[HOPELESS];

bool ep_everything_is_off(void)
{
	return (__atomic_load_n(&ep_arena->gate, __ATOMIC_SEQ_CST) &
		(EP_GATE_OFF | EP_GATE_FLIP)) == (EP_GATE_OFF | EP_GATE_FLIP);
}

bool ep_everything_is_left(void)
{
	const struct ep_switches *head = ep_switches();

	return head && head->all_budget && head->all_budget == head->all_count &&
	       ep_everything_is_off();
}

static uint8_t *visits_of(uint64_t address)
{
	return &visits[(address ^ address >> 16) % BUCKETS];
}

/* A hook that is jumped to comes by its caller's place: that may be any. */
static bool runs_seldom(const struct ep_place *place)
{
	unsigned returns_behind = EP_SITE_CODE_SIZE;

	if (place->kind == EP_SITE_JUMP)
		return false;
	if (place->kind == EP_SITE_XRAY_EXIT)
		returns_behind = EP_SLED_CODE_SIZE - 1;
	else if (place->kind == EP_SITE_XRAY_ENTRY)
		returns_behind = place->is_return ? EP_SLED_CODE_SIZE : EP_SITE_CODE_SIZE + 1;
	return *visits_of(place->place + returns_behind) < SPARED;
}

/* Racy likewise. */
static struct {
	uint64_t begun, count;
} left_visits;

/* All that is left in the code runs seldom enough to stay there. */
static bool all_run_seldom(void)
{
	uint64_t now = ep_tsc(), second = ep_clock_cycles(1000000000);
	uint64_t since = now - left_visits.begun;
	bool seldom = ++left_visits.count <= ep_mul_div(since, SELDOM, second + 1) + VISITS;

	if (since > second / WINDOWS) {
		left_visits.begun = now;
		left_visits.count = 0;
		if (seldom)
			ep_bytes_zero(visits, sizeof(visits));
	}
	return seldom;
}

static void leave_code_alone(void)
{
	__atomic_fetch_and(&ep_arena->gate, ~EP_GATE_FLIP, __ATOMIC_SEQ_CST);
}

static uint64_t at_most(uint64_t value, uint64_t most)
{
	return value < most ? value : most;
}

/* Places of sites of the page at hand. Of who has the turn. */
static uint64_t places[EP_WINDOW_SITES];

static bool stays_off(const struct ep_place *place)
{
	const struct ep_hook_site *site = ep_site_find(place->place);

	return !site || site->kind != place->kind || ep_site_switch_is_off(site);
}

/* The `count` sites at `places` come back together. False: it is to be done site by site. */
static bool open_and_return(struct ep_flip *flip, uint64_t page, size_t count)
{
	uint64_t start, end;
	size_t found, changed;
	bool has_header;

	if (!ep_code_segment(places[0], &start, &end, &has_header) ||
	    !ep_window_open_at(page < start ? start : page, at_most(page + PAGE, end), end, places,
			       count, &found))
		return false;
	ep_window_spare(stays_off);
	if (!ep_window_switch(flip, false, &changed))
		return false;
	ep_switches()->flips += changed;
	return true;
}

/* Returns, or entries, of a page that are off as everything is. */
static void return_page(struct ep_flip *flip, uint64_t page, bool returns)
{
	size_t count = ep_site_places(page, page + PAGE, places, EP_WINDOW_SITES), kept = 0;
	bool done;

	for (size_t i = 0; i < count && i < EP_WINDOW_SITES; i++) {
		struct ep_hook_site *site = ep_site_find(places[i]);

		if (!site->all || site->is_return != returns)
			continue;
		ep_site_set(site, EP_OFF_ALL, false);
		places[kept++] = places[i];
	}
	done = kept && open_and_return(flip, page, kept);
	/* A site that `control` switched off meanwhile goes off again. */
	for (size_t i = 0; i < kept; i++) {
		struct ep_hook_site *site = ep_site_find(places[i]);

		if (!done || ep_site_switch_is_off(site))
			ep_site_switch_apply(flip, site);
	}
}

/* Returns first. A page at a time: site by site each takes two system calls. */
static void all_on(struct ep_flip *flip, void *unused)
{
	uint64_t count;
	struct ep_hook_site *sites = ep_site_table(&count);

	(void)unused;
	for (unsigned turn = 0; turn < 2; turn++)
		for (uint64_t i = 0; i < count; i++) {
			if (!sites[i].all || sites[i].is_return == turn)
				continue;
			return_page(flip, sites[i].place & -PAGE, !turn);
			if (!sites[i].all) /* but for one of more than a page can have */
				continue;
			ep_site_set(&sites[i], EP_OFF_ALL, false);
			ep_site_switch_apply(flip, &sites[i]);
		}
}

/* A piece of code that a hook ran in. */
struct range {
	uint64_t start, end; /* 0: none */
	uint64_t last;       /* where its segment ends: a site may reach beyond `end` */
};

struct visit {
	struct range of_hook, of_function;
	unsigned pages, changed; /* that were looked at, and of those the ones with a change */
	struct ep_site_switch_sum sum;
};

/* Who switches on from outside may have found them on as yet, and left it at that. */
static void look_again(struct ep_flip *flip, const struct ep_place *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct ep_hook_site *site = ep_site_note(&list[i]);

		if (site && !__atomic_load_n(&site->all, __ATOMIC_SEQ_CST))
			ep_site_switch_apply(flip, site);
	}
}

/* All sites of a page from [start, end) that was looked at whole go into the table, so that it is
 * not looked at whole again; where none goes off, nobody is to think that it was written to. */
static void note_page(const struct ep_place *list, size_t count)
{
	bool any = !ep_everything_is_left(), all = true;

	for (size_t i = 0; i < count && !any; i++)
		any = !runs_seldom(&list[i]);
	for (size_t i = 0; i < count && any; i++)
		all &= ep_site_switch_enter(&list[i]) != NULL;
	if (count && any && all)
		ep_site_page_note(list[0].place);
}

/* What there is in a page, by what is known of it, or by all of its code. */
static const struct ep_place *open_page(uint64_t start, uint64_t end, uint64_t last, size_t *count)
{
	const struct ep_place *list;
	size_t known;

	if (ep_site_page_is_known(start)) {
		known = ep_site_places(start, end, places, EP_WINDOW_SITES);
		return ep_window_open_at(start, end, last, places, known, count);
	}
	list = ep_window_open(start, end, last, count);
	if (list)
		note_page(list, *count);
	return list;
}

/* All of it that lies in one page. False: it is to be done site by site. */
static bool leave_page(struct ep_flip *flip, uint64_t start, uint64_t end, uint64_t last,
		       struct ep_site_switch_sum *sum)
{
	size_t count, changed;
	const struct ep_place *list = open_page(start, end, last, &count);

	if (list && ep_everything_is_left())
		count = ep_window_spare(runs_seldom);
	for (size_t i = 0; list && i < count; i++)
		if (!ep_site_switch_note(&list[i], EP_OFF_ALL, true))
			return false;
	if (!list || !ep_window_switch(flip, true, &changed))
		return false;
	ep_switches()->flips += changed;
	sum->found += count;
	sum->changed += changed;
	look_again(flip, list, count);
	return true;
}

static void leave_range(struct ep_flip *flip, const struct range *range, struct visit *it)
{
	uint64_t at = range->start;

	while (at < range->end) {
		uint64_t end = at_most((at & -PAGE) + PAGE, range->end);
		bool was_known = at == range->start && ep_site_page_is_known(at);
		size_t before = it->sum.changed;

		if (!leave_page(flip, at, end, range->last, &it->sum))
			ep_site_switch(flip, at, at_most(end + EP_SLED_CODE_SIZE, range->last),
				       EP_OFF_ALL, true, &it->sum);
		/* A hook ran in the first one: what is known of it may not be all. */
		if (was_known && it->sum.changed == before) {
			ep_site_page_forget(at);
			continue;
		}
		it->pages++;
		it->changed += it->sum.changed != before;
		at = end;
	}
}

/* Everything may have been switched on since: whoever did that has not seen these sites. */
static void visit(struct ep_flip *flip, void *argument)
{
	struct visit *it = argument;

	leave_range(flip, &it->of_hook, it);
	leave_range(flip, &it->of_function, it);
	if (!ep_everything_is_off())
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
	else if (it->sum.changed)
		vain = 0;
	else
		come_in_vain();
	/* A conditional jump to a hook, say: it returns to the caller's place. */
	if (!it->sum.changed && !ep_site_at(address - EP_SITE_CODE_SIZE, &place))
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

/* Pages behind the one at hand that are looked at with it, as the way to the code is what costs
 * most: ever more, while half of them have hooks that run often. Of who has the turn. */
static unsigned ahead;

static uint64_t spent;

uint64_t ep_everything_spent(void)
{
	return __atomic_exchange_n(&spent, 0, __ATOMIC_RELAXED);
}

static void find_and_visit(uint64_t address, uint64_t function)
{
	uint64_t begin = ep_clock_read(CLOCK_THREAD_CPUTIME_ID), aside = ep_flip_aside();
	struct visit it = {.of_hook = pages_of(address - EP_SLED_CODE_SIZE, address)};

	if (ep_everything_is_left())
		it.of_hook.end = at_most(it.of_hook.end + ahead * PAGE, it.of_hook.last);
	if (function < it.of_hook.start || function >= it.of_hook.end)
		it.of_function = pages_of(function, function + 1);
	if (!ep_turn_try())
		return;
	make_visit(&it, address);
	ahead = it.changed * 2 < it.pages ? ahead / 2 : ahead < AHEAD_MOST ? ahead * 2 + 1 : ahead;
	ep_site_switch_publish();
	aside = ep_flip_aside() - aside;
	ep_turn_end();
	__atomic_fetch_add(&spent, ep_clock_read(CLOCK_THREAD_CPUTIME_ID) - begin + aside,
			   __ATOMIC_RELAXED);
	if (it.sum.changed)
		ep_family_tell(EP_FAMILY_VISITED, function, 0);
}

static void come_often(uint64_t address, uint64_t function)
{
	if (!ep_switches())
		leave_code_alone();
	else if (__atomic_load_n(&hopeless[address % HOPELESS], __ATOMIC_RELAXED) == address)
		come_in_vain();
	else if (!ep_turn_is_taken() && ep_inherits_nothing())
		find_and_visit(address, function);
}

void ep_everything_visit(uint64_t address, uint64_t function)
{
	bool seldom = ep_everything_is_left() && all_run_seldom();
	uint8_t *seen = visits_of(address), count = *seen + 1;

	*seen = count;
	if (count < VISITS)
		return;
	if (!seldom)
		come_often(address, function);
	*seen = 0;
}

/* ---- for the children of a server ---- */

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
void ep_everything_before_fork(void)
{
	if (!ep_switches() || !ep_everything_is_off() || ep_everything_is_left() ||
	    ++server.forks < FORKS_FEW || !ep_inherits_nothing() || !ep_turn_try())
		return;
	if (server.number != ep_switches()->all_count) {
		server.number = ep_switches()->all_count;
		server.count = 0;
		server.sites = 0;
	}
	leave_all();
	ep_site_switch_publish();
	ep_turn_end();
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

static void switch_off(bool budget)
{
	uint32_t bits = EP_GATE_OFF | (ep_flip_possible() ? EP_GATE_FLIP : 0);

	note_all(true, true);
	if (budget)
		ep_switches()->all_budget = ep_switches()->all_count;
	__atomic_fetch_add(&ep_arena->pauses, 1, __ATOMIC_RELAXED);
	__atomic_fetch_or(&ep_arena->gate, bits, __ATOMIC_SEQ_CST);
	note_all(true, false);
}

void ep_everything_switch(bool off)
{
	if (!ep_arena || ep_overwritten())
		return;
	ep_turn_take();
	if (off && !(ep_arena->gate & EP_GATE_OFF))
		switch_off(false);
	else if (!off && ep_arena->gate & EP_GATE_OFF)
		switch_on();
	if (ep_switches())
		ep_site_switch_publish();
	ep_turn_end();
}

bool ep_everything_leave(void)
{
	bool on;

	if (!ep_arena || ep_overwritten() || !ep_inherits_nothing() || !ep_turn_try())
		return false;
	on = !(ep_arena->gate & EP_GATE_OFF);
	if (on)
		switch_off(true);
	ep_site_switch_publish();
	ep_turn_end();
	return on;
}

bool ep_everything_return(void)
{
	if (!ep_everything_is_left() || ep_overwritten() || !ep_inherits_nothing() ||
	    !ep_turn_try())
		return false;
	if (ep_everything_is_left())
		switch_on();
	ep_site_switch_publish();
	ep_turn_end();
	return true;
}

void ep_everything_begin(void)
{
	if (!(ep_arena->gate & EP_GATE_OFF) || ep_switches()->all_count)
		return;
	note_all(true, true);
	note_all(true, false);
}

void ep_everything_look_again(void)
{
	ep_bytes_zero(hopeless, sizeof(hopeless));
	vain = 0;
	if (ep_arena && ep_arena->gate & EP_GATE_OFF && ep_flip_possible())
		__atomic_fetch_or(&ep_arena->gate, EP_GATE_FLIP, __ATOMIC_SEQ_CST);
}
