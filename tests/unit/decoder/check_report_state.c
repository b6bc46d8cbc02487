/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_report_state.c: what a thread did at the end, by scheduling events: thread 7 waited from
 * 1000 to 5000 and was then woken; thread 8 died, and recorded until 4000.
 */
#include <signal.h>
#include <string.h>

#include "coredump/memory/source_impl.h"
#include "decoder/report/parts.h"
#include "main.h"

static struct ep_source source;
static struct ep_slice slices[3];
static struct ep_task task;
static struct ep_schedule schedule;
static struct ep_trace_thread threads[2];
static struct ep_trace trace;
static struct ep_evidence evidence;
static struct ep_report_state state;

static void prepare(void)
{
	slices[0] = (struct ep_slice){.begin = 500, .end = 1000, .state = EP_SLICE_RUNNING};
	slices[1] = (struct ep_slice){.begin = 1000,
				      .end = 5000,
				      .state = EP_SLICE_BLOCKED,
				      .waker_kind = EP_WAKER_THREAD,
				      .waker = 8};
	slices[2] = (struct ep_slice){
		.begin = 5000, .end = 6000, .state = EP_SLICE_READY, .open = true};
	task = (struct ep_task){.tid = 7, .slices = slices, .count = 3};
	schedule = (struct ep_schedule){.first = 1, .last = 6000, .tasks = &task, .task_count = 1};
	threads[0] = (struct ep_trace_thread){.tid = 7, .last_tsc = 900};
	threads[1] = (struct ep_trace_thread){.tid = 8, .last_tsc = 4000};
	trace = (struct ep_trace){.threads = threads,
				  .thread_count = 2,
				  .last_tsc = 4000,
				  .end = {.tsc = 6000},
				  .schedule = &schedule};
	memset(&source, 0, sizeof(source));
	source.death = (struct ep_death){.signal = SIGSEGV, .tid = 8};
	evidence = (struct ep_evidence){.source = &source, .trace = &trace};
}

static const struct ep_slice *look(void)
{
	const struct ep_report_entry entry = {.trace = &threads[0]};

	ep_report_state_init(&state, &evidence, &entry);
	return state.slice;
}

START_TEST(who_is_woken_by_the_fatal_signal_waited_until_then)
{
	prepare();
	ck_assert_ptr_eq(look(), &slices[1]);
	ck_assert_int_eq(state.ns, 4000);
	ck_assert_ptr_eq(state.ran, &slices[0]);
}
END_TEST

START_TEST(who_is_woken_by_others_or_earlier_is_ready)
{
	prepare();
	slices[1].waker = 9;
	ck_assert_ptr_eq(look(), &slices[2]);
	prepare();
	slices[1].waker_kind = EP_WAKER_IRQ;
	ck_assert_ptr_eq(look(), &slices[2]);
	prepare();
	threads[1].last_tsc = 5500; /* it went on after it */
	ck_assert_ptr_eq(look(), &slices[2]);
	prepare();
	source.death.signal = 0;
	ck_assert_ptr_eq(look(), &slices[2]);
	ck_assert_int_eq(state.ns, 1000);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("report_state");
	TCase *tests = tcase_create("all");

	tcase_add_test(tests, who_is_woken_by_the_fatal_signal_waited_until_then);
	tcase_add_test(tests, who_is_woken_by_others_or_earlier_is_ready);
	suite_add_tcase(suite, tests);
	return ep_test_main(suite);
}
