/* SPDX-License-Identifier: BSD-2-Clause */
/* check_image.c: an image has what the source had, page by page, and is never larger than the
 * source can account for. */
#include "tests/unit/main.h"

#include <string.h>
#include <unistd.h>

#include "coredump/kinds/open.h"
#include "coredump/snapshot/image.h"
#include "tests/unit/build_core.h"

static struct ep_source *source;
static struct ep_root_found found;
static struct ep_image image;
static struct ep_err err;

static int image_of(struct build_core *core)
{
	int rc;

	ck_assert_msg(ep_source_open_core(&source, build_core_path(core), &err) == EP_OK, "%s",
		      err.text);
	rc = ep_root_find(source, &found, &err);
	ck_assert_msg(rc == EP_OK, "%s", err.text);
	rc = ep_image_read(&image, source, &found, &err);
	ep_source_close(source);
	return rc;
}

START_TEST(an_image_is_the_arena_byte_for_byte)
{
	struct build_arena *arena;
	struct build_core *core = build_core_usual(&arena, 4);

	ck_assert_int_eq(image_of(core), EP_OK);
	ck_assert_uint_eq(image.size, arena->committed);
	ck_assert_mem_eq(image.bytes, arena->bytes, image.size);
	ck_assert_uint_eq(image.pages_missing, 0);
	ck_assert_uint_eq(image.address, arena->arena->root.self);
	ck_assert_uint_eq(image.how, EP_FOUND_SEGMENT);
	ck_assert(ep_image_has(&image, 0, image.size));
	ck_assert(!ep_image_has(&image, 0, image.size + 1));
	ck_assert(!ep_image_has(&image, UINT64_MAX, 2));
	ck_assert_uint_eq((uintptr_t)image.bytes % 4096, 0);
	ep_image_deinit(&image);
	build_core_destroy(core);
	build_arena_destroy(arena);
}
END_TEST

START_TEST(a_truncated_arena_keeps_its_beginning)
{
	struct build_arena *arena;
	struct build_core *core = build_core_usual(&arena, 4);
	Elf64_Phdr *header = build_core_phdr(core, 1);
	size_t left = 3 * 4096 + 100, pages = arena->committed / 4096;

	core->size = header->p_offset + left;
	ck_assert_int_eq(image_of(core), EP_OK);
	ck_assert_uint_eq(image.size, arena->committed);
	ck_assert_uint_eq(image.pages_missing, pages - 3);
	ck_assert_mem_eq(image.bytes, arena->bytes, 3 * 4096);
	for (size_t i = 0; i < pages; i++)
		ck_assert_uint_eq(image.present[i], i < 3);
	for (size_t i = 3 * 4096; i < image.size; i++)
		ck_assert_uint_eq(image.bytes[i], 0);
	ck_assert(ep_image_has(&image, 0, 3 * 4096));
	ck_assert(!ep_image_has(&image, 3 * 4096 - 1, 2));
	ep_image_deinit(&image);
	build_core_destroy(core);
	build_arena_destroy(arena);
}
END_TEST

START_TEST(a_hole_in_the_arena_is_missing_and_the_rest_stays)
{
	struct build_arena *arena = build_arena_create(NULL);
	uint64_t at = arena->arena->root.self;
	struct build_core *core = build_core_create();

	build_core_memory(core, at, arena->bytes, 8192, 8192, PF_R);
	build_core_memory(core, at + 12288, arena->bytes + 12288, arena->committed - 12288,
			  arena->committed - 12288, PF_R);
	build_core_finish(core);
	ck_assert_int_eq(image_of(core), EP_OK);
	ck_assert_uint_eq(image.size, arena->committed);
	ck_assert_uint_eq(image.pages_missing, 1);
	ck_assert_uint_eq(image.present[2], 0);
	ck_assert_mem_eq(image.bytes + 12288, arena->bytes + 12288, image.size - 12288);
	ep_image_deinit(&image);
	build_core_destroy(core);
	build_arena_destroy(arena);
}
END_TEST

START_TEST(a_committed_that_lies_is_not_believed)
{
	static const uint64_t lies[] = {0, 1, 4095, 4097, UINT64_MAX, UINT64_C(1) << 46};
	struct build_arena *arena;
	struct build_core *core = build_core_usual(&arena, 1);
	struct ep_arena *head = (void *)(core->bytes + build_core_phdr(core, 1)->p_offset);

	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		head->committed = lies[i];
		ck_assert_int_eq(image_of(core), EP_OK);
		ck_assert_uint_eq(image.size, arena->committed);
		ep_image_deinit(&image);
	}
	build_core_destroy(core);
	build_arena_destroy(arena);
}
END_TEST

START_TEST(an_arena_of_terabytes_takes_what_the_file_has)
{
	struct build_arena *arena;
	struct build_core *core = build_core_usual(&arena, 1);
	struct ep_arena *head = (void *)(core->bytes + build_core_phdr(core, 1)->p_offset);

	head->root.arena_size = head->committed = UINT64_C(1) << 42;
	build_root_seal(&head->root);
	build_core_phdr(core, 1)->p_memsz = UINT64_C(1) << 42;
	build_core_phdr(core, 2)->p_type = PT_NULL;
	ck_assert_int_eq(image_of(core), EP_OK);
	ck_assert_uint_le(image.size, 64u << 20);
	ck_assert_mem_eq(image.bytes + 4096, arena->bytes + 4096, arena->committed - 4096);
	ck_assert(!ep_image_has(&image, arena->committed, 1));
	/* all that was promised is counted */
	ck_assert_uint_eq(image.pages_missing, (UINT64_C(1) << 30) - arena->committed / 4096);
	ep_image_deinit(&image);
	build_core_destroy(core);
	build_arena_destroy(arena);
}
END_TEST

START_TEST(bytes_of_every_length_are_taken_or_refused)
{
	struct build_arena *arena = build_arena_create(NULL);

	for (size_t size = 0; size < 3 * 4096; size += size < 300 ? 1 : 61) {
		int rc = ep_image_from_bytes(&image, arena->bytes, size, &err);

		ck_assert_int_eq(rc, size < sizeof(struct ep_root) ? EP_E_TRUNCATED : EP_OK);
		if (rc)
			continue;
		ck_assert_uint_eq(image.size, size);
		ck_assert_mem_eq(image.bytes, arena->bytes, size);
		ck_assert(ep_image_has(&image, 0, size));
		ep_image_deinit(&image);
	}
	build_arena_destroy(arena);
}
END_TEST

START_TEST(bytes_with_a_bad_root_are_refused)
{
	struct build_arena *arena = build_arena_create(NULL);

	for (size_t i = 0; i < sizeof(struct ep_root); i++) {
		arena->bytes[i] ^= 0xff;
		ck_assert_int_lt(ep_image_from_bytes(&image, arena->bytes, 4096, &err), 0);
		arena->bytes[i] ^= 0xff;
	}
	arena->arena->root.major++;
	build_arena_seal(arena);
	ck_assert_int_eq(ep_image_from_bytes(&image, arena->bytes, 4096, &err), EP_E_VERSION);
	build_arena_destroy(arena);
}
END_TEST

START_TEST(an_empty_image_can_be_thrown_away)
{
	struct ep_image none = {0};

	ep_image_deinit(&none);
	ck_assert(!ep_image_has(&none, 0, 1));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("image");
	TCase *test = tcase_create("image");

	tcase_add_test(test, an_image_is_the_arena_byte_for_byte);
	tcase_add_test(test, a_truncated_arena_keeps_its_beginning);
	tcase_add_test(test, a_hole_in_the_arena_is_missing_and_the_rest_stays);
	tcase_add_test(test, a_committed_that_lies_is_not_believed);
	tcase_add_test(test, an_arena_of_terabytes_takes_what_the_file_has);
	tcase_add_test(test, bytes_of_every_length_are_taken_or_refused);
	tcase_add_test(test, bytes_with_a_bad_root_are_refused);
	tcase_add_test(test, an_empty_image_can_be_thrown_away);
	suite_add_tcase(suite, test);
	return ep_test_main(suite);
}
