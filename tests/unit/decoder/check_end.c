/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_end.c: the process's end by what is known of it. One cycle is one ns; the first record is
 * at 1,000, the last at 5,000, which is 1,000,005,000 ns since 1970.
 */
#include <string.h>

#include "coredump/memory/source_impl.h"
#include "decoder/kernel/end.h"
#include "decoder/kernel/schedule.h"
#include "main.h"

#define LAST  UINT64_C(5000)
#define EPOCH UINT64_C(1000000000)

static struct ep_source source;
static struct ep_schedule schedule;
static struct ep_trace trace;

static void prepare(void)
{
	memset(&source, 0, sizeof(source));
	source.kind = EP_SOURCE_CORE;
	schedule = (struct ep_schedule){.first = 1000};
	trace = (struct ep_trace){.clock = {.known = true, .ns_per_tick = 1, .realtime = EPOCH},
				  .schedule = &schedule,
				  .first_tsc = 1000,
				  .last_tsc = LAST};
}

static void expect(const char *by, uint64_t end, int64_t least, int64_t most)
{
	if (by)
		ck_assert_str_eq(trace.end.source, by);
	else
		ck_assert_ptr_null(trace.end.source);
	ck_assert_uint_eq(trace.end.tsc, end);
	ck_assert_int_eq(trace.end.least, least);
	ck_assert_int_eq(trace.end.most, most);
}

START_TEST(the_last_record_is_the_end_where_nothing_else_is_known)
{
	schedule.head.drained_tsc = schedule.last = LAST - 1000;
	ep_end_find(&trace, &source, 0);
	expect(NULL, LAST, -1, -1);
}
END_TEST

START_TEST(scheduling_events_prove_that_it_lived)
{
	schedule.head.drained_tsc = LAST + 3000;
	schedule.last = LAST + 2000;
	ep_end_find(&trace, &source, 0);
	expect("scheduling", LAST + 3000, 3000, -1);
	/* What the kernel still held is newer. */
	schedule.last = LAST + 4000;
	ep_end_find(&trace, &source, 0);
	expect("scheduling", LAST + 4000, 4000, -1);
	ck_assert_int_eq(ep_trace_ago(&trace, schedule.last), 0);
	ck_assert_int_eq(ep_trace_ago(&trace, LAST), 4000);
	ck_assert_int_eq(ep_trace_ago(&trace, LAST + 9000), 0);
}
END_TEST

START_TEST(who_saw_a_core_whole_bounds_the_end_and_moves_it_not)
{
	schedule.head.drained_tsc = LAST + 3000;
	ep_end_find(&trace, &source, EPOCH + LAST + 7000);
	expect("scheduling", LAST + 3000, 3000, 7000);
	trace.schedule = NULL;
	ep_end_find(&trace, &source, EPOCH + LAST + 7000);
	expect("run", LAST, -1, 7000);
	ep_end_find(&trace, &source, EPOCH + LAST - 1);
	expect(NULL, LAST, -1, -1);
}
END_TEST

START_TEST(a_live_process_has_no_end)
{
	source.kind = EP_SOURCE_LIVE;
	schedule.head.drained_tsc = LAST + 3000;
	ep_end_find(&trace, &source, EPOCH + LAST + 7000);
	expect(NULL, LAST, -1, -1);
}
END_TEST

static Suite *suite(void)
{
	Suite *all = suite_create("end");
	TCase *one = tcase_create("end");

	tcase_add_checked_fixture(one, prepare, NULL);
	tcase_add_test(one, the_last_record_is_the_end_where_nothing_else_is_known);
	tcase_add_test(one, scheduling_events_prove_that_it_lived);
	tcase_add_test(one, who_saw_a_core_whole_bounds_the_end_and_moves_it_not);
	tcase_add_test(one, a_live_process_has_no_end);
	suite_add_tcase(all, one);
	return all;
}

int main(void)
{
	return ep_test_main(suite());
}
