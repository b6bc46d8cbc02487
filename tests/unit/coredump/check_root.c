/* SPDX-License-Identifier: BSD-2-Clause */
/* check_root.c: the root is found every way there is, nothing that only looks like one is believed,
 * and when there is none the reason is told. */
#include "tests/unit/main.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coredump/kinds/open.h"
#include "coredump/find/root.h"
#include "tests/unit/build_core.h"
#include "tests/unit/real_core.h"

#define OBJECT UINT64_C(0x555500000000) /* where our ELF page lies */
#define ROOT   (OBJECT + 0x5000)

static struct ep_source *source;
static struct ep_root_found found;
static struct ep_err err;

static int find_in(struct build_core *core)
{
	int rc;

	memset(&err, 0, sizeof(err));
	ck_assert_msg(ep_source_open_core(&source, build_core_path(core), &err) == EP_OK, "%s",
		      err.text);
	rc = ep_root_find(source, &found, &err);
	ep_source_close(source);
	return rc;
}

/* ---- made by hand ---- */

/* The first page of an object whose note of ours points `offset` bytes on. */
static void object_fill(uint8_t *page, int64_t offset)
{
	Elf64_Ehdr header = {.e_type = ET_DYN,
			     .e_machine = EM_X86_64,
			     .e_phoff = 64,
			     .e_phentsize = sizeof(Elf64_Phdr),
			     .e_phnum = 2};
	Elf64_Phdr headers[2] = {{.p_type = PT_LOAD, .p_memsz = 4096},
				 {.p_type = PT_NOTE,
				  .p_offset = 0x800,
				  .p_vaddr = 0x800,
				  .p_filesz = 68,
				  .p_memsz = 68}};
	Elf64_Nhdr other = {4, 20, 3}, ours = {8, 8, EP_NOTE_ROOT};

	memset(page, 0, 4096);
	memcpy(header.e_ident,
	       "\x7f"
	       "ELF\2\1\1",
	       7);
	memcpy(page, &header, sizeof(header));
	memcpy(page + 64, headers, sizeof(headers));
	memcpy(page + 0x800, &other, 12);
	memcpy(page + 0x80c, "GNU", 4);
	memcpy(page + 0x824, &ours, 12);
	memcpy(page + 0x830, "EPITAPH", 8);
	memcpy(page + 0x838, &offset, 8);
}

struct scene {
	struct build_arena *arena;
	struct ep_root root;
	struct build_core *core;
	uint8_t object[4096];
};

/* The arena does not open its segment: so it is not found by magic. */
static void scene_build(struct scene *scene, uint64_t root_saved, uint64_t arena_saved)
{
	uint64_t at;
	uint8_t *bytes;

	scene->arena = build_arena_create(NULL);
	at = scene->arena->arena->root.self;
	scene->root = build_arena_root(scene->arena, ROOT);
	scene->core = build_core_create();
	object_fill(scene->object, (int64_t)(ROOT - (OBJECT + 0x838)));
	bytes = calloc(1, scene->arena->committed + 4096);
	memcpy(bytes + 4096, scene->arena->bytes, scene->arena->committed);
	build_core_memory(scene->core, at - 4096, bytes, arena_saved ? 4096 + arena_saved : 0,
			  scene->arena->committed + 4096, PF_R | PF_W);
	build_core_memory(scene->core, OBJECT, scene->object, 4096, 4096, PF_R);
	memset(bytes, 0, 4096);
	memcpy(bytes, &scene->root, sizeof(scene->root));
	build_core_memory(scene->core, ROOT, bytes, root_saved, 4096, PF_R | PF_W);
	free(bytes);
	build_core_finish(scene->core);
}

static uint8_t *scene_memory(struct scene *scene, size_t load)
{
	return scene->core->bytes + build_core_phdr(scene->core, load + 1)->p_offset;
}

static void scene_end(struct scene *scene)
{
	build_core_destroy(scene->core);
	build_arena_destroy(scene->arena);
}

START_TEST(magic_at_the_start_of_a_segment_is_found)
{
	struct build_core *core = build_core_usual(NULL, 1);

	ck_assert_int_eq(find_in(core), EP_OK);
	ck_assert_uint_eq(found.how, EP_FOUND_SEGMENT);
	ck_assert_uint_eq(found.arena_address, UINT64_C(0x200000000));
	ck_assert_uint_eq(found.root.pid, 100);
	build_core_destroy(core);
}
END_TEST

START_TEST(a_note_in_an_objects_first_page_leads_to_it)
{
	struct scene scene;

	scene_build(&scene, 4096, 8192);
	ck_assert_int_eq(find_in(scene.core), EP_OK);
	ck_assert_uint_eq(found.how, EP_FOUND_NOTE);
	ck_assert_uint_eq(found.root_address, ROOT);
	ck_assert_uint_eq(found.arena_address, scene.arena->arena->root.arena_address);
	scene_end(&scene);
}
END_TEST

START_TEST(a_note_that_was_moved_is_not_believed_but_a_scan_finds_it)
{
	struct scene scene;

	scene_build(&scene, 4096, 8192);
	scene_memory(&scene, 1)[0x838] += 16;
	ck_assert_int_eq(find_in(scene.core), EP_OK);
	ck_assert_uint_eq(found.how, EP_FOUND_SCAN);
	scene_end(&scene);
}
END_TEST

START_TEST(copies_of_root_and_arena_in_a_buffer_are_not_believed)
{
	struct build_arena *arena = build_arena_create(NULL);
	struct ep_root root = build_arena_root(arena, 0x999000);
	struct build_core *core = build_core_create();
	uint8_t bytes[4096];

	memcpy(bytes, arena->bytes, sizeof(bytes));
	build_core_memory(core, 0x10000, bytes, 4096, 4096, PF_R);
	memcpy(bytes, &root, sizeof(root));
	build_core_memory(core, 0x20000, bytes, 4096, 4096, PF_R);
	build_core_finish(core);
	ck_assert_int_eq(find_in(core), EP_E_CORRUPT);
	ck_assert_ptr_nonnull(strstr(err.text, "says that it lies at"));
	build_core_destroy(core);
	build_arena_destroy(arena);
}
END_TEST

START_TEST(of_two_arenas_the_processs_own_is_taken)
{
	struct build_arena_options other = BUILD_ARENA_DEFAULTS;
	struct build_arena *theirs, *ours = build_arena_create(NULL);
	struct build_core *core = build_core_create();

	other.address = UINT64_C(0x100000000);
	other.pid = 99;
	theirs = build_arena_create(&other);
	build_core_process(core, 100);
	build_core_arena(core, theirs);
	build_core_arena(core, ours);
	build_core_finish(core);
	ck_assert_int_eq(find_in(core), EP_OK);
	ck_assert_uint_eq(found.root.pid, 100);
	build_core_destroy(core);
	build_arena_destroy(ours);
	build_arena_destroy(theirs);
}
END_TEST

START_TEST(another_major_is_told_and_refused)
{
	struct build_core *core = build_core_usual(NULL, 1);
	uint8_t *arena = core->bytes + build_core_phdr(core, 1)->p_offset;

	((struct ep_root *)arena)->major = EP_FORMAT_MAJOR + 1;
	build_root_seal((struct ep_root *)arena);
	ck_assert_int_eq(find_in(core), EP_E_VERSION);
	char version[32];
	snprintf(version, sizeof(version), "format %d.%d", EP_FORMAT_MAJOR + 1, EP_FORMAT_MINOR);
	ck_assert_ptr_nonnull(strstr(err.text, version));
	build_core_destroy(core);
}
END_TEST

START_TEST(a_root_whose_crc_is_wrong_is_refused)
{
	struct build_core *core = build_core_usual(NULL, 1);
	uint8_t *arena = core->bytes + build_core_phdr(core, 1)->p_offset;

	((struct ep_root *)arena)->pid ^= 1;
	ck_assert_int_eq(find_in(core), EP_E_CORRUPT);
	ck_assert_ptr_nonnull(strstr(err.text, "CRC"));
	build_core_destroy(core);
}
END_TEST

START_TEST(a_newer_minor_is_read)
{
	struct build_core *core = build_core_usual(NULL, 1);
	uint8_t *arena = core->bytes + build_core_phdr(core, 1)->p_offset;

	((struct ep_root *)arena)->minor = EP_FORMAT_MINOR + 7;
	build_root_seal((struct ep_root *)arena);
	ck_assert_int_eq(find_in(core), EP_OK);
	build_core_destroy(core);
}
END_TEST

START_TEST(an_arena_that_was_filtered_out_names_coredump_filter)
{
	struct scene scene;

	scene_build(&scene, 4096, 0);
	ck_assert_int_eq(find_in(scene.core), EP_E_UNSAVED);
	ck_assert_ptr_nonnull(strstr(err.text, "coredump_filter"));
	ck_assert_uint_eq(found.arena_address, scene.arena->arena->root.self);
	ck_assert_uint_eq(found.root.pid, 100);
	scene_end(&scene);
}
END_TEST

START_TEST(a_core_cut_off_before_the_arena_names_ulimit)
{
	struct scene scene;

	scene_build(&scene, 4096, 8192);
	/* the arena's bytes are promised behind the end of the file */
	build_core_phdr(scene.core, 1)->p_offset = scene.core->size + 4096;
	ck_assert_int_eq(find_in(scene.core), EP_E_TRUNCATED);
	ck_assert_ptr_nonnull(strstr(err.text, "ulimit -c"));
	scene_end(&scene);
}
END_TEST

START_TEST(a_traced_program_whose_data_was_not_saved_is_not_called_untraced)
{
	struct scene scene;

	scene_build(&scene, 0, 0);
	ck_assert_int_eq(find_in(scene.core), EP_E_UNSAVED);
	ck_assert_ptr_nonnull(strstr(err.text, "was traced"));
	ck_assert_ptr_nonnull(strstr(err.text, "coredump_filter"));
	scene_end(&scene);
}
END_TEST

START_TEST(tracing_that_was_off_for_good_says_why)
{
	static const char *const words[] = {"not started", "no memory", "2^47", "another runtime"};

	for (uint32_t reason = 0; reason < 4; reason++) {
		struct scene scene;
		struct ep_root root;

		scene_build(&scene, 4096, 0);
		root = scene.root;
		root.arena_address = root.arena_size = 0;
		root.off_reason = reason;
		build_root_seal(&root);
		memcpy(scene_memory(&scene, 2), &root, sizeof(root));
		ck_assert_int_eq(find_in(scene.core), EP_END);
		ck_assert_msg(strstr(err.text, words[reason]) != NULL, "%s", err.text);
		scene_end(&scene);
	}
}
END_TEST

START_TEST(a_program_without_the_runtime_is_called_untraced)
{
	struct build_core *core = build_core_create();

	build_core_process(core, 5);
	build_core_memory(core, 0x10000, NULL, 4096, 4096, PF_R | PF_W);
	build_core_finish(core);
	ck_assert_int_eq(find_in(core), EP_END);
	ck_assert_ptr_nonnull(strstr(err.text, "not built with epitaph-cc"));
	build_core_phdr(core, 1)->p_filesz = 1 << 20;
	build_core_phdr(core, 1)->p_memsz = 1 << 20;
	ck_assert_int_eq(find_in(core), EP_END);
	ck_assert_ptr_nonnull(strstr(err.text, "truncated"));
	build_core_destroy(core);
}
END_TEST

START_TEST(an_arena_without_its_first_page_is_read_by_the_root)
{
	struct scene scene;

	scene_build(&scene, 4096, 8192);
	memset(scene_memory(&scene, 0) + 4096, 0xcc, 4096);
	ck_assert_int_eq(find_in(scene.core), EP_OK);
	ck_assert_uint_eq(found.how, EP_FOUND_NOTE);
	ck_assert_mem_eq(&found.root, &scene.root, sizeof(found.root));
	scene_end(&scene);
}
END_TEST

START_TEST(every_flipped_byte_of_root_note_and_headers_is_survived)
{
	static const uint8_t flips[] = {0xff, 0x01, 0x80, 0x08};
	struct scene scene;
	size_t ends[3] = {0, 0x840, sizeof(struct ep_root)};

	scene_build(&scene, 4096, 8192);
	for (size_t load = 1; load < 3; load++)
		for (size_t i = 0; i < 4 * ends[load]; i++) {
			uint8_t *byte = scene_memory(&scene, load) + i / 4;
			struct ep_root *root = (void *)scene_memory(&scene, 2);
			uint32_t crc = root->crc;
			int rc;

			*byte ^= flips[i % 4];
			if (load == 2 && i / 4 < offsetof(struct ep_root, crc))
				build_root_seal(root);
			rc = find_in(scene.core);
			ck_assert_int_le(rc, EP_END);
			if (rc)
				ck_assert_str_ne(err.text, "");
			*byte ^= flips[i % 4];
			root->crc = crc;
			if (load == 1 && i / 4 >= sizeof(Elf64_Ehdr) + 112 && i / 4 < 0x800)
				i = 4 * 0x800 - 1; /* nothing lies there */
		}
	scene_end(&scene);
}
END_TEST

START_TEST(the_crc_is_that_of_ieee_802_3)
{
	ck_assert_uint_eq(ep_crc32("123456789", 9), 0xcbf43926);
	ck_assert_uint_eq(ep_crc32("", 0), 0);
}
END_TEST

/* ---- real programs ---- */

static const char traced[] = "#include <stdlib.h>\n#include <stdio.h>\n#include <unistd.h>\n"
			     "__attribute__((noinline)) int leaf(int x) { return x + 1; }\n"
			     "int main(int c, char **v) {\n"
			     "	volatile int s = 0;\n"
			     "	for (int i = 0; i < 1000; i++) s += leaf(i);\n"
			     "	if (c > 1 && *v[1] == 'w') {\n"
			     "		puts(\"ready\"); fflush(stdout); pause(); }\n"
			     "	abort();\n"
			     "}\n";

/* Beside this test lies what it was built with. */
static void built_path(const char *name, char *out, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", out, size - 1);

	ck_assert_int_gt(n, 0);
	out[n] = '\0';
	for (int i = 0; i < 2; i++)
		*strrchr(out, '/') = '\0';
	ck_assert_uint_lt(strlen(out) + strlen(name) + 2, size);
	strcat(out, "/");
	strcat(out, name);
}

static void compile_traced(struct real_core *real, const char *kind)
{
	char archive[4096], flags[5000];

	built_path("obj/runtime-parts.a", archive, sizeof(archive));
	snprintf(flags, sizeof(flags),
		 "-finstrument-functions -O1 %s -Wl,--whole-archive %s "
		 "-Wl,--no-whole-archive",
		 kind, archive);
	real_core_compile(real, traced, flags);
}

START_TEST(real_programs_of_every_kind_are_found_without_their_file)
{
	static const char *const kinds[] = {"-fPIE -pie", "-no-pie", "-static", "-static-pie",
					    "-s"};
	struct real_core real;

	compile_traced(&real, kinds[_i]);
	if (!real_core_run(&real, "", 0))
		return;
	unlink(real.program);
	ck_assert_int_eq(ep_source_open(&source, real.core, &err), EP_OK);
	ck_assert_msg(ep_root_find(source, &found, &err) == EP_OK, "%s: %s", kinds[_i], err.text);
	ck_assert_uint_eq(found.how, EP_FOUND_SEGMENT);
	ck_assert_uint_eq(found.root.pid, real.pid);
	/* the note led to the root as well */
	ck_assert_uint_ne(found.root_address, 0);
	ep_source_close(source);
	real_core_remove(&real);
}
END_TEST

/* All of a file, for changing. */
static uint8_t *file_load(const char *path, size_t *size)
{
	FILE *file = fopen(path, "r");
	struct stat st;
	uint8_t *bytes;

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fstat(fileno(file), &st), 0);
	*size = (size_t)st.st_size;
	bytes = malloc(*size);
	ck_assert_uint_eq(fread(bytes, 1, *size, file), *size);
	fclose(file);
	return bytes;
}

static size_t spoil(uint8_t *bytes, size_t size, const char *what, size_t length)
{
	size_t count = 0;
	uint8_t *at = bytes;

	while ((at = memmem(at, size - (size_t)(at - bytes), what, length))) {
		*at++ ^= 0x20;
		count++;
	}
	return count;
}

static uint32_t how_in(const uint8_t *bytes, size_t size)
{
	int fd, rc;
	const char *path = build_file(bytes, size, &fd);

	ck_assert_int_eq(ep_source_open_core(&source, path, &err), EP_OK);
	rc = ep_root_find(source, &found, &err);
	ck_assert_msg(rc == EP_OK, "%s", err.text);
	ep_source_close(source);
	close(fd);
	return found.how;
}

/* Lets the arena's segment begin a page earlier, where something else lies. */
static void hide_arena_start(uint8_t *bytes)
{
	Elf64_Ehdr *header = (void *)bytes;
	Elf64_Phdr *list = (void *)(bytes + header->e_phoff);

	for (int i = 0; i < header->e_phnum; i++)
		if (list[i].p_type == PT_LOAD && list[i].p_filesz &&
		    memcmp(bytes + list[i].p_offset, EP_ARENA_MAGIC, 8) == 0) {
			list[i].p_vaddr -= 4096;
			list[i].p_offset -= 4096;
			list[i].p_filesz += 4096;
			list[i].p_memsz += 4096;
			memset(bytes + list[i].p_offset, 0, 4096);
		}
}

START_TEST(each_way_is_taken_when_the_ones_before_are_gone)
{
	struct real_core real;
	size_t core_size, file_size;
	uint8_t *core, *file;
	FILE *out;

	compile_traced(&real, "-fPIE -pie");
	if (!real_core_run(&real, "", 0))
		return;
	core = file_load(real.core, &core_size);
	ck_assert_uint_eq(how_in(core, core_size), EP_FOUND_SEGMENT);
	hide_arena_start(core);
	ck_assert_uint_eq(how_in(core, core_size), EP_FOUND_NOTE);
	ck_assert_ptr_nonnull(strstr(found.where, "note in"));
	/* no note in memory: the one in the file */
	ck_assert_uint_gt(spoil(core, core_size, "EPITAPH", 8), 0);
	ck_assert_uint_eq(how_in(core, core_size), EP_FOUND_NOTE);
	/* nor in the file: the symbol */
	file = file_load(real.program, &file_size);
	ck_assert_uint_gt(spoil(file, file_size, "EPITAPH", 8), 0);
	unlink(real.program);
	out = fopen(real.program, "w");
	fwrite(file, 1, file_size, out);
	ck_assert_int_eq(fclose(out), 0);
	ck_assert_uint_eq(how_in(core, core_size), EP_FOUND_SYMBOL);
	unlink(real.program);
	ck_assert_uint_eq(how_in(core, core_size), EP_FOUND_SCAN);
	free(core);
	free(file);
	real_core_remove(&real);
}
END_TEST

START_TEST(a_runtime_in_a_shared_library_is_found)
{
	struct real_core real;
	char library[4096];

	built_path("lib/libepitaph.so", library, sizeof(library));
	if (access(library, R_OK) != 0) {
		printf("not built: %s\n", library);
		return;
	}
	real_core_compile(&real, traced, "-finstrument-functions -O1 -rdynamic");
	setenv("LD_PRELOAD", library, 1);
	setenv("ASAN_OPTIONS", "verify_asan_link_order=0", 1);
	if (!real_core_run(&real, "", 0))
		return;
	unsetenv("LD_PRELOAD");
	ck_assert_int_eq(ep_source_open(&source, real.core, &err), EP_OK);
	ck_assert_msg(ep_root_find(source, &found, &err) == EP_OK, "%s", err.text);
	ck_assert_uint_ne(found.root_address, 0);
	ep_source_close(source);
	real_core_remove(&real);
}
END_TEST

START_TEST(a_live_process_is_found)
{
	struct real_core real;
	pid_t pid;

	compile_traced(&real, "");
	pid = real_core_start(&real, "wait");
	ck_assert_int_eq(ep_source_open_live(&source, pid, &err), EP_OK);
	ck_assert_msg(ep_root_find(source, &found, &err) == EP_OK, "%s", err.text);
	ck_assert_uint_eq(found.root.pid, pid);
	ep_source_close(source);
	kill(pid, SIGKILL);
	real_core_remove(&real);
}
END_TEST

START_TEST(a_real_filtered_core_names_the_filter)
{
	struct real_core real;
	FILE *filter;

	compile_traced(&real, "-fPIE -pie");
	/* 0x31 is 0x33 without anonymous shared; 0x32 without private */
	filter = fopen("/proc/self/coredump_filter", "w");
	ck_assert_ptr_nonnull(filter);
	fputs("0x32", filter);
	ck_assert_int_eq(fclose(filter), 0);
	if (!real_core_run(&real, "", 0))
		return;
	ck_assert_int_eq(ep_source_open(&source, real.core, &err), EP_OK);
	ck_assert_int_eq(ep_root_find(source, &found, &err), EP_E_UNSAVED);
	ck_assert_ptr_nonnull(strstr(err.text, "coredump_filter"));
	ep_source_close(source);
	real_core_remove(&real);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("root");
	TCase *hand = tcase_create("hand"), *real = tcase_create("real");

	tcase_add_test(hand, magic_at_the_start_of_a_segment_is_found);
	tcase_add_test(hand, a_note_in_an_objects_first_page_leads_to_it);
	tcase_add_test(hand, a_note_that_was_moved_is_not_believed_but_a_scan_finds_it);
	tcase_add_test(hand, copies_of_root_and_arena_in_a_buffer_are_not_believed);
	tcase_add_test(hand, of_two_arenas_the_processs_own_is_taken);
	tcase_add_test(hand, another_major_is_told_and_refused);
	tcase_add_test(hand, a_root_whose_crc_is_wrong_is_refused);
	tcase_add_test(hand, a_newer_minor_is_read);
	tcase_add_test(hand, an_arena_that_was_filtered_out_names_coredump_filter);
	tcase_add_test(hand, a_core_cut_off_before_the_arena_names_ulimit);
	tcase_add_test(hand, a_traced_program_whose_data_was_not_saved_is_not_called_untraced);
	tcase_add_test(hand, tracing_that_was_off_for_good_says_why);
	tcase_add_test(hand, a_program_without_the_runtime_is_called_untraced);
	tcase_add_test(hand, an_arena_without_its_first_page_is_read_by_the_root);
	tcase_add_test(hand, every_flipped_byte_of_root_note_and_headers_is_survived);
	tcase_add_test(hand, the_crc_is_that_of_ieee_802_3);
	tcase_add_loop_test(real, real_programs_of_every_kind_are_found_without_their_file, 0, 5);
	tcase_add_test(real, each_way_is_taken_when_the_ones_before_are_gone);
	tcase_add_test(real, a_runtime_in_a_shared_library_is_found);
	tcase_add_test(real, a_live_process_is_found);
	tcase_add_test(real, a_real_filtered_core_names_the_filter);
	suite_add_tcase(suite, hand);
	suite_add_tcase(suite, real);
	return ep_test_main(suite);
}
