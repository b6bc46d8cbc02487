/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_unwind.c: stacks of programs that crash at test time, frame by frame against eu-stack, and
 * what is said where a stack ends early.
 */
#include "coredump/kinds/open.h"
#include "tests/unit/main.h"

#include <string.h>
#include <unistd.h>

#include "decoder/names/modules.h"
#include "decoder/stack/unwind.h"

static const char program[] = "#include <pthread.h>\n"
			      "#include <signal.h>\n"
			      "#include <stdlib.h>\n"
			      "#include <string.h>\n"
			      "#include <sys/resource.h>\n"
			      "#include <unistd.h>\n"
			      "static void (*volatile nowhere)(void);\n"
			      "static volatile int one = 1;\n"
			      "__attribute__((noinline)) static int fault(void)\n"
			      "{ *(volatile int *)8 = 1; return one; }\n"
			      "__attribute__((noinline)) static int deep(int n)\n"
			      "{ volatile char pad[64]; pad[0] = one;\n"
			      "  return n ? deep(n - 1) + pad[0] : fault() + pad[0]; }\n"
			      "__attribute__((noinline)) static int forever(int n)\n"
			      "{ volatile char pad[500]; pad[0] = one;\n"
			      "  return forever(n + 1) + pad[0]; }\n"
			      "__attribute__((noinline)) static int jump(void)\n"
			      "{ nowhere(); return one; }\n"
			      "static void handler(int s) { (void)s; abort(); }\n"
			      "static int compare(const void *a, const void *b)\n"
			      "{ (void)a; (void)b; return fault(); }\n"
			      /* A thread that has not begun has no stack to compare. */
			      "static int begun;\n"
			      "static void *idle(void *p)\n"
			      "{ (void)p; __atomic_add_fetch(&begun, 1, __ATOMIC_SEQ_CST);\n"
			      "  for (;;) pause(); return NULL; }\n"
			      "int main(int c, char **v)\n"
			      "{ struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};\n"
			      "  struct rlimit stack = {1 << 20, 1 << 20};\n"
			      "  char alternate[65536]; stack_t other = {.ss_sp = alternate,\n"
			      "    .ss_size = sizeof(alternate)};\n"
			      "  struct sigaction act = {.sa_handler = handler,\n"
			      "    .sa_flags = SA_ONSTACK};\n"
			      "  pthread_t t; int list[4] = {1, 2, 3, 4};\n"
			      "  (void)c; setrlimit(RLIMIT_CORE, &all);\n"
			      "  setrlimit(RLIMIT_STACK, &stack);\n"
			      "  for (int i = 0; i < 5; i++)\n"
			      "    pthread_create(&t, NULL, idle, NULL);\n"
			      "  while (__atomic_load_n(&begun, __ATOMIC_SEQ_CST) < 5)\n"
			      "    usleep(1000);\n"
			      "  if (!strcmp(v[1], \"handler\")) sigaction(SIGSEGV, &act, NULL);\n"
			      "  if (!strcmp(v[1], \"onstack\")) { sigaltstack(&other, NULL);\n"
			      "    sigaction(SIGSEGV, &act, NULL); }\n"
			      "  if (!strcmp(v[1], \"overflow\")) return forever(1);\n"
			      "  if (!strcmp(v[1], \"nowhere\")) return jump();\n"
			      "  if (!strcmp(v[1], \"qsort\")) qsort(list, 4, 4, compare);\n"
			      "  return deep(300); }\n";

static struct ep_source *source;
static struct ep_unwinder *unwinder;
static struct ep_err err;

static void setup(void)
{
	char folder[] = "unwind.XXXXXX";
	FILE *file;

	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(chdir(folder), 0);
	file = fopen("prog.c", "w");
	fputs(program, file);
	fclose(file);
}

static void teardown(void)
{
	ep_unwinder_destroy(unwinder);
	ep_source_close(source);
	unwinder = NULL;
	source = NULL;
}

/* Crashes the program; the core is `core` then. */
static void crash(const char *flags, const char *how)
{
	char command[512];

	snprintf(command, sizeof(command),
		 "gcc -g %s prog.c -o prog -pthread && "
		 "{ ./prog %s; } >/dev/null 2>&1; "
		 "for c in core.*; do [ -e $c ] && mv $c core; done; "
		 "test -s core",
		 flags, how);
	ck_assert_msg(system(command) == 0, "no core");
}

static void open_core(const struct ep_names_options *options)
{
	ck_assert_msg(ep_source_open(&source, "core", &err) == EP_OK, "%s", err.text);
	ck_assert_msg(ep_unwinder_create(&unwinder, source, NULL, options, &err) == EP_OK, "%s",
		      err.text);
}

static void unwind(uint32_t tid, struct ep_stack *stack)
{
	ck_assert(ep_unwind(unwinder, tid, 100000, stack));
}

/* eu-stack's frames one by one; returns how many threads it had. */
static unsigned compare_with_eu_stack(void)
{
	FILE *pipe = popen("eu-stack -a -n 0 --core core 2>/dev/null", "r");
	struct ep_stack stack = {0};
	char line[4096];
	unsigned tid, threads = 0;
	size_t at = 0, number;
	uint64_t pc;

	while (fgets(line, sizeof(line), pipe)) {
		if (sscanf(line, "TID %u:", &tid) == 1) {
			ck_assert_uint_eq(stack.count, at);
			ep_stack_deinit(&stack);
			unwind(tid, &stack);
			ck_assert_msg(stack.complete, "%s", stack.why);
			threads++;
			at = 0;
		} else if (sscanf(line, "#%zu %lx", &number, &pc) == 2) {
			ck_assert_uint_lt(at, stack.count);
			ck_assert_uint_eq(number, at);
			ck_assert_uint_eq(stack.frames[at].pc, pc);
			ck_assert(!stack.frames[at].guessed);
			ck_assert_int_eq(stack.frames[at].activation, !strstr(line, " - 1"));
			at++;
		}
	}
	ck_assert_uint_eq(stack.count, at);
	ep_stack_deinit(&stack);
	pclose(pipe);
	return threads;
}

static const struct {
	const char *flags, *how;
	size_t least; /* frames of the thread that crashed */
} crashes[] = {
	{"-O0", "deep", 300},
	{"-O2 -fno-optimize-sibling-calls", "deep", 300},
	{"-O1 -no-pie", "handler", 300},
	{"-O1", "onstack", 300},
	{"-O0", "overflow", 1000},
	{"-O1 -fomit-frame-pointer", "qsort", 6},
	{"-O1 -static", "handler", 300},
};

START_TEST(every_thread_has_the_frames_that_eu_stack_has)
{
	struct ep_stack stack;
	const struct ep_source_thread *list;
	size_t count;

	crash(crashes[_i].flags, crashes[_i].how);
	open_core(NULL);
	ck_assert_uint_eq(compare_with_eu_stack(), 6);
	list = ep_source_threads(source, &count);
	ck_assert_uint_eq(count, 6);
	unwind(list[0].tid, &stack);
	ck_assert_uint_ge(stack.count, crashes[_i].least);
	ck_assert_uint_eq(stack.frames[0].pc, list[0].registers.pc);
	ck_assert_uint_eq(stack.frames[0].sp, list[0].registers.sp);
	for (size_t i = 2; i < 300 && i < stack.count; i++)
		ck_assert_uint_ne(stack.frames[i].sp, 0);
	ep_stack_deinit(&stack);
}
END_TEST

/* The names along a stack, innermost first, joined by blanks. */
static void expect_names(uint32_t tid, const char *wanted)
{
	struct ep_trace_module *modules;
	struct ep_names *names;
	struct ep_stack stack;
	char text[512] = "";
	size_t count;

	modules = ep_modules_from_source(&count, source, NULL);
	names = ep_names_create(modules, count, NULL);
	unwind(tid, &stack);
	for (size_t i = 0; i < stack.count && i < 3; i++) {
		uint64_t pc = stack.frames[i].pc - !stack.frames[i].activation;

		if (i > 0)
			strcat(text, " ");
		strcat(text, ep_names_find(names, pc, 0)->name);
	}
	ck_assert_str_eq(text, wanted);
	ep_stack_deinit(&stack);
	ep_names_destroy(names);
	free(modules);
}

START_TEST(a_call_through_null_has_its_caller)
{
	const struct ep_source_thread *list;
	struct ep_stack stack;
	size_t count;

	crash("-O1", "nowhere");
	open_core(NULL);
	list = ep_source_threads(source, &count);
	expect_names(list[0].tid, "0x0 jump main");
	unwind(list[0].tid, &stack);
	ck_assert(stack.complete);
	ck_assert(stack.frames[0].activation);
	ck_assert(!stack.frames[1].activation);
	ep_stack_deinit(&stack);
}
END_TEST

START_TEST(the_limit_is_kept_and_told)
{
	const struct ep_source_thread *list;
	struct ep_stack stack;
	size_t count;

	crash("-O0", "deep");
	open_core(NULL);
	list = ep_source_threads(source, &count);
	ck_assert(ep_unwind(unwinder, list[0].tid, 7, &stack));
	ck_assert_uint_eq(stack.count, 7);
	ck_assert(!stack.complete);
	ck_assert_ptr_nonnull(strstr(stack.why, "limit of 7"));
	ep_stack_deinit(&stack);
	ck_assert(!ep_unwind(unwinder, 1, 7, &stack));
}
END_TEST

START_TEST(a_program_that_is_gone_or_another_one_is_told)
{
	static const char *const spoil[] = {"rm prog",
					    "echo 'int main(void) { return 0; }' >o.c && "
					    "gcc o.c -o prog"};
	static const char *const why[] = {"No such file", "differs"};
	const struct ep_source_thread *list;
	struct ep_stack stack;
	size_t count;

	crash("-O1 -fomit-frame-pointer", "deep");
	ck_assert_int_eq(system(spoil[_i]), 0);
	open_core(NULL);
	list = ep_source_threads(source, &count);
	unwind(list[0].tid, &stack);
	ck_assert(!stack.complete);
	ck_assert_uint_ge(stack.count, 1);
	ck_assert_msg(strstr(stack.why, why[_i]), "%s", stack.why);
	ep_stack_deinit(&stack);
	/* The C library is still there. */
	unwind(list[1].tid, &stack);
	ck_assert_uint_ge(stack.count, 2);
	ep_stack_deinit(&stack);
}
END_TEST

/* With %rbp as frame pointer libdwfl goes on without the file. */
START_TEST(frames_by_the_frame_pointer_alone_are_marked)
{
	const struct ep_source_thread *list;
	struct ep_stack stack;
	size_t count;

	crash("-O1 -fno-omit-frame-pointer", "deep");
	ck_assert_int_eq(unlink("prog"), 0);
	open_core(NULL);
	list = ep_source_threads(source, &count);
	unwind(list[0].tid, &stack);
	ck_assert_uint_ge(stack.count, 300);
	ck_assert(!stack.frames[0].guessed);
	for (size_t i = 1; i < 300; i++)
		ck_assert(stack.frames[i].guessed);
	ep_stack_deinit(&stack);
}
END_TEST

START_TEST(the_program_may_be_named)
{
	struct ep_names_options options = {.executable = "elsewhere"};
	const struct ep_source_thread *list;
	struct ep_stack stack;
	size_t count;

	crash("-O0", "deep");
	ck_assert_int_eq(rename("prog", "elsewhere"), 0);
	open_core(&options);
	list = ep_source_threads(source, &count);
	unwind(list[0].tid, &stack);
	ck_assert_msg(stack.complete, "%s", stack.why);
	ck_assert_uint_ge(stack.count, 300);
	ep_stack_deinit(&stack);
}
END_TEST

/* Stacks come last in a core: cut in its middle, it must not look whole. */
START_TEST(a_stack_that_was_cut_off_is_told)
{
	const struct ep_source_thread *list;
	struct ep_stack stack;
	size_t count;

	crash("-O0", "overflow");
	ck_assert_int_eq(system("truncate -s $(($(stat -c %s core) - 500000)) core"), 0);
	open_core(NULL);
	list = ep_source_threads(source, &count);
	unwind(list[0].tid, &stack);
	ck_assert(!stack.complete);
	ck_assert_uint_ge(stack.count, 100);
	ck_assert_uint_le(stack.count, 1500);
	ck_assert_msg(strstr(stack.why, "truncated"), "%s", stack.why);
	ep_stack_deinit(&stack);
}
END_TEST

START_TEST(a_core_without_elf_headers_is_told)
{
	const struct ep_source_thread *list;
	struct ep_stack stack;
	size_t count;

	/* Private anonymous memory only. */
	ck_assert_int_eq(system("gcc -g -O1 prog.c -o prog -pthread; "
				"sh -c 'echo 0x1 >/proc/self/coredump_filter; "
				"exec ./prog deep' >/dev/null 2>&1; for c in "
				"core.*; do [ -e $c ] && mv $c core; done; "
				"test -s core"),
			 0);
	open_core(NULL);
	list = ep_source_threads(source, &count);
	unwind(list[0].tid, &stack);
	ck_assert_uint_ge(stack.count, 1);
	ck_assert(stack.complete || stack.why[0]);
	ep_stack_deinit(&stack);
}
END_TEST

START_TEST(modules_of_a_core_are_those_that_eu_unstrip_lists)
{
	struct ep_trace_module *modules;
	char line[4096], id[80], path[2048];
	unsigned found = 0;
	size_t count;
	uint64_t start, length;
	FILE *pipe;

	crash("-O1", "deep");
	open_core(NULL);
	modules = ep_modules_from_source(&count, source, NULL);
	pipe = popen("eu-unstrip -n --core core", "r");
	while (fgets(line, sizeof(line), pipe)) {
		ck_assert_int_eq(
			sscanf(line, "%lx+%lx %79[0-9a-f]@%*s %2047s", &start, &length, id, path),
			4);
		for (size_t i = 0; i < count; i++) {
			char ours[80] = "";

			if (modules[i].start != start)
				continue;
			for (uint32_t k = 0; k < modules[i].build_id_size; k++)
				sprintf(ours + 2 * k, "%02x", modules[i].build_id[k]);
			ck_assert_str_eq(ours, id);
			/* Up to the end of the page. */
			ck_assert_uint_eq(modules[i].end, (start + length + 4095) / 4096 * 4096);
			found++;
		}
	}
	pclose(pipe);
	ck_assert_uint_ge(found, 4); /* program, libc, ld.so, vdso */
	ck_assert_uint_eq(found, count);
	free(modules);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("unwind");
	TCase *tests = tcase_create("unwind");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_loop_test(tests, every_thread_has_the_frames_that_eu_stack_has, 0,
			    sizeof(crashes) / sizeof(crashes[0]));
	tcase_add_test(tests, a_call_through_null_has_its_caller);
	tcase_add_test(tests, the_limit_is_kept_and_told);
	tcase_add_loop_test(tests, a_program_that_is_gone_or_another_one_is_told, 0, 2);
	tcase_add_test(tests, frames_by_the_frame_pointer_alone_are_marked);
	tcase_add_test(tests, the_program_may_be_named);
	tcase_add_test(tests, a_stack_that_was_cut_off_is_told);
	tcase_add_test(tests, a_core_without_elf_headers_is_told);
	tcase_add_test(tests, modules_of_a_core_are_those_that_eu_unstrip_lists);
	suite_add_tcase(suite, tests);
	return ep_test_main(suite);
}
