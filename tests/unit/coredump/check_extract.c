/* SPDX-License-Identifier: BSD-2-Clause */
/* check_extract.c: a snapshot holds the arena byte for byte, all notes, the tops of the stacks; it
 * appears whole or not at all, and says what it lacks.
 */
#include "tests/unit/main.h"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

#include "coredump/kinds/open.h"
#include "coredump/snapshot/elfcore.h"
#include "coredump/extract/extract.h"
#include "coredump/snapshot/image.h"
#include "tests/unit/build_core.h"

static struct ep_source *source;
static struct ep_root_found found;
static struct ep_extract_result result;
static struct ep_err err;
static char dir[64];

static void dir_make(void)
{
	strcpy(dir, "/tmp/epitaph-extract.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
}

static void dir_remove(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ck_assert_int_eq(system(command), 0);
}

static const char *in_dir(const char *name)
{
	static char paths[4][128];
	static int next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", dir, name);
	return path;
}

static size_t files_in_dir(void)
{
	char command[128];
	FILE *pipe;
	size_t count = 0;

	snprintf(command, sizeof(command), "ls -A %s | wc -l", dir);
	pipe = popen(command, "r");
	ck_assert_ptr_nonnull(pipe);
	ck_assert_int_eq(fscanf(pipe, "%zu", &count), 1);
	pclose(pipe);
	return count;
}

static void open_file(const char *path)
{
	ck_assert_msg(ep_source_open_core(&source, path, &err) == EP_OK, "%s", err.text);
	ck_assert_msg(ep_root_find(source, &found, &err) == EP_OK, "%s", err.text);
}

static int extract(const char *from, const char *to, const struct ep_extract_options *options)
{
	int rc;

	memset(&result, 0, sizeof(result));
	memset(&err, 0, sizeof(err));
	open_file(from);
	rc = ep_extract(source, &found, to, options, &result, &err);
	ep_source_close(source);
	return rc;
}

static uint8_t *file_load(const char *path, size_t *size)
{
	FILE *file = fopen(path, "r");
	struct stat st;
	uint8_t *bytes;

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fstat(fileno(file), &st), 0);
	*size = (size_t)st.st_size;
	bytes = malloc(*size + 1);
	ck_assert_uint_eq(fread(bytes, 1, *size, file), *size);
	fclose(file);
	return bytes;
}

/* ---- what is in it ---- */

START_TEST(a_snapshot_has_the_arena_the_notes_and_the_stacks)
{
	struct build_arena *arena;
	struct build_core *core = build_core_usual(&arena, 4);
	const struct ep_note *notes;
	struct ep_image image;
	uint8_t *stack = malloc(8192);
	size_t count;

	dir_make();
	ck_assert_int_eq(extract(build_core_path(core), in_dir("s"), NULL), EP_OK);
	ck_assert_uint_eq(result.arena_wanted, arena->committed);
	ck_assert_uint_eq(result.arena_saved, arena->committed);
	ck_assert_uint_eq(result.threads, 2);
	ck_assert_uint_eq(result.stacks_whole, 2);
	open_file(in_dir("s"));
	ck_assert_int_eq(ep_source_kind(source), EP_SOURCE_SNAPSHOT);
	ck_assert_uint_eq(found.how, EP_FOUND_SNAPSHOT);
	ck_assert_int_eq(ep_image_read(&image, source, &found, &err), EP_OK);
	ck_assert_uint_eq(image.size, arena->committed);
	ck_assert_mem_eq(image.bytes, arena->bytes, image.size);
	ep_image_deinit(&image);
	notes = ep_source_notes(source, &count);
	ck_assert_uint_eq(count, 7); /* six of the core, and ours */
	ck_assert_str_eq(notes[6].name, "EPITAPH");
	ck_assert_int_eq(ep_source_read(source, 0x7ffff0000000, stack, 8192, NULL, &err), EP_OK);
	ck_assert_uint_eq(stack[8191], 0x5a);
	/* what was left out is not called unmapped */
	ck_assert_int_eq(ep_source_read(source, 0x123000, stack, 1, NULL, &err), EP_E_UNSAVED);
	ck_assert_ptr_null(ep_source_warning(source, 0));
	ep_source_close(source);
	free(stack);
	dir_remove();
	build_core_destroy(core);
	build_arena_destroy(arena);
}
END_TEST

START_TEST(every_note_of_the_core_is_kept_as_it_was)
{
	struct build_core *core = build_core_usual(NULL, 1);
	const struct ep_note *before, *after;
	struct ep_source *snapshot;
	size_t count, more;

	dir_make();
	ck_assert_int_eq(extract(build_core_path(core), in_dir("s"), NULL), EP_OK);
	ck_assert_int_eq(ep_source_open(&source, core->path, &err), EP_OK);
	ck_assert_int_eq(ep_source_open(&snapshot, in_dir("s"), &err), EP_OK);
	before = ep_source_notes(source, &count);
	after = ep_source_notes(snapshot, &more);
	ck_assert_uint_eq(more, count + 1);
	for (size_t i = 0; i < count; i++) {
		ck_assert_str_eq(before[i].name, after[i].name);
		ck_assert_uint_eq(before[i].type, after[i].type);
		ck_assert_uint_eq(before[i].desc_size, after[i].desc_size);
		ck_assert_mem_eq(before[i].desc, after[i].desc, before[i].desc_size);
	}
	ep_source_close(source);
	ep_source_close(snapshot);
	dir_remove();
	build_core_destroy(core);
}
END_TEST

START_TEST(every_segment_says_what_it_holds_ascending_and_disjoint)
{
	struct build_core *core = build_core_usual(NULL, 4);
	const struct ep_segment *list;
	size_t count;

	dir_make();
	ck_assert_int_eq(extract(build_core_path(core), in_dir("s"), NULL), EP_OK);
	ck_assert_int_eq(ep_source_open(&source, in_dir("s"), &err), EP_OK);
	list = ep_source_segments(source, &count);
	ck_assert_uint_ge(count, 3);
	for (size_t i = 0; i < count; i++) {
		ck_assert_uint_eq(list[i].memory_size, list[i].saved_size);
		ck_assert_uint_eq(list[i].memory_size, list[i].present_size);
		ck_assert_uint_eq(list[i].file_offset % 4096, list[i].address % 4096);
		if (i)
			ck_assert_uint_ge(list[i].address,
					  list[i - 1].address + list[i - 1].memory_size);
	}
	ep_source_close(source);
	dir_remove();
	build_core_destroy(core);
}
END_TEST

START_TEST(a_snapshot_of_a_snapshot_is_the_same)
{
	struct build_core *core = build_core_usual(NULL, 4);
	uint8_t *one, *two;
	size_t size, again;

	dir_make();
	/* also when something was missing: the first one's count stays */
	core->size -= 4096;
	ck_assert_int_eq(extract(build_core_path(core), in_dir("1"), NULL), EP_OK);
	ck_assert_uint_eq(result.stacks_cut, 1);
	ck_assert_int_eq(extract(in_dir("1"), in_dir("2"), NULL), EP_OK);
	ck_assert_uint_eq(result.stacks_cut, 1);
	one = file_load(in_dir("1"), &size);
	two = file_load(in_dir("2"), &again);
	ck_assert_uint_eq(size, again);
	ck_assert_mem_eq(one, two, size);
	free(one);
	free(two);
	dir_remove();
	build_core_destroy(core);
}
END_TEST

START_TEST(what_was_lost_is_counted_and_kept_in_the_note)
{
	struct build_arena *arena;
	struct build_core *core = build_core_usual(&arena, 4);
	struct ep_snapshot_thread threads[2];
	struct ep_snapshot_note head;
	const struct ep_note *notes;
	size_t count;

	dir_make();
	/* the file ends in the arena: no stack is left at all */
	core->size = build_core_phdr(core, 1)->p_offset + 3 * 4096;
	ck_assert_int_eq(extract(build_core_path(core), in_dir("s"), NULL), EP_OK);
	ck_assert_uint_eq(result.arena_wanted, arena->committed);
	ck_assert_uint_eq(result.arena_saved, 3 * 4096);
	ck_assert_uint_eq(result.stacks_missing, 2);
	ck_assert_int_eq(ep_source_open(&source, in_dir("s"), &err), EP_OK);
	notes = ep_source_notes(source, &count);
	ck_assert_uint_eq(notes[count - 1].desc_size, sizeof(head) + sizeof(threads));
	memcpy(&head, notes[count - 1].desc, sizeof(head));
	memcpy(threads, notes[count - 1].desc + sizeof(head), sizeof(threads));
	ck_assert_uint_eq(head.arena_size, arena->committed);
	ck_assert_uint_eq(head.arena_saved, 3 * 4096);
	ck_assert_uint_eq(head.found, EP_FOUND_SEGMENT);
	ck_assert_uint_eq(head.thread_count, 2);
	ck_assert_uint_eq(head.taken_tsc, 0);
	ck_assert_uint_eq(threads[0].tid, 100);
	ck_assert_uint_eq(threads[0].stack_pointer, 0x7ffff0000800);
	ck_assert_uint_eq(threads[0].stack_wanted, 8192);
	ck_assert_uint_eq(threads[0].stack_saved, 0);
	ep_source_close(source);
	dir_remove();
	build_core_destroy(core);
	build_arena_destroy(arena);
}
END_TEST

START_TEST(without_stacks_only_the_arena_is_saved)
{
	struct ep_extract_options options = EP_EXTRACT_DEFAULTS;
	struct build_arena *arena;
	struct build_core *core = build_core_usual(&arena, 1);
	size_t count;

	dir_make();
	options.pages.arena_only = true;
	ck_assert_int_eq(extract(build_core_path(core), in_dir("s"), &options), EP_OK);
	ck_assert_int_eq(ep_source_open(&source, in_dir("s"), &err), EP_OK);
	ep_source_segments(source, &count);
	ck_assert_uint_eq(count, 1);
	ep_source_close(source);
	dir_remove();
	build_core_destroy(core);
	build_arena_destroy(arena);
}
END_TEST

START_TEST(more_than_65534_segments_are_written_and_read)
{
	enum { COUNT = 70000 };
	struct ep_elfcore_piece *pieces = calloc(COUNT, sizeof(*pieces));
	struct ep_elfcore core = {NULL, 0, pieces, COUNT};
	uint64_t written, word;
	size_t count;
	int fd;
	const char *path = build_file("", 0, &fd);

	/* each at its own place in a page, so that the file stays small */
	for (uint64_t i = 0; i < COUNT; i++)
		pieces[i] = (struct ep_elfcore_piece){0x100000 + i * 0x10000 + i * 8 % 4096, 8,
						      PF_R, (const uint8_t *)&pieces[i].address};
	ck_assert_int_eq(ep_elfcore_write(&core, NULL, fd, path, &written, &err), EP_OK);
	ck_assert_int_eq(ep_source_open_core(&source, path, &err), EP_OK);
	ep_source_segments(source, &count);
	ck_assert_uint_eq(count, COUNT);
	for (size_t i = 0; i < COUNT; i += 999) {
		ck_assert_int_eq(ep_source_read(source, pieces[i].address, &word, 8, NULL, &err),
				 EP_OK);
		ck_assert_uint_eq(word, pieces[i].address);
	}
	ep_source_close(source);
	close(fd);
	free(pieces);
}
END_TEST

/* ---- stacks ---- */

/* A core with an arena and these stacks, one thread each. */
static struct build_core *core_of_stacks(size_t count, uint64_t size)
{
	struct build_arena *arena = build_arena_create(NULL);
	struct build_core *core = build_core_create();
	uint64_t base = UINT64_C(0x7f0000000000);

	build_core_process(core, 1);
	build_core_arena(core, arena);
	for (size_t i = 0; i < count; i++) {
		uint64_t at = base + i * (size + 8192);

		build_core_thread(core, (uint32_t)(i + 1), 1, at + 4096 + 512, 0, 0);
		build_core_memory(core, at, NULL, size, size, PF_R | PF_W);
	}
	build_core_finish(core);
	build_arena_destroy(arena);
	return core;
}

START_TEST(each_stack_gives_64_kib_from_its_pointer_up)
{
	struct build_core *core = core_of_stacks(1, 1u << 20);
	const struct ep_segment *list;
	size_t count;

	dir_make();
	ck_assert_int_eq(extract(build_core_path(core), in_dir("s"), NULL), EP_OK);
	ck_assert_int_eq(ep_source_open(&source, in_dir("s"), &err), EP_OK);
	list = ep_source_segments(source, &count);
	ck_assert_uint_eq(count, 2);
	/* What lies below in the stack of who died, where a first fault's frame may be, comes with
	 * it. */
	ck_assert_uint_eq(list[1].address, UINT64_C(0x7f0000000000));
	ck_assert_uint_ge(list[1].memory_size, 65536 + 512);
	ck_assert_uint_le(list[1].memory_size, 65536 + 4096 + (20 << 10));
	ep_source_close(source);
	dir_remove();
	build_core_destroy(core);
}
END_TEST

START_TEST(a_thousand_stacks_stay_within_the_bound)
{
	struct ep_extract_options options = EP_EXTRACT_DEFAULTS;
	struct build_core *core = core_of_stacks(1000, 32768);

	dir_make();
	options.pages.stack_bytes_total = 8u << 20;
	ck_assert_int_eq(extract(build_core_path(core), in_dir("s"), &options), EP_OK);
	ck_assert_uint_le(result.bytes_written, (8u << 20) + (3u << 20));
	ck_assert_uint_eq(result.threads, 1000);
	ck_assert_uint_eq(result.stacks_missing + result.stacks_cut + result.stacks_whole, 1000);
	ck_assert_uint_ge(result.stacks_cut + result.stacks_whole, 600);
	dir_remove();
	build_core_destroy(core);
}
END_TEST

START_TEST(a_stack_that_has_overflowed_is_saved_from_its_end)
{
	struct build_arena *arena = build_arena_create(NULL);
	struct build_core *core = build_core_create();
	const struct ep_segment *list;
	size_t count;

	dir_make();
	build_core_process(core, 1);
	build_core_thread(core, 1, 1, 0x7f0000000ff8, 0, SIGSEGV);
	build_core_arena(core, arena);
	build_core_memory(core, 0x7f0000000000, NULL, 0, 4096, 0); /* guard */
	build_core_memory(core, 0x7f0000001000, NULL, 1 << 20, 1 << 20, PF_R | PF_W);
	build_core_finish(core);
	ck_assert_int_eq(extract(build_core_path(core), in_dir("s"), NULL), EP_OK);
	ck_assert_uint_eq(result.stacks_whole, 1);
	ck_assert_int_eq(ep_source_open(&source, in_dir("s"), &err), EP_OK);
	list = ep_source_segments(source, &count);
	ck_assert_uint_eq(list[count - 1].address, UINT64_C(0x7f0000001000));
	ep_source_close(source);
	dir_remove();
	build_core_destroy(core);
	build_arena_destroy(arena);
}
END_TEST

START_TEST(behind_a_handler_on_its_own_stack_lies_the_other_one)
{
	struct build_arena *arena = build_arena_create(NULL);
	struct build_core *core = build_core_create();
	uint8_t alternate[8192] = {0};
	ucontext_t context = {0};
	uint8_t byte;

	dir_make();
	context.uc_flags = 7;
	context.uc_stack.ss_sp = (void *)0x7e0000000000;
	context.uc_stack.ss_size = 8192;
	context.uc_mcontext.gregs[REG_RSP] = 0x7f0000080000;
	context.uc_mcontext.gregs[REG_CSGSFS] = 0x002b000000000033;
	memcpy(alternate + 0x1408, &context, 256);
	build_core_process(core, 1);
	build_core_thread(core, 1, 1, 0x7e0000001200, 0, SIGSEGV);
	build_core_arena(core, arena);
	build_core_memory(core, 0x7e0000000000, alternate, 8192, 8192, PF_R | PF_W);
	build_core_memory(core, 0x7f0000000000, NULL, 1 << 20, 1 << 20, PF_R | PF_W);
	build_core_finish(core);
	ck_assert_int_eq(extract(build_core_path(core), in_dir("s"), NULL), EP_OK);
	ck_assert_int_eq(ep_source_open(&source, in_dir("s"), &err), EP_OK);
	ck_assert_int_eq(ep_source_read(source, 0x7f0000080000, &byte, 1, NULL, &err), EP_OK);
	ep_source_close(source);
	dir_remove();
	build_core_destroy(core);
	build_arena_destroy(arena);
}
END_TEST

/* ---- where it is written ---- */

START_TEST(an_existing_file_is_refused_and_untouched)
{
	struct ep_extract_options force = EP_EXTRACT_DEFAULTS;
	struct build_core *core = build_core_usual(NULL, 1);
	struct stat st;
	FILE *file;

	dir_make();
	force.force = true;
	file = fopen(in_dir("s"), "w");
	fputs("mine", file);
	fclose(file);
	ck_assert_int_eq(extract(build_core_path(core), in_dir("s"), NULL), EP_E_USAGE);
	ck_assert_ptr_nonnull(strstr(err.text, "exists"));
	ck_assert_int_eq(stat(in_dir("s"), &st), 0);
	ck_assert_int_eq(st.st_size, 4);
	ck_assert_uint_eq(files_in_dir(), 1);
	ck_assert_int_eq(extract(core->path, in_dir("s"), &force), EP_OK);
	ck_assert_int_eq(stat(in_dir("s"), &st), 0);
	ck_assert_uint_eq((uint64_t)st.st_size, result.bytes_written);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	ck_assert_uint_eq(files_in_dir(), 1);
	dir_remove();
	build_core_destroy(core);
}
END_TEST

START_TEST(a_symbolic_link_is_refused_or_followed_but_stays)
{
	struct ep_extract_options force = EP_EXTRACT_DEFAULTS;
	struct build_core *core = build_core_usual(NULL, 1);
	struct stat st;

	dir_make();
	force.force = true;
	ck_assert_int_eq(symlink("target", in_dir("link")), 0);
	ck_assert_int_eq(extract(build_core_path(core), in_dir("link"), NULL), EP_E_USAGE);
	close(open(in_dir("target"), O_CREAT | O_WRONLY, 0600));
	ck_assert_int_eq(extract(core->path, in_dir("link"), &force), EP_OK);
	ck_assert_int_eq(lstat(in_dir("link"), &st), 0);
	ck_assert(S_ISLNK(st.st_mode));
	ck_assert_int_eq(stat(in_dir("target"), &st), 0);
	ck_assert_uint_eq((uint64_t)st.st_size, result.bytes_written);
	dir_remove();
	build_core_destroy(core);
}
END_TEST

START_TEST(a_pipe_gets_the_same_bytes)
{
	struct build_core *core = build_core_usual(NULL, 1);
	uint8_t *file, *piped;
	char command[256];
	size_t size, more;
	int out;

	dir_make();
	ck_assert_int_eq(extract(build_core_path(core), in_dir("s"), NULL), EP_OK);
	snprintf(command, sizeof(command), "cat > %s", in_dir("piped"));
	out = dup(STDOUT_FILENO);
	{
		FILE *pipe = popen(command, "w");

		ck_assert_int_ge(dup2(fileno(pipe), STDOUT_FILENO), 0);
		ck_assert_int_eq(extract(core->path, "-", NULL), EP_OK);
		ck_assert_int_ge(dup2(out, STDOUT_FILENO), 0);
		pclose(pipe);
	}
	file = file_load(in_dir("s"), &size);
	piped = file_load(in_dir("piped"), &more);
	ck_assert_uint_eq(size, more);
	ck_assert_mem_eq(file, piped, size);
	free(file);
	free(piped);
	dir_remove();
	build_core_destroy(core);
}
END_TEST

START_TEST(a_full_disk_leaves_nothing_behind)
{
	struct build_core *core = build_core_usual(NULL, 1);
	struct rlimit limit = {65536, 65536};

	dir_make();
	build_core_path(core);
	ck_assert_int_eq(extract(core->path, "/dev/full", NULL), EP_E_IO);
	ck_assert_ptr_nonnull(strstr(err.text, "No space left"));
	/* a limit on file sizes stands in for a full disk */
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ck_assert_int_eq(extract(core->path, in_dir("s"), NULL), EP_E_IO);
	ck_assert_ptr_nonnull(strstr(err.text, in_dir("s")));
	ck_assert_uint_eq(files_in_dir(), 0);
	dir_remove();
	build_core_destroy(core);
}
END_TEST

START_TEST(a_core_is_not_replaced_by_its_own_snapshot)
{
	struct ep_extract_options force = EP_EXTRACT_DEFAULTS;
	struct build_core *core = build_core_usual(NULL, 1);
	FILE *file;

	dir_make();
	force.force = true;
	file = fopen(in_dir("core"), "w");
	fwrite(core->bytes, 1, core->size, file);
	fclose(file);
	ck_assert_int_eq(extract(in_dir("core"), in_dir("core"), &force), EP_E_USAGE);
	ck_assert_int_eq(extract(in_dir("core"), "/no/such/dir/s", NULL), EP_E_IO);
	ck_assert_int_eq(extract(in_dir("core"), dir, NULL), EP_E_USAGE);
	dir_remove();
	build_core_destroy(core);
}
END_TEST

/* ---- damage ---- */

/* Each byte without a sanitizer; with one, whose large allocations are slow, each fifth: no field's
 * size is a multiple of that. */
#ifdef __SANITIZE_ADDRESS__
#define STRIDE 5
#else
#define STRIDE 1
#endif

START_TEST(every_truncation_of_a_snapshot_is_told)
{
	struct build_core *core = build_core_usual(NULL, 1);
	struct ep_image image;
	const char *path;
	uint8_t *bytes;
	size_t size, had = 0, whole = 0;
	int fd;

	dir_make();
	ck_assert_int_eq(extract(build_core_path(core), in_dir("s"), NULL), EP_OK);
	bytes = file_load(in_dir("s"), &size);
	path = build_file("", 0, &fd);
	for (size_t cut = 0; cut < size; cut += cut < 8192 ? STRIDE : 251 * STRIDE) {
		int rc;

		/* The file grows by what the last one lacked. */
		ck_assert_int_eq(pwrite(fd, bytes + had, cut - had, (off_t)had), cut - had);
		had = cut;
		memset(&err, 0, sizeof(err));
		rc = ep_source_open_core(&source, path, &err);
		if (rc) {
			ck_assert_str_ne(err.text, "");
			continue;
		}
		ck_assert_ptr_nonnull(ep_source_warning(source, 0));
		rc = ep_root_find(source, &found, &err);
		if (rc == EP_OK)
			rc = ep_image_read(&image, source, &found, &err);
		else
			ck_assert_str_ne(err.text, "");
		if (rc == EP_OK) {
			whole += image.pages_missing == 0;
			ep_image_deinit(&image);
		}
		ep_source_close(source);
	}
	close(fd);
	/* the arena comes first: it outlives the loss of the stacks */
	ck_assert_uint_gt(whole, 10);
	free(bytes);
	dir_remove();
	build_core_destroy(core);
}
END_TEST

START_TEST(every_flipped_byte_of_a_snapshots_head_is_survived)
{
	struct build_core *core = build_core_usual(NULL, 1);
	struct ep_extract_options force = EP_EXTRACT_DEFAULTS;
	const char *path;
	uint8_t *bytes;
	size_t size, head;
	int fd;

	dir_make();
	force.force = true;
	ck_assert_int_eq(extract(build_core_path(core), in_dir("s"), NULL), EP_OK);
	bytes = file_load(in_dir("s"), &size);
	head = ((Elf64_Phdr *)(bytes + 64))->p_offset + ((Elf64_Phdr *)(bytes + 64))->p_filesz;
	path = build_file(bytes, size, &fd);
	for (size_t i = 0; i < head; i += STRIDE) {
		bytes[i] ^= 0xff;
		ck_assert_int_eq(pwrite(fd, &bytes[i], 1, (off_t)i), 1);
		memset(&err, 0, sizeof(err));
		if (ep_source_open_core(&source, path, &err) == EP_OK) {
			if (ep_root_find(source, &found, &err) == EP_OK &&
			    ep_extract(source, &found, "/dev/null", &force, &result, &err) == EP_OK)
				ck_assert_uint_lt(result.bytes_written, 4 * size);
			ep_source_close(source);
		} else {
			ck_assert_str_ne(err.text, "");
		}
		bytes[i] ^= 0xff;
		ck_assert_int_eq(pwrite(fd, &bytes[i], 1, (off_t)i), 1);
	}
	close(fd);
	free(bytes);
	dir_remove();
	build_core_destroy(core);
}
END_TEST

/* An executable whose dynamic linker's list goes round in a circle. */
START_TEST(a_list_of_link_maps_that_goes_round_ends)
{
	struct build_arena *arena = build_arena_create(NULL);
	struct build_core *core = build_core_create();
	uint8_t page[4096] = {0};
	Elf64_Phdr headers[2] = {{.p_type = PT_LOAD, .p_memsz = 4096},
				 {.p_type = PT_DYNAMIC, .p_vaddr = 0x400, .p_memsz = 32}};
	uint64_t debug[] = {DT_DEBUG, 0x500500, DT_NULL, 0};
	uint64_t r_debug[] = {2, 0x500600, 0, 0, 0, 0x500500};
	uint64_t map[] = {0, 0x500700, 0, 0x500600, 0};

	dir_make();
	memcpy(page + 64, headers, sizeof(headers));
	memcpy(page + 0x400, debug, sizeof(debug));
	memcpy(page + 0x500, r_debug, sizeof(r_debug));
	memcpy(page + 0x600, map, sizeof(map));
	memset(page + 0x700, 'x', sizeof(page) - 0x700);
	build_core_process(core, 1);
	build_core_auxv(core, (const uint64_t[][2]){{AT_PHDR, 0x500040}, {AT_PHNUM, 2}}, 2);
	build_core_arena(core, arena);
	build_core_memory(core, 0x500000, page, 4096, 4096, PF_R);
	build_core_finish(core);
	ck_assert_int_eq(extract(build_core_path(core), in_dir("s"), NULL), EP_OK);
	ck_assert_uint_ge(result.pages_saved, 1);
	ck_assert_uint_ge(result.pages_wanted, result.pages_saved);
	dir_remove();
	build_core_destroy(core);
	build_arena_destroy(arena);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("extract");
	TCase *whole = tcase_create("whole"), *stacks = tcase_create("stacks");
	TCase *output = tcase_create("output"), *bad = tcase_create("bad");

	tcase_add_test(whole, a_snapshot_has_the_arena_the_notes_and_the_stacks);
	tcase_add_test(whole, every_note_of_the_core_is_kept_as_it_was);
	tcase_add_test(whole, every_segment_says_what_it_holds_ascending_and_disjoint);
	tcase_add_test(whole, a_snapshot_of_a_snapshot_is_the_same);
	tcase_add_test(whole, what_was_lost_is_counted_and_kept_in_the_note);
	tcase_add_test(whole, without_stacks_only_the_arena_is_saved);
	tcase_add_test(whole, more_than_65534_segments_are_written_and_read);
	tcase_add_test(stacks, each_stack_gives_64_kib_from_its_pointer_up);
	tcase_add_test(stacks, a_thousand_stacks_stay_within_the_bound);
	tcase_add_test(stacks, a_stack_that_has_overflowed_is_saved_from_its_end);
	tcase_add_test(stacks, behind_a_handler_on_its_own_stack_lies_the_other_one);
	tcase_add_test(output, an_existing_file_is_refused_and_untouched);
	tcase_add_test(output, a_symbolic_link_is_refused_or_followed_but_stays);
	tcase_add_test(output, a_pipe_gets_the_same_bytes);
	tcase_add_test(output, a_full_disk_leaves_nothing_behind);
	tcase_add_test(output, a_core_is_not_replaced_by_its_own_snapshot);
	tcase_add_test(bad, every_truncation_of_a_snapshot_is_told);
	tcase_add_test(bad, every_flipped_byte_of_a_snapshots_head_is_survived);
	tcase_add_test(bad, a_list_of_link_maps_that_goes_round_ends);
	suite_add_tcase(suite, whole);
	suite_add_tcase(suite, stacks);
	suite_add_tcase(suite, output);
	suite_add_tcase(suite, bad);
	return ep_test_main(suite);
}
