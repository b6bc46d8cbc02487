/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_starved.c: memory runs out at the Nth allocation, for each N that there
 * is; once only, and from then on. What is asked then fails with EP_E_MEMORY
 * and leaves its outputs alone, or it answers as if nothing had happened (or,
 * where its header says so, with less); nothing crashes, nothing is left behind
 * (the leak sanitizer of the sanitized build is the judge of that).
 *
 * The linker's --wrap (see the Makefile) puts what is below between our objects
 * and the allocator. Allocations inside libdw, libelf and libc are not made to
 * fail: libdw 0.188 crashes by itself then.
 */
#include "main.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/option.h"
#include "coredump/extract.h"
#include "decoder/calls.h"
#include "tests/unit/build_core.h"

/* ---- the allocator that fails ---- */

static bool counting;
static uint64_t seen;      /* allocations while counting */
static uint64_t fail_from; /* 0: none fails */
static bool fail_once;

static bool starved(void)
{
	if (!counting)
		return false;
	seen++;
	return fail_from && (fail_once ? seen == fail_from : seen >= fail_from);
}

#define WRAP(type, name, parameters, arguments, none) \
	type __real_##name parameters;                \
	type __wrap_##name parameters;                \
	type __wrap_##name parameters                 \
	{                                             \
		if (starved()) {                      \
			errno = ENOMEM;               \
			return none;                  \
		}                                     \
		return __real_##name arguments;       \
	}

WRAP(void *, malloc, (size_t size), (size), NULL)
WRAP(void *, calloc, (size_t count, size_t size), (count, size), NULL)
WRAP(void *, realloc, (void *old, size_t size), (old, size), NULL)
WRAP(void *, reallocarray, (void *old, size_t count, size_t size),
     (old, count, size), NULL)
WRAP(void *, aligned_alloc, (size_t unit, size_t size), (unit, size), NULL)
WRAP(char *, strdup, (const char *text), (text), NULL)
WRAP(char *, strndup, (const char *text, size_t size), (text, size), NULL)
WRAP(char *, realpath, (const char *path, char *out), (path, out), NULL)
WRAP(FILE *, fopen, (const char *path, const char *mode), (path, mode), NULL)
WRAP(FILE *, fdopen, (int fd, const char *mode), (fd, mode), NULL)
WRAP(FILE *, open_memstream, (char **text, size_t *size), (text, size), NULL)
WRAP(int, vasprintf, (char **out, const char *format, va_list list),
     (out, format, list), -1)

int __wrap_asprintf(char **out, const char *format, ...);
int __wrap_asprintf(char **out, const char *format, ...)
{
	va_list list;
	int length;

	va_start(list, format);
	length = __wrap_vasprintf(out, format, list);
	va_end(list);
	return length;
}

static void starve(uint64_t from, bool once)
{
	seen = 0;
	fail_from = from;
	fail_once = once;
	counting = true;
}

/* True: memory did run out. */
static bool fed(void)
{
	counting = false;
	return fail_from && seen >= fail_from;
}

/* ---- what is asked ---- */

static struct build_core *core;
static const char *core_path;

#define ID    "3132333435363738"
#define INNER UINT64_C(0x401004)
#define OUTER UINT64_C(0x401104)

/* A real object, so that names have symbols and lines. */
static void make_object(void)
{
	FILE *file = fopen("object.c", "w");

	ck_assert_ptr_nonnull(file);
	fputs("int other(int);\n"
	      "__attribute__((noinline, aligned(256))) int inner(int n)"
	      " { return other(n) * 3; }\n"
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
	build_arena_module(arena, object, 0x400000, 0x402000, 0x400000,
			   "12345678", 8);
	fill(arena, build_arena_thread(arena, 100, "main", 2));
	fill(arena, build_arena_thread(arena, 101, "worker", 2));
	build_arena_seal(arena);
	core = build_core_create();
	build_core_thread(core, 100, OUTER, 0x7ffff0000800, 0x7ffff0000900,
			  SIGSEGV);
	build_core_process(core, 100);
	build_core_signal(core, &(siginfo_t){.si_signo = SIGSEGV,
					     .si_code = SEGV_MAPERR});
	build_core_auxv(core, (const uint64_t[][2]){{6, 4096}}, 1);
	build_core_files(
		core,
		(struct build_core_file[]){{0x400000, 0x402000, 0, object}}, 1);
	build_core_thread(core, 101, OUTER, 0x7ffff0001000, 0, 0);
	build_core_arena(core, arena);
	build_core_memory(core, 0x7ffff0000000, stack, sizeof(stack),
			  sizeof(stack), 6);
	build_core_finish(core);
	core_path = build_core_path(core);
	build_arena_destroy(arena);
}

static void teardown(void)
{
	build_core_destroy(core);
}

/* Asks with the Nth allocation failing, for all N. */
static void sweep(void (*ask)(void))
{
	for (int once = 0; once < 2; once++) {
		uint64_t n = 1;

		for (;; n++) {
			starve(n, once);
			ask();
			if (!fed())
				break;
		}
		ck_assert_uint_gt(n, 1); /* it does allocate */
		if (getenv("STARVED_COUNT"))
			printf("%lu allocations\n", n - 1);
	}
}

static void check_failed(int rc, const struct ep_err *err)
{
	ck_assert_msg(rc == EP_E_MEMORY, "%d: %s", rc, err->text);
	ck_assert(strstr(err->text, "memory") != NULL);
	ck_assert(fail_from && seen >= fail_from);
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
static char *whole; /* what is answered with all memory */
static size_t whole_size;

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

/* Its first and cheapest ways allocate nothing: all but the scan are spoiled.
 */
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

static char *read_all(const char *path, size_t *size)
{
	FILE *file = fopen(path, "r");
	char *bytes = malloc(1 << 20);

	ck_assert_ptr_nonnull(file);
	ck_assert_ptr_nonnull(bytes);
	*size = fread(bytes, 1, 1 << 20, file);
	ck_assert_uint_lt(*size, 1 << 20);
	fclose(file);
	return bytes;
}

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
		      "allocation %lu: another snapshot (%d)", fail_from,
		      hungry);
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
	int rc = ep_names_create(&here, trace->modules, trace->module_count,
				 NULL, &err);

	bool good = true;

	for (uint64_t at = INNER; !rc && at < OUTER + 256; at += 16) {
		const struct ep_function *f = ep_names_find(here, at, 0);

		good = good && f && f->name && f->symbol && f->module;
		ep_names_function_line(here, f);
		ep_names_address_line(here, at, 0);
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
	int rc =
		ep_calls_create(&calls, trace, &trace->threads[0], names, &err);

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
	ck_assert(rc == EP_E_MEMORY ||
		  (rc == EP_END && events == whole_events));
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
	ck_assert(rc == EP_E_MEMORY ||
		  (rc == EP_END && events == whole_events));
	ep_merge_destroy(merge);
}

static void with_names(void (*ask)(void))
{
	open_trace();
	ck_assert_int_eq(ep_names_create(&names, trace->modules,
					 trace->module_count, NULL, NULL),
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

static const char *const commands[][4] = {
	{"info"},
	{"info", "--json"},
	{"replay"},
	{"replay", "--merged", "--last=5"},
	{"replay", "--format=tsv", "--function=o*"},
	{"report"},
	{"export", "--format=viztracer"},
	{"export", "--format=chrome"},
	{"export", "--format=jsonl"},
	{"export", "--format=collapsed"},
	{"export", "--format=speedscope"},
	{"export", "--format=dot"},
	{"export", "--format=viztracer", "--last=9", "--output=out"},
	{"stats"},
	{"stats", "--format=json"},
};

static const char *const *command;
static int whole_status;

/* Runs it; what it printed is in *text. */
static int ask_main(char **text, size_t *size, char **complaint)
{
	char *words[8] = {(char *)"epitaph"};
	FILE *out = stdout, *err = stderr;
	size_t said;
	int count = 1, status;

	fed();
	for (int i = 0; i < 4 && command[i]; i++)
		words[count++] = (char *)command[i];
	words[count++] = (char *)core_path;
	stdout = __real_open_memstream(text, size);
	stderr = __real_open_memstream(complaint, &said);
	ck_assert(stdout && stderr);
	starve(fail_from, fail_once);
	status = ep_main(count, words);
	fed();
	fclose(stdout);
	fclose(stderr);
	stdout = out;
	stderr = err;
	return status;
}

/* An answer is what it would have been, or says by its status that it is less.
 */
static void ask_command(void)
{
	char *text, *complaint;
	size_t size;
	int status = ask_main(&text, &size, &complaint);
	bool same = whole && size == whole_size && !memcmp(text, whole, size);

	if (!whole) {
		whole = text;
		whole_size = size;
		whole_status = status;
		/* by names and lines, where there are any */
		if (size && strcmp(command[0], "info") != 0)
			ck_assert_ptr_nonnull(strstr(whole, "outer"));
		free(complaint);
		return;
	}
	ck_assert_msg((same && status == whole_status) ||
			      (status > EP_EXIT_COMPLETE &&
			       (complaint[0] || strstr(text, "out of memory"))),
		      "%s %s, allocation %lu%s: status %d, said %s", command[0],
		      command[1] ? command[1] : "", fail_from,
		      fail_once ? "" : " and all after", status, complaint);
	if (access("out", F_OK) == 0)
		ck_assert_int_eq(unlink("out"), 0);
	free(text);
	free(complaint);
}

START_TEST(a_command)
{
	command = commands[_i];
	starve(0, false);
	ask_command();
	/* a command that this build does not have */
	if (whole_status != EP_EXIT_USAGE) {
		ck_assert_int_le(whole_status, EP_EXIT_PARTIAL);
		sweep(ask_command);
	}
	free(whole);
	whole = NULL;
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
	tcase_add_loop_test(tests, a_command, 0,
			    sizeof(commands) / sizeof(*commands));
	suite_add_tcase(suite, tests);
	return ep_test_main(suite);
}
