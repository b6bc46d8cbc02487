/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_starved_counts.c: memory runs out (starve.h) in what reads call counts: count report, merge
 * and diff, exclude, budget check and update.
 */
#include "tests/unit/starve.h"

#include "funcount/budget/results.h"
#include "tests/unit/build_arena.h"
#include "tests/unit/build_counts.h"

#define ID    0xab
#define INNER UINT64_C(0x1000)
#define OUTER UINT64_C(0x1100)
#define BASE  UINT64_C(0x400000)

static void make_object(void)
{
	static const char source[] = "int other(int);\n"
				     "#define PLACED __attribute__((noinline, aligned(256)))\n"
				     "int inner(int) __asm__(\"_Z5inneri\");\n"
				     "PLACED int inner(int n) { return other(n) * 3; }\n"
				     "PLACED int outer(int n)\n"
				     "{ int s = 0; while (n--) s += inner(n); return s; }\n";

	write_file("object.c", source, sizeof(source) - 1);
	ck_assert_int_eq(system("gcc -g -O1 -fno-toplevel-reorder -shared -nostdlib "
				"-fPIC -Wl,-z,noseparate-code -Wl,-Ttext=0x1000 "
				"-Wl,--build-id=0xabababababababab object.c -o "
				"object.so"),
			 0);
}

static struct ep_counts *make_counts(const char *object, uint64_t run, uint64_t calls)
{
	struct ep_counts *counts = ep_counts_create();
	size_t module;

	ck_assert_ptr_nonnull(counts);
	module = build_counts_module(counts, object, ID, 8);
	build_counts_add(counts, module, INNER + 5, calls);
	build_counts_add(counts, module, OUTER + 5, 100);
	build_counts_run(counts, run, 1000000);
	ep_counts_settle(counts);
	return counts;
}

static void write_counts(const char *path, const struct ep_counts *counts)
{
	size_t size;
	char *text = build_counts_text(counts, &size);

	write_file(path, text, size);
	free(text);
}

static void put_result(const char *name, struct ep_counts *counts)
{
	struct ep_result result = {
		.name = (char *)name, .counts = counts, .runs = 1, .processes = 1};
	struct ep_observed observed = {1, 1, 2, 0.25};

	ck_assert_int_eq(ep_results_put("results", &result, false, NULL), EP_OK);
	ck_assert_int_eq(ep_results_observe("results", name, &observed, false, NULL), EP_OK);
}

/* A thread that counted: two sites, and its calls of them. */
static void put_extent(struct build_arena *b, uint8_t *section, unsigned page, unsigned kind,
		       const void *entries, size_t size)
{
	struct ep_counts_extent *extent = (void *)(section + page * 4096);

	*extent = (struct ep_counts_extent){
		.kind = kind,
		.owner = 1,
		.size = 4096,
		.capacity = (4096 - sizeof(*extent)) / (kind == EP_EXTENT_SITES ? 16 : 8),
	};
	memcpy(extent + 1, entries, size);
	extent->check = ep_extent_check(extent, (uint64_t)((uint8_t *)extent - b->bytes),
					b->arena->root.identity);
}

static void write_arena(const char *path, const char *object)
{
	const uint64_t sites[] = {BASE + INNER + 5, 1000001, BASE + OUTER + 5, 1000002},
		       calls[] = {77, 7};
	struct build_arena_options options = BUILD_ARENA_DEFAULTS;
	struct build_arena *b;
	uint8_t *section, id[8];

	memset(id, ID, sizeof(id));
	options.size = 1 << 20;
	options.thread_capacity = options.module_capacity = 4;
	b = build_arena_create(&options);
	build_arena_module(b, object, BASE, BASE + 0x4000, BASE, id, 8);
	section =
		build_arena_section(b, EP_SECTION_COUNTS, sizeof(struct ep_counts_head), 3 * 4096);
	put_extent(b, section, 1, EP_EXTENT_SITES, sites, sizeof(sites));
	put_extent(b, section, 2, EP_EXTENT_COUNTERS, calls, sizeof(calls));
	build_arena_seal(b);
	write_file(path, b->bytes, b->size);
	build_arena_destroy(b);
}

static const char budget[] = "# ours\n"
			     "version = 1\n"
			     "[test good]\n"
			     "max-calls = 2000\n"
			     "unit = outer\n"
			     "max-calls-per-unit = 11\n"
			     "[test bad]\n"
			     "max-calls = 500 # a comment\n"
			     "[costs]\n"
			     "full = 20 ns\n"
			     "counting = 0 ns\n";

static void setup(void)
{
	char folder[] = "starved.XXXXXX", object[4096 + 16];
	struct ep_counts *a, *b;

	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(chdir(folder), 0);
	make_object();
	ck_assert_ptr_nonnull(getcwd(object, 4096));
	strcat(object, "/object.so");
	a = make_counts(object, 1, 1000);
	b = make_counts(object, 2, 900);
	write_counts("a", a);
	write_counts("b", b);
	put_result("good", a);
	put_result("bad", b);
	ep_counts_destroy(a);
	ep_counts_destroy(b);
	write_arena("arena", object);
	write_file("epitaph.budget", budget, sizeof(budget) - 1);
}

static const struct {
	const char *words[6], *wanted;
} commands[] = {
	{{"count", "report", "a", "b"}, "inner(int)"},
	{{"count", "report", "--csv", "a"}, "inner(int)"},
	{{"count", "report", "--json", "a"}, "inner(int)"},
	{{"count", "report", "arena"}, "77"},
	{{"count", "merge", "--output=out", "a", "b"}, " 1900"},
	{{"count", "diff", "a", "b"}, "inner(int)"},
	{{"count", "diff", "--json", "a", "b"}, "inner(int)"},
	{{"exclude", "--budget=1%", "a"}, "_Z5inneri"},
	{{"exclude", "--history=1s", "--format=json", "a", "b"}, "_Z5inneri"},
	{{"exclude", "--budget=1%", "--format=gcc", "a"}, "inner"},
	{{"exclude", "--budget=1%", "--format=source", "--output=out", "a"}, "object.c:4"},
	{{"exclude", "--budget=1%", "--keep=outer", "--keep=x*", "a"}, "_Z5"},
	{{"budget", "check", "--results=results"}, "inner(int)"},
	{{"budget", "check", "--results=results", "--format=json"}, "inner(int)"},
	{{"budget", "check", "--results=results", "--format=junit", "--output=out"}, "<testsuite"},
	{{"budget", "check", "--results=results", "--format=github"}, "inner"},
};

START_TEST(a_command)
{
	sweep_command(commands[_i].words, commands[_i].wanted);
}
END_TEST

/* The file is as it was, or whole. */
static void ask_update(void)
{
	char *text, *complaint, *bytes;
	size_t said, size;
	int status = ask_main(&text, &said, &complaint);

	bytes = read_all("epitaph.budget", &size);
	if (!whole) {
		ck_assert_int_eq(status, EP_EXIT_COMPLETE);
		ck_assert_uint_gt(size, sizeof(budget));
		whole = bytes;
		whole_size = size;
	} else {
		bool same = size == whole_size && !memcmp(bytes, whole, size);

		ck_assert_msg(same ? status == EP_EXIT_COMPLETE
				   : size == sizeof(budget) - 1 && !memcmp(bytes, budget, size) &&
					      status > EP_EXIT_PARTIAL &&
					      strstr(complaint, "memory"),
			      "allocation %lu: status %d, said %s", fail_from, status, complaint);
		free(bytes);
	}
	write_file("epitaph.budget", budget, sizeof(budget) - 1);
	free(text);
	free(complaint);
}

START_TEST(updating_a_budget)
{
	static const char *const words[] = {"budget", "update", "--results=results", NULL};

	command = words;
	starve(0, false);
	ask_update();
	sweep(ask_update);
	free(whole);
	whole = NULL;
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("starved_counts");
	TCase *tests = tcase_create("starved_counts");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_loop_test(tests, a_command, 0, sizeof(commands) / sizeof(*commands));
	tcase_add_test(tests, updating_a_budget);
	suite_add_tcase(suite, tests);
	return ep_test_main(suite);
}
