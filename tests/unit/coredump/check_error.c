/* SPDX-License-Identifier: BSD-2-Clause */
/* check_error.c: messages are one line, whole, and never overrun. */
#include "tests/unit/main.h"

#include <string.h>

#include "coredump/util/error.h"

START_TEST(fail_yields_the_code_and_fills_the_detail)
{
	struct ep_err err = {0};

	ck_assert_int_eq(ep_fail(&err, EP_E_CORRUPT, 77, "%s: %d", "core", 3), EP_E_CORRUPT);
	ck_assert_int_eq(err.code, EP_E_CORRUPT);
	ck_assert_uint_eq(err.offset, 77);
	ck_assert_str_eq(err.text, "core: 3");
}
END_TEST

START_TEST(nobody_needs_the_detail)
{
	ck_assert_int_eq(ep_fail(NULL, EP_E_IO, 0, "%d", 1), EP_E_IO);
	ep_err_prefix(NULL, "x");
}
END_TEST

START_TEST(a_hostile_name_cannot_forge_a_line)
{
	struct ep_err err;

	ep_err_set(&err, EP_E_IO, 0, "%s", "a\nb\x1b[2Jc\x7f");
	ck_assert_str_eq(err.text, "a?b?[2Jc?");
	ep_err_prefix(&err, "%s", "x\ny");
	ck_assert_str_eq(err.text, "x?y: a?b?[2Jc?");
	ep_err_set(&err, EP_E_IO, 0, "%s",
		   "\xc3\xa4\xc2\x9b"
		   "31m\x9b\xff");
	ck_assert_str_eq(err.text, "\xc3\xa4??31m??");
}
END_TEST

START_TEST(a_long_text_is_cut_inside_its_array)
{
	struct ep_err err;
	char text[2000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	ep_err_set(&err, EP_E_IO, 0, "%s", text);
	ck_assert_uint_eq(strlen(err.text), sizeof(err.text) - 1);
	ep_err_prefix(&err, "%s", text);
	ck_assert_uint_eq(strlen(err.text), sizeof(err.text) - 1);
	ep_err_set(&err, EP_E_IO, 0, "reason");
	ep_err_prefix(&err, "%s", text);
	ck_assert_uint_eq(strlen(err.text), sizeof(err.text) - 1);
}
END_TEST

START_TEST(every_code_has_words_of_its_own)
{
	static const int codes[] = {
#define CODE(name, value, text) name,
		EP_ERRORS(CODE)
#undef CODE
	};
	size_t count = sizeof(codes) / sizeof(codes[0]);

	for (size_t i = 0; i < count; i++) {
		ck_assert_int_lt(codes[i], 0);
		for (size_t k = 0; k < i; k++)
			ck_assert_str_ne(ep_error_text(codes[i]), ep_error_text(codes[k]));
	}
	ck_assert_str_eq(ep_error_text(-12345), "unknown error");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("error");
	TCase *test = tcase_create("error");

	tcase_add_test(test, fail_yields_the_code_and_fills_the_detail);
	tcase_add_test(test, nobody_needs_the_detail);
	tcase_add_test(test, a_hostile_name_cannot_forge_a_line);
	tcase_add_test(test, a_long_text_is_cut_inside_its_array);
	tcase_add_test(test, every_code_has_words_of_its_own);
	suite_add_tcase(suite, test);
	return ep_test_main(suite);
}
