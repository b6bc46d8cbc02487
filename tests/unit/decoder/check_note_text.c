/* SPDX-License-Identifier: BSD-2-Clause */
/* check_note_text.c: a note recorded by the runtime's own code and printed by the decoder's is what
 * snprintf prints. */
#include <check.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "decoder/calls/note_text.h"
#include "runtime/api/note.h"

/* The payloads behind the addresses, of all marks. */
static size_t payloads(const struct ep_note_builder *remark, uint32_t *out)
{
	size_t count = 0, skip = 0, left = 0;

	for (unsigned i = 0; i < remark->count; i++) {
		uint64_t word = remark->words[i];

		if (word % EP_ESCAPE_TYPES == EP_ESCAPE_MARK) {
			ck_assert_uint_eq(left, 0);
			left = ep_escape_payload(word) >> 5 & EP_MARK_DATA_MAX;
			skip = i == 0 ? 4 : 2;
			continue;
		}
		left--;
		if (skip)
			skip--;
		else
			out[count++] = ep_escape_payload(word);
	}
	ck_assert_uint_eq(left, 0);
	return count;
}

static size_t noted(char *out, size_t size, const char *format, va_list list)
{
	struct ep_variadic *variadic = (struct ep_variadic *)list;
	uint32_t data[EP_NOTE_MARKS * EP_MARK_DATA_MAX];
	struct ep_note_builder remark;

	ep_program_note(&remark, format, ep_note_arguments(format), variadic, 1);
	return ep_note_format(out, size, format, data, payloads(&remark, data));
}

static void __attribute__((format(printf, 1, 2))) check_same(const char *format, ...)
{
	char ours[EP_NOTE_TEXT_MAX], theirs[2 * EP_NOTE_TEXT_MAX];
	va_list list;
	size_t size;
	int wanted, before = errno;

	va_start(list, format);
	wanted = vsnprintf(theirs, sizeof(theirs), format, list);
	va_end(list);
	ck_assert_int_ge(wanted, 0);
	errno = before;
	va_start(list, format);
	size = noted(ours, sizeof(ours), format, list);
	va_end(list);
	ck_assert_msg(size == (size_t)wanted && !memcmp(ours, theirs, size),
		      "\"%s\": \"%.*s\" is not \"%s\"", format, (int)size, ours, theirs);
}

START_TEST(a_note_reads_as_printf_prints_it)
{
	const char *volatile null = NULL;
	int counted = 0;

	check_same("cache %s resized to %d", "users", 12);
	check_same("nothing");
	check_same("%s", "");
	check_same("%d%%", 100);
	check_same("%c%5c%-5c|", 'a', 'b', 'c');
	check_same("%s %s", null, "x");
	check_same("%.3s|%.0s|%.6s", "abcdef", "x", null);
	check_same("%.*s|%*s|%-*s|", 2, "abc", 6, "d", 6, "e");
	check_same("%*d|%.*d|%*.*f|", -6, 3, -1, 4, 9, 2, 3.14159);
	check_same("%2$d %1$s %2$x", "a", 17);
	check_same("%2$*1$d|%3$.*1$f", 4, 5, 6.0);
	check_same("%p %p %20p %-20p|", (void *)0, (void *)0x1234, &counted, &counted);
	check_same("%zu %zd %td %jd %ju %hhd %hhu %hd %hu", (size_t)-1, (ssize_t)-2, (ptrdiff_t)-3,
		   (intmax_t)INT64_MIN, (uintmax_t)UINT64_MAX, (signed char)-4, (unsigned char)250,
		   (short)-5, (unsigned short)65000);
	check_same("%ls|%lc|%10ls|%.2ls|", L"wide", (wint_t)L'w', L"x", L"abc");
	check_same("%Lf %Lg %La %Le", 3.25L, 1e4000L, 0.1L, -1e-4000L);
	check_same("%f %F %e %g %G %a %A", (double)NAN, (double)INFINITY, -0.0, 1e300, 1e-300, 0.1,
		   12.5);
	errno = ENOENT;
	check_same("%m");
	errno = 98765;
	check_same("%d %m %20m", 1);
	/* Seven of them in registers, the rest on the stack; vectors, too. */
	check_same("%d %f %d %f %d %f %d %f %d %f %d %f %d %f %f", 1, 2.0, 3, 4.0, 5, 6.0, 7, 8.0,
		   9, 10.0, 11, 12.0, 13, 14.0, 15.0);
	check_same("%Lf %d %Lf %s %d", 1.5L, 2, 3.5L, "four", 5);
}
END_TEST

static const char *pick(const char *const *list, size_t count)
{
	return list[(size_t)rand() % count];
}

/* "%", some flags, width, precision, `length` and `letter`. */
static void random_format(char *out, size_t size, const char *length, char letter)
{
	static const char *const flags[] = {"",  "-",  "+",  " ",  "#", "0",
					    "'", "-+", "0+", "#0", "- "};
	static const char *const widths[] = {"", "1", "7", "20", "300"};
	static const char *const precisions[] = {"", ".", ".0", ".2", ".17", ".60"};

	snprintf(out, size, "<%%%s%s%s%s%c>", pick(flags, 11), pick(widths, 5), pick(precisions, 6),
		 length, letter);
}

/* Values with many or few bits, and special ones. */
static uint64_t random_bits(void)
{
	uint64_t bits = (uint64_t)rand() << 62 ^ (uint64_t)rand() << 31 ^ (uint64_t)rand();

	return rand() % 4 ? bits >> rand() % 64 : 0 - (bits >> rand() % 64);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
START_TEST(every_integer_conversion_is_printfs)
{
	static const char *const lengths[] = {"hh", "h", "", "l", "ll", "j", "z", "t"};
	const char letters[] = "diouxX";
	char format[64];

	srand(1);
	for (int i = 0; i < 20000; i++) {
		size_t length = (size_t)rand() % 8;

		random_format(format, sizeof(format), lengths[length], letters[rand() % 6]);
		if (length < 3)
			check_same(format, (int)random_bits());
		else
			check_same(format, (long)random_bits());
	}
}
END_TEST

START_TEST(every_floating_conversion_is_printfs)
{
	const char letters[] = "fFeEgGaA";
	char format[64];

	srand(2);
	for (int i = 0; i < 10000; i++) {
		uint64_t bits = random_bits() << rand() % 12;
		double value;

		memcpy(&value, &bits, sizeof(value));
		random_format(format, sizeof(format), "", letters[rand() % 8]);
		check_same(format, value);
		random_format(format, sizeof(format), "L", letters[rand() % 8]);
		check_same(format, (long double)value * 3);
	}
}
END_TEST

START_TEST(every_string_conversion_is_printfs)
{
	char format[64], text[64];

	srand(3);
	for (int i = 0; i < 5000; i++) {
		int size = rand() % 60;

		for (int j = 0; j < size; j++)
			text[j] = (char)(1 + rand() % 255);
		text[size] = 0;
		random_format(format, sizeof(format), "", 's');
		check_same(format, text);
		random_format(format, sizeof(format), "", "cp"[rand() % 2]);
		check_same(format, random_bits());
	}
}
END_TEST
#pragma GCC diagnostic pop

START_TEST(wide_characters_are_utf8)
{
	ck_assert(setlocale(LC_CTYPE, "C.UTF-8"));
	check_same("%ls|%.4ls|%8ls|%lc", L"\u00e4\u20ac\U0001f600", L"a\u20ac\u20ac", L"\u20ac",
		   (wint_t)0x20ac);
	setlocale(LC_CTYPE, "C");
}
END_TEST

/* What printf cannot be asked. */
static void __attribute__((format(printf, 2, 3)))
check_text(const char *wanted, const char *format, ...)
{
	char out[EP_NOTE_TEXT_MAX];
	va_list list;
	size_t size;

	va_start(list, format);
	size = noted(out, sizeof(out), format, list);
	va_end(list);
	ck_assert_msg(size == strlen(wanted) && !memcmp(out, wanted, size),
		      "\"%.*s\" is not \"%s\"", (int)size, out, wanted);
}

START_TEST(nothing_is_stored_by_n)
{
	int counted = 5;

	check_text("ab 7", "ab%n %d", &counted, 7);
	ck_assert_int_eq(counted, 5);
}
END_TEST

START_TEST(memory_behind_a_precision_is_not_read)
{
	static const char three[3] = {'a', 'b', 'c'};
	char *page = malloc(3); /* address sanitizer looks */

	memcpy(page, three, 3);
	check_text("abc", "%.*s", 3, page);
	check_text("abc", "%.3s", page);
	check_text("ab", "%2$.*1$s", 2, page);
	free(page);
}
END_TEST

START_TEST(long_strings_share_what_room_there_is)
{
	char out[EP_NOTE_TEXT_MAX], long_one[1000];
	const char *format = "%s|%d|%s|%s";
	uint32_t data[EP_NOTE_MARKS * EP_MARK_DATA_MAX];
	struct ep_note_builder remark;
	size_t size;

	memset(long_one, 'x', sizeof(long_one) - 1);
	long_one[sizeof(long_one) - 1] = 0;
	struct {
		const char *a;
		uint64_t b;
		const char *c, *d;
	} stack = {long_one, 42, "short", long_one};
	struct ep_variadic list = {EP_VARIADIC_GENERAL, EP_VARIADIC_VECTOR, (const char *)&stack,
				   NULL};
	ep_program_note(&remark, format, ep_note_arguments(format), &list, 1);
	ck_assert_uint_le(remark.count, sizeof(remark.words) / sizeof(*remark.words));
	size = ep_note_format(out, sizeof(out), format, data, payloads(&remark, data));
	out[size] = 0;
	ck_assert_ptr_nonnull(strstr(out, "x…|42|short|xx"));
	ck_assert_uint_gt(size, 300);
	ck_assert(!strcmp(out + size - 4, "x…"));
}
END_TEST

START_TEST(one_string_has_300_bytes)
{
	char text[301];

	memset(text, 'y', 300);
	text[300] = 0;
	check_same("%s", text);
	check_same("%d %s", 1, text);
}
END_TEST

START_TEST(what_does_not_fit_the_format_is_shown_raw)
{
	uint32_t data[] = {EP_NOTE_INT | 5 << EP_NOTE_SHIFT, 0};
	char *text = ep_note_text("a %s b %d", "x", data, 2);

	ck_assert_str_eq(text, "a <5> b <?>");
	free(text);
	text = ep_note_text(NULL, "prog+0x2010", data, 2);
	ck_assert_str_eq(text, "[format at prog+0x2010 not found] 5");
	free(text);
	text = ep_note_text("50%", "x", data, 0);
	ck_assert_str_eq(text, "50%");
	free(text);
	text = ep_note_text("%d %y\n", "x", data, 2);
	ck_assert_str_eq(text, "5 %y");
	free(text);
}
END_TEST

START_TEST(sixteen_arguments_say_that_one_is_missing)
{
	check_text("1 2 3 4 5 6 7 8 9 10 11 12 13 14 <?> <?>",
		   "%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
		   11, 12, 13, 14, 15, 16);
}
END_TEST

START_TEST(no_data_makes_it_read_beyond)
{
	static const char *const formats[] = {"%s",       "%d %s %f",  "%Lf",        "%.*s",
					      "%5$s",     "%m %n",     "%99999999d", "%*d",
					      "%.99999s", "%1$s %1$d", "%",          "%-"};
	uint32_t *data;
	char *text;

	srand(4);
	for (int i = 0; i < 20000; i++) {
		size_t count = (size_t)rand() % 12;

		data = malloc(count * sizeof(*data) + 1);
		for (size_t j = 0; j < count; j++)
			data[j] = (uint32_t)random_bits() & 0x3ffffff;
		text = ep_note_text(formats[rand() % 12], "", data, count);
		ck_assert_ptr_nonnull(text);
		free(text);
		free(data);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("note_text");
	TCase *tests = tcase_create("note_text");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tests, 120);
	tcase_add_test(tests, a_note_reads_as_printf_prints_it);
	tcase_add_test(tests, every_integer_conversion_is_printfs);
	tcase_add_test(tests, every_floating_conversion_is_printfs);
	tcase_add_test(tests, every_string_conversion_is_printfs);
	tcase_add_test(tests, wide_characters_are_utf8);
	tcase_add_test(tests, nothing_is_stored_by_n);
	tcase_add_test(tests, memory_behind_a_precision_is_not_read);
	tcase_add_test(tests, long_strings_share_what_room_there_is);
	tcase_add_test(tests, one_string_has_300_bytes);
	tcase_add_test(tests, what_does_not_fit_the_format_is_shown_raw);
	tcase_add_test(tests, sixteen_arguments_say_that_one_is_missing);
	tcase_add_test(tests, no_data_makes_it_read_beyond);
	suite_add_tcase(suite, tests);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
