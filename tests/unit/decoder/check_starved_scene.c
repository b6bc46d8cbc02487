/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_starved_scene.c: memory runs out (starve.h) in what reads more of a trace than calls:
 * notes, spans, watchdogs and stacks, waits, causes of death, arena files, compressed cores; in
 * diff, list and doctor.
 */
#include "tests/unit/starve.h"

#include <signal.h>

#include "runtime/record/mark.h"
#include "runtime/api/note.h"
#include "tests/unit/build_core.h"
#include "tests/unit/build_sched.h"
#include "tests/unit/build_watchdogs.h"

#define ID        "3132333435363738"
#define BASE      UINT64_C(0x400000)
#define INNER     (BASE + 0x1000)
#define OUTER     (BASE + 0x1100)
#define TERMINATE (BASE + 0x1200)
#define FORMAT    (BASE + 0x2000)
#define MESSAGE   (BASE + 0x4000)
#define END       (BASE + 0x5000)
#define PAGES     UINT64_C(0x7ffff7000000) /* glibc's, of a message */
#define STACK     UINT64_C(0x7ffff0000000)
#define START     UINT64_C(1000000)

/* ---- the program ---- */

/* Names, lines, a note's format, and glibc's pointer to its last words, as a static program has
 * them. */
static void make_object(void)
{
	static const char source[] =
		"int other(int);\n"
		"#define PLACED(at) __attribute__((noinline, aligned(at)))\n"
		"PLACED(256) int inner(int n) { return other(n) * 3; }\n"
		"PLACED(256) int outer(int n) { return inner(n) + 1; }\n"
		"PLACED(256) void _ZSt9terminatev(void) { __builtin_trap(); }\n"
		"__attribute__((section(\".formats,\\\"a\\\"#\")))\n"
		"const char format[] = \"resized %s to %d of %.1f\";\n"
		"__attribute__((section(\".message,\\\"aw\\\"#\")))\n"
		"void *__abort_msg = 0;\n";

	write_file("object.c", source, sizeof(source) - 1);
	ck_assert_int_eq(system("gcc -g -O1 -fno-toplevel-reorder -shared -nostdlib "
				"-fPIC -Wl,-z,noseparate-code -Wl,-Ttext=0x1000 "
				"-Wl,--section-start=.formats=0x2000 "
				"-Wl,--section-start=.message=0x4000 "
				"-Wl,--build-id=0x" ID " object.c -o object.so"),
			 0);
}

/* ---- its history ---- */

static void put(struct build_arena *arena, struct ep_thread *thread, const uint64_t *words,
		size_t count, uint64_t tsc)
{
	struct build_cursor *cursor = &arena->cursors[thread->serial - 1];
	uint64_t stamp = (tsc >> EP_TICK_SHIFT) & 0xffff;

	ck_assert_uint_lt(cursor->next + count, EP_BLOCK_RECORDS);
	for (size_t i = 0; i < count; i++) {
		uint64_t word = words[i];

		if (word % EP_ESCAPE_TYPES == EP_ESCAPE_MARK)
			word |= (stamp ? stamp : 1) << EP_STAMP_SHIFT;
		cursor->block->records[cursor->next++] = word;
	}
	cursor->last_tsc = tsc;
}

static void put_mark(struct build_arena *arena, struct ep_thread *thread, unsigned kind,
		     uint64_t second, const char *text, uint64_t tsc)
{
	struct ep_mark mark;

	ep_mark_init(&mark, kind);
	ep_mark_value(&mark, INNER + 5);
	if (second)
		ep_mark_value(&mark, second);
	ep_mark_text(&mark, text);
	ep_mark_finish(&mark);
	put(arena, thread, mark.words, 1 + mark.count, tsc);
}

static void put_note(struct build_arena *arena, struct ep_thread *thread, uint64_t tsc, ...)
{
	struct ep_note_builder remark;
	va_list list;

	va_start(list, tsc);
	ep_program_note(&remark, "resized %s to %d of %.1f",
			ep_note_arguments("resized %s to %d of %.1f"), (struct ep_variadic *)list,
			INNER + 5);
	va_end(list);
	/* Where the format lay is another process's. */
	remark.words[1] = ep_escape_make(EP_ESCAPE_DATA, FORMAT & 0x3ffffff);
	remark.words[2] = ep_escape_make(EP_ESCAPE_DATA, FORMAT >> 26);
	put(arena, thread, remark.words, remark.count, tsc);
}

static void fill(struct build_arena *arena, struct ep_thread *thread, uint64_t tsc, int rounds)
{
	for (int i = 0; i < rounds; i++) {
		build_call(arena, thread, OUTER, tsc += 4000);
		put_mark(arena, thread, EP_MARK_SPAN_BEGIN, 0, "a span", tsc += 500);
		build_call(arena, thread, INNER, tsc += 500);
		put_note(arena, thread, tsc += 500, "users", i, 8.5);
		build_return(arena, thread, INNER, tsc += 4000);
		if (i % 3)
			put_mark(arena, thread, EP_MARK_SPAN_END, 0, "a span", tsc += 500);
		if (i % 4)
			build_return(arena, thread, OUTER, tsc += 500);
	}
	put_mark(arena, thread, EP_MARK_WATCHDOG, 77000, "dog 1", tsc += 500);
	build_call(arena, thread, INNER, tsc += 500);
	put_mark(arena, thread, EP_MARK_THROW, 0, "St13runtime_error", tsc += 500);
}

/* Each thread waits for the other, now and then. */
static void schedule(struct build_arena *arena)
{
	struct build_sched sched;

	build_sched_init(&sched, arena, START);
	build_sched_page(&sched, START);
	for (uint64_t tsc = START; tsc < START + 100000; tsc += 12000) {
		build_sched_enter(&sched, tsc + 900, 100, 202, 7);
		build_sched_switch(&sched, tsc + 1000, 100, 1, 101);
		build_sched_waking(&sched, tsc + 4000, 101, 0, 100);
		build_sched_switch(&sched, tsc + 5000, 101, 2, 100);
		build_sched_waking(&sched, tsc + 6000, 100, 8, 101);
	}
	build_sched_flush(&sched, 0, false);
}

/* Its threads begin with `rounds` rounds. */
static struct build_arena *make_arena(const char *object, int rounds)
{
	struct build_arena_options options = BUILD_ARENA_DEFAULTS;
	struct ep_watchdog *dogs;
	struct build_arena *arena;

	options.size = 2 << 20;
	options.thread_capacity = options.module_capacity = 4;
	arena = build_arena_create(&options);
	build_arena_module(arena, object, BASE, END, BASE, "12345678", 8);
	dogs = build_watchdogs(arena, 2);
	dogs[0].misses = 3;
	dogs[0].missed_tsc = START + 50000;
	dogs[0].missed_fed = START + 100;
	dogs[0].missed_by = 101;
	build_stacks(arena, 2, 256);
	schedule(arena);
	fill(arena, build_arena_thread(arena, 100, "main", 2), START, rounds);
	fill(arena, build_arena_thread(arena, 101, "worker", 2), START + 2000, 3);
	build_arena_seal(arena);
	return arena;
}

/* ---- its deaths ---- */

static void add_memory(struct build_core *core, const struct build_arena *arena)
{
	struct {
		uint32_t size;
		char text[4092];
	} page = {4096, "program: object.c:3: inner: Assertion `n' failed.\n"};
	uint64_t pointer = PAGES;
	uint8_t stack[8192] = {0};
	size_t size;
	char *file = read_all("object.so", &size);

	ck_assert_uint_gt(size, 0x3000);
	build_core_memory(core, BASE, file, 0x3000, 0x3000, 5);
	build_core_memory(core, MESSAGE, &pointer, 8, 4096, 6);
	build_core_arena(core, arena);
	build_core_memory(core, STACK, stack, sizeof(stack), sizeof(stack), 6);
	build_core_memory(core, PAGES, &page, sizeof(page), sizeof(page), 6);
	free(file);
}

static void make_core(const char *path, const struct build_arena *arena, const char *object,
		      uint64_t pc, int signal)
{
	const uint64_t auxv[][2] = {{3, BASE + 64}, {6, 4096}};
	struct build_core_file files[] = {{BASE, END, 0, object}};
	struct build_core *core = build_core_create();

	build_core_thread(core, 100, pc, STACK + 0x800, 0, signal);
	build_core_process(core, 100);
	build_core_signal(core, &(siginfo_t){.si_signo = signal, .si_code = SEGV_MAPERR});
	build_core_auxv(core, auxv, 2);
	build_core_files(core, files, 1);
	build_core_thread(core, 101, OUTER + 4, STACK + 0x1000, 0, 0);
	add_memory(core, arena);
	build_core_finish(core);
	write_file(path, core->bytes, core->size);
	build_core_destroy(core);
}

static void setup(void)
{
	char folder[] = "starved.XXXXXX", object[4096 + 16];
	struct build_arena *arena;

	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(chdir(folder), 0);
	make_object();
	ck_assert_ptr_nonnull(getcwd(object, 4096));
	strcat(object, "/object.so");
	arena = make_arena(object, 4);
	make_core("trapped", arena, object, TERMINATE, SIGILL);
	build_arena_destroy(arena);
	arena = make_arena(object, 5);
	make_core("aborted", arena, object, TERMINATE, SIGABRT);
	write_file("arena", arena->bytes, arena->size);
	build_arena_destroy(arena);
	ck_assert_int_eq(system("gzip -k aborted && xz -k trapped && mkdir "
				"found && cp aborted found/p.100.1.core"),
			 0);
}

/* ---- what is asked ---- */

static const struct {
	const char *words[6], *wanted;
} commands[] = {
	{{"info", "aborted"}, "dog 1"},
	{{"info", "--json", "aborted"}, "dog 1"},
	{{"replay", "aborted"}, "resized users to 4 of 8.5"},
	{{"replay", "--merged", "--last=30", "aborted"}, "a span"},
	{{"report", "aborted"}, "Assertion `n' failed"},
	{{"report", "trapped"}, "ud2"},
	{{"report", "--signature", "aborted"}, "inner < outer"},
	{{"export", "--format=viztracer", "aborted"}, "resized users to 4"},
	{{"export", "--format=chrome", "aborted"}, "a span"},
	{{"export", "--format=jsonl", "aborted"}, "resized users to 4"},
	{{"export", "--format=speedscope", "aborted"}, "outer"},
	{{"export", "--format=collapsed", "aborted"}, "outer"},
	{{"stats", "aborted"}, "a span"},
	{{"stats", "--waits", "aborted"}, "outer"},
	{{"stats", "--waits", "--json", "aborted"}, "outer"},
	{{"stats", "--by-thread", "--json", "aborted"}, "outer"},
	{{"diff", "--json", "aborted", "trapped"}, "outer"},
	{{"list", "found"}, "p.100.1.core"},
	{{"list", "--json", "found"}, "p.100.1.core"},
	{{"report", "arena"}, "dog 1"},
	{{"info", "arena"}, "dog 1"},
	{{"info", "aborted.gz"}, "dog 1"},
	{{"report", "trapped.xz"}, "ud2"},
	{{"extract", "--output=out", "aborted.gz"}, "EPITAPH"},
	{{"doctor", "--json", "./object.so"}, "clock"},
};

START_TEST(a_command)
{
	/* It tells how much room the disk has. */
	whole_dated = !strcmp(commands[_i].words[0], "doctor");
	sweep_command(commands[_i].words, commands[_i].wanted);
}
END_TEST

START_TEST(extracting_an_arenas_file)
{
	static const char *const words[] = {"extract", "--output=out", "arena", NULL};

	/* ep_arena_compact() leaves it as it lies. */
	whole_dated = whole_least = true;
	sweep_command(words, "EPITAPH");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("starved_scene");
	TCase *tests = tcase_create("starved_scene");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_loop_test(tests, a_command, 0, sizeof(commands) / sizeof(*commands));
	tcase_add_test(tests, extracting_an_arenas_file);
	suite_add_tcase(suite, tests);
	return ep_test_main(suite);
}
