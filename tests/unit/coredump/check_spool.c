/* SPDX-License-Identifier: BSD-2-Clause */
/* check_spool.c: cores that come as streams: every answer is the file's, or says that the bytes
 * were not kept; none is made up. */
#include "tests/unit/main.h"

#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "coredump/kinds/open.h"
#include "coredump/snapshot/image.h"
#include "tests/unit/build_core.h"

#define MIB (UINT64_C(1) << 20)

/* ---- a stream of bytes ---- */

struct feed {
	const uint8_t *bytes;
	size_t size;
	uint64_t taken; /* bytes that the pipe took */
	int ends[2];
	pthread_t writer;
};

static void *feed_write(void *argument)
{
	struct feed *feed = argument;
	size_t at = 0;

	while (at < feed->size) {
		/* Odd pieces: nothing may rest on how the bytes arrive. */
		size_t piece = feed->size - at < 50001 ? feed->size - at : 50001;
		ssize_t n = write(feed->ends[1], feed->bytes + at, piece);

		if (n <= 0)
			break;
		at += (size_t)n;
	}
	feed->taken = at;
	close(feed->ends[1]);
	return NULL;
}

/* The source has a descriptor of its own: the writer may go on until it is closed, and is to be
 * joined then. */
static int feed_open(struct ep_source **out, struct feed *feed, struct ep_err *err)
{
	char path[64];
	int rc;

	signal(SIGPIPE, SIG_IGN);
	ck_assert_int_eq(pipe(feed->ends), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", feed->ends[0]);
	pthread_create(&feed->writer, NULL, feed_write, feed);
	rc = ep_source_open_core(out, path, err);
	close(feed->ends[0]);
	return rc;
}

static int open_piped(struct ep_source **out, const void *bytes, size_t size, struct ep_err *err)
{
	struct feed feed = {.bytes = bytes, .size = size};
	int rc = feed_open(out, &feed, err);

	pthread_join(feed.writer, NULL);
	return rc;
}

static uint8_t *gzipped(const void *bytes, size_t size, size_t *out_size)
{
	z_stream stream = {0};
	uint8_t *out = malloc(size + 100000);

	ck_assert_int_eq(deflateInit2(&stream, 1, Z_DEFLATED, 15 + 16, 8, 0), Z_OK);
	stream.next_in = (void *)(uintptr_t)bytes;
	stream.avail_in = (unsigned)size;
	stream.next_out = out;
	stream.avail_out = (unsigned)size + 100000;
	ck_assert_int_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
	*out_size = stream.total_out;
	deflateEnd(&stream);
	return out;
}

static bool warned(const struct ep_source *source, const char *words)
{
	const char *line;

	for (size_t i = 0; (line = ep_source_warning(source, i)); i++)
		if (strstr(line, words))
			return true;
	return false;
}

/* ---- two sources against each other ---- */

/* Each page that `stream` reads is as `file` has it; what else it answers is the file's answer too,
 * or that it was not kept. The pages read alike. */
static size_t compare(struct ep_source *file, struct ep_source *stream)
{
	size_t count, alike = 0;
	const struct ep_segment *list = ep_source_segments(file, &count);

	for (size_t i = 0; i < count; i++) {
		uint64_t end = list[i].present_size + 16 * 4096;

		for (uint64_t at = 0; at < list[i].memory_size && at < end; at += 4096) {
			uint8_t one[4096] = {1}, other[4096] = {2};
			struct ep_err err;
			size_t done, got;
			int rc = ep_source_read(file, list[i].address + at, one, 4096, &done, NULL);
			int rd = ep_source_read(stream, list[i].address + at, other, 4096, &got,
						&err);

			if (rd == EP_E_UNSAVED && rc != rd) {
				ck_assert_msg(strstr(err.text, "not kept"), "%s", err.text);
				ck_assert_uint_eq(got, 0);
				continue;
			}
			ck_assert_int_eq(rc, rd);
			ck_assert_uint_eq(done, got);
			ck_assert_int_eq(memcmp(one, other, got), 0);
			alike += got == 4096;
		}
	}
	return alike;
}

static struct ep_source *file_of(struct build_core *core)
{
	struct ep_source *source;
	struct ep_err err;

	ck_assert_msg(ep_source_open_core(&source, build_core_path(core), &err) == EP_OK, "%s",
		      err.text);
	return source;
}

static struct ep_source *stream_of(const struct build_core *core)
{
	struct ep_source *source;
	struct ep_err err;

	ck_assert_msg(open_piped(&source, core->bytes, core->size, &err) == EP_OK, "%s", err.text);
	return source;
}

/* Too large to be kept whole: its last segment promises more than comes. */
static struct build_core *large_core(void)
{
	struct build_core *core = build_core_usual(NULL, 4);

	build_core_phdr(core, 3)->p_filesz = 100 * MIB;
	build_core_phdr(core, 3)->p_memsz = 100 * MIB;
	return core;
}

START_TEST(a_small_core_is_kept_whole)
{
	struct build_core *core = build_core_usual(NULL, 4);
	struct ep_source *file = file_of(core), *stream = stream_of(core);
	size_t pages = 0, count;
	const struct ep_segment *list = ep_source_segments(file, &count);

	for (size_t i = 0; i < count; i++)
		pages += list[i].present_size / 4096;
	ck_assert_uint_ge(pages, 8);
	ck_assert_uint_eq(compare(file, stream), pages);
	ck_assert_ptr_null(ep_source_warning(stream, 0));
	ep_source_close(file);
	ep_source_close(stream);
	build_core_destroy(core);
}
END_TEST

START_TEST(of_a_large_core_the_arena_and_the_stacks_are_kept)
{
	struct build_core *core = large_core();
	struct ep_source *file = file_of(core), *stream = stream_of(core);
	struct ep_root_found found;
	struct ep_image image, same;
	struct ep_err err;

	ck_assert_uint_ge(compare(file, stream), 8);
	ck_assert_int_eq(ep_root_find(stream, &found, &err), EP_OK);
	ck_assert_int_eq(ep_image_read(&image, stream, &found, &err), EP_OK);
	ck_assert_int_eq(ep_image_read(&same, file, &found, &err), EP_OK);
	ck_assert_uint_eq(image.size, same.size);
	ck_assert_int_eq(memcmp(image.bytes, same.bytes, image.size), 0);
	ep_image_deinit(&image);
	ep_image_deinit(&same);
	ep_source_close(file);
	ep_source_close(stream);
	build_core_destroy(core);
}
END_TEST

START_TEST(what_was_not_kept_is_told_and_never_zero)
{
	const uint64_t heap = 0x10000000, size = 80 * MIB;
	struct build_core *core = build_core_create();
	uint8_t *bytes = malloc(size), byte = 0xee;
	struct ep_source *stream;
	struct ep_err err;

	memset(bytes, 0xaa, size);
	memset(bytes + 2 * MIB, 0, 4096);
	build_core_thread(core, 1, 0x1000, heap + 40 * MIB, 0, SIGSEGV);
	build_core_memory(core, heap, bytes, size, size, PF_R | PF_W);
	build_core_finish(core);
	stream = stream_of(core);
	ck_assert_int_eq(ep_source_read(stream, heap + 2 * MIB, &byte, 1, NULL, &err),
			 EP_E_UNSAVED);
	ck_assert_msg(strstr(err.text, "not kept"), "%s", err.text);
	ck_assert_uint_eq(byte, 0xee);
	/* Its beginning, its end, and what a stack pointer points to. */
	for (int i = 0; i < 3; i++) {
		const uint64_t at[] = {0, size - 1, 40 * MIB + 4096};

		ck_assert_int_eq(ep_source_read(stream, heap + at[i], &byte, 1, NULL, &err), EP_OK);
		ck_assert_uint_eq(byte, 0xaa);
	}
	ep_source_close(stream);
	build_core_destroy(core);
	free(bytes);
}
END_TEST

START_TEST(notes_that_come_last_keep_all_of_it)
{
	struct build_core *core = build_core_usual(NULL, 1);
	Elf64_Phdr *notes = build_core_phdr(core, 0);
	size_t size = core->size + notes->p_filesz;
	uint8_t *bytes = malloc(size);
	struct ep_source *stream, *file = file_of(core);
	struct ep_err err;
	size_t count;

	memcpy(bytes, core->bytes, core->size);
	memcpy(bytes + core->size, bytes + notes->p_offset, notes->p_filesz);
	memset(bytes + notes->p_offset, 0, notes->p_filesz);
	((Elf64_Phdr *)(void *)(bytes + build_core_ehdr(core)->e_phoff))->p_offset = core->size;
	ck_assert_msg(open_piped(&stream, bytes, size, &err) == EP_OK, "%s", err.text);
	ep_source_threads(stream, &count);
	ck_assert_uint_eq(count, 2);
	ck_assert_uint_ge(compare(file, stream), 4);
	ep_source_close(stream);
	ep_source_close(file);
	build_core_destroy(core);
	free(bytes);
}
END_TEST

static void cut_at(struct build_core *core, size_t size)
{
	struct ep_source *file, *stream;
	struct ep_err err;
	int fd, rc = ep_source_open_core(&file, build_file(core->bytes, size, &fd), &err);
	int rd = open_piped(&stream, core->bytes, size, &err);

	ck_assert_msg(rc == rd, "at %zu: %d and %d (%s)", size, rc, rd, err.text);
	if (rc == EP_OK) {
		compare(file, stream);
		ep_source_close(file);
		ep_source_close(stream);
	}
	close(fd);
}

START_TEST(a_stream_that_is_cut_answers_as_the_cut_file)
{
	struct build_core *core = _i ? large_core() : build_core_usual(NULL, 1);

	for (size_t size = 0; size < 600; size += 7)
		cut_at(core, size);
	for (size_t size = 600; size < core->size; size += 1000)
		cut_at(core, size);
	build_core_destroy(core);
}
END_TEST

START_TEST(a_compressed_core_is_read_and_a_damaged_one_told)
{
	struct build_core *core = build_core_usual(NULL, 64);
	struct ep_source *file = file_of(core), *stream;
	struct ep_err err;
	size_t size, told = 0;
	uint8_t *bytes = gzipped(core->bytes, core->size, &size);
	int fd;

	ck_assert_int_eq(ep_source_open_core(&stream, build_file(bytes, size, &fd), &err), EP_OK);
	ck_assert_uint_ge(compare(file, stream), 64);
	ep_source_close(stream);
	close(fd);
	for (size_t at = 20; at < size; at += size / 40) {
		bytes[at] ^= 0xff;
		if (ep_source_open_core(&stream, build_file(bytes, size, &fd), &err) == EP_OK) {
			told += warned(stream, "damaged or cut off") ||
				warned(stream, "truncated") || warned(stream, "note");
			ep_source_close(stream);
		} else {
			ck_assert_uint_ne(strlen(err.text), 0);
			told++;
		}
		close(fd);
		bytes[at] ^= 0xff;
	}
	/* libarchive does not look at gzip's checksum: a flip that leaves the code whole goes
	 * by. */
	ck_assert_uint_ge(told, 10);
	free(bytes);
	ep_source_close(file);
	build_core_destroy(core);
}
END_TEST

START_TEST(no_room_for_the_file_says_how_to_name_another_place)
{
	struct build_core *core = build_core_usual(NULL, 1);
	struct ep_source *stream;
	struct ep_err err;

	setenv("TMPDIR", "/nowhere/at/all", 1);
	ck_assert_int_eq(open_piped(&stream, core->bytes, core->size, &err), EP_E_IO);
	ck_assert_msg(strstr(err.text, "TMPDIR"), "%s", err.text);
	build_core_destroy(core);
}
END_TEST

START_TEST(a_stream_of_something_else_is_called_by_its_name)
{
	static const char text[] = "Dear core, I hope you are well.\n";
	struct ep_source *stream;
	struct ep_err err;
	size_t size;
	uint8_t *bytes = gzipped(text, sizeof(text) - 1, &size);
	int fd;

	ck_assert_int_eq(open_piped(&stream, text, sizeof(text) - 1, &err), EP_E_FORMAT);
	ck_assert_msg(strstr(err.text, "text file"), "%s", err.text);
	ck_assert_int_eq(ep_source_open_core(&stream, build_file(bytes, size, &fd), &err),
			 EP_E_FORMAT);
	ck_assert_msg(strstr(err.text, "text file"), "%s", err.text);
	ck_assert_int_eq(open_piped(&stream, text, 0, &err), EP_E_FORMAT);
	ck_assert_msg(strstr(err.text, "empty"), "%s", err.text);
	close(fd);
	free(bytes);
}
END_TEST

/* Bytes of a plain stream that are read: these, and `more` zeroes. */
static uint64_t bytes_read_of(const void *bytes, size_t size, uint64_t more, int wanted)
{
	struct feed feed = {.size = size + more};
	uint8_t *all = calloc(1, feed.size);
	struct ep_source *stream;
	struct ep_err err;

	memcpy(all, bytes, size);
	feed.bytes = all;
	ck_assert_int_eq(feed_open(&stream, &feed, &err), wanted);
	if (wanted == EP_OK)
		ep_source_close(stream);
	pthread_join(feed.writer, NULL);
	free(all);
	return feed.taken;
}

START_TEST(a_stream_is_read_no_further_than_its_headers_say)
{
	const uint64_t spare = 2 * MIB; /* of a pipe, and read ahead */
	struct build_core *core = build_core_usual(NULL, 4);
	struct build_core *large = large_core();
	uint64_t end = build_core_phdr(large, 3)->p_offset + 100 * MIB;
	Elf64_Phdr *notes = build_core_phdr(core, 0);

	/* Small ones are read to their end, as far as that is near. */
	ck_assert_uint_lt(bytes_read_of(core->bytes, core->size, 200 * MIB, EP_OK),
			  64 * MIB + spare);
	ck_assert_uint_lt(bytes_read_of(large->bytes, large->size, 200 * MIB, EP_OK), end + spare);
	/* Notes that come last, and are not there. */
	notes->p_offset = 100 * MIB;
	ck_assert_uint_lt(bytes_read_of(core->bytes, core->size, 200 * MIB, EP_OK),
			  100 * MIB + notes->p_filesz + spare);
	/* No core. */
	build_core_ehdr(large)->e_type = ET_EXEC;
	ck_assert_uint_lt(bytes_read_of(large->bytes, large->size, 200 * MIB, EP_E_FORMAT), spare);
	ck_assert_uint_lt(bytes_read_of("zeroes", 0, 200 * MIB, EP_E_FORMAT), spare);
	build_core_destroy(core);
	build_core_destroy(large);
}
END_TEST

START_TEST(notes_and_gaps_without_end_are_not_kept)
{
	struct build_core *core = build_core_usual(NULL, 4);
	const uint64_t gap = 600 * MIB;
	struct stat st;
	struct ep_source *stream;
	struct ep_err err;
	uint8_t *all = malloc(core->size + gap);

	/* Memory begins far behind the notes. */
	for (int i = 1; i <= 3; i++)
		build_core_phdr(core, (size_t)i)->p_offset += gap;
	memcpy(all, core->bytes, core->size);
	memset(all + core->size, 0x5a, gap);
	ck_assert_msg(open_piped(&stream, all, core->size + gap, &err) == EP_OK, "%s", err.text);
	ck_assert_int_eq(fstat(ep_source_file(stream), &st), 0);
	ck_assert_uint_lt((uint64_t)st.st_blocks * 512, 300 * MIB);
	ep_source_close(stream);
	build_core_destroy(core);
	free(all);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("spool");
	TCase *kept = tcase_create("kept"), *bad = tcase_create("bad");

	tcase_add_test(kept, a_small_core_is_kept_whole);
	tcase_add_test(kept, of_a_large_core_the_arena_and_the_stacks_are_kept);
	tcase_add_test(kept, what_was_not_kept_is_told_and_never_zero);
	tcase_add_test(kept, notes_that_come_last_keep_all_of_it);
	tcase_add_test(bad, a_stream_is_read_no_further_than_its_headers_say);
	tcase_add_test(bad, notes_and_gaps_without_end_are_not_kept);
	tcase_add_loop_test(bad, a_stream_that_is_cut_answers_as_the_cut_file, 0, 2);
	tcase_add_test(bad, a_compressed_core_is_read_and_a_damaged_one_told);
	tcase_add_test(bad, no_room_for_the_file_says_how_to_name_another_place);
	tcase_add_test(bad, a_stream_of_something_else_is_called_by_its_name);
	suite_add_tcase(suite, kept);
	suite_add_tcase(suite, bad);
	return ep_test_main(suite);
}
