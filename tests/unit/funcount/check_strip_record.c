/* SPDX-License-Identifier: BSD-2-Clause */
/* check_strip_record.c: patches in a file, and the very bytes back. */
#include "main.h"

#include <string.h>

#include "build_elf.h"
#include "funcount/strip/strip_record.h"

static uint8_t *file, *made;
static size_t file_size, made_size, code; /* where the code lies */
static struct ep_strip_patches patches;

static void setup(void)
{
	uint8_t bytes[64];
	struct build_elf elf;
	Elf64_Ehdr head;
	Elf64_Shdr section;
	unsigned text;

	for (unsigned i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)(0x40 + i);
	build_elf_init(&elf);
	text = build_elf_section(&elf, ".text", SHT_PROGBITS, SHF_ALLOC, 0x1000, bytes,
				 sizeof bytes);
	file = build_elf_finish(&elf, &file_size);
	build_elf_deinit(&elf);
	memcpy(&head, file, sizeof head);
	memcpy(&section, file + head.e_shoff + text * sizeof section, sizeof section);
	code = section.sh_offset;
}

static void teardown(void)
{
	free(file);
	free(made);
	made = NULL;
	ep_array_deinit(&patches);
}

static void patch(size_t at, uint8_t size, bool jump)
{
	struct ep_strip_patch one = {.offset = code + at, .size = size, .jump = jump};

	memcpy(one.before, file + code + at, size);
	ep_array_push(&patches, one);
}

static int write_patched(void)
{
	return ep_strip_write(&made, &made_size, file, file_size, &patches, NULL);
}

static int restore(size_t size, uint8_t **back, size_t *back_size)
{
	return ep_strip_restore(back, back_size, made, size, NULL);
}

START_TEST(the_very_bytes_come_back)
{
	uint8_t *back;
	size_t size;

	patch(40, 5, true);
	patch(0, 5, false);
	patch(8, 6, false);
	ck_assert_int_eq(write_patched(), 0);
	ck_assert_int_eq(restore(made_size, &back, &size), 0);
	ck_assert_uint_eq(size, file_size);
	ck_assert_mem_eq(back, file, size);
	free(back);
}
END_TEST

START_TEST(a_call_becomes_nothing_and_a_jump_a_return)
{
	/* SDM, NOP: the multi-byte form of five bytes. */
	static const uint8_t nop[] = {0x0f, 0x1f, 0x44, 0x00, 0x00};

	patch(3, 5, false);
	patch(20, 5, true);
	ck_assert_int_eq(write_patched(), 0);
	ck_assert_mem_eq(made + code + 3, nop, 5);
	ck_assert_uint_eq(made[code + 20], 0xc3);
	ck_assert_mem_eq(made + code, file + code, 3);
	ck_assert_mem_eq(made + code + 8, file + code + 8, 12);
	ck_assert_mem_eq(made + code + 25, file + code + 25, 39);
}
END_TEST

START_TEST(patches_that_overlap_are_refused)
{
	patch(3, 5, false);
	patch(7, 5, false);
	ck_assert_int_eq(write_patched(), EP_E_CORRUPT);
	ck_assert_ptr_null(made);
}
END_TEST

START_TEST(a_file_that_was_not_stripped_has_no_record)
{
	uint8_t *back = NULL;
	size_t size;

	ck_assert_int_eq(ep_strip_restore(&back, &size, file, file_size, NULL), EP_END);
	ck_assert_ptr_null(back);
}
END_TEST

START_TEST(code_that_was_changed_since_is_refused)
{
	uint8_t *back = NULL;
	size_t size;

	patch(3, 5, false);
	ck_assert_int_eq(write_patched(), 0);
	made[code + 4] ^= 1;
	ck_assert_int_eq(restore(made_size, &back, &size), EP_E_MISMATCH);
	ck_assert_ptr_null(back);
}
END_TEST

START_TEST(every_truncation_and_flipped_bit_is_refused_or_harmless)
{
	uint8_t *back;
	size_t size;

	patch(3, 5, false);
	ck_assert_int_eq(write_patched(), 0);
	for (size_t cut = 0; cut < made_size; cut++)
		ck_assert_int_ne(restore(cut, &back, &size), 0);
	/* From the record on, but for what pads it. */
	for (size_t at = file_size; at < made_size; at++) {
		made[at] ^= 4;
		if (!restore(made_size, &back, &size)) {
			ck_assert_uint_eq(size, file_size);
			ck_assert_mem_eq(back, file, size);
			free(back);
		}
		made[at] ^= 4;
	}
}
END_TEST

START_TEST(no_section_headers_are_refused)
{
	Elf64_Ehdr head;

	patch(3, 5, false);
	memcpy(&head, file, sizeof head);
	head.e_shoff = 0;
	memcpy(file, &head, sizeof head);
	ck_assert_int_eq(write_patched(), EP_E_FORMAT);
	head.e_shoff = file_size - 8;
	memcpy(file, &head, sizeof head);
	ck_assert_int_eq(write_patched(), EP_E_CORRUPT);
	ck_assert_ptr_null(made);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("strip_record");
	TCase *tcase = tcase_create("record");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, the_very_bytes_come_back);
	tcase_add_test(tcase, a_call_becomes_nothing_and_a_jump_a_return);
	tcase_add_test(tcase, patches_that_overlap_are_refused);
	tcase_add_test(tcase, a_file_that_was_not_stripped_has_no_record);
	tcase_add_test(tcase, code_that_was_changed_since_is_refused);
	tcase_add_test(tcase, every_truncation_and_flipped_bit_is_refused_or_harmless);
	tcase_add_test(tcase, no_section_headers_are_refused);
	suite_add_tcase(suite, tcase);
	return ep_test_main(suite);
}
