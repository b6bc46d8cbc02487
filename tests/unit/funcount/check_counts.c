/* SPDX-License-Identifier: BSD-2-Clause */
/* check_counts.c: adding up, merging, and the text of counts files. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build_counts.h"
#include "coredump/find/root.h"
#include "main.h"

static struct ep_counts *counts, *other;

static void setup(void)
{
	counts = ep_counts_create();
	other = ep_counts_create();
}

static void teardown(void)
{
	ep_counts_destroy(counts);
	ep_counts_destroy(other);
}

static const struct ep_counts_module *module_of(const struct ep_counts *of, const char *path)
{
	for (size_t i = 0; i < of->modules.count; i++)
		if (!strcmp(of->modules.list[i].path, path))
			return &of->modules.list[i];
	return NULL;
}

/* ---- adding up ------------------------------------------------------------ */

START_TEST(addresses_one_byte_apart_count_apart)
{
	size_t module = build_counts_module(counts, "/bin/a", 1, 20);

	build_counts_add(counts, module, 0x1001, 5);
	build_counts_add(counts, module, 0x1000, 7);
	build_counts_add(counts, module, 0x1001, 6);
	build_counts_add(counts, module, 0x2000, 0);
	ep_counts_settle(counts);
	ck_assert_uint_eq(counts->modules.list[0].entries.count, 2);
	ck_assert_uint_eq(ep_counts_at(&counts->modules.list[0], 0x1000), 7);
	ck_assert_uint_eq(ep_counts_at(&counts->modules.list[0], 0x1001), 11);
	ck_assert_uint_eq(ep_counts_at(&counts->modules.list[0], 0x1002), 0);
	ck_assert_uint_eq(ep_counts_between(&counts->modules.list[0], 0x1000, 0x1001), 7);
	ck_assert_uint_eq(ep_counts_between(&counts->modules.list[0], 0x1000, 0x1002), 18);
	ck_assert_uint_eq(counts->calls, 18);
}
END_TEST

START_TEST(a_module_is_its_build_id_wherever_it_lay)
{
	size_t a = build_counts_module(counts, "/b/lib.so", 1, 20);
	size_t b = build_counts_module(counts, "/a/lib.so", 1, 20);
	size_t c = build_counts_module(counts, "/a/lib.so", 2, 20);
	size_t d = build_counts_module(counts, "/a/lib.so", 1, 8);
	size_t e = build_counts_module(counts, "/a/lib.so", 0, 0);

	ck_assert_uint_eq(a, b);
	ck_assert_uint_ne(a, c);
	ck_assert_uint_ne(a, d);
	ck_assert_uint_ne(a, e);
	ck_assert_uint_eq(e, build_counts_module(counts, "/a/lib.so", 0, 0));
	ck_assert_uint_ne(e, build_counts_module(counts, "/b/lib.so", 0, 0));
	ck_assert_str_eq(counts->modules.list[a].path, "/a/lib.so");
}
END_TEST

START_TEST(another_build_of_a_path_is_told_apart)
{
	build_counts_module(counts, "/a", 1, 20);
	build_counts_module(counts, "/b", 2, 20);
	ep_counts_settle(counts);
	ck_assert_ptr_null(ep_counts_other_build(counts, &counts->modules.list[0]));
	build_counts_module(counts, "/a", 3, 20);
	ep_counts_settle(counts);
	ck_assert_ptr_eq(ep_counts_other_build(counts, &counts->modules.list[0]),
			 &counts->modules.list[1]);
	ck_assert_ptr_null(ep_counts_other_build(counts, &counts->modules.list[2]));
}
END_TEST

START_TEST(a_build_id_that_is_too_long_is_refused)
{
	uint8_t id[EP_BUILD_ID_MAX + 1] = {0};
	size_t number;

	ck_assert_int_eq(ep_counts_module(counts, "/a", id, sizeof(id), &number, NULL), EP_E_LIMIT);
}
END_TEST

START_TEST(a_sum_over_64_bits_stays_at_the_most_and_is_told)
{
	size_t module = build_counts_module(counts, "/a", 1, 20);

	build_counts_add(counts, module, 1, UINT64_MAX);
	ep_counts_settle(counts);
	ck_assert(!ep_counts_incomplete(counts));
	build_counts_add(counts, module, 1, 1);
	ep_counts_settle(counts);
	ck_assert_uint_eq(ep_counts_at(&counts->modules.list[0], 1), UINT64_MAX);
	ck_assert(ep_counts_incomplete(counts));
}
END_TEST

/* ---- merging -------------------------------------------------------------- */

static void build_two(void)
{
	size_t module = build_counts_module(counts, "/a/program", 1, 20);

	build_counts_add(counts, module, 0x10, 1);
	build_counts_add(counts, module, 0x20, 2);
	build_counts_run(counts, 1, 100);
	build_counts_module(other, "/lib.so", 9, 20);
	module = build_counts_module(other, "/b/program", 1, 20);
	build_counts_add(other, module, 0x20, 40);
	build_counts_add(other, module, 0x30, 50);
	build_counts_run(other, 2, 200);
}

START_TEST(runs_of_two_machines_add_up_by_build_id)
{
	build_two();
	ck_assert_int_eq(ep_counts_merge(counts, other, NULL), EP_OK);
	const struct ep_counts_module *module = module_of(counts, "/a/program");
	ck_assert_uint_eq(counts->modules.count, 2);
	ck_assert_uint_eq(ep_counts_at(module, 0x10), 1);
	ck_assert_uint_eq(ep_counts_at(module, 0x20), 42);
	ck_assert_uint_eq(ep_counts_at(module, 0x30), 50);
	ck_assert_uint_eq(counts->calls, 93);
	ck_assert_uint_eq(counts->runs.count, 2);
	ck_assert_uint_eq(ep_counts_duration(counts), 300);
	ck_assert_uint_eq(ep_counts_cpu(counts), 300);
}
END_TEST

START_TEST(the_order_of_merging_does_not_show)
{
	struct ep_counts *forth = ep_counts_create(), *back = ep_counts_create();
	char *one, *two;
	size_t one_size, two_size;

	build_two();
	ck_assert_int_eq(ep_counts_merge(forth, counts, NULL), EP_OK);
	ck_assert_int_eq(ep_counts_merge(forth, other, NULL), EP_OK);
	ck_assert_int_eq(ep_counts_merge(back, other, NULL), EP_OK);
	ck_assert_int_eq(ep_counts_merge(back, counts, NULL), EP_OK);
	one = build_counts_text(forth, &one_size);
	two = build_counts_text(back, &two_size);
	ck_assert_str_eq(one, two);
	free(one);
	free(two);
	ep_counts_destroy(forth);
	ep_counts_destroy(back);
}
END_TEST

START_TEST(a_run_is_never_added_twice)
{
	struct ep_err err = {0};

	build_two();
	ck_assert_int_eq(ep_counts_merge(counts, other, NULL), EP_OK);
	ck_assert_int_eq(ep_counts_merge(counts, other, &err), EP_E_MISMATCH);
	ck_assert_ptr_nonnull(strstr(err.text, "pid 7 on here"));
	ck_assert_uint_eq(counts->calls, 93);
	ck_assert_uint_eq(counts->runs.count, 2);
}
END_TEST

START_TEST(what_one_run_lacks_the_sum_lacks)
{
	char missing[] = "the table is full";
	struct ep_counts_run run = {.identity = 3, .incomplete = missing};

	build_two();
	ck_assert_int_eq(ep_counts_add_run(other, &run, NULL), EP_OK);
	ck_assert_int_eq(ep_counts_merge(counts, other, NULL), EP_OK);
	ck_assert(ep_counts_incomplete(counts));
	ck_assert_uint_eq(ep_counts_duration(counts), 0);
}
END_TEST

/* ---- files ---------------------------------------------------------------- */

static const char golden[] = "epitaph-counts 1\n"
			     "run identity=00000000000000ab pid=12 start=1700000000000000000 "
			     "duration=5000 cpu=4000 threads=3 memory=8192 lost=2 host=my%20host "
			     "program=/bin/a%25b incomplete=2%20calls\n"
			     "module executable=1 path=/bin/a%25b\n"
			     "401136 9223372036854775808\n"
			     "module build-id=00ff10 path=/lib/caf%c3%a9.so\n"
			     "0 1\n"
			     "7fffffffffff 2\n"
			     "end 7 ";

static char *golden_text(size_t *size)
{
	char *text;
	int length = asprintf(&text, "%s%08x\n", golden, ep_crc32(golden, strlen(golden) - 6));

	*size = (size_t)length;
	return text;
}

START_TEST(every_field_is_read_as_the_format_page_says)
{
	size_t size;
	char *text = golden_text(&size);
	struct ep_counts *read = build_counts_parse(text, size);

	ck_assert_uint_eq(read->runs.count, 1);
	ck_assert_uint_eq(read->runs.list[0].identity, 0xab);
	ck_assert_uint_eq(read->runs.list[0].pid, 12);
	ck_assert_uint_eq(read->runs.list[0].start, 1700000000000000000);
	ck_assert_uint_eq(read->runs.list[0].duration, 5000);
	ck_assert_uint_eq(read->runs.list[0].cpu, 4000);
	ck_assert_uint_eq(read->runs.list[0].threads, 3);
	ck_assert_uint_eq(read->runs.list[0].memory, 8192);
	ck_assert_uint_eq(read->runs.list[0].lost, 2);
	ck_assert_str_eq(read->runs.list[0].host, "my host");
	ck_assert_str_eq(read->runs.list[0].program, "/bin/a%b");
	ck_assert_str_eq(read->runs.list[0].incomplete, "2 calls");
	ck_assert_uint_eq(read->modules.count, 2);
	ck_assert_str_eq(read->modules.list[0].path, "/bin/a%b");
	ck_assert(read->modules.list[0].executable);
	ck_assert_uint_eq(ep_counts_at(&read->modules.list[0], 0x401136), UINT64_C(1) << 63);
	ck_assert_str_eq(read->modules.list[1].path, "/lib/café.so");
	ck_assert_uint_eq(read->modules.list[1].build_id_size, 3);
	ck_assert_mem_eq(read->modules.list[1].build_id, "\x00\xff\x10", 3);
	ck_assert_uint_eq(ep_counts_at(&read->modules.list[1], 0), 1);
	ck_assert_uint_eq(ep_counts_at(&read->modules.list[1], 0x7fffffffffff), 2);
	ep_counts_destroy(read);
	free(text);
}
END_TEST

START_TEST(what_is_written_is_what_was_read)
{
	size_t size, again_size;
	char *text = golden_text(&size), *again;
	struct ep_counts *read = build_counts_parse(text, size);

	again = build_counts_text(read, &again_size);
	ck_assert_str_eq(again, text);
	ep_counts_destroy(read);
	free(again);
	free(text);
}
END_TEST

START_TEST(every_truncation_is_refused)
{
	size_t size;
	char *text = golden_text(&size);

	for (size_t i = 0; i < size; i++) {
		struct ep_err err = {0};
		int result = ep_counts_parse(&other, text, i, "cut", &err);

		ck_assert_int_lt(result, 0);
		ck_assert_int_eq(err.code, result);
		ck_assert_int_eq(strncmp(err.text, "cut: ", 5), 0);
	}
	free(text);
}
END_TEST

START_TEST(every_changed_byte_is_refused)
{
	size_t size;
	char *text = golden_text(&size);

	for (size_t i = 0; i < size; i++)
		for (int bit = 0; bit < 8; bit++) {
			text[i] ^= (char)(1 << bit);
			ck_assert_int_lt(ep_counts_parse(&other, text, size, "changed", NULL), 0);
			text[i] ^= (char)(1 << bit);
		}
	free(text);
}
END_TEST

/* With a right end, so that the lines themselves are looked at. */
static int parse_lines(const char *lines, struct ep_err *err)
{
	struct ep_counts *read = NULL;
	size_t count = 0;
	char *text;
	int size, result;

	for (const char *at = lines; *at; at++)
		count += *at == '\n';
	size = asprintf(&text, "%send %zu %08x\n", lines, count, ep_crc32(lines, strlen(lines)));
	result = ep_counts_parse(&read, text, (size_t)size, "lines", err);
	free(text);
	if (!result)
		ep_counts_destroy(read);
	return result;
}

START_TEST(lines_that_make_no_sense_are_refused_by_number)
{
	static const char *const bad[] = {
		"1000 5\n",
		"module\n1000\n",
		"module\n1000 \n",
		"module\nx 5\n",
		"module\n1000 5 6\n",
		"module\n1000 -5\n",
		"module\n10000000000000000 5\n",
		"module\n1 18446744073709551616\n",
		"module build-id=0\n",
		"module build-id=0g\n",
		"module path=%\n",
		"module path=%00\n",
		"module path=%4\n",
		"run pid=4294967296\n",
		"run start=\n",
		"\n",
		"what\n",
		"run identity=5\nrun identity=5\n",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct ep_err err = {0};
		char text[128];

		snprintf(text, sizeof(text), "epitaph-counts 1\n%s", bad[i]);
		ck_assert_msg(parse_lines(text, &err) < 0, "%s", bad[i]);
		ck_assert_uint_ne(strlen(err.text), 0);
	}
}
END_TEST

START_TEST(another_version_says_so)
{
	struct ep_err err = {0};

	ck_assert_int_eq(parse_lines("epitaph-counts 2\n", &err), EP_E_VERSION);
	ck_assert_ptr_nonnull(strstr(err.text, "version 2"));
	ck_assert_int_eq(parse_lines("epitaph-counts\n", &err), EP_E_FORMAT);
}
END_TEST

START_TEST(fields_of_a_later_minor_are_passed_over)
{
	ck_assert_int_eq(parse_lines("epitaph-counts 1\n"
				     "run identity=1 mood=good odd\n"
				     "module path=/a soname=b\n"
				     "10 1\n",
				     NULL),
			 EP_OK);
}
END_TEST

/* ---- names of files ------------------------------------------------------- */

START_TEST(a_file_is_loaded_by_its_name)
{
	char path[] = "/tmp/epitaph-counts-XXXXXX";
	size_t size;
	char *text = golden_text(&size);
	struct ep_counts *read = NULL;
	int fd = mkstemp(path);

	ck_assert_int_eq(write(fd, text, size), (ssize_t)size);
	ck_assert_int_eq(ep_counts_load(&read, path, NULL), EP_OK);
	ck_assert_uint_eq(read->modules.count, 2);
	ck_assert_int_eq(ftruncate(fd, (off_t)size - 1), 0);
	ck_assert_int_eq(ep_counts_load(&other, path, NULL), EP_E_TRUNCATED);
	close(fd);
	unlink(path);
	ep_counts_destroy(read);
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("counts");
	TCase *tests = tcase_create("counts");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, addresses_one_byte_apart_count_apart);
	tcase_add_test(tests, a_module_is_its_build_id_wherever_it_lay);
	tcase_add_test(tests, another_build_of_a_path_is_told_apart);
	tcase_add_test(tests, a_build_id_that_is_too_long_is_refused);
	tcase_add_test(tests, a_sum_over_64_bits_stays_at_the_most_and_is_told);
	tcase_add_test(tests, runs_of_two_machines_add_up_by_build_id);
	tcase_add_test(tests, the_order_of_merging_does_not_show);
	tcase_add_test(tests, a_run_is_never_added_twice);
	tcase_add_test(tests, what_one_run_lacks_the_sum_lacks);
	tcase_add_test(tests, every_field_is_read_as_the_format_page_says);
	tcase_add_test(tests, what_is_written_is_what_was_read);
	tcase_add_test(tests, every_truncation_is_refused);
	tcase_add_test(tests, every_changed_byte_is_refused);
	tcase_add_test(tests, lines_that_make_no_sense_are_refused_by_number);
	tcase_add_test(tests, another_version_says_so);
	tcase_add_test(tests, fields_of_a_later_minor_are_passed_over);
	tcase_add_test(tests, a_file_is_loaded_by_its_name);
	suite_add_tcase(suite, tests);
	return ep_test_main(suite);
}
