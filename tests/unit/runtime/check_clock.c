/* SPDX-License-Identifier: BSD-2-Clause */
/* check_clock.c: the anchors against the kernel's own clocks. */
/* plain only: it calls the runtime alone, which is never sanitized. */
#include <math.h>
#include <time.h>
#include <unistd.h>

#include "main.h"
#include "runtime/arena/arena.h"
#include "runtime/facts/clock.h"
#include "runtime/start.h"
#include "runtime/x86_64/tsc.h"

static struct ep_clock *clocks;

static uint64_t clock_ns(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void start(void)
{
	ck_assert(ep_start());
	clocks = ep_arena_section(EP_SECTION_CLOCK, NULL);
}

static int good_anchor(const struct ep_anchor *anchor)
{
	return anchor->tsc && anchor->check == (anchor->tsc ^ anchor->monotonic_raw ^
						anchor->realtime ^ anchor->width ^ EP_ANCHOR_KEY);
}

/* A reading of our own: the narrowest of many, so that the machine's other work does not matter. */
struct point {
	uint64_t tsc, ns, width;
};

static struct point read_point(void)
{
	struct point best = {0, 0, UINT64_MAX};

	for (int i = 0; i < 1000; i++) {
		uint64_t before = ep_tsc_ordered();
		uint64_t ns = clock_ns(CLOCK_MONOTONIC_RAW);
		uint64_t width = ep_tsc_ordered() - before;

		if (width < best.width)
			best = (struct point){before + width / 2, ns, width};
	}
	return best;
}

/* What the stored rate makes of `seconds` of the counter, against the kernel's reckoning: parts per
 * billion. *doubt: how far off this measurement can be. */
static double error_over(unsigned seconds, double *doubt)
{
	struct point from = read_point(), to;
	double cycles, ns;

	sleep(seconds);
	ep_clock_refresh(UINT64_MAX);
	to = read_point();
	cycles = (double)(to.tsc - from.tsc);
	ns = (double)(to.ns - from.ns);
	*doubt = (double)(from.width + to.width) / cycles * 1e9;
	return fabs(cycles / (double)clocks->tsc_hz * 1e9 / ns - 1) * 1e9;
}

START_TEST(two_anchors_are_there_after_the_start)
{
	start();
	ck_assert_uint_ge(clocks->taken, 2);
	ck_assert(good_anchor(&clocks->anchors[0]));
	ck_assert(good_anchor(&clocks->anchors[1]));
	ck_assert_uint_lt(clocks->anchors[0].tsc, clocks->anchors[1].tsc);
	ck_assert_uint_gt(clocks->tsc_hz, 500000000);
	ck_assert_uint_gt(clocks->error_ppb, 0);
	ck_assert_uint_gt(clocks->read_cost, 0);
	ck_assert_uint_lt(clocks->read_cost, 10000);
}
END_TEST

START_TEST(an_anchor_lies_between_the_clocks_read_around_it)
{
	const struct ep_anchor *last;
	uint64_t raw, real, tsc;

	start();
	raw = clock_ns(CLOCK_MONOTONIC_RAW);
	real = clock_ns(CLOCK_REALTIME);
	tsc = ep_tsc_ordered();
	ep_clock_refresh(UINT64_MAX);
	last = &clocks->anchors[clocks->taken - 1];
	ck_assert(good_anchor(last));
	ck_assert_uint_ge(last->tsc + last->width / 2 + 1, tsc);
	ck_assert_uint_le(last->tsc - last->width / 2, ep_tsc_ordered());
	ck_assert_uint_ge(last->monotonic_raw, raw);
	ck_assert_uint_le(last->monotonic_raw, clock_ns(CLOCK_MONOTONIC_RAW));
	ck_assert_uint_ge(last->realtime, real);
	ck_assert_uint_le(last->realtime, clock_ns(CLOCK_REALTIME));
}
END_TEST

START_TEST(the_true_error_is_within_the_stored_bound)
{
	double error, doubt;

	start();
	error = error_over(1, &doubt);
	ck_assert_double_le(error, (double)clocks->error_ppb + doubt);
	ck_assert_uint_lt(clocks->error_ppb, 100000);
}
END_TEST

/* The runtime is never sanitized: the plain build has the long one. */
#ifdef __SANITIZE_ADDRESS__
#define LONG 2
#else
#define LONG 10
#endif

START_TEST(ten_seconds_are_told_within_100_ppm)
{
	double error, doubt;

	start();
	error = error_over(LONG, &doubt);
	ck_assert_double_le(error + doubt, 100e3);
	ck_assert_uint_lt(clocks->error_ppb, 100000);
}
END_TEST

/* The worst case: the rate of the start alone, nothing refreshed since. */
START_TEST(the_first_rate_is_within_its_bound_too)
{
	struct point from, to;
	uint64_t hz, ppb;
	double true_hz;

	start();
	hz = clocks->tsc_hz;
	ppb = clocks->error_ppb;
	from = read_point();
	sleep(1);
	to = read_point();
	true_hz = (double)(to.tsc - from.tsc) / (double)(to.ns - from.ns) * 1e9;
	ck_assert_double_le(fabs((double)hz / true_hz - 1) * 1e9, (double)ppb + 1000);
}
END_TEST

/* From any two anchors, as a reader may take them. */
START_TEST(each_pair_of_anchors_agrees_within_its_bounds)
{
	start();
	for (int i = 0; i < 30; i++) {
		usleep(3000);
		ep_clock_refresh(UINT64_MAX);
	}
	ck_assert_uint_ge(clocks->taken, 32);
	for (int i = 1; i < 32; i++) {
		const struct ep_anchor *from = &clocks->anchors[0];
		const struct ep_anchor *to = &clocks->anchors[i];
		double cycles = (double)(to->tsc - from->tsc);
		double ns = (double)(to->monotonic_raw - from->monotonic_raw);
		double hz = cycles / ns * 1e9;
		double bound = (double)(from->width + to->width) / cycles +
			       (double)clocks->error_ppb * 1e-9;
		double off = hz / (double)clocks->tsc_hz - 1;

		ck_assert_double_lt(off < 0 ? -off : off, bound);
	}
}
END_TEST

START_TEST(the_first_anchor_stays_and_the_ring_goes_round)
{
	struct ep_anchor first;

	start();
	first = clocks->anchors[0];
	while (clocks->taken < 3 * EP_ANCHORS)
		ep_clock_refresh(UINT64_MAX);
	ck_assert_mem_eq(&first, &clocks->anchors[0], sizeof first);
	for (int i = 1; i < EP_ANCHORS; i++)
		ck_assert(good_anchor(&clocks->anchors[i]));
}
END_TEST

START_TEST(asking_often_takes_few)
{
	uint64_t before;

	start();
	before = clocks->taken;
	for (int i = 0; i < 200000; i++)
		ep_clock_refresh(ep_tsc());
	/* Each next one waits a quarter longer: 40 anchors are 200 times the time of the first. */
	ck_assert_uint_lt(clocks->taken - before, 60);
}
END_TEST

START_TEST(cycles_are_the_counter_of_so_many_nanoseconds)
{
	start();
	ck_assert_uint_eq(ep_clock_cycles(0), 0);
	ck_assert_uint_eq(ep_clock_cycles(1000000000), clocks->tsc_hz);
	ck_assert_uint_eq(ep_clock_cycles(UINT64_MAX), UINT64_MAX);
}
END_TEST

START_TEST(products_and_quotients_are_exact_or_saturate)
{
	ck_assert_uint_eq(ep_mul_div(7, 9, 2), 31);
	ck_assert_uint_eq(ep_mul_div(UINT64_MAX, UINT64_MAX, UINT64_MAX), UINT64_MAX);
	ck_assert_uint_eq(ep_mul_div(UINT64_MAX, 1000, 2000), UINT64_MAX / 2);
	ck_assert_uint_eq(ep_mul_div(UINT64_MAX, 2, 1), UINT64_MAX);
	ck_assert_uint_eq(ep_mul_div(1, 1, 0), UINT64_MAX);
}
END_TEST

static Suite *suite(void)
{
	Suite *all = suite_create("clock");
	TCase *one = tcase_create("clock");

	tcase_set_timeout(one, 60);
	tcase_add_test(one, two_anchors_are_there_after_the_start);
	tcase_add_test(one, an_anchor_lies_between_the_clocks_read_around_it);
	tcase_add_test(one, the_true_error_is_within_the_stored_bound);
	tcase_add_test(one, ten_seconds_are_told_within_100_ppm);
	tcase_add_test(one, the_first_rate_is_within_its_bound_too);
	tcase_add_test(one, each_pair_of_anchors_agrees_within_its_bounds);
	tcase_add_test(one, the_first_anchor_stays_and_the_ring_goes_round);
	tcase_add_test(one, asking_often_takes_few);
	tcase_add_test(one, cycles_are_the_counter_of_so_many_nanoseconds);
	tcase_add_test(one, products_and_quotients_are_exact_or_saturate);
	suite_add_tcase(all, one);
	return all;
}

int main(void)
{
	return ep_test_main(suite());
}
