/* SPDX-License-Identifier: BSD-2-Clause */
/* check_protobuf.c: bytes as protobuf.dev's "Encoding" has them, and as a decoder finds them. */
#include "decoder/util/protobuf.h"

#include "tests/unit/main.h"

static struct ep_protobuf message;

static void teardown(void)
{
	ep_protobuf_deinit(&message);
}

static void expect(const char *bytes, size_t size)
{
	ck_assert_uint_eq(message.used, size);
	ck_assert_mem_eq(message.bytes, bytes, size);
	ep_protobuf_reset(&message);
}

#define EXPECT(bytes) expect(bytes, sizeof(bytes) - 1)

START_TEST(fields_are_the_specifications_examples)
{
	ep_protobuf_uint(&message, 1, 150);
	EXPECT("\x08\x96\x01");
	ep_protobuf_text(&message, 2, "testing");
	EXPECT("\x12\x07testing");
	ep_protobuf_open(&message, 3);
	ep_protobuf_uint(&message, 1, 150);
	ep_protobuf_close(&message);
	EXPECT("\x1a\x03\x08\x96\x01");
	/* -2 as an int32 or int64 */
	ep_protobuf_uint(&message, 1, (uint64_t)-2);
	EXPECT("\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01");
}
END_TEST

START_TEST(numbers_of_two_bytes_and_fixed_widths)
{
	ep_protobuf_uint(&message, 16, 0);
	EXPECT("\x80\x01\x00");
	ep_protobuf_fixed64(&message, 47, UINT64_C(0x0807060504030201));
	EXPECT("\xf9\x02\x01\x02\x03\x04\x05\x06\x07\x08");
	ep_protobuf_double(&message, 44, 1);
	EXPECT("\xe1\x02\x00\x00\x00\x00\x00\x00\xf0\x3f");
}
END_TEST

START_TEST(every_number_is_read_back)
{
	for (unsigned bit = 0; bit < 64; bit++)
		for (int near = -1; near <= 1; near++) {
			uint64_t value = (UINT64_C(1) << bit) + (uint64_t)near, got = 0;

			ep_protobuf_reset(&message);
			ep_protobuf_varint(&message, value);
			for (size_t i = 0; i < message.used; i++) {
				uint8_t byte = (uint8_t)message.bytes[i];

				got |= (uint64_t)(byte & 127) << 7 * i;
				ck_assert(byte >> 7 == (i + 1 < message.used));
			}
			ck_assert_uint_eq(got, value);
		}
}
END_TEST

START_TEST(lengths_of_any_size_stand_before_what_they_measure)
{
	static const struct {
		size_t size;
		const char *head;
		size_t head_size;
	} cases[] = {{0, "\x0a\x00", 2},
		     {127, "\x0a\x7f", 2},
		     {128, "\x0a\x80\x01", 3},
		     {16383, "\x0a\xff\x7f", 3},
		     {16384, "\x0a\x80\x80\x01", 4},
		     {2097152, "\x0a\x80\x80\x80\x01", 5}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *text = malloc(cases[i].size + 1);

		memset(text, 'x', cases[i].size);
		text[cases[i].size] = 0;
		ep_protobuf_reset(&message);
		ep_protobuf_text(&message, 1, text);
		ck_assert_uint_eq(message.used, cases[i].head_size + cases[i].size);
		ck_assert_mem_eq(message.bytes, cases[i].head, cases[i].head_size);
		ck_assert_mem_eq(message.bytes + cases[i].head_size, text, cases[i].size);
		free(text);
	}
}
END_TEST

START_TEST(messages_grow_around_what_is_inside_of_them)
{
	char text[121];

	memset(text, 'x', 120);
	text[120] = 0;
	ep_protobuf_open(&message, 1);
	ep_protobuf_open(&message, 2);
	ep_protobuf_text(&message, 3, text);
	ep_protobuf_text(&message, 3, text);
	ep_protobuf_close(&message);
	ep_protobuf_uint(&message, 4, 5);
	ep_protobuf_close(&message);
	/* 2 * 122 = 244 inside; 3 + 244 + 2 = 249 outside */
	ck_assert_uint_eq(message.used, 3 + 249);
	ck_assert_mem_eq(message.bytes, "\x0a\xf9\x01\x12\xf4\x01\x1a\x78x", 9);
	ck_assert_mem_eq(message.bytes + 3 + 3 + 122, "\x1a\x78x", 3);
	ck_assert_mem_eq(message.bytes + 250, "\x20\x05", 2);
}
END_TEST

START_TEST(strings_are_utf8)
{
	ep_protobuf_text(&message, 1, "\xc3\xa9\xff\xe2\x82");
	EXPECT("\x0a\x0b\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("protobuf");
	TCase *tests = tcase_create("all");

	tcase_add_checked_fixture(tests, NULL, teardown);
	tcase_add_test(tests, fields_are_the_specifications_examples);
	tcase_add_test(tests, numbers_of_two_bytes_and_fixed_widths);
	tcase_add_test(tests, every_number_is_read_back);
	tcase_add_test(tests, lengths_of_any_size_stand_before_what_they_measure);
	tcase_add_test(tests, messages_grow_around_what_is_inside_of_them);
	tcase_add_test(tests, strings_are_utf8);
	suite_add_tcase(suite, tests);
	return ep_test_main(suite);
}
