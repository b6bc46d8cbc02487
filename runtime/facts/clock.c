/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clock.c: pairs of (TSC, kernel clocks), each read between two TSC reads, so that it is known how
 * far off it can be. The rate between two anchors is right to the sum of their uncertainties over
 * their distance.
 */
#include "runtime/facts/clock.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "runtime/arena/arena.h"
#include "runtime/arena/integrity.h"
#include "runtime/format.h"
#include "runtime/lib/text.h"
#include "runtime/lib/vdso.h"
#include "runtime/x86_64/tsc.h"

#define NS UINT64_C(1000000000) /* per second */

/* Anchors come at least this far apart; about 100 us. */
#define SHORTEST UINT64_C(250000) /* TSC cycles */

/*
 * … and at most this far when anybody asks: 61 of them span four minutes. In between the distance
 * is a quarter of the time since the first, which keeps all of them for the first 16 s.
 */
#define LONGEST 4 /* s */

/* The first reads meet cold caches and are wide. Each takes about 0.1 us. */
#define TRIES 24

static struct ep_clock *clocks;
static atomic_flag busy = ATOMIC_FLAG_INIT;
static _Atomic uint64_t due;  /* TSC from which another anchor is wanted */
static struct ep_anchor base; /* the rate counts from here */
static struct ep_anchor last;
static uint64_t narrowest; /* width so far, TSC cycles */

struct reading {
	struct ep_anchor anchor;
	uint64_t whole; /* TSC cycles that all of it took */
};

/* Only the raw clock stands between the two: on it depends the rate. */
static struct reading read_once(void)
{
	struct reading reading = {{0}, 0};
	struct ep_anchor *anchor = &reading.anchor;
	uint64_t before = ep_tsc(); /* the kernel's own read waits for it */

	anchor->monotonic_raw = ep_clock_read(CLOCK_MONOTONIC_RAW);
	anchor->width = ep_tsc_after() - before;
	anchor->realtime = ep_clock_read(CLOCK_REALTIME);
	reading.whole = ep_tsc_after() - before;
	anchor->tsc = before + anchor->width / 2;
	anchor->check = anchor->tsc ^ anchor->monotonic_raw ^ anchor->realtime ^ anchor->width ^
			EP_ANCHOR_KEY;
	return reading;
}

/* Narrower, and not by way of an interruption before realtime was read. */
static bool better(const struct reading *a, const struct reading *b)
{
	return a->anchor.width < b->anchor.width && a->whole < b->whole + 200;
}

/* The narrowest of a few; content with the best width so far. */
static struct ep_anchor read_anchor(void)
{
	struct reading best = read_once();

	for (int i = 1; i < TRIES && best.anchor.width > narrowest; i++) {
		struct reading next = read_once();

		if (better(&next, &best))
			best = next;
	}
	if (!narrowest || best.anchor.width < narrowest)
		narrowest = best.anchor.width;
	return best.anchor;
}

struct rate {
	uint64_t hz;
	uint64_t ppb; /* bound of its error */
};

/*
 * The kernel read its clock anywhere in the bracket: half the width off at most, and 2 ns for whole
 * nanoseconds. One that reads slower than this is no TSC but a device (HPET, ACPI), which counts in
 * steps of up to a quarter of what its reading takes.
 */
#define SLOW 1024 /* TSC cycles */

static uint64_t doubt(const struct ep_anchor *anchor)
{
	uint64_t width = anchor->width;

	return width / 2 + (width < SLOW ? 10 : width / 4);
}

static struct rate rate_between(const struct ep_anchor *from, const struct ep_anchor *to)
{
	struct rate rate = {0, UINT64_MAX};
	uint64_t cycles = to->tsc - from->tsc;
	uint64_t ns = to->monotonic_raw - from->monotonic_raw;

	if (to->tsc <= from->tsc || to->monotonic_raw <= from->monotonic_raw)
		return rate;
	rate.hz = ep_mul_div(cycles, NS, ns);
	rate.ppb = ep_mul_div(doubt(from) + doubt(to), NS, cycles);
	if (rate.ppb < UINT64_MAX)
		rate.ppb++; /* for rounding down */
	return rate;
}

static bool contradict(struct rate a, struct rate b)
{
	uint64_t apart = a.hz > b.hz ? a.hz - b.hz : b.hz - a.hz;
	uint64_t bound;

	if (!b.hz || a.ppb == UINT64_MAX || b.ppb == UINT64_MAX)
		return false;
	bound = ep_mul_div(b.hz, a.ppb + b.ppb, NS);
	return apart > bound + 2;
}

/*
 * The longest distance gives the best rate, as long as nothing happened to either clock in between:
 * a suspend, or a migration to another host. Then the latest pair disagrees with it, and counting
 * begins anew there.
 */
static struct rate best_rate(const struct ep_anchor *now)
{
	struct rate whole = rate_between(&base, now);
	struct rate recent = rate_between(&last, now);

	if (!contradict(whole, recent))
		return whole;
	base = last;
	return recent;
}

static void use_rate(struct rate rate)
{
	if (!rate.hz)
		return;
	clocks->tsc_hz = rate.hz;
	clocks->error_ppb = rate.ppb;
}

static void put(const struct ep_anchor *anchor)
{
	uint64_t taken = clocks->taken;
	struct ep_anchor *slot = &clocks->anchors[taken ? 1 + (taken - 1) % (EP_ANCHORS - 1) : 0];

	__atomic_store_n(&slot->check, 0, __ATOMIC_RELEASE);
	slot->tsc = anchor->tsc;
	slot->monotonic_raw = anchor->monotonic_raw;
	slot->realtime = anchor->realtime;
	slot->width = anchor->width;
	__atomic_store_n(&slot->check, anchor->check, __ATOMIC_RELEASE);
	__atomic_store_n(&clocks->taken, taken + 1, __ATOMIC_RELEASE);
}

static void schedule(const struct ep_anchor *anchor)
{
	uint64_t wait = (anchor->tsc - clocks->anchors[0].tsc) / 4;

	if (wait > clocks->tsc_hz * LONGEST)
		wait = clocks->tsc_hz * LONGEST;
	if (wait < SHORTEST)
		wait = SHORTEST;
	atomic_store_explicit(&due, anchor->tsc + wait, memory_order_relaxed);
}

/* Back to back, the least of a few runs: a hook's read costs at least this. */
static uint64_t measure_read_cost(void)
{
	uint64_t least = UINT64_MAX;

	for (int run = 0; run < 4; run++) {
		uint64_t begin = ep_tsc_ordered();
		uint64_t end;

		for (int i = 0; i < 64; i++)
			(void)ep_tsc();
		end = ep_tsc_ordered();
		if (end - begin < least)
			least = end - begin;
	}
	return least / 64;
}

static void take(void)
{
	struct ep_anchor now = read_anchor();

	use_rate(best_rate(&now));
	put(&now);
	schedule(&now);
	last = now;
}

void ep_clock_start(void)
{
	uint64_t size;
	struct ep_anchor again;

	clocks = ep_arena_section(EP_SECTION_CLOCK, &size);
	ep_bytes_zero(clocks, sizeof *clocks);
	ep_vdso_find();
	base = last = read_anchor();
	put(&base);
	clocks->read_cost = measure_read_cost();
	/* Too near for a slot, but an estimate until there is a better one. */
	again = read_anchor();
	use_rate(rate_between(&base, &again));
	schedule(&base);
	atomic_flag_clear(&busy);
}

void ep_clock_inherit(void)
{
	if (atomic_flag_test_and_set(&busy))
		ep_clock_start();
	else
		atomic_flag_clear(&busy);
}

void ep_clock_refresh(uint64_t tsc)
{
	if (tsc < atomic_load_explicit(&due, memory_order_relaxed) || !clocks || ep_overwritten())
		return;
	if (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire))
		return;
	take();
	atomic_flag_clear_explicit(&busy, memory_order_release);
}

uint64_t ep_clock_cycles(uint64_t ns)
{
	return clocks ? ep_mul_div(ns, clocks->tsc_hz, NS) : 0;
}
