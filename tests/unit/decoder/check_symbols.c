/* SPDX-License-Identifier: BSD-2-Clause */
/* check_symbols.c: ELF files that the test writes itself → functions. */
#include "tests/unit/main.h"

#include <string.h>

#include "decoder/symbols/frames_table.h"
#include "decoder/symbols/symbols.h"
#include "tests/unit/build_elf.h"

#define TEXT      0x1000
#define TEXT_SIZE 0x1000
#define GLOBAL    ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)
#define WEAK      ELF64_ST_INFO(STB_WEAK, STT_FUNC)
#define LOCAL     ELF64_ST_INFO(STB_LOCAL, STT_FUNC)
#define LABEL     ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE)
#define SOURCE    ELF64_ST_INFO(STB_LOCAL, STT_FILE)

static struct build_elf builder;
static uint8_t *bytes;
static size_t size;
static Elf *elf;
static struct ep_symbols *symbols;
static struct ep_err err;
static unsigned text;

static void setup(void)
{
	elf_version(EV_CURRENT);
	build_elf_init(&builder);
	text = build_elf_section(&builder, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT,
				 NULL, TEXT_SIZE);
}

static void function(const char *name, uint64_t start, uint64_t length, unsigned char info)
{
	build_elf_symbol(&builder, name, start, length, info, (uint16_t)text);
}

static void source(const char *name)
{
	build_elf_symbol(&builder, name, 0, 0, SOURCE, SHN_ABS);
}

static void frames(const uint64_t (*ranges)[2], size_t count)
{
	uint8_t frame[1024];
	size_t length = build_eh_frame(frame, 0x4000, ranges, count);

	build_elf_section(&builder, ".eh_frame", SHT_PROGBITS, SHF_ALLOC, 0x4000, frame, length);
}

static void finish(void)
{
	bytes = build_elf_finish(&builder, &size);
	elf = elf_memory((char *)bytes, size);
	ck_assert_ptr_nonnull(elf);
	symbols = ep_symbols_create(elf, NULL, &err);
}

static void teardown(void)
{
	ep_symbols_destroy(symbols);
	symbols = NULL;
	elf_end(elf);
	free(bytes);
	build_elf_deinit(&builder);
}

static void expect(uint64_t address, const char *name, uint64_t start, uint64_t end)
{
	const struct ep_symbol *found = ep_symbols_find(symbols, address);

	if (!name && start == end) {
		ck_assert_msg(!found, "0x%lx is %s", address, found ? found->name : "");
		return;
	}
	ck_assert_msg(found, "0x%lx is unknown, wanted %s", address, name);
	if (name)
		ck_assert_str_eq(found->name, name);
	else
		ck_assert_ptr_null(found->name);
	ck_assert_uint_eq(found->start, start);
	ck_assert_uint_eq(found->end, end);
}

START_TEST(bounds_are_exact)
{
	function("first", 0x1010, 0x20, GLOBAL);
	function("second", 0x1040, 0x10, GLOBAL);
	finish();
	expect(0x100f, NULL, 0, 0);
	expect(0x1010, "first", 0x1010, 0x1030);
	expect(0x102f, "first", 0x1010, 0x1030);
	expect(0x1030, NULL, 0, 0);
	expect(0x1040, "second", 0x1040, 0x1050);
	expect(0x1050, NULL, 0, 0);
	expect(0, NULL, 0, 0);
	expect(UINT64_MAX, NULL, 0, 0);
}
END_TEST

START_TEST(a_size_beyond_its_section_is_cut)
{
	function("last", 0x1ff0, UINT64_MAX, GLOBAL);
	finish();
	expect(0x1fff, "last", 0x1ff0, 0x2000);
	expect(0x2000, NULL, 0, 0);
}
END_TEST

START_TEST(the_best_alias_wins_whatever_the_order)
{
	static const char *const names[] = {"__GI_open", "__open64", "open", "open_long_name",
					    "__libc_open"};
	static const int order[][5] = {
		{0, 1, 2, 3, 4}, {4, 3, 2, 1, 0}, {2, 0, 4, 1, 3}, {3, 4, 0, 2, 1}};

	for (size_t i = 0; i < 5; i++)
		function(names[order[_i][i]], 0x1100, 0x10, GLOBAL);
	finish();
	expect(0x1100, "open", 0x1100, 0x1110);
}
END_TEST

START_TEST(global_beats_weak_beats_local)
{
	function("a_local", 0x1100, 0x10, LOCAL);
	function("a_weak", 0x1100, 0x10, WEAK);
	function("__the_global_name", 0x1100, 0x10, GLOBAL);
	function("b_local", 0x1200, 0x10, LOCAL);
	function("__b_weak", 0x1200, 0x10, WEAK);
	finish();
	expect(0x1100, "__the_global_name", 0x1100, 0x1110);
	expect(0x1200, "__b_weak", 0x1200, 0x1210);
}
END_TEST

START_TEST(nested_symbols_answer_the_innermost)
{
	function("outer", 0x1100, 0x100, GLOBAL);
	function("inner", 0x1140, 0x20, GLOBAL);
	function("innermost", 0x1148, 0x8, GLOBAL);
	function("overlapping", 0x11f0, 0x20, GLOBAL);
	finish();
	expect(0x1100, "outer", 0x1100, 0x1200);
	expect(0x1140, "inner", 0x1140, 0x1160);
	expect(0x1148, "innermost", 0x1148, 0x1150);
	expect(0x1150, "inner", 0x1140, 0x1160);
	expect(0x1160, "outer", 0x1100, 0x1200);
	expect(0x11f0, "overlapping", 0x11f0, 0x1210);
	expect(0x120f, "overlapping", 0x11f0, 0x1210);
}
END_TEST

START_TEST(an_assembly_label_extends_to_the_next_symbol)
{
	function("label", 0x1100, 0, LABEL);
	function("sized", 0x1140, 0x10, GLOBAL);
	function("unsized", 0x1180, 0, GLOBAL);
	function("inside", 0x1144, 0, LABEL);
	finish();
	expect(0x113f, "label", 0x1100, 0x1140);
	expect(0x1145, "sized", 0x1140, 0x1150);
	expect(0x1150, NULL, 0, 0);
	expect(0x1fff, "unsized", 0x1180, 0x2000);
}
END_TEST

START_TEST(data_and_undefined_symbols_are_not_functions)
{
	unsigned data = build_elf_section(&builder, ".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE,
					  0x3000, NULL, 64);

	build_elf_symbol(&builder, "object", 0x3000, 8, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
			 (uint16_t)data);
	build_elf_symbol(&builder, "undefined", 0x1100, 8, GLOBAL, SHN_UNDEF);
	build_elf_symbol(&builder, "absolute", 0x1100, 8, GLOBAL, SHN_ABS);
	build_elf_symbol(&builder, "misplaced", 0x3000, 8, GLOBAL, (uint16_t)data);
	finish();
	expect(0x3000, NULL, 0, 0);
	expect(0x1100, NULL, 0, 0);
}
END_TEST

START_TEST(a_cold_part_answers_its_function)
{
	function("work", 0x1100, 0x40, GLOBAL);
	function("work.cold", 0x1800, 0x20, LOCAL);
	function("work.part.0", 0x1200, 0x40, LOCAL);
	function("work.part.0.cold", 0x1820, 0x20, LOCAL);
	function("gone.cold", 0x1840, 0x20, LOCAL);
	finish();
	expect(0x1800, "work", 0x1100, 0x1140);
	expect(0x1810, "work", 0x1100, 0x1140);
	expect(0x1210, "work.part.0", 0x1200, 0x1240);
	expect(0x1830, "work.part.0", 0x1200, 0x1240);
	expect(0x1840, "gone.cold", 0x1840, 0x1860);
}
END_TEST

START_TEST(a_cold_part_belongs_to_its_own_object_file)
{
	source("a.c");
	function("helper", 0x1100, 0x10, LOCAL);
	function("helper.cold", 0x1800, 0x10, LOCAL);
	source("b.c");
	function("helper", 0x1200, 0x10, LOCAL);
	function("helper.cold", 0x1810, 0x10, LOCAL);
	source("c.c");
	function("helper.cold", 0x1820, 0x10, LOCAL);
	finish();
	expect(0x1800, "helper", 0x1100, 0x1110);
	expect(0x1810, "helper", 0x1200, 0x1210);
	/* Two helpers, neither of this file: it cannot be told. */
	expect(0x1820, "helper.cold", 0x1820, 0x1830);
}
END_TEST

START_TEST(a_local_parent_beats_a_global_of_the_same_name)
{
	source("a.c");
	function("helper", 0x1200, 0x10, LOCAL);
	function("helper.cold", 0x1810, 0x10, LOCAL);
	function("helper", 0x1100, 0x10, GLOBAL);
	finish();
	expect(0x1810, "helper", 0x1200, 0x1210);
}
END_TEST

START_TEST(eh_frame_gives_bounds_without_symbols)
{
	static const uint64_t ranges[][2] = {{0x1100, 0x40}, {0x1140, 0x10}, {0x1300, 0x20}};

	function("named", 0x1300, 0, LABEL);
	frames(ranges, 3);
	finish();
	expect(0x1100, NULL, 0x1100, 0x1140);
	expect(0x113f, NULL, 0x1100, 0x1140);
	expect(0x1140, NULL, 0x1140, 0x1150);
	expect(0x1150, NULL, 0, 0);
	/* A label takes its end from there. */
	expect(0x1310, "named", 0x1300, 0x1320);
	expect(0x1320, NULL, 0, 0);
	ck_assert_int_eq(err.code, EP_OK);
}
END_TEST

START_TEST(every_truncated_eh_frame_keeps_what_was_before)
{
	static const uint64_t ranges[][2] = {{0x1100, 0x40}, {0x1140, 0x10}};
	uint8_t frame[256];
	size_t length = build_eh_frame(frame, 0x4000, ranges, 2);

	for (size_t cut = 0; cut <= length; cut++) {
		uint8_t *copy = malloc(cut + 1); /* ASan sees an overrun */
		struct ep_frame_range *out = NULL;
		size_t count = 99;
		int code;

		memcpy(copy, frame, cut);
		code = ep_frames_table_read(&out, &count, copy, cut, 0x4000, &err);
		ck_assert_uint_le(count, 2);
		ck_assert(code == EP_OK || code == EP_E_CORRUPT);
		for (size_t i = 0; i < count; i++)
			ck_assert_uint_eq(out[i].start, ranges[i][0]);
		if (cut == length)
			ck_assert_uint_eq(count, 2);
		free(out);
		free(copy);
	}
}
END_TEST

START_TEST(strings_without_an_end_are_told)
{
	function("fine", 0x1100, 0x10, GLOBAL);
	function("cut", 0x1200, 0x10, GLOBAL);
	builder.strings[builder.strings_size - 1] = 'x';
	finish();
	expect(0x1100, "fine", 0x1100, 0x1110);
	expect(0x1200, NULL, 0, 0);
	ck_assert_int_eq(err.code, EP_E_CORRUPT);
}
END_TEST

/* A file with something of everything. */
static void furnish(void)
{
	static const uint64_t ranges[][2] = {{0x1300, 0x40}, {0x1340, 0x10}};

	source("a.c");
	function("helper", 0x1100, 0x10, LOCAL);
	function("helper.cold", 0x1800, 0x10, LOCAL);
	function("outer", 0x1200, 0x80, GLOBAL);
	function("inner", 0x1220, 0x20, GLOBAL);
	function("label", 0x1400, 0, LABEL);
	frames(ranges, 2);
}

/* Reads it whatever it is, and asks everywhere. */
static void survive(const uint8_t *file, size_t length)
{
	char *copy = malloc(length + 1);
	struct ep_symbols *out;
	Elf *broken;

	memcpy(copy, file, length);
	broken = elf_memory(copy, length);
	if (broken && elf_kind(broken) == ELF_K_ELF) {
		out = ep_symbols_create(broken, NULL, NULL);
		for (uint64_t at = 0xff0; at < 0x2010; at += 7) {
			const struct ep_symbol *found = ep_symbols_find(out, at);

			ck_assert(!found || found->start < found->end);
		}
		ep_symbols_destroy(out);
	}
	elf_end(broken);
	free(copy);
}

START_TEST(every_truncation_is_survived)
{
	furnish();
	finish();
	for (size_t cut = 0; cut < size; cut += cut < 80 ? 1 : 13)
		survive(bytes, cut);
}
END_TEST

START_TEST(every_flipped_byte_is_survived)
{
	static const uint8_t masks[] = {0xff, 0x01, 0x80};
	uint64_t headers;

	furnish();
	finish();
	memcpy(&headers, bytes + offsetof(Elf64_Ehdr, e_shoff), 8);
	for (size_t at = 4; at < size; at++) {
		/* The code itself is never read. */
		if (at >= 64 && at < 64 + TEXT_SIZE)
			continue;
		bytes[at] ^= masks[_i];
		survive(bytes, size);
		bytes[at] ^= masks[_i];
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("symbols");
	TCase *tests = tcase_create("symbols");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, bounds_are_exact);
	tcase_add_test(tests, a_size_beyond_its_section_is_cut);
	tcase_add_loop_test(tests, the_best_alias_wins_whatever_the_order, 0, 4);
	tcase_add_test(tests, global_beats_weak_beats_local);
	tcase_add_test(tests, nested_symbols_answer_the_innermost);
	tcase_add_test(tests, an_assembly_label_extends_to_the_next_symbol);
	tcase_add_test(tests, data_and_undefined_symbols_are_not_functions);
	tcase_add_test(tests, a_cold_part_answers_its_function);
	tcase_add_test(tests, a_cold_part_belongs_to_its_own_object_file);
	tcase_add_test(tests, a_local_parent_beats_a_global_of_the_same_name);
	tcase_add_test(tests, eh_frame_gives_bounds_without_symbols);
	tcase_add_test(tests, every_truncated_eh_frame_keeps_what_was_before);
	tcase_add_test(tests, strings_without_an_end_are_told);
	tcase_add_test(tests, every_truncation_is_survived);
	tcase_add_loop_test(tests, every_flipped_byte_is_survived, 0, 3);
	suite_add_tcase(suite, tests);
	return ep_test_main(suite);
}
