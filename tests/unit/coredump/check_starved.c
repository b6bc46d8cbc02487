/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_starved.c: memory runs out (starve.h) in the extractor, the decoder and the commands that
 * read a trace of calls.
 */
#include "tests/unit/starve.h"

#include <glob.h>
#include <signal.h>

#include "coredump/snapshot/extract.h"
#include "decoder/calls/calls.h"
#include "funcount/filter/list.h"
#include "tests/unit/build_core.h"

/* ---- what is asked ---- */

static struct build_core *core;
static const char *core_path;

#define ID    "3132333435363738"
#define INNER UINT64_C(0x401004)
#define OUTER UINT64_C(0x401104)

/* A real object, so that names have symbols, lines and inlined calls. */
static void make_object(void)
{
	FILE *file = fopen("object.c", "w");

	ck_assert_ptr_nonnull(file);
	fputs("int other(int);\n"
	      "static inline __attribute__((always_inline)) int thrice(int n)"
	      " { return other(n) * 3; }\n"
	      "__attribute__((noinline, aligned(256))) int inner(int n)"
	      " { return thrice(n); }\n"
	      "__attribute__((aligned(256))) int outer(int n)"
	      " { return inner(n) + inner(n + 1); }\n",
	      file);
	fclose(file);
	ck_assert_int_eq(system("gcc -g -O1 -shared -nostdlib -fPIC "
				"-Wl,-z,noseparate-code -Wl,-Ttext=0x1000 "
				"-Wl,--build-id=0x" ID " object.c -o "
				"object.so"),
			 0);
}

static void fill(struct build_arena *arena, struct ep_thread *thread)
{
	uint64_t tsc = 1000000;

	for (int i = 0; i < 30; i++) {
		build_call(arena, thread, OUTER, tsc += 500);
		build_call(arena, thread, INNER, tsc += 500);
		build_return(arena, thread, INNER, tsc += 500);
		if (i % 9)
			build_return(arena, thread, OUTER, tsc += 500);
	}
}

static void setup(void)
{
	struct build_arena_options options = BUILD_ARENA_DEFAULTS;
	struct build_arena *arena;
	char folder[] = "starved.XXXXXX", object[4096 + 16];
	uint8_t stack[8192] = {0};

	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(chdir(folder), 0);
	make_object();
	ck_assert_ptr_nonnull(getcwd(object, 4096));
	strcat(object, "/object.so");
	options.size = 128 << 10;
	options.thread_capacity = options.module_capacity = 4;
	arena = build_arena_create(&options);
	build_arena_module(arena, object, 0x400000, 0x402000, 0x400000, "12345678", 8);
	fill(arena, build_arena_thread(arena, 100, "main", 2));
	fill(arena, build_arena_thread(arena, 101, "worker", 2));
	build_arena_seal(arena);
	core = build_core_create();
	build_core_thread(core, 100, OUTER, 0x7ffff0000800, 0x7ffff0000900, SIGSEGV);
	build_core_process(core, 100);
	build_core_signal(core, &(siginfo_t){.si_signo = SIGSEGV, .si_code = SEGV_MAPERR});
	build_core_auxv(core, (const uint64_t[][2]){{6, 4096}}, 1);
	build_core_files(core, (struct build_core_file[]){{0x400000, 0x402000, 0, object}}, 1);
	build_core_thread(core, 101, OUTER, 0x7ffff0001000, 0, 0);
	build_core_arena(core, arena);
	build_core_memory(core, 0x7ffff0000000, stack, sizeof(stack), sizeof(stack), 6);
	build_core_finish(core);
	core_path = "core";
	write_file(core_path, core->bytes, core->size);
	build_arena_destroy(arena);
}

static void teardown(void)
{
	build_core_destroy(core);
}

/* ---- the extractor ---- */

#define UNTOUCHED ((void *)0x5a)

static void ask_open(void)
{
	struct ep_source *source = UNTOUCHED;
	struct ep_err err = {0};
	int rc = ep_source_open_core(&source, core_path, &err);
	size_t count;

	fed();
	if (rc) {
		ck_assert_ptr_eq(source, UNTOUCHED);
		check_failed(rc, &err);
		return;
	}
	ep_source_threads(source, &count);
	ck_assert_uint_eq(count, 2);
	ep_source_segments(source, &count);
	ck_assert_uint_ge(count, 2);
	ep_source_close(source);
}

START_TEST(opening_a_core)
{
	sweep(ask_open);
}
END_TEST

static struct ep_source *source;
static struct ep_root_found found;
static struct ep_image image;
static struct ep_trace *trace;
static struct ep_names *names;

static void ask_root(void)
{
	struct ep_root_found here;
	struct ep_err err = {0};
	int rc = ep_root_find(source, &here, &err);

	fed();
	if (rc)
		check_failed(rc, &err);
	else
		ck_assert_uint_eq(here.arena_address, found.arena_address);
}

/* Its first and cheapest ways allocate nothing: all but the scan are spoiled. */
START_TEST(finding_the_root)
{
	ck_assert_int_eq(ep_source_open_core(&source, core_path, NULL), EP_OK);
	ck_assert_int_eq(ep_root_find(source, &found, NULL), EP_OK);
	starve(0, false);
	ask_root();
	fed();
	if (seen)
		sweep(ask_root);
	ep_source_close(source);
}
END_TEST

static void ask_image(void)
{
	struct ep_image here = {.address = 1};
	struct ep_err err = {0};
	int rc = ep_image_read(&here, source, &found, &err);

	fed();
	if (rc) {
		ck_assert_uint_eq(here.address, 1);
		check_failed(rc, &err);
		return;
	}
	ck_assert_uint_eq(here.pages_missing, image.pages_missing);
	ck_assert_uint_eq(here.size, image.size);
	ck_assert_mem_eq(here.bytes, image.bytes, image.size);
	ep_image_deinit(&here);
}

static void open_image(void)
{
	ck_assert_int_eq(ep_source_open_core(&source, core_path, NULL), EP_OK);
	ck_assert_int_eq(ep_root_find(source, &found, NULL), EP_OK);
	ck_assert_int_eq(ep_image_read(&image, source, &found, NULL), EP_OK);
}

static void close_image(void)
{
	ep_image_deinit(&image);
	ep_source_close(source);
}

START_TEST(copying_the_arena)
{
	open_image();
	sweep(ask_image);
	close_image();
}
END_TEST

static void ask_extract(void)
{
	struct ep_extract_result result = {.threads = 77};
	struct ep_err err = {0};
	int rc = ep_extract(source, &found, "snapshot", NULL, &result, &err);
	bool hungry = fed();
	size_t size;
	char *bytes;

	if (rc) {
		ck_assert_uint_eq(result.threads, 77);
		ck_assert_int_ne(access("snapshot", F_OK), 0);
		check_failed(rc, &err);
		return;
	}
	bytes = read_all("snapshot", &size);
	ck_assert_int_eq(unlink("snapshot"), 0);
	if (!whole) {
		whole = bytes;
		whole_size = size;
		return;
	}
	ck_assert_msg(size == whole_size && !memcmp(bytes, whole, size),
		      "allocation %lu: another snapshot (%d)", fail_from, hungry);
	free(bytes);
}

START_TEST(extracting)
{
	open_image();
	starve(0, false);
	ask_extract();
	sweep(ask_extract);
	free(whole);
	close_image();
}
END_TEST

/* ---- the decoder ---- */

static void ask_trace(void)
{
	struct ep_trace *here = UNTOUCHED;
	struct ep_err err = {0};
	int rc = ep_trace_create(&here, &image, &err);

	fed();
	if (rc) {
		ck_assert_ptr_eq(here, UNTOUCHED);
		check_failed(rc, &err);
		return;
	}
	ck_assert_uint_eq(here->thread_count, trace->thread_count);
	ck_assert_uint_eq(here->block_count, trace->block_count);
	ck_assert_uint_eq(here->module_count, trace->module_count);
	ck_assert_uint_eq(here->warning_count, trace->warning_count);
	ep_trace_destroy(here);
}

static void open_trace(void)
{
	open_image();
	ck_assert_int_eq(ep_trace_create(&trace, &image, NULL), EP_OK);
	ck_assert_uint_eq(trace->thread_count, 2);
}

static void close_trace(void)
{
	ep_trace_destroy(trace);
	close_image();
}

START_TEST(taking_an_arena_apart)
{
	open_trace();
	sweep(ask_trace);
	close_trace();
}
END_TEST

/* Names never fail: what there is no memory for is unknown. */
static void ask_names(void)
{
	struct ep_names *here = UNTOUCHED;
	struct ep_err err = {0};
	int rc = ep_names_create(&here, trace->modules, trace->module_count, NULL, &err);
	struct ep_inlined inlined[EP_INLINED_MAX];
	bool good = true;

	for (uint64_t at = INNER; !rc && at < OUTER + 256; at += 16) {
		const struct ep_function *f = ep_names_find(here, at, 0);

		good = good && f && f->name && f->symbol && f->module;
		ep_names_function_line(here, f);
		ep_names_address_line(here, at, 0);
		ep_names_inlined(here, at, 0, inlined);
	}
	fed();
	ck_assert(good);
	if (rc) {
		ck_assert_ptr_eq(here, UNTOUCHED);
		check_failed(rc, &err);
		return;
	}
	ep_names_warning(here, 0);
	ep_names_destroy(here);
}

START_TEST(naming)
{
	open_trace();
	sweep(ask_names);
	close_trace();
}
END_TEST

static uint64_t whole_events;

static void ask_calls(void)
{
	struct ep_calls *calls = UNTOUCHED;
	const struct ep_event *event;
	struct ep_err err = {0};
	uint64_t events = 0;
	int rc = ep_calls_create(&calls, trace, &trace->threads[0], names, &err);

	bool made = rc == EP_OK;

	while (!rc && (rc = ep_calls_next(calls, &event)) == EP_OK)
		events++;
	fed();
	if (!made) {
		ck_assert_ptr_eq(calls, UNTOUCHED);
		check_failed(rc, &err);
		return;
	}
	if (rc == EP_END && !whole_events)
		whole_events = events;
	ck_assert(rc == EP_E_MEMORY || (rc == EP_END && events == whole_events));
	ep_calls_destroy(calls);
}

static void ask_merge(void)
{
	struct ep_merge *merge = UNTOUCHED;
	const struct ep_event *event;
	struct ep_err err = {0};
	uint64_t events = 0;
	int rc = ep_merge_create(&merge, trace, names, NULL, NULL, &err);

	bool made = rc == EP_OK;

	while (!rc && (rc = ep_merge_next(merge, &event)) == EP_OK)
		events++;
	fed();
	if (!made) {
		ck_assert_ptr_eq(merge, UNTOUCHED);
		check_failed(rc, &err);
		return;
	}
	if (rc == EP_END && !whole_events)
		whole_events = events;
	ck_assert(rc == EP_E_MEMORY || (rc == EP_END && events == whole_events));
	ep_merge_destroy(merge);
}

static void with_names(void (*ask)(void))
{
	open_trace();
	ck_assert_int_eq(ep_names_create(&names, trace->modules, trace->module_count, NULL, NULL),
			 EP_OK);
	whole_events = 0;
	starve(0, false);
	ask();
	fed();
	ck_assert_uint_gt(whole_events, 0);
	sweep(ask);
	ep_names_destroy(names);
	close_trace();
}

START_TEST(pairing_calls)
{
	with_names(ask_calls);
}
END_TEST

START_TEST(merging_threads)
{
	with_names(ask_merge);
}
END_TEST

/* ---- the commands ---- */

static const struct {
	const char *words[6], *wanted;
} commands[] = {
	{{"info", "core"}, "worker"},
	{{"info", "--json", "core"}, "worker"},
	{{"replay", "core"}, "outer"},
	{{"replay", "--merged", "--last=5", "core"}, "outer"},
	{{"replay", "--format=tsv", "--function=o*", "core"}, "outer"},
	{{"report", "core"}, "outer"},
	{{"export", "--format=viztracer", "core"}, "outer"},
	{{"export", "--format=chrome", "core"}, "outer"},
	{{"export", "--format=jsonl", "core"}, "outer"},
	{{"export", "--format=collapsed", "core"}, "outer"},
	{{"export", "--format=speedscope", "core"}, "outer"},
	{{"export", "--format=dot", "core"}, "outer"},
	{{"export", "--format=viztracer", "--last=9", "--output=out", "core"}, "outer"},
	{{"stats", "core"}, "outer"},
	{{"stats", "--json", "core"}, "outer"},
	{{"extract", "--output=out", "core"}, "EPITAPH"},
};

START_TEST(a_command)
{
	sweep_command(commands[_i].words, commands[_i].wanted);
}
END_TEST

/* ---- lists, and a linked file without its hooks ---- */

static void ask_list(void)
{
	struct ep_list list = {0};
	struct ep_err err = {0};
	int rc = ep_list_read(&list, "list", &err);

	fed();
	if (rc) {
		ck_assert_uint_eq(list.count, 0);
		check_failed(rc, &err);
	} else {
		ck_assert_uint_eq(list.count, 3);
		ck_assert_ptr_nonnull(ep_list_find(&list, "outer"));
	}
	ep_list_deinit(&list);
}

static void make_hooked(void)
{
	FILE *list = fopen("list", "w");

	ck_assert_ptr_nonnull(list);
	fputs("outer # all of them\nin*\nother", list);
	fclose(list);
	ck_assert_int_eq(system("gcc -O1 -shared -nostdlib -fPIC "
				"-finstrument-functions object.c -o hooked.so "
				"&& cp hooked.so whole.so"),
			 0);
}

START_TEST(reading_a_list)
{
	make_hooked();
	sweep(ask_list);
}
END_TEST

/* The whole file or none, and nothing beside it. */
static void ask_strip(void)
{
	char *text, *complaint, *bytes;
	size_t said, size;
	int status = ask_main(&text, &said, &complaint);
	bool there = access("out", F_OK) == 0;
	glob_t left;

	ck_assert_msg(there == (status == EP_EXIT_COMPLETE) &&
			      (there || strstr(complaint, "memory")),
		      "allocation %lu: status %d, said %s", fail_from, status, complaint);
	if (there) {
		bytes = read_all("out", &size);
		ck_assert_int_eq(unlink("out"), 0);
		if (whole) {
			ck_assert_uint_eq(size, whole_size);
			ck_assert_mem_eq(bytes, whole, size);
			free(bytes);
		} else {
			whole = bytes;
			whole_size = size;
		}
	}
	ck_assert_int_eq(glob("*out*", GLOB_PERIOD, NULL, &left), GLOB_NOMATCH);
	free(text);
	free(complaint);
}

static void sweep_strip(const char *const *words)
{
	command = words;
	starve(0, false);
	ask_strip();
	ck_assert_ptr_nonnull(whole);
	sweep(ask_strip);
	free(whole);
	whole = NULL;
}

START_TEST(stripping_hooks_and_putting_them_back)
{
	static const char *const strip[] = {"strip-hooks", "--no-trace=list", "--output=out",
					    "hooked.so", NULL},
				 *const back[] = {"strip-hooks", "--restore", "--output=out",
						  "hooked.so", NULL},
				 *const place[] = {"strip-hooks", "--no-trace=list", "hooked.so",
						   NULL};
	char *text, *complaint;
	size_t size;

	make_hooked();
	sweep_strip(strip);
	command = place;
	fail_from = 0;
	ck_assert_int_eq(ask_main(&text, &size, &complaint), EP_EXIT_COMPLETE);
	free(text);
	free(complaint);
	ck_assert_int_ne(system("cmp -s hooked.so whole.so"), 0);
	sweep_strip(back);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("starved");
	TCase *tests = tcase_create("starved");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, opening_a_core);
	tcase_add_test(tests, finding_the_root);
	tcase_add_test(tests, copying_the_arena);
	tcase_add_test(tests, extracting);
	tcase_add_test(tests, taking_an_arena_apart);
	tcase_add_test(tests, naming);
	tcase_add_test(tests, pairing_calls);
	tcase_add_test(tests, merging_threads);
	tcase_add_loop_test(tests, a_command, 0, sizeof(commands) / sizeof(*commands));
	tcase_add_test(tests, reading_a_list);
	tcase_add_test(tests, stripping_hooks_and_putting_them_back);
	suite_add_tcase(suite, tests);
	return ep_test_main(suite);
}
