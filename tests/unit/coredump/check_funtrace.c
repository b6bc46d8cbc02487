/* SPDX-License-Identifier: BSD-2-Clause */
/* check_funtrace.c: a funtrace.raw is read for what its format's description says it means, and
 * whatever is wrong with one costs only that. */
#include "tests/unit/main.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coredump/kinds/open.h"
#include "coredump/funtrace/funtrace.h"
#include "decoder/trace/records.h"
#include "tests/unit/build_funtrace.h"

#define MAPS  "400000-500000 r-xp 00000000 00:00 0 /nowhere/bin/a\n"
#define HZ    UINT64_C(2000000000)
#define T     UINT64_C(1000000000000) /* a usual TSC */
#define TICK  8                       /* what a record's time is exact to */
#define A     UINT64_C(0x401000)
#define B     UINT64_C(0x402000)
#define C     UINT64_C(0x403000)
#define D     UINT64_C(0x404000)
#define EVENT 64

static struct build_funtrace *b;
static struct ep_source *source;
static struct ep_root_found found;
static struct ep_image image;
static struct ep_trace *trace;
static struct ep_err err;

static void setup(void)
{
	b = build_funtrace_create();
}

static void close_all(void)
{
	ep_trace_destroy(trace);
	ep_image_deinit(&image);
	ep_source_close(source);
	trace = NULL;
	source = NULL;
}

static void teardown(void)
{
	close_all();
	build_funtrace_destroy(b);
}

static int open_it(size_t sample)
{
	int rc = sample == EP_FUNTRACE_NEWEST
			 ? ep_source_open(&source, build_funtrace_path(b), &err)
			 : ep_source_open_sample(&source, build_funtrace_path(b), sample, &err);

	if (rc)
		return rc;
	ck_assert_msg(ep_root_find(source, &found, &err) == EP_OK, "%s", err.text);
	ck_assert_msg(ep_image_read(&image, source, &found, &err) == EP_OK, "%s", err.text);
	ck_assert_msg(ep_trace_create(&trace, &image, &err) == EP_OK, "%s", err.text);
	ck_assert_uint_eq(trace->damage.blocks_torn, 0);
	ck_assert_uint_eq(trace->damage.blocks_backward, 0);
	ck_assert_uint_eq(trace->damage.threads_corrupt, 0);
	ck_assert_uint_eq(trace->damage.modules_corrupt, 0);
	ck_assert_uint_eq(trace->damage.holes, 0);
	return EP_OK;
}

static void open_well(void)
{
	ck_assert_msg(open_it(EP_FUNTRACE_NEWEST) == EP_OK, "%s", err.text);
	ck_assert_msg(ep_source_warning(source, 0) == NULL, "%s", ep_source_warning(source, 0));
}

/* What a record must be. */
struct want {
	enum ep_record_kind kind;
	uint64_t address, time;
};
#define CALL(address, time)                   \
	{                                     \
		EP_RECORD_CALL, address, time \
	}
#define RETURN(address, time)                   \
	{                                       \
		EP_RECORD_RETURN, address, time \
	}
#define LEFT(address, time)                   \
	{                                     \
		EP_RECORD_LEFT, address, time \
	}
#define CAUGHT(address, time)                   \
	{                                       \
		EP_RECORD_CAUGHT, address, time \
	}

static void expect(size_t thread, const struct want *want, size_t count)
{
	static struct ep_records records;
	const struct ep_record *record;

	ck_assert_uint_lt(thread, trace->thread_count);
	ep_records_init(&records, trace, &trace->threads[thread]);
	for (size_t i = 0; i < count; i++) {
		ck_assert_msg(ep_records_next(&records, &record) == EP_OK, "no record %zu", i);
		ck_assert_msg(record->kind == want[i].kind, "record %zu is of kind %d, not %d", i,
			      record->kind, want[i].kind);
		ck_assert_msg(record->address == want[i].address, "record %zu has 0x%lx, not 0x%lx",
			      i, record->address, want[i].address);
		ck_assert(record->exact);
		ck_assert_msg(record->time + TICK >= want[i].time &&
				      record->time <= want[i].time + TICK,
			      "record %zu is of %lu, not %lu", i, record->time, want[i].time);
	}
	ck_assert_int_eq(ep_records_next(&records, &record), EP_END);
}
#define EXPECT(thread, ...)                                         \
	do {                                                        \
		static const struct want list[] = {__VA_ARGS__};    \
		expect(thread, list, sizeof(list) / sizeof(*list)); \
	} while (0)

static void begin(void)
{
	build_funtrace_begin(b, MAPS, HZ);
	build_funtrace_thread(b, 7, 7, "main");
}

/* ---- what entries mean ---- */

START_TEST(a_sample_is_calls_and_returns_with_their_times)
{
	begin();
	build_funtrace_entry(b, A, T);
	build_funtrace_entry(b, B, T + 100);
	build_funtrace_entry(b, B | BUILD_RETURN, T + 5003);
	build_funtrace_thread(b, 7, 8, "worker");
	build_funtrace_entry(b, C | BUILD_RETURN, T + 11);
	build_funtrace_end(b);
	open_well();
	ck_assert_int_eq(ep_source_kind(source), EP_SOURCE_FUNTRACE);
	ck_assert_int_eq(ep_source_pid(source), 7);
	ck_assert_uint_eq(trace->thread_count, 2);
	EXPECT(0, CALL(A, T), CALL(B, T + 100), RETURN(B, T + 5003));
	EXPECT(1, RETURN(C, T + 11));
	ck_assert_uint_eq(trace->threads[0].tid, 7);
	ck_assert_str_eq(trace->threads[0].name, "main");
	ck_assert(trace->threads[0].flags & EP_THREAD_MAIN);
	ck_assert_uint_eq(trace->threads[1].tid, 8);
	ck_assert_str_eq(trace->threads[1].name, "worker");
	ck_assert(!(trace->threads[1].flags & EP_THREAD_MAIN));
	ck_assert_uint_eq(ep_source_funtrace(source)->entries, 4);
}
END_TEST

START_TEST(threads_without_a_tid_or_with_anothers_are_threads)
{
	size_t count;

	begin();
	build_funtrace_entry(b, A, T);
	build_funtrace_thread(b, 7, 7, "main");
	build_funtrace_entry(b, B, T);
	b->thread = b->size;
	build_funtrace_chunk(b, "TRACEBUF", NULL, 0);
	build_funtrace_entry(b, C, T);
	build_funtrace_end(b);
	open_well();
	ck_assert_uint_eq(trace->thread_count, 3);
	EXPECT(0, CALL(A, T));
	EXPECT(1, CALL(B, T));
	EXPECT(2, CALL(C, T));
	ck_assert_uint_eq(trace->threads[2].tid, 0);
	ck_assert_uint_eq(ep_source_threads(source, &count)[0].tid, 7);
	ck_assert_uint_eq(count, 1);
}
END_TEST

START_TEST(the_process_and_the_clock_are_as_the_file_says)
{
	begin();
	build_funtrace_entry(b, A, T);
	build_funtrace_end(b);
	open_well();
	ck_assert_uint_eq(trace->process.pid, 7);
	ck_assert_str_eq(trace->process.executable, "/nowhere/bin/a");
	ck_assert_str_eq(trace->process.command_line, "/bin/a one two");
	ck_assert(trace->clock.known);
	ck_assert_int_eq(ep_trace_ns(trace, T, T + HZ), 1000000000);
	/* It tells no time of day. */
	ck_assert_uint_eq(ep_trace_realtime(trace, T), 0);
	ck_assert_uint_eq(trace->module_count, 1);
	ck_assert_str_eq(trace->modules[0].path, "/nowhere/bin/a");
	ck_assert(trace->modules[0].flags & EP_MODULE_EXECUTABLE);
}
END_TEST

START_TEST(a_ring_that_wrapped_is_put_in_order)
{
	begin();
	build_funtrace_entry(b, C, T + 300);
	build_funtrace_entry(b, C | BUILD_RETURN, T + 400);
	build_funtrace_entry(b, B | BUILD_RETURN, T + 50);
	build_funtrace_entry(b, A, T + 100);
	build_funtrace_entry(b, B, T + 200);
	build_funtrace_end(b);
	open_well();
	EXPECT(0, RETURN(B, T + 50), CALL(A, T + 100), CALL(B, T + 200), CALL(C, T + 300),
	       RETURN(C, T + 400));
	ck_assert(!trace->threads[0].from_start);
}
END_TEST

/* The description warns of new, old, new: a write that did not make it. */
START_TEST(any_order_is_put_in_order)
{
	enum { COUNT = 1000 };
	struct want want[COUNT];

	begin();
	for (uint64_t i = 0; i < COUNT; i++) {
		uint64_t place = i * 377 % COUNT; /* 377 and 1000: coprime */

		build_funtrace_entry(b, A + place, T + place * 1000);
		want[i] = (struct want){EP_RECORD_CALL, A + i, T + i * 1000};
	}
	build_funtrace_end(b);
	open_well();
	expect(0, want, COUNT);
}
END_TEST

START_TEST(entries_of_one_time_keep_their_order)
{
	begin();
	build_funtrace_entry(b, C, T + 90);
	build_funtrace_entry(b, A, T);
	build_funtrace_entry(b, B, T);
	build_funtrace_entry(b, B | BUILD_RETURN, T);
	build_funtrace_entry(b, A | BUILD_RETURN, T);
	build_funtrace_end(b);
	open_well();
	EXPECT(0, CALL(A, T), CALL(B, T), RETURN(B, T), RETURN(A, T), CALL(C, T + 90));
}
END_TEST

START_TEST(a_ring_with_room_left_is_whole)
{
	begin();
	build_funtrace_entry(b, A, T);
	build_funtrace_entry(b, 0, 0);
	build_funtrace_thread(b, 7, 8, "cut");
	build_funtrace_entry(b, A, T);
	build_funtrace_end(b);
	open_well();
	ck_assert(trace->threads[0].from_start);
	ck_assert(!trace->threads[1].from_start);
	EXPECT(0, CALL(A, T));
}
END_TEST

START_TEST(long_gaps_cost_no_time)
{
	static const uint64_t gaps[] = {1,
					7,
					8,
					65535 * 8,
					1 << 18,
					(1 << 18) + 8,
					1 << 20,
					UINT64_C(1) << 34,
					UINT64_C(1) << 45,
					(UINT64_C(1) << 45) + 8,
					UINT64_C(1) << 50};
	struct want want[2 * sizeof(gaps) / sizeof(*gaps)];
	uint64_t at = T;
	size_t count = 0;

	begin();
	for (size_t i = 0; i < sizeof(gaps) / sizeof(*gaps); i++) {
		build_funtrace_entry(b, A, at);
		want[count++] = (struct want){EP_RECORD_CALL, A, at};
		build_funtrace_entry(b, A | BUILD_RETURN, at + 100);
		want[count++] = (struct want){EP_RECORD_RETURN, A, at + 100};
		at += gaps[i] + 100;
	}
	build_funtrace_end(b);
	open_well();
	expect(0, want, count);
}
END_TEST

START_TEST(many_entries_fill_many_blocks)
{
	enum { COUNT = 5000 };
	static struct want want[COUNT];

	begin();
	for (size_t i = 0; i < COUNT; i++) {
		/* every third needs an escape */
		uint64_t at = T + i * 40 + i / 3 * 300000;

		build_funtrace_entry(b, A + i, at);
		want[i] = (struct want){EP_RECORD_CALL, A + i, at};
	}
	build_funtrace_end(b);
	open_well();
	expect(0, want, COUNT);
	ck_assert_uint_gt(trace->threads[0].block_count, COUNT / 508);
}
END_TEST

START_TEST(the_flag_of_unwound_calls_is_no_address)
{
	begin();
	build_funtrace_entry(b, A | BUILD_UNWOUND, T);
	build_funtrace_entry(b, A | BUILD_RETURN, T + 80);
	build_funtrace_end(b);
	open_well();
	EXPECT(0, CALL(A, T), RETURN(A, T + 80));
}
END_TEST

/* Only epitaph writes it. */
START_TEST(a_return_with_the_flag_is_that_of_a_call_that_was_left)
{
	begin();
	build_funtrace_entry(b, A, T);
	build_funtrace_entry(b, B, T + 100);
	build_funtrace_entry(b, B | BUILD_RETURN | BUILD_UNWOUND, T + 180);
	build_funtrace_entry(b, A | BUILD_RETURN, T + 200);
	build_funtrace_end(b);
	open_well();
	EXPECT(0, CALL(A, T), CALL(B, T + 100), LEFT(B, T + 180), RETURN(A, T + 200));
}
END_TEST

/* Which calls it left is found out by those who know the functions' names. */
START_TEST(a_catch_is_told_where_it_is)
{
	begin();
	build_funtrace_entry(b, A, T);
	build_funtrace_entry(b, B | BUILD_UNWOUND, T + 100);
	build_funtrace_entry(b, C, T + 200);
	build_funtrace_entry(b, (A + 0x50) | BUILD_CATCH, T + 400);
	build_funtrace_entry(b, A | BUILD_RETURN, T + 500);
	build_funtrace_end(b);
	open_well();
	EXPECT(0, CALL(A, T), CALL(B, T + 100), CALL(C, T + 200), CAUGHT(A + 0x50, T + 400),
	       RETURN(A, T + 500));
}
END_TEST

START_TEST(an_xray_return_after_a_catch_is_of_the_one_that_caught)
{
	begin();
	build_funtrace_entry(b, A, T);
	build_funtrace_entry(b, B, T + 100);
	build_funtrace_entry(b, C, T + 200);
	build_funtrace_entry(b, D, T + 300);
	build_funtrace_entry(b, (B + 0x50) | BUILD_CATCH, T + 400);
	build_funtrace_entry(b, (A + 0x20) | BUILD_RETURN_INTO, T + 500);
	build_funtrace_end(b);
	open_well();
	EXPECT(0, CALL(A, T), CALL(B, T + 100), CALL(C, T + 200), CALL(D, T + 300),
	       CAUGHT(B + 0x50, T + 400), RETURN(B, T + 500));
}
END_TEST

START_TEST(xray_returns_are_of_the_innermost_call)
{
	begin();
	build_funtrace_entry(b, A, T);
	build_funtrace_entry(b, B, T + 100);
	build_funtrace_entry(b, C, T + 200);
	build_funtrace_entry(b, (B + 0x20) | BUILD_RETURN_INTO, T + 300);
	build_funtrace_entry(b, (A + 0x30) | BUILD_RETURN_INTO, T + 400);
	build_funtrace_end(b);
	open_well();
	EXPECT(0, CALL(A, T), CALL(B, T + 100), CALL(C, T + 200), RETURN(C, T + 300),
	       RETURN(B, T + 400));
}
END_TEST

START_TEST(an_xray_return_further_out_ends_what_a_longjmp_left)
{
	begin();
	build_funtrace_entry(b, A, T);
	build_funtrace_entry(b, B, T + 100);
	build_funtrace_entry(b, C, T + 200);
	build_funtrace_entry(b, D, T + 300);
	build_funtrace_entry(b, (A + 0x30) | BUILD_RETURN_INTO, T + 400);
	build_funtrace_entry(b, D, T + 500);
	build_funtrace_entry(b, (A + 0x30) | BUILD_RETURN_INTO, T + 600);
	build_funtrace_end(b);
	open_well();
	EXPECT(0, CALL(A, T), CALL(B, T + 100), CALL(C, T + 200), CALL(D, T + 300),
	       RETURN(B, T + 400), CALL(D, T + 500), RETURN(D, T + 600));
}
END_TEST

/* A return tells into which function it goes: that one ends next. */
START_TEST(xray_returns_from_before_the_history_tell_each_other)
{
	begin();
	build_funtrace_entry(b, (C + 0x20) | BUILD_RETURN_INTO, T);
	build_funtrace_entry(b, (B + 0x20) | BUILD_RETURN_INTO, T + 100);
	build_funtrace_entry(b, (A + 0x20) | BUILD_RETURN_INTO, T + 200);
	build_funtrace_end(b);
	ck_assert_int_eq(open_it(EP_FUNTRACE_NEWEST), EP_OK);
	EXPECT(0, RETURN(C + 0x20, T + 100), RETURN(B + 0x20, T + 200));
	ck_assert_uint_eq(ep_source_funtrace(source)->returns_unknown, 1);
	ck_assert_ptr_nonnull(ep_source_warning(source, 0));
}
END_TEST

START_TEST(what_is_no_code_address_or_time_is_left_out)
{
	begin();
	build_funtrace_entry(b, A, T);
	build_funtrace_entry(b, 0x7, T + 1);
	build_funtrace_entry(b, 0xfff, T + 2);
	build_funtrace_entry(b, UINT64_C(1) << 47, T + 3);
	build_funtrace_entry(b, UINT64_C(0x1fffffff81000000), T + 4);
	build_funtrace_entry(b, B, 0);
	build_funtrace_entry(b, B, UINT64_C(1) << 62);
	build_funtrace_entry(b, B, UINT64_MAX);
	build_funtrace_entry(b, UINT64_C(0x7fffffffffff), T + 100);
	build_funtrace_entry(b, 0x1000, T + 200);
	build_funtrace_end(b);
	ck_assert_int_eq(open_it(EP_FUNTRACE_NEWEST), EP_OK);
	EXPECT(0, CALL(A, T), CALL(UINT64_C(0x7fffffffffff), T + 100), CALL(0x1000, T + 200));
	ck_assert_uint_eq(ep_source_funtrace(source)->entries_refused, 7);
	ck_assert_ptr_nonnull(ep_source_warning(source, 0));
}
END_TEST

/* ---- samples ---- */

static void three_samples(void)
{
	for (uint64_t i = 0; i < 3; i++) {
		build_funtrace_begin(b, i == 1 ? NULL : MAPS, HZ);
		build_funtrace_thread(b, 7, 7, "main");
		build_funtrace_entry(b, A + i, T + 1000 * i);
		build_funtrace_end(b);
	}
}

START_TEST(the_newest_sample_is_taken_or_the_one_asked_for)
{
	three_samples();
	open_well();
	EXPECT(0, CALL(A + 2, T + 2000));
	ck_assert_uint_eq(ep_source_funtrace(source)->samples, 3);
	ck_assert_uint_eq(ep_source_funtrace(source)->sample, 2);
	for (size_t i = 0; i < 3; i++) {
		const struct want want[] = {CALL(A + i, T + 1000 * i)};

		close_all();
		ck_assert_int_eq(open_it(i), EP_OK);
		expect(0, want, 1);
		/* The map of the first holds for the second. */
		ck_assert_uint_eq(trace->module_count, 1);
	}
	close_all();
	ck_assert_int_eq(open_it(3), EP_END);
	ck_assert_ptr_nonnull(strstr(err.text, "0 to 2"));
}
END_TEST

START_TEST(a_sample_that_was_not_closed_is_one)
{
	begin();
	build_funtrace_entry(b, A, T);
	build_funtrace_begin(b, MAPS, HZ);
	build_funtrace_thread(b, 7, 7, "main");
	build_funtrace_entry(b, B, T + 100);
	ck_assert_int_eq(open_it(0), EP_OK);
	EXPECT(0, CALL(A, T));
	ck_assert_ptr_nonnull(strstr(ep_source_warning(source, 0), "ENDTRACE"));
	close_all();
	ck_assert_int_eq(open_it(1), EP_OK);
	EXPECT(0, CALL(B, T + 100));
}
END_TEST

START_TEST(a_sample_without_entries_does_not_count)
{
	build_funtrace_begin(b, MAPS, HZ);
	build_funtrace_end(b);
	begin();
	build_funtrace_entry(b, A, T);
	build_funtrace_end(b);
	build_funtrace_begin(b, MAPS, HZ);
	build_funtrace_end(b);
	open_well();
	ck_assert_uint_eq(ep_source_funtrace(source)->samples, 1);
	EXPECT(0, CALL(A, T));
}
END_TEST

START_TEST(other_chunks_are_passed_over_and_told)
{
	build_funtrace_chunk(b, "PROCMAPS", MAPS, strlen(MAPS));
	build_funtrace_chunk(b, "LATER ON", "whatever", 8);
	build_funtrace_begin(b, NULL, HZ);
	build_funtrace_chunk(b, "NEW IDEA", NULL, 0);
	build_funtrace_thread(b, 7, 7, "main");
	build_funtrace_entry(b, A, T);
	build_funtrace_chunk(b, "FTRACETX", "a line\n", 7);
	build_funtrace_end(b);
	ck_assert_int_eq(open_it(EP_FUNTRACE_NEWEST), EP_OK);
	EXPECT(0, CALL(A, T));
	ck_assert_uint_eq(ep_source_funtrace(source)->scheduling, 7);
	ck_assert_uint_eq(ep_source_funtrace(source)->scheduling_refused, 1);
	ck_assert_ptr_nonnull(strstr(ep_source_warning(source, 0), "2 chunks"));
}
END_TEST

/* ---- damage ---- */

START_TEST(wrong_sizes_cost_only_what_they_hold)
{
	uint32_t hz = 5;

	build_funtrace_chunk(b, "PROCMAPS", MAPS, strlen(MAPS));
	build_funtrace_chunk(b, "FUNTRACE", &hz, sizeof(hz));
	build_funtrace_chunk(b, "THREADID", "short", 5);
	b->thread = b->size;
	build_funtrace_chunk(b, "TRACEBUF", NULL, 0);
	build_funtrace_entry(b, A, T);
	b->bytes[b->thread + 8] += 7;
	b->size += 7;
	memset(b->bytes + b->size - 7, 'x', 7);
	build_funtrace_end(b);
	ck_assert_int_eq(open_it(EP_FUNTRACE_NEWEST), EP_OK);
	EXPECT(0, CALL(A, T));
	ck_assert(!trace->clock.known);
	ck_assert_uint_eq(trace->threads[0].tid, 0);
	ck_assert_ptr_nonnull(strstr(ep_source_warning(source, 0), "FUNTRACE"));
	ck_assert_ptr_nonnull(strstr(ep_source_warning(source, 1), "THREADID"));
	ck_assert_ptr_nonnull(strstr(ep_source_warning(source, 2), "TRACEBUF"));
}
END_TEST

START_TEST(a_size_beyond_the_file_ends_with_the_file)
{
	static const uint64_t sizes[] = {UINT64_MAX, INT64_MAX, 1 << 30, UINT64_MAX - 15, 33};

	begin();
	build_funtrace_entry(b, A, T);
	build_funtrace_entry(b, A | BUILD_RETURN, T + 100);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		memcpy(b->bytes + b->thread + 8, &sizes[i], sizeof(*sizes));
		ck_assert_int_eq(open_it(EP_FUNTRACE_NEWEST), EP_OK);
		EXPECT(0, CALL(A, T), RETURN(A, T + 100));
		ck_assert_ptr_nonnull(ep_source_warning(source, 0));
		close_all();
	}
}
END_TEST

/* Never fewer entries by more bytes; a cut is told, or is an error. */
START_TEST(every_truncation_keeps_what_is_left)
{
	size_t whole, entries = 0, opened = 0;

	begin();
	for (uint64_t i = 0; i < 5; i++)
		build_funtrace_entry(b, A, T + i * 100);
	build_funtrace_thread(b, 7, 8, "worker");
	for (uint64_t i = 0; i < 5; i++)
		build_funtrace_entry(b, B, T + i * 100);
	build_funtrace_end(b);
	whole = b->size;
	for (b->size = 0; b->size < whole; b->size++) {
		int rc = open_it(EP_FUNTRACE_NEWEST);

		if (rc) {
			ck_assert_int_lt(rc, 0);
			ck_assert_str_ne(err.text, "");
			ck_assert_uint_eq(opened, 0);
			continue;
		}
		opened++;
		ck_assert_uint_ge(ep_source_funtrace(source)->entries, entries);
		entries = ep_source_funtrace(source)->entries;
		ck_assert_ptr_nonnull(ep_source_warning(source, 0));
		close_all();
	}
	ck_assert_uint_eq(entries, 10);
	ck_assert_uint_gt(opened, 10 * 16);
	open_well();
}
END_TEST

START_TEST(what_is_no_chunk_ends_the_file)
{
	begin();
	build_funtrace_entry(b, A, T);
	build_funtrace_end(b);
	build_funtrace_chunk(b, "\1\2\3\4\5\6\7\10", "junk", 4);
	ck_assert_int_eq(open_it(EP_FUNTRACE_NEWEST), EP_OK);
	EXPECT(0, CALL(A, T));
	ck_assert_ptr_nonnull(strstr(ep_source_warning(source, 0), "no chunk"));
}
END_TEST

START_TEST(another_file_is_refused)
{
	char path[] = "/tmp/epitaph-funtrace.XXXXXX";
	int fd = mkstemp(path);

	ck_assert(fd >= 0 && write(fd, "\177ELF", 4) == 4);
	ck_assert_int_eq(ep_source_open_funtrace(&source, path, 0, &err), EP_E_FORMAT);
	ck_assert_int_eq(ep_source_open_sample(&source, path, 0, &err), EP_E_USAGE);
	unlink(path);
	ck_assert_int_eq(ep_source_open_funtrace(&source, path, 0, &err), EP_E_IO);
	/* Must not wait for a writer. */
	ck_assert(mkfifo(path, 0600) == 0);
	ck_assert_int_eq(ep_source_open_funtrace(&source, path, 0, &err), EP_E_FORMAT);
	unlink(path);
	close(fd);
}
END_TEST

START_TEST(nothing_but_the_arena_is_memory)
{
	uint8_t byte;

	begin();
	build_funtrace_entry(b, A, T);
	build_funtrace_end(b);
	open_well();
	ck_assert_int_eq(ep_source_read(source, A, &byte, 1, NULL, &err), EP_E_UNMAPPED);
	ck_assert_int_eq(
		ep_source_read(source, image.address + image.size - 1, &byte, 1, NULL, &err),
		EP_OK);
	ck_assert_int_eq(ep_source_read(source, image.address + image.size, &byte, 1, NULL, &err),
			 EP_E_UNMAPPED);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("funtrace");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_sample_is_calls_and_returns_with_their_times);
	tcase_add_test(t, threads_without_a_tid_or_with_anothers_are_threads);
	tcase_add_test(t, the_process_and_the_clock_are_as_the_file_says);
	tcase_add_test(t, a_ring_that_wrapped_is_put_in_order);
	tcase_add_test(t, any_order_is_put_in_order);
	tcase_add_test(t, entries_of_one_time_keep_their_order);
	tcase_add_test(t, a_ring_with_room_left_is_whole);
	tcase_add_test(t, long_gaps_cost_no_time);
	tcase_add_test(t, many_entries_fill_many_blocks);
	tcase_add_test(t, the_flag_of_unwound_calls_is_no_address);
	tcase_add_test(t, a_return_with_the_flag_is_that_of_a_call_that_was_left);
	tcase_add_test(t, a_catch_is_told_where_it_is);
	tcase_add_test(t, an_xray_return_after_a_catch_is_of_the_one_that_caught);
	tcase_add_test(t, xray_returns_are_of_the_innermost_call);
	tcase_add_test(t, an_xray_return_further_out_ends_what_a_longjmp_left);
	tcase_add_test(t, xray_returns_from_before_the_history_tell_each_other);
	tcase_add_test(t, what_is_no_code_address_or_time_is_left_out);
	tcase_add_test(t, the_newest_sample_is_taken_or_the_one_asked_for);
	tcase_add_test(t, a_sample_that_was_not_closed_is_one);
	tcase_add_test(t, a_sample_without_entries_does_not_count);
	tcase_add_test(t, other_chunks_are_passed_over_and_told);
	tcase_add_test(t, wrong_sizes_cost_only_what_they_hold);
	tcase_add_test(t, a_size_beyond_the_file_ends_with_the_file);
	tcase_add_test(t, every_truncation_keeps_what_is_left);
	tcase_add_test(t, what_is_no_chunk_ends_the_file);
	tcase_add_test(t, another_file_is_refused);
	tcase_add_test(t, nothing_but_the_arena_is_memory);
	suite_add_tcase(suite, t);
	return ep_test_main(suite);
}
