/* SPDX-License-Identifier: BSD-2-Clause */
/* check_schedule.c: events of the kernel to slices of threads. */
#include <linux/perf_event.h>
#include <traceevent/event-parse.h>
#include <traceevent/kbuffer.h>

#include "build_sched.h"
#include "decoder/trace/records.h"
#include "decoder/kernel/schedule.h"
#include "main.h"

#define START  UINT64_C(1000000000)
#define MAIN   101u
#define WORKER 102u

static struct build_arena *arena;
static struct build_sched sched;
static struct ep_image image;
static struct ep_trace *trace;

static void set_up(void)
{
	arena = build_arena_create(NULL);
	build_sched_init(&sched, arena, START);
	build_sched_page(&sched, START);
}

static const struct ep_schedule *read_back(void)
{
	build_arena_seal(arena);
	ck_assert_int_eq(ep_image_from_bytes(&image, arena->bytes, arena->committed, NULL), EP_OK);
	ck_assert_int_eq(ep_trace_create(&trace, &image, NULL), EP_OK);
	ep_schedule_attach(trace);
	ck_assert_ptr_nonnull(trace->schedule);
	return trace->schedule;
}

static void tear_down(void)
{
	ep_schedule_detach(trace);
	ep_trace_destroy(trace);
	ep_image_deinit(&image);
	build_arena_destroy(arena);
	trace = NULL;
}

static void expect(const struct ep_task *task, size_t index, uint64_t begin, uint64_t end,
		   enum ep_slice_state state)
{
	ck_assert_ptr_nonnull(task);
	ck_assert_uint_lt(index, task->count);
	ck_assert_uint_eq(task->slices[index].begin, START + begin);
	ck_assert_uint_eq(task->slices[index].end, START + end);
	ck_assert_int_eq(task->slices[index].state, state);
}

/* MAIN waits from 1,000 to 5,000, woken by WORKER at 4,000; then is preempted at 8,000. */
static void a_wait(void)
{
	build_sched_switch(&sched, START + 1000, MAIN, 1, WORKER);
	build_sched_waking(&sched, START + 4000, WORKER, 0, MAIN);
	build_sched_switch(&sched, START + 5000, WORKER, 2, MAIN);
	build_sched_switch(&sched, START + 8000, MAIN, 0x100, WORKER);
	build_sched_flush(&sched, 0, false);
}

/* MAIN's records with times of their own. */
static void records_at(const uint64_t *tsc, size_t count)
{
	struct ep_thread *thread = build_arena_thread(arena, MAIN, "main", 1);

	for (size_t i = 0; i < count; i++)
		build_call(arena, thread, 0x400000, START + tsc[i]);
}

START_TEST(a_thread_runs_waits_is_woken_and_is_preempted)
{
	const struct ep_schedule *schedule;
	const struct ep_task *main_task, *worker;
	char text[64];

	a_wait();
	schedule = read_back();
	ck_assert_uint_eq(schedule->switches, 3);
	ck_assert_uint_eq(schedule->wakings, 1);
	ck_assert_uint_eq(schedule->bad + schedule->losses, 0);
	main_task = ep_schedule_task(schedule, MAIN);
	ck_assert_uint_eq(main_task->count, 5);
	expect(main_task, 0, 0, 1000, EP_SLICE_RUNNING);
	expect(main_task, 1, 1000, 4000, EP_SLICE_BLOCKED);
	expect(main_task, 2, 4000, 5000, EP_SLICE_READY);
	expect(main_task, 3, 5000, 8000, EP_SLICE_RUNNING);
	expect(main_task, 4, 8000, 8000, EP_SLICE_READY);
	ck_assert_int_eq(main_task->slices[1].how, 'S');
	ck_assert_int_eq(main_task->slices[1].waker_kind, EP_WAKER_THREAD);
	ck_assert_uint_eq(main_task->slices[1].waker, WORKER);
	ck_assert_str_eq(ep_waker_text(text, sizeof(text), schedule, &main_task->slices[1]),
			 "102 task-102");
	ck_assert(main_task->slices[4].open);
	worker = ep_schedule_task(schedule, WORKER);
	expect(worker, 0, 0, 1000, EP_SLICE_UNKNOWN);
	expect(worker, 1, 1000, 5000, EP_SLICE_RUNNING);
	expect(worker, 2, 5000, 8000, EP_SLICE_BLOCKED);
	ck_assert_int_eq(worker->slices[2].how, 'D');
	ck_assert_ptr_null(ep_schedule_task(schedule, 103));
}
END_TEST

/* Each CPU's events are a stream of their own, told one after the other. */
START_TEST(a_thread_has_the_last_of_its_names)
{
	const struct ep_schedule *schedule;

	sched.name = "later";
	build_sched_switch(&sched, START + 5000, MAIN, 1, WORKER);
	build_sched_flush(&sched, 0, false);
	sched.name = "earlier";
	build_sched_page(&sched, START);
	build_sched_switch(&sched, START + 1000, WORKER, 1, MAIN);
	build_sched_waking(&sched, START + 1500, MAIN, 0, WORKER);
	build_sched_flush(&sched, 1, false);
	schedule = read_back();
	ck_assert_str_eq(ep_schedule_task(schedule, MAIN)->name, "later-101");
	ck_assert_str_eq(ep_schedule_task(schedule, WORKER)->name, "later-102");
}
END_TEST

/* The kernel did not tell of the switch to it. */
START_TEST(a_thread_that_leaves_without_having_come_was_off_for_nobody_knows_how_long)
{
	const struct ep_task *task;

	build_sched_switch(&sched, START + 1000, MAIN, 1, 0);
	build_sched_waking(&sched, START + 2000, 0, 0x08, MAIN);
	build_sched_switch(&sched, START + 4000, MAIN, 1, 0);
	build_sched_flush(&sched, 0, false);
	task = ep_schedule_task(read_back(), MAIN);
	ck_assert_uint_eq(task->count, 4);
	expect(task, 0, 0, 1000, EP_SLICE_RUNNING);
	expect(task, 1, 1000, 2000, EP_SLICE_BLOCKED);
	expect(task, 2, 2000, 4000, EP_SLICE_UNKNOWN);
	ck_assert_int_eq(task->slices[3].state, EP_SLICE_BLOCKED);
}
END_TEST

START_TEST(a_timed_record_of_its_own_ends_what_nobody_saw_end)
{
	static const uint64_t times[] = {496, 2504, 3000};
	const struct ep_task *task;

	build_sched_switch(&sched, START + 1000, MAIN, 1, 0);
	build_sched_waking(&sched, START + 2000, 0, 0x08, MAIN);
	build_sched_switch(&sched, START + 4000, MAIN, 1, 0);
	build_sched_flush(&sched, 3, false);
	records_at(times, 3);
	task = ep_schedule_task(read_back(), MAIN);
	ck_assert_uint_eq(task->count, 5);
	expect(task, 1, 1000, 2000, EP_SLICE_BLOCKED);
	ck_assert_int_eq(task->slices[1].waker_kind, EP_WAKER_IRQ);
	expect(task, 2, 2000, 2504, EP_SLICE_UNKNOWN);
	expect(task, 3, 2504, 4000, EP_SLICE_RUNNING);
	ck_assert_uint_eq(task->slices[3].cpu, 3);
	ck_assert_int_eq(task->slices[4].state, EP_SLICE_BLOCKED);
}
END_TEST

START_TEST(who_was_not_seen_woken_either_waited_until_its_record_at_most)
{
	static const uint64_t times[] = {496, 3000};
	const struct ep_task *task;

	build_sched_switch(&sched, START + 1000, MAIN, 1, 0);
	build_sched_switch(&sched, START + 4000, MAIN, 1, 0);
	build_sched_flush(&sched, 0, false);
	records_at(times, 2);
	task = ep_schedule_task(read_back(), MAIN);
	ck_assert_uint_eq(task->count, 4);
	expect(task, 1, 1000, 3000, EP_SLICE_UNKNOWN);
	expect(task, 2, 3000, 4000, EP_SLICE_RUNNING);
}
END_TEST

/* It was the last that is known of it. */
START_TEST(who_recorded_after_its_waking_runs_and_does_not_want_a_cpu)
{
	static const uint64_t times[] = {496, 3000};
	const struct ep_task *task;

	build_sched_switch(&sched, START + 1000, MAIN, 1, 0);
	build_sched_waking(&sched, START + 2000, 0, 0x08, MAIN);
	build_sched_flush(&sched, 0, false);
	sched.head->drained_tsc = START + 9000;
	records_at(times, 2);
	task = ep_schedule_task(read_back(), MAIN);
	ck_assert_uint_eq(task->count, 4);
	expect(task, 2, 2000, 3000, EP_SLICE_UNKNOWN);
	expect(task, 3, 3000, 9000, EP_SLICE_RUNNING);
	ck_assert(task->slices[3].open);
	ck_assert_uint_eq(task->slices[3].cpu, EP_SLICE_CPU_UNKNOWN);
}
END_TEST

START_TEST(who_wakes_another_is_on_a_cpu)
{
	const struct ep_task *task;

	build_sched_switch(&sched, START + 1000, MAIN, 1, 0);
	build_sched_waking(&sched, START + 2000, 0, 0x08, MAIN);
	build_sched_waking(&sched, START + 2600, MAIN, 0, WORKER);
	build_sched_flush(&sched, 2, false);
	task = ep_schedule_task(read_back(), MAIN);
	ck_assert_uint_eq(task->count, 4);
	expect(task, 1, 1000, 2000, EP_SLICE_BLOCKED);
	expect(task, 2, 2000, 2600, EP_SLICE_UNKNOWN);
	ck_assert_int_eq(task->slices[3].state, EP_SLICE_RUNNING);
	ck_assert_uint_eq(task->slices[3].cpu, 2);
}
END_TEST

START_TEST(an_interrupt_may_end_a_wait)
{
	const struct ep_task *task;

	build_sched_switch(&sched, START + 1000, MAIN, 1, 0);
	build_sched_waking(&sched, START + 2000, 0, 0x08, MAIN);
	build_sched_switch(&sched, START + 3000, 0, 0, MAIN);
	build_sched_switch(&sched, START + 4000, MAIN, 1, 0);
	build_sched_waking(&sched, START + 5000, WORKER, 0x10, MAIN);
	build_sched_flush(&sched, 0, false);
	task = ep_schedule_task(read_back(), MAIN);
	ck_assert_int_eq(task->slices[1].waker_kind, EP_WAKER_IRQ);
	ck_assert_int_eq(task->slices[4].waker_kind, EP_WAKER_SOFT);
	/* Nobody is thread 0. */
	ck_assert_ptr_null(ep_schedule_task(trace->schedule, 0));
}
END_TEST

START_TEST(what_an_interval_was_spent_on_adds_up)
{
	struct ep_slice_times times;
	const struct ep_task *task;

	a_wait();
	task = ep_schedule_task(read_back(), MAIN);
	/* 3 GHz: 3 cycles are 1 ns. */
	ck_assert(ep_task_times(trace, task, START + 400, START + 7000, &times));
	ck_assert_int_eq(times.running, 200 + 667);
	ck_assert_int_eq(times.blocked, 1000);
	ck_assert_int_eq(times.ready, 333);
	ck_assert_int_eq(times.unknown, 0);
	ck_assert_uint_eq(ep_absences_within(&task->absences, START + 400, START + 7000), 4000);
	ck_assert_uint_eq(ep_absences_within(&task->absences, START + 2000, START + 4500), 2500);
	/* Behind the end nothing is known. */
	ck_assert(ep_task_times(trace, task, START + 7000, START + 14000, &times));
	ck_assert_int_eq(times.running, 333);
	ck_assert_int_eq(times.unknown, 2000);
	/* 600 cycles from 400 on end where the wait begins. */
	ck_assert_uint_eq(ep_absences_skip(&task->absences, START + 400, 600), START + 1000);
	ck_assert_uint_eq(ep_absences_skip(&task->absences, START + 400, 601), START + 5001);
	ck_assert_ptr_null(ep_task_slice(task, START - 1));
	ck_assert_ptr_eq(ep_task_slice(task, START + 4500), &task->slices[2]);
}
END_TEST

START_TEST(where_events_were_lost_nothing_is_known)
{
	static const uint64_t between = 12000; /* a record: it ran, and then? */
	const struct ep_task *task;

	a_wait();
	build_sched_page(&sched, START + 20000);
	build_sched_switch(&sched, START + 21000, WORKER, 1, MAIN);
	build_sched_flush(&sched, 0, true);
	records_at(&between, 1);
	task = ep_schedule_task(read_back(), MAIN);
	ck_assert_uint_eq(trace->schedule->losses, 1);
	ck_assert_uint_eq(task->count, 6);
	expect(task, 3, 5000, 8000, EP_SLICE_RUNNING);
	expect(task, 4, 8000, 21000, EP_SLICE_UNKNOWN);
	expect(task, 5, 21000, 21000, EP_SLICE_RUNNING);
}
END_TEST

START_TEST(a_damaged_chunk_is_a_loss)
{
	struct ep_sched_chunk *chunk;

	a_wait();
	build_sched_page(&sched, START + 20000);
	build_sched_switch(&sched, START + 21000, WORKER, 1, MAIN);
	chunk = build_sched_chunk(&sched, sched.page, sched.used, 0, EP_SCHED_FTRACE);
	((uint8_t *)(chunk + 1))[40] ^= 1;
	ck_assert_uint_eq(read_back()->switches, 3);
}
END_TEST

START_TEST(a_chunk_of_the_lap_before_is_not_the_next)
{
	struct ep_sched_chunk *chunk;

	a_wait();
	a_wait();
	/* As if the second had been written a lap ago. */
	chunk = (void *)((uint8_t *)sched.head + sched.head->pool_offset);
	chunk = (void *)((uint8_t *)(chunk + 1) + ((chunk->size + 7u) & ~7u));
	chunk->sequence = 900;
	chunk->check = ep_sched_check(chunk, (uint64_t)((uint8_t *)chunk - (uint8_t *)sched.head),
				      arena->arena->root.identity);
	ck_assert_uint_eq(read_back()->switches, 3);
}
END_TEST

static const char *const nonsense[] = {
	"",
	"name: sched_switch",
	"name: sched_switch\nID: 1\nformat:\n\tfield:int "
	"a;\toffset:0;\tsize:4;",
	"name: sched switch\nID: 1\nformat:\n\n\nprint fmt: \"\"",
	"name: sched_switch\nID: 70000\nformat:\n\n\nprint fmt: \"\"",
	"name: sched_switch\nID: 1\nformat:\n\tfield:int "
	"a[(;\toffset:0;\tsize:4;"
	"\tsigned:0;\n\n\nprint fmt: \"\"",
	"name: sched_switch\nID: 1\nformat:\n\tfield:char a[16q;\toffset:0;"
	"\tsize:4;\tsigned:0;\n\n\nprint fmt: \"\"",
	"name: sched_switch\nID: 1\nformat:\n\tfield:int a;\toffset:99999999;"
	"\tsize:4;\tsigned:0;\n\n\nprint fmt: \"\"",
};

START_TEST(a_format_that_makes_no_sense_is_left_out)
{
	sched.head->formats_used = 0;
	build_sched_format(&sched, nonsense[_i]);
	a_wait();
	ck_assert_uint_eq(read_back()->switches, 0);
	ck_assert_uint_eq(trace->schedule->bad, 1);
}
END_TEST

START_TEST(fields_are_where_the_format_says)
{
	static const char other[] = "name: sched_waking\nID: 7\nformat:\n"
				    "\tfield:unsigned short common_type;\toffset:2;\tsize:2;"
				    "\tsigned:0;\n\tfield:int common_pid;\toffset:8;\tsize:4;"
				    "\tsigned:1;\n\n\tfield:pid_t pid;\toffset:12;\tsize:4;"
				    "\tsigned:1;\n\nprint fmt: \"\"\n";
	const uint32_t words[] = {2048 << 5 | 4, 7u << 16, 0, WORKER, MAIN};
	const struct ep_task *task;

	sched.head->formats_used = 0;
	build_sched_format(&sched, other);
	memcpy(sched.page + 16, words, sizeof(words));
	sched.used = 16 + sizeof(words);
	sched.tsc += 2048;
	build_sched_flush(&sched, 0, false);
	task = ep_schedule_task(read_back(), MAIN);
	ck_assert_uint_eq(trace->schedule->wakings, 1);
	expect(task, 0, 0, 2048, EP_SLICE_BLOCKED);
	ck_assert_uint_eq(task->slices[0].waker, WORKER);
}
END_TEST

/* What libtraceevent's own reader of pages says of the times. */
START_TEST(times_in_a_page_are_those_of_libtraceevent)
{
	struct kbuffer *kbuffer;
	unsigned long long time;
	uint64_t times[64];
	unsigned count = 0, index = 0;
	const struct ep_task *task;

	for (unsigned i = 0; i < 12; i++) {
		uint64_t step = UINT64_C(1) << (3 * i);

		build_sched_switch(&sched, sched.tsc + step, i % 2 ? WORKER : MAIN, 1,
				   i % 2 ? MAIN : WORKER);
	}
	build_sched_flush(&sched, 0, false);
	kbuffer = kbuffer_alloc(KBUFFER_LSIZE_8, KBUFFER_ENDIAN_LITTLE);
	ck_assert_int_eq(kbuffer_load_subbuffer(kbuffer, sched.page), 0);
	while (kbuffer_read_event(kbuffer, &time) && count < 64) {
		times[count++] = time;
		kbuffer_next_event(kbuffer, NULL);
	}
	kbuffer_free(kbuffer);
	ck_assert_uint_eq(count, 12);
	task = ep_schedule_task(read_back(), MAIN);
	for (size_t i = 0; i < task->count && index < count; i++, index++)
		ck_assert_uint_eq(task->slices[i].end, times[index]);
	ck_assert_uint_ge(index, 12);
}
END_TEST

struct record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
};

/* The builder's clock: 5 s raw are TSC 1,000,000, 3 a nanosecond. */
static struct record record_of(uint64_t tsc, uint32_t tid, unsigned misc)
{
	return (struct record){
		.header = {.type = PERF_RECORD_SWITCH,
			   .misc = (uint16_t)misc,
			   .size = sizeof(struct record)},
		.tid = tid,
		.time = UINT64_C(5000000000) + (tsc - 1000000) / 3,
	};
}

START_TEST(records_of_perf_tell_when_a_thread_ran)
{
	const struct record records[] = {
		record_of(START + 3000, MAIN, PERF_RECORD_MISC_SWITCH_OUT),
		record_of(START + 9000, MAIN, 0),
		record_of(START + 12000, MAIN,
			  PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT),
	};
	static const enum ep_slice_state states[] = {EP_SLICE_RUNNING, EP_SLICE_BLOCKED,
						     EP_SLICE_RUNNING, EP_SLICE_READY};
	const struct ep_task *task;

	sched.tsc = START + 15000;
	build_sched_chunk(&sched, records, sizeof(records), 0, EP_SCHED_PERF);
	task = ep_schedule_task(read_back(), MAIN);
	ck_assert_uint_eq(trace->schedule->switches, 3);
	ck_assert_uint_eq(task->count, 4);
	for (unsigned i = 0; i < 4; i++)
		ck_assert_int_eq(task->slices[i].state, states[i]);
	/* To 3 cycles, and what the anchors leave open. */
	ck_assert_uint_le(task->slices[1].begin, START + 3000 + 8);
	ck_assert_uint_ge(task->slices[1].begin + 8, START + 3000);
	ck_assert_uint_le(task->slices[1].end, START + 9000 + 8);
}
END_TEST

START_TEST(a_cut_record_of_perf_is_bad_and_no_more)
{
	const struct record record = record_of(START + 3000, MAIN, 0);

	build_sched_chunk(&sched, &record, sizeof(record) - 8, 0, EP_SCHED_PERF);
	ck_assert_uint_eq(read_back()->bad, 1);
	ck_assert_uint_eq(trace->schedule->task_count, 0);
}
END_TEST

START_TEST(system_calls_are_told_with_their_arguments)
{
	const struct ep_kernel_event *one;

	build_sched_enter(&sched, START + 500, MAIN, 35, 0x1234);
	build_sched_flush(&sched, 3, false);
	ck_assert_uint_eq(read_back()->kernel_event_count, 1);
	one = &trace->schedule->kernel_events[0];
	ck_assert_uint_eq(one->tsc, START + 500);
	ck_assert_uint_eq(one->kind, EP_KERNEL_SYSCALL);
	ck_assert_uint_eq(one->what, 35);
	ck_assert_uint_eq(one->arguments[0], 0x1234);
	ck_assert_uint_eq(one->tid, MAIN);
	ck_assert_uint_eq(one->cpu, 3);
}
END_TEST

START_TEST(cpus_of_the_machine_are_occupied_by_turns)
{
	const struct ep_schedule *schedule;

	sched.head->machine = 1;
	a_wait();
	schedule = read_back();
	ck_assert_uint_eq(schedule->occupation_count, 3);
	ck_assert_uint_eq(schedule->occupations[0].tid, WORKER);
	ck_assert_uint_eq(schedule->occupations[0].begin, START + 1000);
	ck_assert_uint_eq(schedule->occupations[0].end, START + 5000);
	ck_assert_uint_eq(schedule->occupations[1].tid, MAIN);
}
END_TEST

/* Three records between clock reads at 500 and 6,500, and a wait in between: they happened while
 * the thread ran, 2,000 cycles in all. */
START_TEST(untimed_records_happened_while_the_thread_ran)
{
	static const uint64_t want[] = {1000, 5500, 6000};
	struct ep_thread *thread;
	struct ep_records records;
	const struct ep_record *record;

	a_wait();
	thread = build_arena_thread(arena, MAIN, "main", 1);
	build_call(arena, thread, 0x400000, START + 500);
	for (unsigned i = 0; i < 3; i++)
		build_call(arena, thread, 0x400000, 0);
	build_call(arena, thread, 0x400000, START + 6500);
	read_back();
	ck_assert_uint_eq(trace->thread_count, 1);
	ep_records_init(&records, trace, &trace->threads[0]);
	ck_assert_int_eq(ep_records_next(&records, &record), EP_OK);
	ck_assert(record->exact && !record->refined);
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_int_eq(ep_records_next(&records, &record), EP_OK);
		ck_assert(!record->exact && record->refined);
		ck_assert_uint_le(record->low, START + 500);
		ck_assert_uint_ge(record->high, START + 6496);
		ck_assert_uint_ge(record->time + 16, START + want[i]);
		ck_assert_uint_le(record->time, START + want[i] + 16);
	}
}
END_TEST

/* irq_handler_entry has one; without it interrupts are lost. */
START_TEST(a_text_that_lies_elsewhere_is_no_reason_to_refuse_an_event)
{
	static const char format[] = "name: irq_handler_entry\nID: 4\nformat:\n"
				     "\tfield:unsigned short common_type;\toffset:0;\tsize:2;"
				     "\tsigned:0;\n"
				     "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
				     "\tfield:int irq;\toffset:8;\tsize:4;\tsigned:1;\n"
				     "\tfield:__data_loc char[] name;\toffset:12;\tsize:4;"
				     "\tsigned:0;\n"
				     "\nprint fmt: \"irq=%d\", REC->irq\n";

	build_sched_format(&sched, format);
	a_wait();
	ck_assert_uint_eq(read_back()->bad, 0);
}
END_TEST

static Suite *suite(void)
{
	Suite *all = suite_create("schedule");
	TCase *one = tcase_create("schedule");

	tcase_add_checked_fixture(one, set_up, tear_down);
	tcase_add_test(one, a_thread_runs_waits_is_woken_and_is_preempted);
	tcase_add_test(one, a_thread_has_the_last_of_its_names);
	tcase_add_test(one, a_text_that_lies_elsewhere_is_no_reason_to_refuse_an_event);
	tcase_add_test(one,
		       a_thread_that_leaves_without_having_come_was_off_for_nobody_knows_how_long);
	tcase_add_test(one, a_timed_record_of_its_own_ends_what_nobody_saw_end);
	tcase_add_test(one, who_was_not_seen_woken_either_waited_until_its_record_at_most);
	tcase_add_test(one, who_recorded_after_its_waking_runs_and_does_not_want_a_cpu);
	tcase_add_test(one, who_wakes_another_is_on_a_cpu);
	tcase_add_test(one, an_interrupt_may_end_a_wait);
	tcase_add_test(one, what_an_interval_was_spent_on_adds_up);
	tcase_add_test(one, where_events_were_lost_nothing_is_known);
	tcase_add_test(one, a_damaged_chunk_is_a_loss);
	tcase_add_test(one, a_chunk_of_the_lap_before_is_not_the_next);
	tcase_add_loop_test(one, a_format_that_makes_no_sense_is_left_out, 0,
			    (int)(sizeof(nonsense) / sizeof(*nonsense)));
	tcase_add_test(one, fields_are_where_the_format_says);
	tcase_add_test(one, times_in_a_page_are_those_of_libtraceevent);
	tcase_add_test(one, records_of_perf_tell_when_a_thread_ran);
	tcase_add_test(one, a_cut_record_of_perf_is_bad_and_no_more);
	tcase_add_test(one, system_calls_are_told_with_their_arguments);
	tcase_add_test(one, cpus_of_the_machine_are_occupied_by_turns);
	tcase_add_test(one, untimed_records_happened_while_the_thread_ran);
	suite_add_tcase(all, one);
	return all;
}

int main(void)
{
	return ep_test_main(suite());
}
