/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_cli.c: the whole reader, from a core to each output. The first byte chooses the command, the
 * next three its options, and the rest is an arena that lies in a core otherwise whole (or, with
 * the first byte's top bit, the core itself). The arena's checksums are repaired.
 *
 * Invariants: the exit status is one of the documented; no success is silent and no failure either;
 * whatever is printed is UTF-8 and steers no terminal; JSON is JSON, and each line of a table has
 * the columns of its head.
 */
#include <signal.h>
#include <unistd.h>

#include "cli/commands.h"
#include "coredump/find/root.h"
#include "tests/fuzz/arena.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/build_core.h"

#define MOST_OPTIONS 3

/* STACKS: text, and none where no call took time. */
enum kind { TEXT, STACKS, JSON, JSON_LINES, TABLE, BYTES };

/* Formats that this build does not have answer with 64. */
static const struct {
	const char *words[3];
	enum kind kind;
} commands[] = {
	{{"report"}, TEXT},
	{{"replay", "--format=tsv"}, TABLE},
	{{"export", "--format=viztracer"}, JSON},
	{{"replay"}, TEXT},
	{{"info", "--json"}, JSON},
	{{"info"}, TEXT},
	{{"replay", "--merged"}, TEXT},
	{{"export", "--format=viztracer", "--sources=."}, JSON},
	{{"stats"}, TEXT},
	{{"stats", "--format=json"}, JSON},
	{{"stats", "--format=tsv"}, TABLE},
	{{"export", "--format=chrome"}, JSON},
	{{"export", "--format=jsonl"}, JSON_LINES},
	{{"export", "--format=collapsed"}, STACKS},
	{{"export", "--format=speedscope"}, JSON},
	{{"export", "--format=dot"}, TEXT},
	{{"export", "--format=html"}, TEXT},
	{{"export", "--format=funtrace"}, BYTES},
	{{"export", "--format=perfetto"}, BYTES},
	{{"report", "--all"}, TEXT},
};
#define COMMANDS (sizeof(commands) / sizeof(*commands))

static const char *const options[] = {
	"--last=5",           "--last=1",           "--last=200us",  "--last=1s",
	"--since=-100us",     "--since=+1us",       "--until=-1us",  "--until=+1ms",
	"--function=f*",      "--function=*",       "--depth=1",     "--depth=3",
	"--thread=#1",        "--thread=#2",        "--thread=w*",   "--thread=100",
	"--since=-1s",        "--min-duration=1us", "--no-demangle", "--force",
	"--min-duration=1ns", "--color=always",     "--threads=1",   "--last=0",
};
#define OPTIONS (sizeof(options) / sizeof(*options))

/* ---- the core around an arena ---- */

static void add_notes(struct build_core *core)
{
	siginfo_t info = {.si_signo = SIGSEGV, .si_code = SEGV_MAPERR};

	build_core_thread(core, 100, 0x500010, 0x7ff000000800, 0x7ff000000900, SIGSEGV);
	build_core_process(core, 100);
	build_core_signal(core, &info);
	build_core_files(core,
			 (struct build_core_file[]){{0x400000, 0x401000, 0, "/bin/a"},
						    {0x480000, 0x481000, 0, "/lib/b"}},
			 2);
	build_core_thread(core, 101, 0x480010, 0x7ff000001000, 0x7ff000001100, 0);
}

/* The stack holds the arena's end: words as good as any. */
static struct build_core *core_around(const uint8_t *bytes, size_t size)
{
	struct build_core *core = build_core_create();
	uint8_t *arena = calloc(1, size + 1), *stack = calloc(1, 8192);
	uint64_t address = 0;

	MUST(arena && stack);
	memcpy(arena, bytes, size);
	memcpy(stack, bytes + size - (size < 8192 ? size : 8192), size < 8192 ? size : 8192);
	fuzz_repair_arena(arena, size);
	if (size >= sizeof(struct ep_root))
		memcpy(&address, arena + offsetof(struct ep_root, self), 8);
	add_notes(core);
	build_core_memory(core, 0x400000, NULL, 4096, 4096, 5);
	build_core_memory(core, address, arena, size, size + 65536, 6);
	build_core_memory(core, 0x7ff000000000, stack, 8192, 8192, 6);
	build_core_finish(core);
	free(arena);
	free(stack);
	return core;
}

/* ---- what was printed ---- */

struct printed {
	FILE *file;
	char *text;
	size_t size;
};

static void printed_open(struct printed *printed)
{
	printed->text = NULL;
	printed->file = open_memstream(&printed->text, &printed->size);
	MUST(printed->file != NULL);
}

static void check_table(const char *text, size_t size)
{
	size_t columns = 0;

	fuzz_check_text(text, size, "\n\t");
	while (size) {
		const char *end = memchr(text, '\n', size);
		size_t tabs = 0;

		MUST(end != NULL);
		for (const char *at = text; at < end; at++)
			tabs += *at == '\t';
		if (!columns)
			columns = tabs;
		MUST(tabs == columns);
		size -= (size_t)(end + 1 - text);
		text = end + 1;
	}
}

static void check_printed(const struct printed *out, enum kind kind, int status, bool color)
{
	bool done = status <= EP_EXIT_PARTIAL;

	if (done && kind != STACKS)
		MUST(out->size != 0);
	if (out->size == 0)
		return;
	switch (kind) {
	case JSON:
	case JSON_LINES:
		fuzz_check_json(out->text, out->size, kind == JSON_LINES);
		break;
	case TABLE:
		check_table(out->text, out->size);
		break;
	case TEXT:
	case STACKS:
		fuzz_check_text(out->text, out->size, color ? "\n\t\033" : "\n\t");
		break;
	case BYTES:
		break;
	}
}

static void run(struct fuzz_bytes *chosen, const char *path)
{
	size_t which = (fuzz_take8(chosen) & 127) % COMMANDS;
	char *words[10] = {(char *)"epitaph"};
	struct printed out, said;
	FILE *real_out = stdout, *real_err = stderr;
	bool color = false;
	int count = 1, status;

	for (int i = 0; i < 3 && commands[which].words[i]; i++)
		words[count++] = (char *)commands[which].words[i];
	for (int i = 0; i < MOST_OPTIONS; i++) {
		uint8_t choice = fuzz_take8(chosen);

		if (choice == 0)
			continue;
		words[count++] = (char *)options[choice % OPTIONS];
		color |= strcmp(words[count - 1], "--color=always") == 0;
	}
	words[count++] = (char *)path;
	printed_open(&out);
	printed_open(&said);
	stdout = out.file;
	stderr = said.file;
	status = ep_main(count, words);
	stdout = real_out;
	stderr = real_err;
	fclose(out.file);
	fclose(said.file);
	MUST(status >= EP_EXIT_COMPLETE &&
	     (status <= EP_EXIT_UNREADABLE || status == EP_EXIT_USAGE));
	MUST(status <= EP_EXIT_PARTIAL || said.size != 0);
	fuzz_check_text(said.text, said.size, "\n");
	check_printed(&out, commands[which].kind, status, color);
	free(out.text);
	free(said.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct fuzz_bytes chosen = {bytes, size < 4 ? size : 4};
	struct build_core *core;
	char path[64];
	int fd;

	if (size < 8)
		return 0;
	if (bytes[0] & 128) {
		fd = fuzz_file(bytes + 4, size - 4, path);
		run(&chosen, path);
		close(fd);
		return 0;
	}
	core = core_around(bytes + 4, size - 4);
	run(&chosen, build_core_path(core));
	build_core_destroy(core);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t max_size, unsigned seed)
{
	if (size < 16)
		return LLVMFuzzerMutate(bytes, size, max_size);
	if (seed % 4 == 0)
		LLVMFuzzerMutate(bytes, 4, 4);
	if (seed % 8 == 1)
		fuzz_put_marks(bytes + 4, size - 4, seed / 8);
	/* Aligned words stay aligned in what is after the four. */
	return 4 + fuzz_mutate(bytes + 4, size - 4, max_size - 4, seed / 4, NULL);
}
