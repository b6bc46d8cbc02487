/* SPDX-License-Identifier: BSD-2-Clause */
/* check_trace.c: an arena taken apart, whole and in every kind of damage. */
#include <math.h>
#include <string.h>

#include "decoder/trace/trace.h"
#include "tests/unit/build_trace.h"
#include "tests/unit/main.h"

#define CODE UINT64_C(0x401000)

static struct build_arena *arena;
static struct ep_image image;
static struct ep_trace *trace;

static struct build_arena_options small(void)
{
	struct build_arena_options options = BUILD_ARENA_DEFAULTS;

	options.size = 1 << 20;
	return options;
}

static void setup(void)
{
	struct build_arena_options options = small();

	arena = build_arena_create(&options);
}

static int read_arena(void)
{
	build_image_of(&image, arena);
	return ep_trace_create(&trace, &image, NULL);
}

static void teardown(void)
{
	ep_trace_destroy(trace);
	trace = NULL;
	build_image_free(&image);
	build_arena_destroy(arena);
}

static bool warned(const char *part)
{
	for (size_t i = 0; i < trace->warning_count; i++)
		if (strstr(trace->warnings[i], part))
			return true;
	return false;
}

static void fill_block(struct ep_thread *thread, uint64_t tsc)
{
	uint64_t word = build_record(CODE, false, tsc);

	build_block_of(arena, thread, tsc, &word, 1);
}

/* ---- whole arenas ---- */

START_TEST(a_whole_arena_is_read_without_a_warning)
{
	struct ep_thread *one = build_arena_thread(arena, 101, "main", 4);
	struct ep_thread *two = build_arena_thread(arena, 102, "worker", 4);
	uint8_t id[20] = {1, 2, 3};

	build_arena_module(arena, "/usr/bin/server", 0x400000, 0x500000, 0x1000, id, 20);
	build_call(arena, one, CODE, 2000000);
	build_return(arena, one, CODE, 2000800);
	build_call(arena, two, CODE, 3000000);
	ck_assert_int_eq(read_arena(), EP_OK);
	ck_assert_uint_eq(trace->warning_count, 0);
	ck_assert_uint_eq(trace->thread_count, 2);
	ck_assert_uint_eq(trace->threads[0].tid, 101);
	ck_assert_str_eq(trace->threads[1].name, "worker");
	ck_assert(trace->threads[0].from_start);
	ck_assert_uint_eq(trace->threads[0].first_tsc, 2000000);
	ck_assert_uint_eq(trace->threads[0].last_tsc, 2000800);
	ck_assert_uint_eq(trace->first_tsc, 2000000);
	ck_assert_uint_eq(trace->last_tsc, 3000000);
	ck_assert_uint_eq(trace->block_count, 2);
	ck_assert_uint_eq(trace->module_count, 1);
	ck_assert_str_eq(trace->modules[0].path, "/usr/bin/server");
	ck_assert_uint_eq(trace->modules[0].bias, 0x1000);
	ck_assert_mem_eq(trace->modules[0].build_id, id, 20);
	ck_assert(trace->process.known);
	ck_assert_uint_eq(trace->process.pid, 100);
	ck_assert_uint_eq(trace->damage.blocks_torn, 0);
	ck_assert_uint_eq(trace->damage.pages_missing, 0);
}
END_TEST

START_TEST(a_threads_name_steers_no_terminal)
{
	memcpy(build_arena_thread(arena, 7, "x", 1)->name, "a\033[2J\xc3", 7);
	ck_assert_int_eq(read_arena(), EP_OK);
	ck_assert_str_eq(trace->threads[0].name, "a\\x1b[2J\\xc3");
}
END_TEST

START_TEST(arguments_are_separated_by_blanks_and_fit_to_be_shown)
{
	arena->process->command_line = build_arena_string(arena, "a\0b\xff\0c\033[\0", 9);
	ck_assert_int_eq(read_arena(), EP_OK);
	ck_assert_str_eq(trace->process.command_line, "a b\\xff c\\x1b[");
}
END_TEST

START_TEST(larger_entries_of_a_later_minor_are_taken_by_their_known_part)
{
	struct ep_section *section = &arena->arena->sections[2];
	struct ep_thread *threads = arena->threads;

	build_arena_thread(arena, 101, "one", 0);
	build_arena_thread(arena, 102, "two", 0);
	ck_assert_uint_eq(section->type, EP_SECTION_THREADS);
	section->entry_size = 192;
	memmove((uint8_t *)threads + 192, &threads[1], sizeof(*threads));
	memset((uint8_t *)threads + 128, 0xff, 64);
	memset((uint8_t *)threads + 192 + 128, 0xff, 64);
	arena->arena->root.minor = 7;
	ck_assert_int_eq(read_arena(), EP_OK);
	ck_assert_uint_eq(trace->thread_count, 2);
	ck_assert_str_eq(trace->threads[1].name, "two");
	ck_assert_uint_eq(trace->warning_count, 0);
}
END_TEST

START_TEST(sections_of_an_unknown_type_are_ignored)
{
	arena->arena->sections[5] = (struct ep_section){99, 8, UINT64_MAX, UINT64_MAX};
	arena->arena->section_count = 6;
	ck_assert_int_eq(read_arena(), EP_OK);
	ck_assert_uint_eq(trace->warning_count, 0);
}
END_TEST

START_TEST(another_major_is_refused)
{
	arena->arena->root.major = EP_FORMAT_MAJOR + 1;
	ck_assert_int_eq(read_arena(), EP_E_VERSION);
}
END_TEST

/* ---- damaged sections ---- */

struct fault {
	uint32_t entry_size;
	uint64_t offset, size;
	const char *text;
};

/* 0: as it was. */
static const struct fault faults[] = {
	{8, 0, 0, "too small"},          {132, 0, 0, "makes no sense"},
	{0, 4100, 0, "not aligned"},     {0, 64, 0, "first page"},
	{0, 0, UINT64_MAX, "overflows"}, {0, 0, 1u << 30, "beyond the arena"},
	{0, 4096, 0, "overlaps"},        {0, 1020 * 1024, 64, "beyond what was saved"},
};

START_TEST(a_section_that_is_wrong_is_dropped_and_the_others_kept)
{
	const struct fault *fault = &faults[_i];
	struct ep_section *section = &arena->arena->sections[2];
	struct ep_thread *thread = build_arena_thread(arena, 101, "one", 2);

	fill_block(thread, 2000000);
	if (fault->entry_size)
		section->entry_size = fault->entry_size;
	if (fault->offset)
		section->offset = fault->offset;
	if (fault->size)
		section->size = fault->size;
	ck_assert_int_eq(read_arena(), EP_OK);
	ck_assert_msg(warned(fault->text), "%s", trace->warnings[0]);
	ck_assert(trace->process.known);
	ck_assert(trace->clock.known);
	/* The block tells of a thread that no table knows. */
	ck_assert_uint_eq(trace->thread_count, 1);
	ck_assert(!trace->threads[0].known);
	ck_assert_uint_eq(trace->threads[0].serial, 1);
	ck_assert_uint_eq(trace->threads[0].block_count, 1);
}
END_TEST

START_TEST(without_a_first_page_the_blocks_are_kept)
{
	struct ep_thread *thread = build_arena_thread(arena, 101, "one", 2);

	fill_block(thread, 2000000);
	build_image_of(&image, arena);
	build_image_lose(&image, 0);
	ck_assert_int_eq(ep_trace_create(&trace, &image, NULL), EP_OK);
	ck_assert(warned("first page"));
	ck_assert_uint_eq(trace->block_count, 1);
	ck_assert_uint_eq(trace->damage.blocks_torn, 0);
	ck_assert_uint_eq(trace->damage.pages_missing, 1);
}
END_TEST

START_TEST(without_a_first_page_and_blocks_there_is_nothing)
{
	struct ep_err err;

	build_image_of(&image, arena);
	build_image_lose(&image, 0);
	ck_assert_int_eq(ep_trace_create(&trace, &image, &err), EP_E_CORRUPT);
	ck_assert(strlen(err.text) > 10);
}
END_TEST

START_TEST(an_entry_with_a_reserved_field_set_is_left_out)
{
	struct ep_module *bad = build_arena_module(arena, "/bad", 0x1000, 0x2000, 0, NULL, 0);

	build_arena_module(arena, "/good", 0x3000, 0x4000, 0, NULL, 0);
	bad->reserved = 1;
	ck_assert_int_eq(read_arena(), EP_OK);
	ck_assert_uint_eq(trace->module_count, 1);
	ck_assert_str_eq(trace->modules[0].path, "/good");
	ck_assert_uint_eq(trace->damage.modules_corrupt, 1);
	ck_assert(warned("reserved"));
}
END_TEST

START_TEST(a_load_map_whose_head_lies_keeps_its_valid_entries)
{
	build_arena_module(arena, "/good", 0x3000, 0x4000, 0, NULL, 0);
	arena->modules->capacity = UINT32_MAX;
	arena->modules->count = UINT32_MAX;
	ck_assert_int_eq(read_arena(), EP_OK);
	ck_assert(trace->module_count >= 1);
	ck_assert_str_eq(trace->modules[0].path, "/good");
	ck_assert(warned("head is damaged"));
}
END_TEST

START_TEST(a_path_outside_of_its_section_is_empty)
{
	build_arena_module(arena, "/good", 0x3000, 0x4000, 0, NULL, 0)->path.offset = UINT32_MAX;
	ck_assert_int_eq(read_arena(), EP_OK);
	ck_assert_uint_eq(trace->module_count, 1);
	ck_assert_str_eq(trace->modules[0].path, "");
}
END_TEST

START_TEST(a_thread_that_is_there_twice_is_kept_once)
{
	build_arena_thread(arena, 101, "old", 0);
	build_arena_thread(arena, 102, "new", 0);
	arena->threads[1].serial = 1;
	arena->threads[1].start_tsc = arena->threads[0].start_tsc + 1;
	ck_assert_int_eq(read_arena(), EP_OK);
	ck_assert_uint_eq(trace->thread_count, 1);
	ck_assert_str_eq(trace->threads[0].name, "new");
	ck_assert_uint_eq(trace->damage.threads_corrupt, 1);
}
END_TEST

START_TEST(a_thread_in_an_unknown_state_is_left_out)
{
	build_arena_thread(arena, 101, "one", 0)->state = 77;
	ck_assert_int_eq(read_arena(), EP_OK);
	ck_assert_uint_eq(trace->thread_count, 0);
	ck_assert_uint_eq(trace->damage.threads_corrupt, 1);
}
END_TEST

/* ---- blocks ---- */

START_TEST(lost_blocks_show_in_the_sequence)
{
	struct ep_thread *thread = build_arena_thread(arena, 101, "one", 4);

	for (uint64_t i = 1; i <= 6; i++)
		fill_block(thread, 2000000 + i * 1000);
	/* Of 3 … 6 the block numbered 4 goes. */
	memset(build_block_at(arena, thread, 3), 0, EP_BLOCK_SIZE);
	ck_assert_int_eq(read_arena(), EP_OK);
	ck_assert_uint_eq(trace->threads[0].block_count, 3);
	ck_assert_uint_eq(trace->threads[0].blocks[0].sequence, 3);
	ck_assert_uint_eq(trace->threads[0].blocks[0].lost_before, 2);
	ck_assert_uint_eq(trace->threads[0].blocks[1].sequence, 5);
	ck_assert_uint_eq(trace->threads[0].blocks[1].lost_before, 1);
	ck_assert_uint_eq(trace->threads[0].blocks[2].lost_before, 0);
	ck_assert(!trace->threads[0].from_start);
	ck_assert_uint_eq(trace->damage.blocks_torn, 0);
}
END_TEST

START_TEST(every_bit_of_a_block_header_counts)
{
	struct ep_thread *thread = build_arena_thread(arena, 101, "one", 1);
	uint8_t *bytes = (uint8_t *)build_block_at(arena, thread, 0);

	for (unsigned bit = 0; bit < EP_BLOCK_HEADER * 8; bit++) {
		arena->threads[0].blocks = 0;
		fill_block(thread, 2000000);
		bytes[bit / 8] ^= 1u << bit % 8;
		ck_assert_int_eq(read_arena(), EP_OK);
		ck_assert_msg(trace->block_count == 0, "bit %u", bit);
		ck_assert_uint_eq(trace->damage.blocks_torn, 1);
		ep_trace_destroy(trace);
		build_image_free(&image);
	}
	trace = NULL;
}
END_TEST

START_TEST(torn_text_and_entering_blocks_are_told_apart)
{
	struct ep_thread *thread = build_arena_thread(arena, 101, "one", 8);

	for (uint64_t i = 1; i <= 6; i++)
		fill_block(thread, 2000000 + i * 1000);
	build_block_at(arena, thread, 1)->check = 0;
	build_block_at(arena, thread, 2)->check ^= 2;
	memset(build_block_at(arena, thread, 3), 'x', 2000);
	build_block_at(arena, thread, 6)->records[100] = 1;
	ck_assert_int_eq(read_arena(), EP_OK);
	ck_assert_uint_eq(trace->block_count, 3);
	ck_assert_uint_eq(trace->damage.blocks_entering, 1);
	ck_assert_uint_eq(trace->damage.blocks_torn, 3);
	ck_assert_uint_eq(trace->damage.blocks_text, 1);
}
END_TEST

START_TEST(blocks_of_an_earlier_generation_are_foreign_not_torn)
{
	struct ep_thread *thread = build_arena_thread(arena, 101, "one", 8);

	for (uint64_t i = 1; i <= 4; i++) {
		fill_block(thread, 2000000 + i * 1000);
		if (i == 2)
			arena->arena->root.identity ^= 0x123456789;
	}
	ck_assert_int_eq(read_arena(), EP_OK);
	ck_assert_uint_eq(trace->block_count, 2);
	ck_assert_uint_eq(trace->damage.blocks_foreign, 2);
	ck_assert_uint_eq(trace->damage.blocks_torn, 0);
}
END_TEST

START_TEST(a_block_that_was_copied_elsewhere_does_not_count)
{
	struct ep_thread *thread = build_arena_thread(arena, 101, "one", 2);

	fill_block(thread, 2000000);
	memcpy(build_block_at(arena, thread, 1), build_block_at(arena, thread, 0), EP_BLOCK_SIZE);
	ck_assert_int_eq(read_arena(), EP_OK);
	ck_assert_uint_eq(trace->block_count, 1);
	ck_assert_uint_eq(trace->damage.blocks_torn, 1);
}
END_TEST

START_TEST(of_two_blocks_with_one_number_the_later_is_kept)
{
	struct ep_thread *thread = build_arena_thread(arena, 101, "one", 2);
	struct ep_block *twin;

	fill_block(thread, 2000000);
	fill_block(thread, 3000000);
	twin = build_block_at(arena, thread, 1);
	twin->sequence = 1;
	build_block_seal(arena, twin);
	ck_assert_int_eq(read_arena(), EP_OK);
	ck_assert_uint_eq(trace->block_count, 1);
	ck_assert_uint_eq(trace->threads[0].blocks[0].tsc, 3000000);
	ck_assert_uint_eq(trace->damage.blocks_duplicate, 1);
}
END_TEST

START_TEST(a_reused_ring_gives_each_thread_its_own_blocks)
{
	struct ep_thread *dead = build_arena_thread(arena, 101, "dead", 4);
	struct ep_thread *heir = build_arena_thread(arena, 102, "heir", 4);
	struct ep_block *block;

	for (uint64_t i = 0; i < 4; i++)
		fill_block(dead, 2000000 + i * 1000);
	dead->state = EP_THREAD_DEAD;
	for (uint32_t i = 0; i < 2; i++) {
		block = build_block_at(arena, dead, i);
		block->owner = heir->serial;
		block->sequence = i + 1;
		build_block_seal(arena, block);
	}
	ck_assert_int_eq(read_arena(), EP_OK);
	ck_assert_uint_eq(trace->threads[0].block_count, 2);
	ck_assert_uint_eq(trace->threads[0].blocks[0].sequence, 3);
	ck_assert(!trace->threads[0].from_start);
	ck_assert_uint_eq(trace->threads[1].block_count, 2);
	ck_assert(trace->threads[1].from_start);
}
END_TEST

START_TEST(a_block_that_makes_no_sense_is_left_out_though_its_check_holds)
{
	struct ep_thread *thread = build_arena_thread(arena, 101, "one", 4);
	struct ep_block *block;

	for (uint64_t i = 0; i < 4; i++)
		fill_block(thread, 2000000 + i * 1000);
	for (uint32_t i = 0; i < 4; i++) {
		block = build_block_at(arena, thread, i);
		block->reserved = i == 0;
		block->owner *= i != 1;
		block->sequence *= i != 2;
		block->tsc |= i == 3 ? UINT64_C(1) << 63 : 0;
		build_block_seal(arena, block);
	}
	ck_assert_int_eq(read_arena(), EP_OK);
	ck_assert_uint_eq(trace->block_count, 0);
	ck_assert_uint_eq(trace->damage.blocks_torn, 4);
	ck_assert(warned("makes no sense"));
}
END_TEST

START_TEST(holes_are_counted_but_not_the_unused_end)
{
	struct ep_thread *thread = build_arena_thread(arena, 101, "one", 1);
	uint64_t words[5] = {build_record(CODE, 0, 2000000), 0, 0, build_record(CODE, 1, 2000100),
			     0};

	build_block_of(arena, thread, 2000000, words, 5);
	ck_assert_int_eq(read_arena(), EP_OK);
	ck_assert_uint_eq(trace->damage.holes, 2);
	ck_assert_uint_eq(trace->threads[0].blocks[0].words, 4);
}
END_TEST

START_TEST(pages_that_were_not_saved_are_lost_blocks_not_torn_ones)
{
	struct ep_thread *thread = build_arena_thread(arena, 101, "one", 4);

	for (uint64_t i = 0; i < 4; i++)
		fill_block(thread, 2000000 + i * 1000);
	build_image_of(&image, arena);
	build_image_lose(&image, (thread->ring_offset >> 12) + 1);
	ck_assert_int_eq(ep_trace_create(&trace, &image, NULL), EP_OK);
	ck_assert_uint_eq(trace->damage.pages_missing, 1);
	ck_assert_uint_eq(trace->damage.blocks_torn, 0);
	ck_assert_uint_eq(trace->threads[0].block_count, 3);
	ck_assert_uint_eq(trace->threads[0].blocks[1].lost_before, 1);
}
END_TEST

/* ---- every length, every byte ---- */

static void fill_arena(void)
{
	struct ep_thread *one = build_arena_thread(arena, 101, "main", 2);
	struct ep_thread *two = build_arena_thread(arena, 102, "worker", 2);

	build_arena_module(arena, "/bin/x", 0x400000, 0x500000, 0, NULL, 0);
	for (uint64_t i = 0; i < 600; i++) {
		build_event(arena, one, CODE + i % 7 * 16, i & 1, 2000000 + i * 100);
		build_event(arena, two, CODE, i & 1, i % 8 ? 0 : 2000000 + i);
	}
	build_arena_seal(arena);
}

START_TEST(every_truncation_ends_in_an_answer)
{
	fill_arena();
	for (uint64_t size = 0; size <= arena->committed; size += 61) {
		build_image(&image, arena->bytes, size);
		if (size < sizeof(image.root))
			image.root = arena->arena->root;
		int result = ep_trace_create(&trace, &image, NULL);

		ck_assert(result == EP_OK || result == EP_E_CORRUPT);
		ck_assert_int_eq(result == EP_OK, size >= 4096);
		if (result == EP_OK && size < arena->committed)
			ck_assert(trace->damage.pages_missing > 0);
		if (result == EP_OK)
			ep_trace_destroy(trace);
		build_image_free(&image);
	}
	trace = NULL;
}
END_TEST

/* Each byte of the header, section table and the heads of the sections, set to values that
 * overflow. The root has been validated by whoever read the image.
 */
static void flip(uint64_t offset, uint8_t value)
{
	uint8_t before = arena->bytes[offset];

	arena->bytes[offset] = value;
	build_image(&image, arena->bytes, arena->committed);
	image.root = arena->arena->root;
	if (offset < sizeof(image.root))
		image.root.identity = UINT64_C(0x1122334455667788);
	int result = ep_trace_create(&trace, &image, NULL);

	if (result == EP_OK)
		ep_trace_destroy(trace);
	else
		ck_assert(result == EP_E_CORRUPT || result == EP_E_VERSION);
	build_image_free(&image);
	arena->bytes[offset] = before;
}

START_TEST(every_byte_of_the_header_may_be_wrong)
{
	static const uint8_t values[] = {0, 0x7f, 0x80, 0xff};

	fill_arena();
	for (uint64_t offset = 0; offset < sizeof(struct ep_arena); offset++)
		for (unsigned i = 0; i < sizeof(values); i++)
			flip(offset, values[i]);
	trace = NULL;
}
END_TEST

START_TEST(every_byte_of_the_sections_may_be_wrong)
{
	fill_arena();
	for (unsigned i = 0; i < 4; i++) {
		uint64_t start = arena->arena->sections[i].offset;

		for (uint64_t at = 0; at < 512; at++) {
			flip(start + at, 0xff);
			flip(start + at, 0x80);
		}
	}
	trace = NULL;
}
END_TEST

/* ---- clock ---- */

#define SECOND UINT64_C(1000000000)
#define HZ     UINT64_C(3000000000)

static void anchors_of(uint64_t seconds, uint64_t hz, uint64_t width)
{
	memset(arena->clock, 0, sizeof(*arena->clock));
	for (unsigned i = 0; i < 3; i++)
		build_arena_anchor(arena, i, 1000 + hz * seconds * i / 2, SECOND * seconds * i / 2,
				   77 * SECOND + SECOND * seconds * i / 2, width);
}

START_TEST(the_rate_comes_from_the_anchors_within_its_bound)
{
	anchors_of(10, HZ + 12345, 300);
	ck_assert_int_eq(read_arena(), EP_OK);
	ck_assert(trace->clock.known);
	ck_assert_uint_eq(trace->clock.anchors, 3);
	ck_assert(fabs(trace->clock.ns_per_tick * (HZ + 12345) / SECOND - 1) <
		  trace->clock.error_ppb * 1e-9);
	/* 300 cycles in 10 s of 3 GHz, and a nanosecond. */
	ck_assert(trace->clock.error_ppb >= 10);
	ck_assert(trace->clock.error_ppb <= 12);
	ck_assert_int_eq(ep_trace_ns(trace, 1000, 1000 + HZ + 12345), SECOND);
	ck_assert_int_eq(ep_trace_ns(trace, 1000 + HZ + 12345, 1000), -(int64_t)SECOND);
	ck_assert_uint_eq(ep_trace_realtime(trace, 1000), 77 * SECOND);
	ck_assert_uint_eq(ep_trace_realtime(trace, trace->clock.tsc), 87 * SECOND);
}
END_TEST

START_TEST(an_anchor_that_was_being_written_is_not_used)
{
	anchors_of(10, HZ, 300);
	arena->clock->anchors[1].monotonic_raw += 5 * SECOND;
	ck_assert_int_eq(read_arena(), EP_OK);
	ck_assert_uint_eq(trace->clock.anchors, 2);
	ck_assert_int_eq(ep_trace_ns(trace, 0, HZ), SECOND);
	ck_assert_uint_eq(trace->warning_count, 0);
}
END_TEST

START_TEST(a_counter_that_stood_still_is_told)
{
	anchors_of(10, HZ, 300);
	build_arena_anchor(arena, 1, 1000 + HZ * 5, SECOND * 6, 83 * SECOND, 300);
	ck_assert_int_eq(read_arena(), EP_OK);
	ck_assert(warned("did not run together"));
	ck_assert(trace->clock.error_ppb > 100000000);
}
END_TEST

START_TEST(without_anchors_the_stated_rate_is_taken)
{
	memset(arena->clock, 0, sizeof(*arena->clock));
	arena->clock->tsc_hz = HZ;
	arena->clock->error_ppb = 50000;
	ck_assert_int_eq(read_arena(), EP_OK);
	ck_assert(trace->clock.known);
	ck_assert_uint_eq(trace->clock.anchors, 0);
	ck_assert_uint_eq(trace->clock.error_ppb, 50000);
	ck_assert_int_eq(ep_trace_ns(trace, 0, HZ), SECOND);
	ck_assert_uint_eq(ep_trace_realtime(trace, 1000000), trace->process.start_realtime);
}
END_TEST

START_TEST(a_clock_that_makes_no_sense_is_unknown)
{
	memset(arena->clock, 0, sizeof(*arena->clock));
	build_arena_anchor(arena, 0, 1000, 1000, 1, 0);
	build_arena_anchor(arena, 1, 1001, UINT64_MAX, 1, 0);
	arena->clock->tsc_hz = 1;
	ck_assert_int_eq(read_arena(), EP_OK);
	ck_assert(!trace->clock.known);
	ck_assert_uint_eq(ep_trace_realtime(trace, 1000), 0);
	ck_assert(warned("unknown"));
}
END_TEST

START_TEST(times_far_away_saturate)
{
	anchors_of(10, HZ, 300);
	/* 4 GHz at most: 2^64 ticks of 10 ns do not fit. */
	anchors_of(10, SECOND / 10, 1);
	ck_assert_int_eq(read_arena(), EP_OK);
	ck_assert(ep_trace_ns(trace, 0, UINT64_MAX) == INT64_MAX);
	ck_assert(ep_trace_ns(trace, UINT64_MAX, 0) == INT64_MIN);
	ck_assert_uint_eq(ep_trace_realtime(trace, 0), 77 * SECOND - 10000);
}
END_TEST

/* ---- modules by time ---- */

START_TEST(an_address_is_looked_up_by_time)
{
	build_arena_module(arena, "/old", 0x1000, 0x2000, 0, NULL, 0);
	build_arena_module(arena, "/new", 0x1800, 0x2800, 0, NULL, 0);
	build_arena_module_at(arena, 0)->load_tsc = 100;
	build_arena_module_at(arena, 0)->unload_tsc = 200;
	build_arena_module_at(arena, 1)->load_tsc = 300;
	ck_assert_int_eq(read_arena(), EP_OK);
	const struct ep_trace_module *old = &trace->modules[0], *new = &trace->modules[1];

	ck_assert_ptr_eq(ep_trace_module_at(trace, 0x1900, 150), old);
	ck_assert_ptr_eq(ep_trace_module_at(trace, 0x1900, 350), new);
	ck_assert_ptr_eq(ep_trace_module_at(trace, 0x1900, 0), new);
	/* Loaded, but not seen yet. */
	ck_assert_ptr_eq(ep_trace_module_at(trace, 0x1900, 250), new);
	/* Its destructors run while it goes. */
	ck_assert_ptr_eq(ep_trace_module_at(trace, 0x1100, 201), old);
	ck_assert_ptr_null(ep_trace_module_at(trace, 0x2800, 350));
	ck_assert_ptr_null(ep_trace_module_at(trace, 0xfff, 150));
}
END_TEST

static TCase *cases(const char *name)
{
	TCase *tests = tcase_create(name);

	tcase_add_checked_fixture(tests, setup, teardown);
	return tests;
}

static TCase *whole_arenas(void)
{
	TCase *tests = cases("whole");

	tcase_add_test(tests, a_whole_arena_is_read_without_a_warning);
	tcase_add_test(tests, arguments_are_separated_by_blanks_and_fit_to_be_shown);
	tcase_add_test(tests, a_threads_name_steers_no_terminal);
	tcase_add_test(tests, larger_entries_of_a_later_minor_are_taken_by_their_known_part);
	tcase_add_test(tests, sections_of_an_unknown_type_are_ignored);
	tcase_add_test(tests, another_major_is_refused);
	tcase_add_test(tests, an_address_is_looked_up_by_time);
	return tests;
}

static TCase *damaged_arenas(void)
{
	TCase *tests = cases("damaged");

	tcase_add_loop_test(tests, a_section_that_is_wrong_is_dropped_and_the_others_kept, 0,
			    sizeof(faults) / sizeof(faults[0]));
	tcase_add_test(tests, without_a_first_page_the_blocks_are_kept);
	tcase_add_test(tests, without_a_first_page_and_blocks_there_is_nothing);
	tcase_add_test(tests, an_entry_with_a_reserved_field_set_is_left_out);
	tcase_add_test(tests, a_load_map_whose_head_lies_keeps_its_valid_entries);
	tcase_add_test(tests, a_path_outside_of_its_section_is_empty);
	tcase_add_test(tests, a_thread_that_is_there_twice_is_kept_once);
	tcase_add_test(tests, a_thread_in_an_unknown_state_is_left_out);
	tcase_add_test(tests, every_truncation_ends_in_an_answer);
	tcase_add_test(tests, every_byte_of_the_header_may_be_wrong);
	tcase_add_test(tests, every_byte_of_the_sections_may_be_wrong);
	return tests;
}

static TCase *blocks(void)
{
	TCase *tests = cases("blocks");

	tcase_add_test(tests, lost_blocks_show_in_the_sequence);
	tcase_add_test(tests, every_bit_of_a_block_header_counts);
	tcase_add_test(tests, torn_text_and_entering_blocks_are_told_apart);
	tcase_add_test(tests, blocks_of_an_earlier_generation_are_foreign_not_torn);
	tcase_add_test(tests, a_block_that_was_copied_elsewhere_does_not_count);
	tcase_add_test(tests, of_two_blocks_with_one_number_the_later_is_kept);
	tcase_add_test(tests, a_reused_ring_gives_each_thread_its_own_blocks);
	tcase_add_test(tests, a_block_that_makes_no_sense_is_left_out_though_its_check_holds);
	tcase_add_test(tests, holes_are_counted_but_not_the_unused_end);
	tcase_add_test(tests, pages_that_were_not_saved_are_lost_blocks_not_torn_ones);
	return tests;
}

static TCase *clocks(void)
{
	TCase *tests = cases("clock");

	tcase_add_test(tests, the_rate_comes_from_the_anchors_within_its_bound);
	tcase_add_test(tests, an_anchor_that_was_being_written_is_not_used);
	tcase_add_test(tests, a_counter_that_stood_still_is_told);
	tcase_add_test(tests, without_anchors_the_stated_rate_is_taken);
	tcase_add_test(tests, a_clock_that_makes_no_sense_is_unknown);
	tcase_add_test(tests, times_far_away_saturate);
	return tests;
}

int main(void)
{
	Suite *suite = suite_create("trace");

	suite_add_tcase(suite, whole_arenas());
	suite_add_tcase(suite, damaged_arenas());
	suite_add_tcase(suite, blocks());
	suite_add_tcase(suite, clocks());
	return ep_test_main(suite);
}
