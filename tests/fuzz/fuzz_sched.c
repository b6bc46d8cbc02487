/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_sched.c: any bytes as the section of scheduling events: formats, pages, perf's records.
 * Taken as they are, and with the check words of chunks right.
 *
 * Invariants: slices of a thread follow each other without holes, sums of an interval never exceed
 * it, everything is sorted as it says, texts can be shown.
 */
#include "decoder/kernel/schedule.h"
#include "decoder/trace/trace.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/build_sched.h"

#define LARGEST (512u << 10)

static void check_task(const struct ep_trace *trace, const struct ep_task *task)
{
	struct ep_slice_times times;
	uint64_t begin, end;

	fuzz_check_text(task->name, strlen(task->name), "");
	for (size_t i = 0; i < task->count; i++) {
		const struct ep_slice *slice = &task->slices[i];
		char text[128];

		MUST(slice->begin <= slice->end);
		MUST(i == 0 || slice->begin == slice[-1].end);
		MUST(ep_waker_text(text, sizeof(text), trace->schedule, slice));
		MUST(ep_task_slice(task, slice->begin));
	}
	if (!task->count)
		return;
	begin = task->slices[0].begin;
	end = task->slices[task->count - 1].end;
	MUST(ep_absences_within(&task->absences, begin, end) <= end - begin);
	MUST(ep_absences_skip(&task->absences, begin, 0) >= begin);
	if (ep_task_times(trace, task, begin, end, &times))
		MUST(times.running >= 0 && times.ready >= 0 && times.blocked >= 0 &&
		     times.unknown >= 0);
}

static void check(const struct ep_trace *trace)
{
	const struct ep_schedule *schedule = trace->schedule;

	if (!schedule)
		return;
	for (size_t i = 0; i < schedule->task_count; i++) {
		const struct ep_task *task = &schedule->tasks[i];

		MUST(i == 0 || task[-1].tid < task->tid);
		MUST(ep_schedule_task(schedule, task->tid) == task);
		check_task(trace, task);
	}
	for (size_t i = 1; i < schedule->kernel_event_count; i++)
		MUST(schedule->kernel_events[i - 1].tsc <= schedule->kernel_events[i].tsc);
	for (size_t i = 0; i < schedule->occupation_count; i++)
		MUST(schedule->occupations[i].begin <= schedule->occupations[i].end);
}

static void take(const uint8_t *bytes, size_t size, bool seal)
{
	struct build_arena_options options = BUILD_ARENA_DEFAULTS;
	struct ep_image image = {0};
	struct build_arena *b;
	struct ep_trace *trace;
	struct ep_sched *head;
	size_t whole;

	options.size = 1u << 20;
	options.thread_capacity = options.module_capacity = 4;
	b = build_arena_create(&options);
	/* Inputs are cut behind their last chunk. */
	whole = size > BUILD_SCHED_SIZE ? size : BUILD_SCHED_SIZE;
	head = build_sched_attach(b, NULL, whole);
	memcpy(head, bytes, size);
	if (seal)
		build_sched_seal((uint8_t *)head, whole, b->arena->root.identity);
	build_arena_seal(b);
	MUST(ep_image_from_bytes(&image, b->bytes, b->committed, NULL) == EP_OK);
	MUST(ep_trace_create(&trace, &image, NULL) == EP_OK);
	ep_schedule_attach(trace);
	check(trace);
	ep_schedule_detach(trace);
	ep_trace_destroy(trace);
	ep_image_deinit(&image);
	build_arena_destroy(b);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	if (size < sizeof(struct ep_sched) || size > LARGEST)
		return 0;
	take(bytes, size, false);
	take(bytes, size, true);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t max_size, unsigned seed)
{
	/* Texts by the driver's own changes, the rest by words. */
	if (seed % 3 == 0 && size > 2048)
		LLVMFuzzerMutate(bytes + 512, 1024, 1024);
	return fuzz_mutate(bytes, size, max_size, seed, NULL);
}
