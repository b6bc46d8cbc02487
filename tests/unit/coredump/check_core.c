/* SPDX-License-Identifier: BSD-2-Clause */
/* check_core.c: cores whole and damaged: memory has four answers and never made up zeroes;
 * everything readable stays readable. */
#include "tests/unit/main.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/procfs.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coredump/kinds/open.h"
#include "tests/unit/build_core.h"
#include "tests/unit/real_core.h"

static struct ep_source *source;
static struct ep_err err;

static void open_built(struct build_core *core)
{
	int rc = ep_source_open_core(&source, build_core_path(core), &err);

	ck_assert_msg(rc == EP_OK, "%s", err.text);
}

static bool warned(const char *words)
{
	const char *line;

	for (size_t i = 0; (line = ep_source_warning(source, i)); i++)
		if (strstr(line, words))
			return true;
	return false;
}

/* What reading one byte at `address` answers. */
static int answer(uint64_t address)
{
	uint8_t byte = 0xee;
	int rc = ep_source_read(source, address, &byte, 1, NULL, &err);

	if (rc)
		ck_assert_uint_eq(byte, 0xee);
	return rc;
}

static uint8_t byte_at(uint64_t address)
{
	uint8_t byte = 0;

	ck_assert_int_eq(ep_source_read(source, address, &byte, 1, NULL, &err), EP_OK);
	return byte;
}

static uint8_t *pages(size_t count, uint8_t first)
{
	uint8_t *bytes = malloc(count * 4096);

	for (size_t i = 0; i < count; i++)
		memset(bytes + i * 4096, first + (int)i, 4096);
	return bytes;
}

/* ---- memory ---- */

START_TEST(the_four_answers_are_told_apart)
{
	struct build_core *core = build_core_create();
	uint8_t *bytes = pages(2, 0x11);

	build_core_memory(core, 0x10000, bytes, 4096, 8192, PF_R);
	build_core_memory(core, 0x20000, bytes, 8192, 8192, PF_R);
	build_core_memory(core, 0x30000, bytes, 4096, 4096, PF_R);
	build_core_memory(core, 0x40000, bytes, 4096, 4096, PF_R);
	build_core_finish(core);
	build_core_phdr(core, 3)->p_offset = UINT64_MAX - 100;
	build_core_phdr(core, 4)->p_offset = core->size - 16;
	open_built(core);
	ck_assert_int_eq(answer(0x10000), EP_OK);
	ck_assert_int_eq(answer(0x11000), EP_E_UNSAVED);
	ck_assert_int_eq(answer(0x12000), EP_E_UNMAPPED);
	ck_assert_int_eq(answer(0xf000), EP_E_UNMAPPED);
	ck_assert_int_eq(answer(0x30000), EP_E_CORRUPT);
	ck_assert_int_eq(answer(0x4000f), EP_OK);
	ck_assert_int_eq(answer(0x40010), EP_E_TRUNCATED);
	ck_assert(warned("overflow"));
	ck_assert(warned("core truncated at offset"));
	ep_source_close(source);
	build_core_destroy(core);
	free(bytes);
}
END_TEST

/* First of the three traps. */
START_TEST(bytes_behind_p_filesz_are_never_another_segments)
{
	struct build_core *core = build_core_create();
	uint8_t *bytes = pages(2, 0xa1), out[8192];
	size_t done;

	build_core_memory(core, 0x10000, bytes, 4096, 8192, PF_R);
	build_core_memory(core, 0x20000, bytes + 4096, 4096, 4096, PF_R);
	build_core_finish(core);
	open_built(core);
	memset(out, 0xee, sizeof(out));
	ck_assert_int_eq(ep_source_read(source, 0x10000, out, sizeof(out), &done, &err),
			 EP_E_UNSAVED);
	ck_assert_uint_eq(done, 4096);
	ck_assert_uint_eq(out[4095], 0xa1);
	for (size_t i = 4096; i < sizeof(out); i++)
		ck_assert_uint_eq(out[i], 0xee);
	ep_source_close(source);
	build_core_destroy(core);
	free(bytes);
}
END_TEST

START_TEST(a_read_goes_across_adjacent_segments)
{
	struct build_core *core = build_core_create();
	uint8_t *bytes = pages(2, 1), out[4096];

	build_core_memory(core, 0x10000, bytes, 4096, 4096, PF_R);
	build_core_memory(core, 0x11000, bytes + 4096, 4096, 4096, PF_R);
	build_core_finish(core);
	open_built(core);
	ck_assert_int_eq(ep_source_read(source, 0x10800, out, sizeof(out), NULL, &err), EP_OK);
	ck_assert_uint_eq(out[0x7ff], 1);
	ck_assert_uint_eq(out[0x800], 2);
	ep_source_close(source);
	build_core_destroy(core);
	free(bytes);
}
END_TEST

START_TEST(a_read_that_wraps_ends_at_the_last_address)
{
	struct build_core *core = build_core_create();
	uint8_t out[64];

	build_core_memory(core, 0x10000, NULL, 4096, 4096, PF_R);
	build_core_finish(core);
	open_built(core);
	ck_assert_int_eq(ep_source_read(source, UINT64_MAX - 8, out, sizeof(out), NULL, &err),
			 EP_E_UNMAPPED);
	ck_assert_int_eq(ep_source_read(source, 0x10000, out, 0, NULL, &err), EP_OK);
	ep_source_close(source);
	build_core_destroy(core);
}
END_TEST

START_TEST(a_text_ends_at_its_nul_and_is_always_terminated)
{
	struct build_core *core = build_core_create();
	char page[4096], out[64];

	memset(page, 'x', sizeof(page));
	memcpy(page, "hello", 6);
	build_core_memory(core, 0x10000, page, 4096, 4096, PF_R);
	build_core_finish(core);
	open_built(core);
	ck_assert_int_eq(ep_source_read_string(source, 0x10000, out, sizeof(out), &err), EP_OK);
	ck_assert_str_eq(out, "hello");
	ck_assert_int_eq(ep_source_read_string(source, 0x10ffd, out, sizeof(out), &err),
			 EP_E_UNMAPPED);
	ck_assert_str_eq(out, "xxx");
	ck_assert_int_eq(ep_source_read_string(source, 0x10010, out, 4, &err), EP_E_LIMIT);
	ck_assert_str_eq(out, "xxx");
	ep_source_close(source);
	build_core_destroy(core);
}
END_TEST

/* ---- strange program headers ---- */

START_TEST(segments_in_descending_order_are_sorted)
{
	struct build_core *core = build_core_create();
	uint8_t *bytes = pages(3, 1);
	size_t count;

	for (int i = 2; i >= 0; i--)
		build_core_memory(core, 0x10000 + i * 0x10000ull, bytes + i * 4096, 4096, 4096,
				  PF_R);
	build_core_finish(core);
	open_built(core);
	for (int i = 0; i < 3; i++)
		ck_assert_uint_eq(byte_at(0x10000 + i * 0x10000ull), 1 + i);
	ck_assert_uint_eq(ep_source_segments(source, &count)[0].address, 0x10000);
	ck_assert_uint_eq(count, 3);
	ck_assert(!warned("order"));
	ep_source_close(source);
	build_core_destroy(core);
	free(bytes);
}
END_TEST

START_TEST(of_overlapping_segments_what_is_saved_wins)
{
	struct build_core *core = build_core_create();
	uint8_t *bytes = pages(4, 1);
	const struct ep_segment *list;
	size_t count;

	/* promised only, with saved pages inside; then two that are saved */
	build_core_memory(core, 0x10000, NULL, 0, 0x4000, PF_R);
	build_core_memory(core, 0x11000, bytes, 8192, 8192, PF_R);
	build_core_memory(core, 0x12000, bytes + 8192, 8192, 8192, PF_R);
	build_core_finish(core);
	open_built(core);
	ck_assert_int_eq(answer(0x10000), EP_E_UNSAVED);
	ck_assert_uint_eq(byte_at(0x11000), 1);
	ck_assert_uint_eq(byte_at(0x12000), 2);
	ck_assert_uint_eq(byte_at(0x13000), 4);
	ck_assert(warned("overlap"));
	list = ep_source_segments(source, &count);
	for (size_t i = 1; i < count; i++)
		ck_assert_uint_ge(list[i].address, list[i - 1].address + list[i - 1].memory_size);
	ep_source_close(source);
	build_core_destroy(core);
	free(bytes);
}
END_TEST

START_TEST(more_in_the_file_than_in_memory_is_told_and_cut)
{
	struct build_core *core = build_core_create();

	build_core_memory(core, 0x10000, NULL, 8192, 4096, PF_R);
	build_core_finish(core);
	open_built(core);
	ck_assert_int_eq(answer(0x10fff), EP_OK);
	ck_assert_int_eq(answer(0x11000), EP_E_UNMAPPED);
	ck_assert(warned("bytes in the file for"));
	ep_source_close(source);
	build_core_destroy(core);
}
END_TEST

START_TEST(a_segment_that_wraps_is_left_out)
{
	struct build_core *core = build_core_create();

	build_core_memory(core, 0x10000, NULL, 4096, 4096, PF_R);
	build_core_memory(core, UINT64_MAX - 0xfff, NULL, 4096, 1u << 20, PF_R);
	build_core_finish(core);
	open_built(core);
	ck_assert_int_eq(answer(0x10000), EP_OK);
	ck_assert_int_eq(answer(UINT64_MAX - 5), EP_E_UNMAPPED);
	ck_assert(warned("make no sense"));
	ep_source_close(source);
	build_core_destroy(core);
}
END_TEST

START_TEST(with_65535_segments_the_number_is_in_a_section_header)
{
	struct build_core *core = build_core_create();
	size_t count;

	for (uint64_t i = 0; i < 70000; i++)
		build_core_memory(core, 0x10000 + i * 0x2000, &(uint8_t){1}, i == 69999, 4096,
				  PF_R);
	core->many = true;
	build_core_finish(core);
	open_built(core);
	ep_source_segments(source, &count);
	ck_assert_uint_eq(count, 70000);
	ck_assert_uint_eq(byte_at(0x10000 + 69999 * 0x2000ull), 1);
	ep_source_close(source);
	/* truncated: the section header is gone with the file's end */
	core->size -= sizeof(Elf64_Shdr);
	build_core_note(core, "CORE", 0, "", 0);
	build_core_phdr(core, 0)->p_filesz = 20;
	open_built(core);
	ep_source_segments(source, &count);
	ck_assert_uint_eq(count, 70000);
	ck_assert(warned("the number of segments is lost"));
	ep_source_close(source);
	build_core_destroy(core);
}
END_TEST

/* ---- notes ---- */

START_TEST(threads_signal_auxv_and_files_are_read)
{
	struct build_core *core = build_core_usual(NULL, 1);
	const struct ep_source_thread *threads;
	const struct ep_mapping *mappings;
	struct ep_death death;
	uint64_t value;
	size_t count;

	open_built(core);
	ck_assert_int_eq(ep_source_kind(source), EP_SOURCE_CORE);
	ck_assert_int_eq(ep_source_pid(source), 100);
	threads = ep_source_threads(source, &count);
	ck_assert_uint_eq(count, 2);
	ck_assert_uint_eq(threads[0].tid, 100);
	ck_assert_uint_eq(threads[0].registers.pc, 0x401234);
	ck_assert_uint_eq(threads[0].registers.sp, 0x7ffff0000800);
	ck_assert_uint_eq(threads[0].registers.fp, 0x7ffff0000900);
	ck_assert(threads[0].has_registers);
	ck_assert_uint_eq(threads[1].tid, 101);
	ep_source_death(source, &death);
	ck_assert_int_eq(death.signal, SIGSEGV);
	ck_assert_int_eq(death.code, SEGV_MAPERR);
	ck_assert_uint_eq(death.address, 0xdead);
	ck_assert_uint_eq(death.tid, 100);
	ck_assert_int_eq(ep_source_auxv(source, AT_PAGESZ, &value), EP_OK);
	ck_assert_uint_eq(value, 4096);
	ck_assert_int_eq(ep_source_auxv(source, AT_PHDR, &value), EP_END);
	mappings = ep_source_mappings(source, &count);
	ck_assert_uint_eq(count, 1);
	ck_assert_str_eq(mappings[0].path, "/usr/bin/server");
	ck_assert_ptr_null(ep_source_warning(source, 0));
	ep_source_close(source);
	build_core_destroy(core);
}
END_TEST

START_TEST(a_sender_is_told_from_an_address)
{
	struct build_core *core = build_core_create();
	siginfo_t info = {.si_signo = SIGSEGV, .si_code = SI_USER};
	struct ep_death death;

	info.si_pid = 7;
	info.si_uid = 1000;
	build_core_thread(core, 1, 1, 1, 1, SIGSEGV);
	build_core_signal(core, &info);
	build_core_finish(core);
	open_built(core);
	ep_source_death(source, &death);
	ck_assert_uint_eq(death.sender_pid, 7);
	ck_assert_uint_eq(death.sender_uid, 1000);
	ck_assert_uint_eq(death.address, 0);
	ep_source_close(source);
	build_core_destroy(core);
}
END_TEST

START_TEST(a_note_of_a_wrong_size_is_left_out_and_told)
{
	struct build_core *core = build_core_create();
	struct elf_prstatus status = {.pr_pid = 9};
	size_t count;

	build_core_note(core, "CORE", NT_PRSTATUS, &status, 100);
	build_core_note(core, "CORE", NT_PRPSINFO, &status, 7);
	build_core_note(core, "CORE", NT_SIGINFO, &status, 3);
	build_core_note(core, "CORE", NT_FILE, &status, 15);
	build_core_note(core, "OTHER", NT_PRSTATUS, &status, sizeof(status));
	build_core_thread(core, 5, 1, 2, 3, 11);
	build_core_finish(core);
	open_built(core);
	ck_assert_uint_eq(ep_source_threads(source, &count)[0].tid, 5);
	ck_assert_uint_eq(count, 1);
	ck_assert(warned("NT_PRSTATUS note"));
	ck_assert(warned("NT_PRPSINFO note"));
	ck_assert(warned("NT_SIGINFO note"));
	ck_assert(warned("NT_FILE note"));
	ep_source_close(source);
	build_core_destroy(core);
}
END_TEST

START_TEST(of_two_notes_the_first_is_used)
{
	struct build_core *core = build_core_create();
	size_t count;

	build_core_process(core, 5);
	build_core_process(core, 6);
	build_core_thread(core, 5, 1, 2, 3, 0);
	build_core_thread(core, 5, 1, 2, 3, 0);
	build_core_finish(core);
	open_built(core);
	ck_assert_int_eq(ep_source_pid(source), 5);
	ck_assert(warned("another NT_PRPSINFO"));
	ck_assert(warned("have the id of another one"));
	ep_source_threads(source, &count);
	ck_assert_uint_eq(count, 2);
	ep_source_close(source);
	build_core_destroy(core);
}
END_TEST

START_TEST(a_file_list_that_lies_about_its_length_keeps_what_it_has)
{
	struct build_core *core = build_core_create();
	uint64_t list[5] = {UINT64_MAX / 24 + 2, 4096, 0x1000, 0x2000, 0};
	uint64_t two[8] = {2, 4096, 0x1000, 0x2000, 0, 0x5000, 0x3000, 0};
	char good[80] = {0};
	size_t count;

	build_core_note(core, "CORE", NT_FILE, list, sizeof(list));
	build_core_finish(core);
	open_built(core);
	ep_source_mappings(source, &count);
	ck_assert_uint_eq(count, 0);
	ep_source_close(source);
	build_core_destroy(core);

	/* the second goes backwards and has no path */
	core = build_core_create();
	memcpy(good, two, sizeof(two));
	strcpy(good + sizeof(two), "/a");
	build_core_note(core, "CORE", NT_FILE, good, sizeof(two) + 3);
	build_core_finish(core);
	open_built(core);
	ck_assert_str_eq(ep_source_mappings(source, &count)[0].path, "/a");
	ck_assert_uint_eq(count, 1);
	ck_assert(warned("1 of 2 mappings"));
	ep_source_close(source);
	build_core_destroy(core);
}
END_TEST

START_TEST(a_note_that_runs_over_loses_only_what_follows)
{
	struct build_core *core = build_core_create();
	size_t count;
	uint8_t *notes;

	build_core_thread(core, 5, 1, 2, 3, 0);
	build_core_process(core, 5);
	build_core_finish(core);
	notes = core->bytes + build_core_phdr(core, 0)->p_offset;
	((Elf64_Nhdr *)(notes + 20 + 336))->n_descsz = 0xfffffff0;
	open_built(core);
	ep_source_threads(source, &count);
	ck_assert_uint_eq(count, 1);
	ck_assert(warned("runs over the end"));
	ep_source_close(source);
	build_core_destroy(core);
}
END_TEST

START_TEST(a_flood_of_warnings_is_bounded)
{
	struct build_core *core = build_core_create();
	size_t lines = 0;

	for (int i = 0; i < 5000; i++)
		build_core_note(core, "CORE", NT_PRSTATUS, "", 0);
	build_core_finish(core);
	open_built(core);
	while (ep_source_warning(source, lines))
		lines++;
	ck_assert_uint_le(lines, 64);
	ck_assert(warned("more damage"));
	ep_source_close(source);
	build_core_destroy(core);
}
END_TEST

/* ---- what is no core ---- */

static void refused(const void *bytes, size_t size, int code, const char *words)
{
	struct ep_source *none = NULL;
	int fd;
	const char *path = build_file(bytes, size, &fd);

	ck_assert_int_eq(ep_source_open_core(&none, path, &err), code);
	ck_assert_int_eq(err.code, code);
	ck_assert_msg(strstr(err.text, words) != NULL, "%s", err.text);
	ck_assert_msg(strstr(err.text, path) != NULL, "%s", err.text);
	ck_assert_ptr_null(none);
	close(fd);
}

START_TEST(other_files_are_called_by_their_name)
{
	refused("", 0, EP_E_FORMAT, "empty");
	refused("hello world\n", 12, EP_E_FORMAT, "a text file");
	refused("\x28\xb5\x2f\xfd....", 8, EP_E_CORRUPT, "damaged");
	refused("\x1f\x8b\x08\0\0\0\0\0\0\3........", 18, EP_E_CORRUPT, "damaged");
	refused("\xfd\x37zXZ\0\0\4........", 16, EP_E_CORRUPT, "damaged");
	refused("\x04\x22\x4d\x18\x64\x70........", 14, EP_E_CORRUPT, "damaged");
	refused("\x01\x02\x03\x04...", 7, EP_E_FORMAT, "01 02 03 04");
	refused("ProblemType: Crash\n", 19, EP_E_FORMAT, "apport-unpack");
	refused("\x7f"
		"ELF",
		4, EP_E_TRUNCATED, "inside the ELF header");
}
END_TEST

static void refused_with(size_t offset, const void *bytes, size_t size, int code, const char *words)
{
	struct build_core *core = build_core_usual(NULL, 1);

	memcpy(core->bytes + offset, bytes, size);
	refused(core->bytes, core->size, code, words);
	build_core_destroy(core);
}

START_TEST(elf_files_of_other_kinds_are_called_by_their_name)
{
	refused_with(EI_CLASS, "\x01", 1, EP_E_FORMAT, "32-bit");
	refused_with(EI_CLASS, "\x09", 1, EP_E_CORRUPT, "class 9");
	refused_with(EI_DATA, "\x02", 1, EP_E_FORMAT, "big-endian");
	refused_with(offsetof(Elf64_Ehdr, e_machine), "\xb7", 2, EP_E_FORMAT, "aarch64");
	refused_with(offsetof(Elf64_Ehdr, e_type), "\x02", 2, EP_E_FORMAT,
		     "an executable, not a core");
	refused_with(offsetof(Elf64_Ehdr, e_type), "\x03", 2, EP_E_FORMAT,
		     "a shared library, not a core");
	refused_with(offsetof(Elf64_Ehdr, e_type), "\x01", 2, EP_E_FORMAT,
		     "an object file, not a core");
	refused_with(offsetof(Elf64_Ehdr, e_phentsize), "\x05", 2, EP_E_CORRUPT,
		     "program headers of 5 bytes");
	refused_with(offsetof(Elf64_Ehdr, e_phnum), "\0\0", 2, EP_E_CORRUPT,
		     "without program headers");
	refused_with(offsetof(Elf64_Ehdr, e_phoff), "\xff\xff\xff\xff\xff\xff\xff\xff", 8,
		     EP_E_TRUNCATED, "before its program headers");
}
END_TEST

START_TEST(directories_devices_and_absent_files_are_told)
{
	struct ep_source *none = NULL;
	char fifo[] = "/tmp/epitaph-fifo.XXXXXX";

	ck_assert_int_eq(ep_source_open(&none, "/tmp", &err), EP_E_FORMAT);
	ck_assert_ptr_nonnull(strstr(err.text, "a directory"));
	ck_assert_int_eq(ep_source_open(&none, "/no/such/file", &err), EP_E_IO);
	ck_assert_ptr_nonnull(strstr(err.text, "No such file"));
	ck_assert_int_eq(ep_source_open(&none, "/dev/null", &err), EP_E_FORMAT);
	ck_assert_ptr_nonnull(strstr(err.text, "a device"));
	ck_assert_ptr_nonnull(mkdtemp(fifo));
	ck_assert_int_eq(rmdir(fifo), 0);
	ck_assert_int_eq(mkfifo(fifo, 0600), 0);
	ck_assert_int_eq(ep_source_open(&none, fifo, &err), EP_E_FORMAT);
	ck_assert_ptr_nonnull(strstr(err.text, "empty")); /* has no writer */
	unlink(fifo);
	ck_assert_ptr_null(none);
}
END_TEST

/* ---- damage, all of it ---- */

/* Reads everything that can be; the answer must be one of those that exist. */
static void read_through(void)
{
	const struct ep_segment *list;
	size_t count, done;
	static uint8_t out[1 << 16];

	list = ep_source_segments(source, &count);
	for (size_t i = 0; i < count; i++) {
		int rc = ep_source_read(source, list[i].address, out, sizeof(out), &done, &err);

		ck_assert_int_le(rc, 0);
		ck_assert_int_ge(rc, EP_E_CORRUPT);
		ck_assert_uint_le(done, sizeof(out));
		if (list[i].present_size)
			ck_assert_uint_gt(done, 0);
	}
}

START_TEST(every_truncation_keeps_what_is_left_or_says_why_not)
{
	struct build_core *core = build_core_usual(NULL, 1);
	size_t headers = build_core_phdr(core, 0)->p_offset, opened = 0;

	for (size_t size = 0; size < core->size;
	     size += size < headers + core->notes_size + 64 ? 1 : 509) {
		int fd, rc;
		const char *path = build_file(core->bytes, size, &fd);

		memset(&err, 0, sizeof(err));
		rc = ep_source_open_core(&source, path, &err);
		if (rc) {
			ck_assert_int_ne(err.code, 0);
			ck_assert_str_ne(err.text, "");
		} else {
			ck_assert_msg(ep_source_warning(source, 0) != NULL,
				      "nothing said of %zu bytes", size);
			read_through();
			ep_source_close(source);
			opened++;
		}
		close(fd);
	}
	ck_assert_uint_gt(opened, 1000);
	build_core_destroy(core);
}
END_TEST

START_TEST(every_flipped_byte_of_headers_and_notes_is_survived)
{
	struct build_core *core = build_core_usual(NULL, 1);
	size_t end = build_core_phdr(core, 0)->p_offset + core->notes_size;
	static const uint8_t flips[] = {0xff, 0x01, 0x80};

	for (size_t i = 0; i < 3 * end; i++) {
		int fd, rc;
		const char *path;

		core->bytes[i / 3] ^= flips[i % 3];
		path = build_file(core->bytes, core->size, &fd);
		memset(&err, 0, sizeof(err));
		rc = ep_source_open_core(&source, path, &err);
		if (rc) {
			ck_assert_str_ne(err.text, "");
		} else {
			read_through();
			ep_source_close(source);
		}
		close(fd);
		core->bytes[i / 3] ^= flips[i % 3];
	}
	build_core_destroy(core);
}
END_TEST

START_TEST(a_sparse_file_of_terabytes_costs_nothing)
{
	struct build_core *core = build_core_usual(NULL, 1);
	int fd, rc;
	const char *path;

	build_core_phdr(core, 0)->p_filesz = UINT64_C(1) << 42;
	build_core_phdr(core, 3)->p_filesz = UINT64_C(1) << 42;
	build_core_phdr(core, 3)->p_memsz = UINT64_C(1) << 42;
	path = build_file(core->bytes, core->size, &fd);
	/* tmpfs bounds a file's size by the address space only */
	ck_assert_int_eq(ftruncate(fd, (off_t)1 << 43), 0);
	rc = ep_source_open_core(&source, path, &err);
	ck_assert_int_eq(rc, EP_OK);
	ck_assert(warned("notes of"));
	ep_source_close(source);
	close(fd);
	build_core_destroy(core);
}
END_TEST

/* ---- a core that the kernel wrote ---- */

static const char victim[] = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
			     "#include <sys/mman.h>\n"
			     "int changed = 1; const char fixed[70000] = \"in the file only\";\n"
			     "int main(void) {\n"
			     "	char *secret = mmap(0, 8192, 3, 0x22, -1, 0);\n"
			     "	memset(secret, 0x77, 8192);\n"
			     "	madvise(secret, 8192, 16 /* MADV_DONTDUMP */);\n"
			     "	changed = 0x1234;\n"
			     "	FILE *f = fopen(\"facts\", \"w\");\n"
			     "	fprintf(f, \"%p %p %p\", (void *)&changed,\n"
			     "		(void *)(fixed + 40000), secret);\n"
			     "	fclose(f);\n"
			     "	abort();\n"
			     "}\n";

START_TEST(a_real_core_passes_the_three_traps)
{
	unsigned long changed, fixed, secret;
	struct real_core real;
	char path[128];
	struct ep_death death;
	int value;
	FILE *facts;

	real_core_compile(&real, victim, "-O0");
	if (!real_core_run(&real, "", 0))
		return;
	snprintf(path, sizeof(path), "%s/facts", real.dir);
	facts = fopen(path, "r");
	ck_assert_ptr_nonnull(facts);
	ck_assert_int_eq(fscanf(facts, "%lx %lx %lx", &changed, &fixed, &secret), 3);
	fclose(facts);
	ck_assert_int_eq(ep_source_open(&source, real.core, &err), EP_OK);
	/* 1: behind p_filesz; text and constants are not saved */
	ck_assert_int_eq(answer(fixed), EP_E_UNSAVED);
	/* 2: .data is the process's, not the file's */
	ck_assert_int_eq(ep_source_read(source, changed, &value, sizeof(value), NULL, &err), EP_OK);
	ck_assert_int_eq(value, 0x1234);
	/* 3: not zeroes */
	ck_assert_int_eq(answer(secret), EP_E_UNSAVED);
	ck_assert_int_eq(answer(8), EP_E_UNMAPPED);
	ep_source_death(source, &death);
	ck_assert_int_eq(death.signal, SIGABRT);
	ck_assert_uint_eq(death.sender_pid, real.pid);
	ck_assert_int_eq(ep_source_pid(source), real.pid);
	ck_assert_ptr_null(ep_source_warning(source, 0));
	ep_source_close(source);
	real_core_remove(&real);
}
END_TEST

START_TEST(a_real_core_cut_by_ulimit_says_truncated)
{
	struct real_core real;
	const struct ep_segment *list;
	size_t count, cut = 0;

	real_core_compile(&real, victim, "-O0");
	if (!real_core_run(&real, "", 100000))
		return;
	ck_assert_int_eq(ep_source_open(&source, real.core, &err), EP_OK);
	ck_assert(warned("core truncated at offset"));
	list = ep_source_segments(source, &count);
	for (size_t i = 0; i < count; i++) {
		if (list[i].present_size == list[i].saved_size)
			continue;
		ck_assert_int_eq(answer(list[i].address + list[i].present_size), EP_E_TRUNCATED);
		cut++;
	}
	ck_assert_uint_gt(cut, 0);
	ep_source_close(source);
	real_core_remove(&real);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("core");
	TCase *memory = tcase_create("memory"), *notes = tcase_create("notes");
	TCase *bad = tcase_create("bad"), *real = tcase_create("real");

	tcase_add_test(memory, the_four_answers_are_told_apart);
	tcase_add_test(memory, bytes_behind_p_filesz_are_never_another_segments);
	tcase_add_test(memory, a_read_goes_across_adjacent_segments);
	tcase_add_test(memory, a_read_that_wraps_ends_at_the_last_address);
	tcase_add_test(memory, a_text_ends_at_its_nul_and_is_always_terminated);
	tcase_add_test(memory, segments_in_descending_order_are_sorted);
	tcase_add_test(memory, of_overlapping_segments_what_is_saved_wins);
	tcase_add_test(memory, more_in_the_file_than_in_memory_is_told_and_cut);
	tcase_add_test(memory, a_segment_that_wraps_is_left_out);
	tcase_add_test(memory, with_65535_segments_the_number_is_in_a_section_header);
	tcase_add_test(notes, threads_signal_auxv_and_files_are_read);
	tcase_add_test(notes, a_sender_is_told_from_an_address);
	tcase_add_test(notes, a_note_of_a_wrong_size_is_left_out_and_told);
	tcase_add_test(notes, of_two_notes_the_first_is_used);
	tcase_add_test(notes, a_file_list_that_lies_about_its_length_keeps_what_it_has);
	tcase_add_test(notes, a_note_that_runs_over_loses_only_what_follows);
	tcase_add_test(notes, a_flood_of_warnings_is_bounded);
	tcase_add_test(bad, other_files_are_called_by_their_name);
	tcase_add_test(bad, elf_files_of_other_kinds_are_called_by_their_name);
	tcase_add_test(bad, directories_devices_and_absent_files_are_told);
	tcase_add_test(bad, every_truncation_keeps_what_is_left_or_says_why_not);
	tcase_add_test(bad, every_flipped_byte_of_headers_and_notes_is_survived);
	tcase_add_test(bad, a_sparse_file_of_terabytes_costs_nothing);
	tcase_add_test(real, a_real_core_passes_the_three_traps);
	tcase_add_test(real, a_real_core_cut_by_ulimit_says_truncated);
	suite_add_tcase(suite, memory);
	suite_add_tcase(suite, notes);
	suite_add_tcase(suite, bad);
	suite_add_tcase(suite, real);
	return ep_test_main(suite);
}
