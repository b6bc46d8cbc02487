/* SPDX-License-Identifier: BSD-2-Clause */
/* check_json.c: what is written is read back by Python's json. */
#include "tests/unit/main.h"

#include <string.h>

#include "decoder/util/json.h"
#include "coredump/util/utf8.h"

static char *text;
static size_t size;
static FILE *file;
static struct ep_json json;

static void setup(void)
{
	file = open_memstream(&text, &size);
	ep_json_init(&json, file);
}

static void teardown(void)
{
	fclose(file);
	free(text);
}

static void expect(const char *wanted)
{
	ck_assert_int_eq(ep_json_finish(&json), 0);
	ck_assert_str_eq(text, wanted);
}

START_TEST(commas_and_colons_come_by_themselves)
{
	ep_json_object(&json);
	ep_json_key(&json, "a");
	ep_json_array(&json);
	ep_json_array(&json);
	ep_json_array_end(&json);
	ep_json_uint(&json, 1);
	ep_json_object(&json);
	ep_json_object_end(&json);
	ep_json_null(&json);
	ep_json_array_end(&json);
	ep_json_key(&json, "b");
	ep_json_bool(&json, true);
	ep_json_object_end(&json);
	expect("{\"a\":[[],1,{},null],\"b\":true}");
}
END_TEST

START_TEST(a_buffer_takes_the_same)
{
	static struct ep_outbuf out;

	ep_outbuf_init(&out, file);
	for (unsigned line = 0; line < 2; line++) {
		ep_json_init_outbuf(&json, &out);
		ep_json_object(&json);
		ep_json_members(&json, "\"a\":1", 5);
		ep_json_plain_int(&json, "b", INT64_MIN);
		ep_json_plain_key(&json, "c");
		ep_json_array(&json);
		ep_json_string(&json, "\"");
		ep_json_hex(&json, 0x1f);
		ep_json_array_end(&json);
		ep_json_member_null(&json, "d");
		ep_json_object_end(&json);
		ep_json_newline(&json);
	}
	ck_assert_int_eq(ep_outbuf_finish(&out), 0);
	ck_assert_str_eq(text, "{\"a\":1,\"b\":-9223372036854775808,\"c\":[\"\\\"\",\"0x1f\"],"
			       "\"d\":null}\n{\"a\":1,\"b\":-9223372036854775808,"
			       "\"c\":[\"\\\"\",\"0x1f\"],\"d\":null}\n");
}
END_TEST

START_TEST(numbers_are_exact_at_their_ends)
{
	ep_json_array(&json);
	ep_json_uint(&json, UINT64_MAX);
	ep_json_int(&json, INT64_MIN);
	ep_json_int(&json, INT64_MAX);
	ep_json_thousandth(&json, INT64_MIN);
	ep_json_thousandth(&json, INT64_MAX);
	ep_json_thousandth(&json, -1);
	ep_json_thousandth(&json, 0);
	ep_json_thousandth(&json, 1000);
	ep_json_thousandth(&json, -999);
	ep_json_array_end(&json);
	expect("[18446744073709551615,-9223372036854775808,"
	       "9223372036854775807,-9223372036854775.808,"
	       "9223372036854775.807,-0.001,0.000,1.000,-0.999]");
}
END_TEST

START_TEST(strings_are_escaped)
{
	ep_json_array(&json);
	ep_json_string(&json, "a\"b\\c\b\t\n\v\f\r\x1b\x7f/");
	ep_json_string(&json, "\xc3\xa4\xe2\x82\xac\xf0\x9f\x8e\x89");
	ep_json_string(&json, NULL);
	ep_json_bytes(&json, "a\0b", 3);
	ep_json_array_end(&json);
	expect("[\"a\\\"b\\\\c\\b\\t\\n\\u000b\\f\\r\\u001b\\u007f/\","
	       "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x8e\x89\",null,"
	       "\"a\\u0000b\"]");
}
END_TEST

/* C1, as some terminals obey it, and the first character behind it. */
START_TEST(controls_of_two_bytes_are_escaped)
{
	ep_json_string(&json, "\xc2\x80\xc2\x9b"
			      "31m\xc2\x9f\xc2\xa0");
	expect("\"\\u0080\\u009b31m\\u009f\xc2\xa0\"");
}
END_TEST

START_TEST(bytes_that_are_not_utf8_become_the_replacement_character)
{
	static const char *const bad[] = {
		"\x80", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
		"\xff", "\xe2\x82", "\xf0\x9f\x8e",
	};
	char wanted[64] = "\"";

	ep_json_string(&json, bad[_i]);
	for (size_t i = 0; i < strlen(bad[_i]); i++)
		strcat(wanted, "\xef\xbf\xbd");
	strcat(wanted, "\"");
	expect(wanted);
}
END_TEST

/* Deterministic noise. */
static uint32_t noise(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

static void random_value(uint32_t *state, unsigned depth)
{
	uint8_t bytes[24];
	unsigned kind = noise(state) % (depth < 12 ? 9 : 6);
	unsigned count = noise(state) % 5;

	switch (kind) {
	case 0:
		ep_json_uint(&json, (uint64_t)noise(state) << 40 ^ noise(state));
		break;
	case 1:
		ep_json_int(&json, (int64_t)((uint64_t)noise(state) << 42));
		break;
	case 2:
		ep_json_thousandth(&json, (int64_t)noise(state) - 8000000);
		break;
	case 3:
		ep_json_null(&json);
		break;
	case 4:
	case 5:
		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = (uint8_t)noise(state);
		ep_json_bytes(&json, (char *)bytes, noise(state) % 25);
		break;
	case 6:
		ep_json_array(&json);
		for (unsigned i = 0; i < count; i++)
			random_value(state, depth + 1);
		ep_json_newline(&json);
		ep_json_array_end(&json);
		break;
	default:
		ep_json_object(&json);
		for (unsigned i = 0; i < count; i++) {
			char key[8];

			snprintf(key, sizeof(key), "%c%u", (char)noise(state) | 1, i);
			ep_json_key(&json, key);
			random_value(state, depth + 1);
		}
		ep_json_object_end(&json);
	}
}

START_TEST(python_reads_random_data)
{
	uint32_t state = 42;
	FILE *python = popen("python3 -m json.tool >/dev/null", "w");

	ck_assert_ptr_nonnull(python);
	ep_json_array(&json);
	for (unsigned i = 0; i < 20000; i++)
		random_value(&state, 0);
	ep_json_array_end(&json);
	ck_assert_int_eq(ep_json_finish(&json), 0);
	ck_assert_uint_gt(size, 100000);
	ck_assert_uint_eq(fwrite(text, 1, size, python), size);
	ck_assert_int_eq(pclose(python), 0);
}
END_TEST

START_TEST(a_full_disk_is_told_at_the_end)
{
	FILE *full = fopen("/dev/full", "w");

	ck_assert_ptr_nonnull(full);
	ep_json_init(&json, full);
	ep_json_string(&json, "x");
	ck_assert_int_eq(ep_json_finish(&json), -1);
	fclose(full);
}
END_TEST

START_TEST(nesting_beyond_the_limit_fails)
{
	for (unsigned i = 0; i < 100; i++)
		ep_json_array(&json);
	for (unsigned i = 0; i < 100; i++)
		ep_json_array_end(&json);
	ck_assert_int_eq(ep_json_finish(&json), -1);
}
END_TEST

START_TEST(escaped_names_are_utf8_without_controls)
{
	char *copy = ep_utf8_escape("ok\xff\x1b[31m\xc2\x9b\xc3\xa4\n", 14);

	ck_assert_str_eq(copy, "ok\\xff\\x1b[31m\\xc2\\x9b\xc3\xa4\\x0a\\x00");
	free(copy);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("json");
	TCase *tests = tcase_create("json");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, commas_and_colons_come_by_themselves);
	tcase_add_test(tests, a_buffer_takes_the_same);
	tcase_add_test(tests, numbers_are_exact_at_their_ends);
	tcase_add_test(tests, strings_are_escaped);
	tcase_add_test(tests, controls_of_two_bytes_are_escaped);
	tcase_add_loop_test(tests, bytes_that_are_not_utf8_become_the_replacement_character, 0, 8);
	tcase_add_test(tests, python_reads_random_data);
	tcase_add_test(tests, a_full_disk_is_told_at_the_end);
	tcase_add_test(tests, nesting_beyond_the_limit_fails);
	tcase_add_test(tests, escaped_names_are_utf8_without_controls);
	suite_add_tcase(suite, tests);
	return ep_test_main(suite);
}
