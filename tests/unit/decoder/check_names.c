/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_names.c: names of real files, against nm and eu-addr2line; and which file is believed, with
 * programs made and spoiled at test time.
 */
#include "tests/unit/main.h"

#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "decoder/names/names.h"

#define BIAS  UINT64_C(0x7f1200000000)
#define REACH UINT64_C(0x40000000)

static struct ep_names *names;

/* Runs it, and wants success. */
static void __attribute__((format(printf, 1, 2))) shell(const char *format, ...)
{
	char command[2048];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(command, sizeof(command), format, arguments);
	va_end(arguments);
	ck_assert_msg(system(command) == 0, "failed: %s", command);
}

/* The first line that it prints, in a buffer of its own. */
static const char *__attribute__((format(printf, 1, 2))) said(const char *format, ...)
{
	static char line[4096];
	char command[2048];
	va_list arguments;
	FILE *pipe;

	va_start(arguments, format);
	vsnprintf(command, sizeof(command), format, arguments);
	va_end(arguments);
	pipe = popen(command, "r");
	if (!fgets(line, sizeof(line), pipe))
		line[0] = '\0';
	pclose(pipe);
	line[strcspn(line, "\n")] = '\0';
	return line;
}

/* A module as a trace would have it, its build-id as readelf says. */
static struct ep_trace_module module_of(const char *path, uint64_t bias)
{
	struct ep_trace_module module = {
		.start = bias, .end = bias + REACH, .bias = bias, .path = path};
	const char *id = said("readelf -n '%s' | sed -n 's/.*Build ID: //p'", path);

	while (sscanf(id, "%2hhx", &module.build_id[module.build_id_size]) == 1) {
		module.build_id_size++;
		id += 2;
	}
	return module;
}

static void create(const struct ep_trace_module *modules, size_t count,
		   const struct ep_names_options *options)
{
	names = ep_names_create(modules, count, options);
}

/* Each test has a folder of its own. */
static void setup(void)
{
	char folder[] = "names.XXXXXX";

	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(chdir(folder), 0);
}

static void teardown(void)
{
	ep_names_destroy(names);
	names = NULL;
}

static uint64_t address_of(const char *path, const char *symbol)
{
	return strtoull(said("nm '%s' | awk '$3 == \"%s\" { print $1 }'", path, symbol), NULL, 16);
}

/* ---- against nm and eu-addr2line ---- */

static const char *const libraries[] = {"libstdc++.so.6", "libc.so.6", "libelf.so.1", "libdw.so.1"};

static const char *library(int index)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s",
		 said("realpath \"$(cc -print-file-name=%s)\"", libraries[index]));
	ck_assert_msg(access(path, R_OK) == 0, "no %s", libraries[index]);
	return path;
}

START_TEST(every_exported_function_has_one_of_its_names)
{
	const char *path = library(_i);
	struct ep_trace_module module;
	char line[8192], symbol[4096], wanted[4100];
	unsigned count = 0;
	FILE *nm;

	module = module_of(path, BIAS);
	create(&module, 1, NULL);
	/* All names of an address in one line: "12ab name other other " */
	snprintf(line, sizeof(line),
		 "nm -D --defined-only --without-symbol-versions '%s' | awk "
		 "'$2 ~ /[TWi]/ { all[$1] = all[$1] $3 \" \" } END { for (a in "
		 "all) print a, \" \" all[a] }'",
		 path);
	nm = popen(line, "r");
	while (fgets(line, sizeof(line), nm)) {
		uint64_t address = BIAS + strtoull(line, NULL, 16);
		const struct ep_function *found = ep_names_find(names, address, 0);

		snprintf(wanted, sizeof(wanted), " %s ", found->symbol);
		ck_assert_msg(found->known, "%s is %s", line, found->name);
		ck_assert_uint_eq(found->start, address);
		/* A name of .symtab that is not exported is as good. */
		snprintf(symbol, sizeof(symbol), "%s", found->symbol);
		ck_assert_msg(strstr(line, wanted) || !found->exported_guess, "%s is %s", line,
			      symbol);
		count++;
	}
	pclose(nm);
	ck_assert_uint_gt(count, 50);
	ck_assert_ptr_null(ep_names_warning(names, 0));
}
END_TEST

/* Deterministic noise. */
static uint64_t noise(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return *state >> 20;
}

static void compare_with_addr2line(const char *line, uint64_t address)
{
	const struct ep_function *found = ep_names_find(names, BIAS + address, 0);
	const char *plus = strrchr(line, '+');
	uint64_t start;

	if (line[0] == '(' || line[0] == '?') {
		/* No symbol: bounds from .eh_frame at most, or a stub. */
		ck_assert_msg(!found->known || strstr(found->name, "@plt"), "0x%lx is %s, not %s",
			      address, found->name, line);
		return;
	}
	/* A cold part is its function to us. */
	if (strstr(line, ".cold"))
		return;
	start = address - (plus ? strtoull(plus + 1, NULL, 16) : 0);
	ck_assert_msg(found->known && found->start == BIAS + start,
		      "0x%lx is %s from 0x%lx, not %s", address, found->name, found->start - BIAS,
		      line);
}

/* Most of the time is eu-addr2line's, whatever we are built with. */
#ifdef __SANITIZE_ADDRESS__
#define ADDRESSES 3000
#else
#define ADDRESSES 20000
#endif

START_TEST(any_address_lies_in_the_function_that_eu_addr2line_says)
{
	const char *path = library(_i);
	struct ep_trace_module module;
	uint64_t start, size, state = 7, address;
	char line[8192], other[8192];
	FILE *list, *answers;

	ck_assert_int_eq(sscanf(said("readelf -WS '%s' | sed -n 's/.* \\.text "
				     "*PROGBITS *//p'",
				     path),
				"%lx %*x %lx", &start, &size),
			 2);
	list = fopen("addresses", "w");
	for (unsigned i = 0; i < ADDRESSES; i++)
		fprintf(list, "0x%lx\n", start + noise(&state) % size);
	fclose(list);
	shell("eu-addr2line -S -e '%s' <addresses | sed -n 1~2p >answers", path);
	module = module_of(path, BIAS);
	create(&module, 1, NULL);
	list = fopen("addresses", "r");
	answers = fopen("answers", "r");
	while (fgets(line, sizeof(line), list)) {
		ck_assert_ptr_nonnull(fgets(other, sizeof(other), answers));
		address = strtoull(line, NULL, 16);
		compare_with_addr2line(other, address);
	}
	fclose(list);
	fclose(answers);
}
END_TEST

START_TEST(stubs_are_named_as_objdump_has_them)
{
	const char *path = library(2);
	struct ep_trace_module module;
	char line[512], wanted[256];
	uint64_t address;
	unsigned count = 0;
	FILE *objdump;

	module = module_of(path, BIAS);
	create(&module, 1, NULL);
	snprintf(line, sizeof(line), "objdump -d '%s' | grep '@plt>:'", path);
	objdump = popen(line, "r");
	while (fgets(line, sizeof(line), objdump)) {
		ck_assert_int_eq(sscanf(line, "%lx <%255[^>]", &address, wanted), 2);
		ck_assert_str_eq(ep_names_find(names, BIAS + address, 0)->name, wanted);
		count++;
	}
	pclose(objdump);
	ck_assert_uint_gt(count, 3);
}
END_TEST

/* ---- which file is believed ---- */

static void make_program(const char *name, const char *function)
{
	shell("printf '#include <stdio.h>\\n"
	      "static __attribute__((noinline)) int hidden(int x)\\n"
	      "{ return printf(\"%%%%d\", x) + 1; }\\n"
	      "int %s(int x)\\n{ return hidden(x) + 1; }\\n"
	      "int main(int c, char **v)\\n{ (void)v; return %s(c); }\\n' "
	      ">%s.c && gcc -g -O1 -Wl,--build-id %s.c -o %s",
	      function, function, name, name, name);
}

static const char *here(const char *name)
{
	static char path[4][4200];
	static unsigned next;
	char directory[4096];

	next = (next + 1) % 4;
	ck_assert_ptr_nonnull(getcwd(directory, sizeof(directory)));
	snprintf(path[next], sizeof(path[next]), "%s/%s", directory, name);
	return path[next];
}

static void expect(uint64_t address, uint64_t tsc, const char *name)
{
	ck_assert_str_eq(ep_names_find(names, BIAS + address, tsc)->name, name);
}

START_TEST(a_stripped_file_has_bounds_that_pair)
{
	struct ep_trace_module module;
	uint64_t hidden, main_start;
	const struct ep_function *a, *b;
	char wanted[64];

	make_program("prog", "work");
	hidden = address_of("prog", "hidden");
	main_start = address_of("prog", "main");
	shell("strip prog");
	module = module_of(here("prog"), BIAS);
	create(&module, 1, NULL);
	a = ep_names_find(names, BIAS + hidden, 0);
	b = ep_names_find(names, BIAS + hidden + 5, 0);
	ck_assert_ptr_eq(a, b);
	ck_assert(!a->known);
	ck_assert_uint_eq(a->start, BIAS + hidden);
	ck_assert_uint_gt(a->end, a->start + 5);
	snprintf(wanted, sizeof(wanted), "prog+0x%lx", hidden);
	ck_assert_str_eq(a->name, wanted);
	ck_assert_str_eq(a->module, "prog");
	ck_assert_ptr_ne(a, ep_names_find(names, BIAS + main_start, 0));
}
END_TEST

/* Program stripped, its debug file where the test puts it. */
static uint64_t separate(const char *to, bool link)
{
	uint64_t hidden;

	make_program("prog", "work");
	hidden = address_of("prog", "hidden");
	shell("objcopy --only-keep-debug prog prog.debug && strip prog");
	if (link)
		shell("objcopy --add-gnu-debuglink=prog.debug prog");
	shell("mkdir -p \"$(dirname '%s')\" && mv prog.debug kept.debug && "
	      "mv kept.debug '%s'",
	      to, to);
	return hidden;
}

START_TEST(a_debug_link_is_followed)
{
	static const char *const places[] = {"prog.debug", ".debug/prog.debug", "debug/prog.debug"};
	const char *debug = here("debug");
	struct ep_names_options options = {.debug_paths = &debug, .debug_path_count = 1};
	uint64_t hidden = separate(places[_i], true);
	struct ep_trace_module module = module_of(here("prog"), BIAS);
	struct ep_line line;

	create(&module, 1, &options);
	expect(hidden, 0, "hidden");
	line = ep_names_function_line(names, ep_names_find(names, BIAS + hidden, 0));
	ck_assert_str_eq(line.file, here("prog.c"));
	ck_assert_uint_eq(line.line, 3);
	ck_assert_ptr_null(ep_names_warning(names, 0));
}
END_TEST

START_TEST(a_debug_link_with_another_crc_is_refused)
{
	uint64_t hidden = separate("prog.debug", true);
	struct ep_trace_module module;

	make_program("other", "work2");
	shell("objcopy --only-keep-debug other prog.debug");
	module = module_of(here("prog"), BIAS);
	create(&module, 1, NULL);
	ck_assert(!ep_names_find(names, BIAS + hidden, 0)->known);
	ck_assert_ptr_nonnull(strstr(ep_names_warning(names, 0), "CRC"));
}
END_TEST

START_TEST(a_debug_path_is_searched_by_build_id)
{
	const char *debug = here("debug");
	struct ep_names_options options = {.debug_paths = &debug, .debug_path_count = 1};
	uint64_t hidden = separate("prog.debug", false);
	struct ep_trace_module module = module_of(here("prog"), BIAS);
	char id[80];

	snprintf(id, sizeof(id), "%s", said("readelf -n prog | sed -n 's/.*Build ID: //p'"));
	shell("mkdir -p debug/.build-id/%.2s && mv prog.debug "
	      "debug/.build-id/%.2s/%s.debug",
	      id, id, id + 2);
	/* With the program, and when it is gone. */
	if (_i == 1)
		shell("rm prog");
	create(&module, 1, &options);
	expect(hidden, 0, "hidden");
	ck_assert_uint_eq(ep_names_address_line(names, BIAS + hidden, 0).line, 3);
	ck_assert_ptr_null(ep_names_warning(names, 0));
}
END_TEST

START_TEST(another_build_id_is_refused_unless_forced)
{
	struct ep_names_options force = {.force = true};
	struct ep_trace_module module;
	uint64_t work;

	make_program("prog", "work");
	module = module_of(here("prog"), BIAS);
	make_program("prog", "rework");
	work = address_of("prog", "rework");
	create(&module, 1, _i ? &force : NULL);
	ck_assert_int_eq(ep_names_find(names, BIAS + work, 0)->known, _i);
	ck_assert_ptr_null(_i ? NULL : ep_names_address_line(names, BIAS + work, 0).file);
	ck_assert_ptr_nonnull(strstr(ep_names_warning(names, 0), "differs"));
	ck_assert_str_eq(ep_names_warning_code(names, 0), "other-build-id");
	ep_names_find(names, BIAS + work + 1, 0);
	ck_assert_ptr_null(ep_names_warning(names, 1));
}
END_TEST

START_TEST(the_executable_that_is_named_is_used_when_it_is_the_one)
{
	const char *kept = here("kept"), *wrong = here("wrong");
	struct ep_names_options options = {.executable = _i ? wrong : kept};
	struct ep_trace_module module;
	uint64_t work;

	make_program("prog", "work");
	make_program("wrong", "rework");
	module = module_of(here("prog"), BIAS);
	module.flags = EP_MODULE_EXECUTABLE;
	work = address_of("prog", "work");
	shell("mv prog kept");
	create(&module, 1, &options);
	ck_assert_int_eq(ep_names_find(names, BIAS + work, 0)->known, !_i);
	ck_assert((ep_names_warning(names, 0) != NULL) == (_i == 1));
}
END_TEST

START_TEST(a_sysroot_stands_before_every_path)
{
	const char *root = here("root");
	struct ep_names_options options = {.sysroot = root};
	struct ep_trace_module module;
	uint64_t work;

	make_program("prog", "work");
	work = address_of("prog", "work");
	module = module_of(here("prog"), BIAS);
	shell("mkdir -p root/\"$PWD\" && mv prog root/\"$PWD\"/prog");
	create(&module, 1, &options);
	expect(work, 0, "work");
	ck_assert_ptr_null(ep_names_warning(names, 0));
}
END_TEST

START_TEST(a_deleted_file_is_used_only_when_it_is_the_same_one)
{
	struct ep_trace_module module;
	char path[4200];
	uint64_t work;

	make_program("prog", "work");
	work = address_of("prog", "work");
	snprintf(path, sizeof(path), "%s (deleted)", here("prog"));
	module = module_of(here("prog"), BIAS);
	module.path = path;
	if (_i == 1)
		make_program("prog", "rework");
	create(&module, 1, NULL);
	ck_assert_int_eq(ep_names_find(names, BIAS + work, 0)->known, !_i);
}
END_TEST

START_TEST(without_a_build_id_the_path_is_taken_with_a_word)
{
	struct ep_trace_module module;
	uint64_t work;

	make_program("prog", "work");
	work = address_of("prog", "work");
	shell("objcopy --remove-section=.note.gnu.build-id prog");
	module = module_of(here("prog"), BIAS);
	ck_assert_uint_eq(module.build_id_size, 0);
	create(&module, 1, NULL);
	expect(work, 0, "work");
	ck_assert_ptr_nonnull(strstr(ep_names_warning(names, 0), "no build-id"));
	ck_assert_str_eq(ep_names_warning_code(names, 0), "names");
}
END_TEST

START_TEST(what_is_no_elf_file_is_told_and_never_waited_for)
{
	static const char *const spoil[] = {"rm prog", "mkfifo prog", "mkdir prog", ": >prog",
					    "printf '\\177ELF' >prog"};
	struct ep_trace_module module;

	make_program("prog", "work");
	module = module_of(here("prog"), BIAS);
	shell("rm prog; %s", _i == 0 ? "true" : spoil[_i]);
	create(&module, 1, NULL);
	expect(0x1234, 0, "prog+0x1234");
	ck_assert_ptr_nonnull(ep_names_warning(names, 0));
	ck_assert_str_eq(ep_names_warning_code(names, 0), "no-file");
	ck_assert_ptr_null(ep_names_warning(names, 1));
	shell("rm -rf prog");
}
END_TEST

/* ---- address and time ---- */

START_TEST(two_modules_at_one_address_are_told_apart_by_time)
{
	struct ep_trace_module modules[2];
	uint64_t one, two;

	make_program("one", "first");
	make_program("two", "other");
	one = address_of("one", "first");
	two = address_of("two", "other");
	modules[0] = module_of(here("one"), BIAS);
	modules[1] = module_of(here("two"), BIAS);
	modules[0].load_tsc = 100;
	modules[0].unload_tsc = 200;
	modules[1].load_tsc = 300;
	create(modules, 2, NULL);
	expect(one, 150, "first");
	expect(two, 350, "other");
	/* A module is first seen after it was loaded. */
	expect(one, 50, "first");
	expect(two, 250, "other");
	expect(two, 0, "other");
	expect(one, 150, "first");
}
END_TEST

START_TEST(a_module_that_was_loaded_twice_has_one_function)
{
	struct ep_trace_module modules[3];
	uint64_t work;

	make_program("one", "first");
	work = address_of("one", "first");
	modules[0] = modules[1] = modules[2] = module_of(here("one"), BIAS);
	modules[0].load_tsc = 100;
	modules[0].unload_tsc = 200;
	modules[1].load_tsc = 300;
	modules[2].bias += REACH;
	modules[2].start += REACH;
	modules[2].end += REACH;
	create(modules, 3, NULL);
	ck_assert_ptr_eq(ep_names_find(names, BIAS + work, 150),
			 ep_names_find(names, BIAS + work + 1, 350));
	ck_assert_ptr_ne(ep_names_find(names, BIAS + work, 150),
			 ep_names_find(names, BIAS + REACH + work, 150));
	expect(REACH + work, 0, "first");
}
END_TEST

START_TEST(outside_of_all_modules_is_an_address)
{
	const struct ep_function *found;

	create(NULL, 0, NULL);
	found = ep_names_find(names, UINT64_C(0x7fff12345678), 0);
	ck_assert_str_eq(found->name, "0x7fff12345678");
	ck_assert_ptr_null(found->in);
	ck_assert_str_eq(found->module, "");
	ck_assert_uint_eq(found->start, found->end);
	ck_assert_ptr_eq(found, ep_names_find(names, 0x7fff12345678, 5));
	ck_assert_uint_eq(ep_names_function_line(names, found).line, 0);
}
END_TEST

START_TEST(noise_does_not_eat_all_memory)
{
	uint64_t state = 3;

	create(NULL, 0, NULL);
	for (unsigned i = 0; i < 1200000; i++)
		ep_names_find(names, noise(&state) << 4, 0);
	ck_assert_str_eq(ep_names_find(names, noise(&state) << 4, 0)->name, "?");
}
END_TEST

static void add_files(TCase *tests)
{
	tcase_add_test(tests, a_stripped_file_has_bounds_that_pair);
	tcase_add_loop_test(tests, a_debug_link_is_followed, 0, 3);
	tcase_add_test(tests, a_debug_link_with_another_crc_is_refused);
	tcase_add_loop_test(tests, a_debug_path_is_searched_by_build_id, 0, 2);
	tcase_add_loop_test(tests, another_build_id_is_refused_unless_forced, 0, 2);
	tcase_add_loop_test(tests, the_executable_that_is_named_is_used_when_it_is_the_one, 0, 2);
	tcase_add_loop_test(tests, a_deleted_file_is_used_only_when_it_is_the_same_one, 0, 2);
	tcase_add_test(tests, a_sysroot_stands_before_every_path);
	tcase_add_test(tests, without_a_build_id_the_path_is_taken_with_a_word);
	tcase_add_loop_test(tests, what_is_no_elf_file_is_told_and_never_waited_for, 0, 5);
}

int main(void)
{
	Suite *suite = suite_create("names");
	TCase *tests = tcase_create("names");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_loop_test(tests, every_exported_function_has_one_of_its_names, 0, 4);
	tcase_add_loop_test(tests, any_address_lies_in_the_function_that_eu_addr2line_says, 0, 4);
	tcase_add_test(tests, stubs_are_named_as_objdump_has_them);
	add_files(tests);
	tcase_add_test(tests, two_modules_at_one_address_are_told_apart_by_time);
	tcase_add_test(tests, a_module_that_was_loaded_twice_has_one_function);
	tcase_add_test(tests, outside_of_all_modules_is_an_address);
	tcase_add_test(tests, noise_does_not_eat_all_memory);
	suite_add_tcase(suite, tests);
	return ep_test_main(suite);
}
