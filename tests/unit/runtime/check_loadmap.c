/* SPDX-License-Identifier: BSD-2-Clause */
/* check_loadmap.c: the load map against what the dynamic linker says, with libraries that come, go
 * and change places. */
/* plain only: it calls the runtime alone, which is never sanitized. */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "main.h"
#include "runtime/arena/arena.h"
#include "runtime/facts/loadmap.h"
#include "runtime/facts/maps.h"
#include "runtime/lib/files.h"
#include "runtime/start.h"

static struct ep_modules *modules;
static struct ep_module *entries;

static void start(void)
{
	ck_assert(ep_start());
	modules = ep_arena_section(EP_SECTION_MODULES, NULL);
	entries = (struct ep_module *)(modules + 1);
}

static void refresh(void)
{
	ep_loadmap_stale();
	ep_loadmap_refresh();
}

/* The module that is loaded at an address now. */
static const struct ep_module *at(const void *address)
{
	const struct ep_module *found = NULL;

	for (uint32_t i = 0; i < modules->count; i++) {
		if (entries[i].unload_tsc || (uint64_t)address < entries[i].start ||
		    (uint64_t)address >= entries[i].end)
			continue;
		ck_assert_msg(!found, "two modules at one address");
		found = &entries[i];
	}
	return found;
}

static const char *path_of(const struct ep_module *module)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof path, "%.*s", (int)module->path.length,
		 (char *)modules + module->path.offset);
	return path;
}

static void shell(const char *command)
{
	ck_assert_int_eq(system(command), 0);
}

static void build(const char *name, const char *code)
{
	char command[512];

	snprintf(command, sizeof command,
		 "echo '%s' | gcc -shared -fPIC -Wl,--build-id -x c - -o '%s'", code, name);
	shell(command);
}

/* Each object of the dynamic linker's list: bias and build-id as told by it. */
static int compare(struct dl_phdr_info *info, size_t size, void *count)
{
	const ElfW(Phdr) *text = NULL;
	const struct ep_module *module;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X)
			text = &info->dlpi_phdr[i];
	}
	ck_assert_ptr_nonnull(text);
	module = at((char *)info->dlpi_addr + text->p_vaddr);
	ck_assert_msg(module != NULL, "no entry for %s", info->dlpi_name);
	ck_assert_uint_eq(module->bias, info->dlpi_addr);
	ck_assert_uint_eq(module->flags & EP_MODULE_NO_HEADER, 0);
	ck_assert_uint_gt(module->load_tsc, 0);
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *note = &info->dlpi_phdr[i];
		char *bytes = (char *)info->dlpi_addr + note->p_vaddr;

		if (note->p_type != PT_NOTE)
			continue;
		if (memmem(bytes, note->p_memsz, "GNU\0", 4) &&
		    ((uint32_t *)bytes)[2] == NT_GNU_BUILD_ID)
			ck_assert_mem_eq(module->build_id, bytes + 16, module->build_id_size);
	}
	++*(int *)count;
	return 0;
}

START_TEST(all_that_the_dynamic_linker_lists_is_there)
{
	int count = 0;

	start();
	dl_iterate_phdr(compare, &count);
	ck_assert_int_ge(count, 3);
	ck_assert_uint_eq(modules->count, (unsigned)count);
}
END_TEST

START_TEST(program_and_vdso_are_flagged)
{
	const void *vdso = (const void *)getauxval(AT_SYSINFO_EHDR);
	char self[PATH_MAX] = "";

	start();
	ck_assert_int_gt(readlink("/proc/self/exe", self, sizeof self - 1), 0);
	ck_assert_uint_eq(at(modules) == NULL, 1);
	ck_assert_uint_eq(at((void *)start)->flags, EP_MODULE_EXECUTABLE);
	ck_assert_str_eq(path_of(at((void *)start)), self);
	/* In a program without PIE the name itself is a stub of the program. */
	ck_assert_uint_eq(at(dlsym(RTLD_NEXT, "getauxval"))->flags, 0);
	ck_assert_ptr_nonnull(at(vdso));
	ck_assert_uint_eq(at(vdso)->flags, EP_MODULE_VDSO);
	ck_assert_uint_gt(at(vdso)->build_id_size, 0);
}
END_TEST

START_TEST(a_library_comes_and_goes)
{
	const struct ep_module *module;
	uint32_t before;
	void *handle, *symbol;

	build("./come.so", "int come(void){return 1;}");
	start();
	before = modules->count;
	handle = dlopen("./come.so", RTLD_NOW);
	ck_assert_ptr_nonnull(handle);
	symbol = dlsym(handle, "come");
	ck_assert_ptr_null(at(symbol));
	refresh();
	module = at(symbol);
	ck_assert_ptr_nonnull(module);
	ck_assert_uint_eq(modules->count, before + 1);
	ck_assert_ptr_nonnull(strstr(path_of(module), "/come.so"));
	dlclose(handle);
	refresh();
	ck_assert_ptr_null(at(symbol));
	ck_assert_uint_gt(module->unload_tsc, module->load_tsc);
	ck_assert_uint_eq(modules->count, before + 1);
}
END_TEST

START_TEST(another_library_in_its_place_is_another_entry)
{
	const struct ep_module *first, *second;
	void *handle, *symbol;

	build("./one.so", "int f(void){return 1;}");
	build("./two.so", "int f(void){return 2;}");
	start();
	handle = dlopen("./one.so", RTLD_NOW);
	symbol = dlsym(handle, "f");
	refresh();
	first = at(symbol);
	dlclose(handle);
	refresh();
	handle = dlopen("./two.so", RTLD_NOW);
	if (dlsym(handle, "f") != symbol)
		return; /* the kernel chose another place: nothing to see */
	refresh();
	second = at(symbol);
	ck_assert_ptr_nonnull(second);
	ck_assert_ptr_ne(first, second);
	ck_assert_uint_le(first->unload_tsc, second->load_tsc);
	ck_assert_ptr_nonnull(strstr(path_of(second), "/two.so"));
	dlclose(handle);
	refresh();
	/* The first again: something else was there since, so a third. */
	handle = dlopen("./one.so", RTLD_NOW);
	refresh();
	if (dlsym(handle, "f") == symbol)
		ck_assert_ptr_ne(at(symbol), first);
}
END_TEST

START_TEST(replaced_between_two_looks_is_seen_too)
{
	void *handle, *symbol;

	build("./one.so", "int f(void){return 1;}");
	build("./two.so", "int f(void){return 2;}");
	start();
	handle = dlopen("./one.so", RTLD_NOW);
	symbol = dlsym(handle, "f");
	refresh();
	dlclose(handle);
	handle = dlopen("./two.so", RTLD_NOW);
	refresh();
	ck_assert_ptr_nonnull(strstr(path_of(at(dlsym(handle, "f"))), "/two.so"));
	for (uint32_t i = 0; i < modules->count; i++) {
		if (strstr(path_of(&entries[i]), "/one.so"))
			ck_assert_uint_gt(entries[i].unload_tsc, 0);
	}
	(void)symbol;
}
END_TEST

START_TEST(a_plug_in_reloaded_many_times_takes_few_entries)
{
	uint32_t before;
	void *handle = NULL;

	build("./again.so", "int again(void){return 1;}");
	start();
	before = modules->count;
	for (int i = 0; i < 300; i++) {
		handle = dlopen("./again.so", RTLD_NOW);
		refresh();
		ck_assert_ptr_nonnull(at(dlsym(handle, "again")));
		dlclose(handle);
		refresh();
	}
	ck_assert_uint_le(modules->count, before + 4);
}
END_TEST

static const char *const names[] = {
	"./with space.so",       "./\xff\xfe not utf-8.so", "./new\nline.so",
	"./back\\012slash\\.so", "./fake (deleted).so",
};

START_TEST(names_are_bytes)
{
	void *handle;

	build("./plain.so", "int plain(void){return 1;}");
	ck_assert_int_eq(rename("./plain.so", names[_i]), 0);
	start();
	handle = dlopen(names[_i], RTLD_NOW);
	ck_assert_ptr_nonnull(handle);
	refresh();
	/* The kernel's escape of a newline is its only one: a name that holds those four letters
	 * looks the same. */
	if (!strstr(names[_i], "\\012"))
		ck_assert_ptr_nonnull(strstr(path_of(at(dlsym(handle, "plain"))), names[_i] + 1));
	else
		ck_assert_ptr_nonnull(at(dlsym(handle, "plain")));
}
END_TEST

START_TEST(a_deleted_file_stays_where_it_was)
{
	const struct ep_module *module;
	void *handle;

	build("./gone.so", "int gone(void){return 1;}");
	start();
	handle = dlopen("./gone.so", RTLD_NOW);
	unlink("./gone.so");
	refresh();
	module = at(dlsym(handle, "gone"));
	ck_assert_ptr_nonnull(module);
	ck_assert_ptr_nonnull(strstr(path_of(module), "/gone.so (deleted)"));
	ck_assert_uint_gt(module->build_id_size, 0);
}
END_TEST

/* A profiler maps the files that it reads: that makes no module of them, and hides none that is
 * mapped behind. */
START_TEST(an_elf_file_mapped_as_data_is_no_module)
{
	uint32_t before;
	struct stat status;
	char *bytes;
	int fd, count = 0;

	start();
	before = modules->count;
	fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(fstat(fd, &status), 0);
	bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	refresh();
	ck_assert_uint_eq(modules->count, before);
	ck_assert_ptr_null(at(bytes));
	dl_iterate_phdr(compare, &count);
}
END_TEST

START_TEST(code_without_a_header_is_told_by_its_file)
{
	const struct ep_module *module;
	char *code;
	int fd;

	start();
	fd = open("code", O_RDWR | O_CREAT, 0600);
	ck_assert_int_eq(ftruncate(fd, 3 * 4096), 0);
	code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 4096);
	refresh();
	module = at(code);
	ck_assert_ptr_nonnull(module);
	ck_assert_uint_eq(module->flags, EP_MODULE_NO_HEADER);
	ck_assert_uint_eq(module->bias, (uint64_t)code - 4096);
}
END_TEST

/* The page is mapped but lies past the end of its file: reading it would be SIGBUS. */
START_TEST(a_file_cut_off_under_its_mapping_does_no_harm)
{
	int fd;

	build("./cut.so", "int cut(void){return 1;}");
	start();
	fd = open("./cut.so", O_RDWR);
	ck_assert_ptr_ne(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0), MAP_FAILED);
	ck_assert_int_eq(ftruncate(fd, 0), 0);
	refresh();
	ck_assert_uint_gt(modules->count, 0);
}
END_TEST

START_TEST(what_does_not_fit_is_counted)
{
	uint32_t most;
	int fd;

	start();
	most = modules->capacity;
	fd = open("code", O_RDWR | O_CREAT, 0600);
	ck_assert_int_eq(ftruncate(fd, 4 * 4096), 0);
	for (uint32_t i = 0; i < most + 10; i++) {
		/* Apart from each other, or the kernel joins them. */
		void *space = mmap(NULL, 3 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		ck_assert_ptr_ne(mmap((char *)space + 4096, 4096, PROT_READ | PROT_EXEC,
				      MAP_PRIVATE | MAP_FIXED, fd, 4096),
				 MAP_FAILED);
	}
	refresh();
	ck_assert_uint_eq(modules->count, most);
	ck_assert_uint_ge(ep_arena->modules_untold, 10);
}
END_TEST

START_TEST(without_news_nobody_looks)
{
	uint64_t before;

	start();
	before = modules->refreshed_tsc;
	ep_loadmap_refresh();
	ck_assert_uint_eq(modules->refreshed_tsc, before);
	ck_assert_uint_eq(modules->stale, 0);
	ep_loadmap_stale();
	ck_assert_uint_eq(modules->stale, 1);
	ep_loadmap_refresh();
	ck_assert_uint_gt(modules->refreshed_tsc, before);
	/* What was announced may come later than the first look. */
	ck_assert_uint_eq(modules->stale, 1);
	for (int i = 0; i < 3000 && modules->stale; i++) {
		usleep(1000);
		ep_loadmap_refresh();
	}
	ck_assert_uint_eq(modules->stale, 0);
}
END_TEST

/* ---- by the dynamic linker's lists ---- */

#define LIBRARIES 9

static struct {
	char path[32], symbol[16];
	void *handle, *place;
} libraries[LIBRARIES];

static void build_libraries(void)
{
	for (int i = 0; i < LIBRARIES; i++) {
		char code[100];

		snprintf(libraries[i].path, sizeof(libraries[i].path), "./list%d.so", i);
		snprintf(libraries[i].symbol, sizeof(libraries[i].symbol), "list%d", i);
		/* Some as large as others, so that one takes another's place. */
		snprintf(code, sizeof code, "int list%d(void){return %d;} char room%d[%d];", i, i,
			 i, 1 + i / 3 * 100000);
		build(libraries[i].path, code);
	}
}

static void toggle(int i)
{
	void *handle = libraries[i].handle;

	if (handle) {
		dlclose(handle);
		libraries[i].handle = NULL;
		ep_loadmap_unloads();
		ep_loadmap_refresh();
		return;
	}
	ep_loadmap_loads();
	handle = i < 2 ? dlmopen(LM_ID_NEWLM, libraries[i].path, RTLD_NOW)
		       : dlopen(libraries[i].path, RTLD_NOW);
	ck_assert_msg(handle != NULL, "%s", dlerror());
	libraries[i].handle = handle;
	libraries[i].place = dlsym(handle, libraries[i].symbol);
	ep_loadmap_refresh();
}

static bool kernel_answers(void)
{
	static char room[EP_MAPS_BUFFER];
	struct ep_map_line line;
	long fd = ep_fd_open_own("maps", O_RDONLY);
	bool answers = ep_maps_ask(fd, (uint64_t)room, 0, NULL, &line);

	close((int)fd);
	return answers;
}

static uint32_t loaded_count(void)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < modules->count; i++)
		count += !entries[i].unload_tsc;
	return count;
}

START_TEST(the_linkers_lists_tell_what_the_map_tells)
{
	unsigned seed = 1;
	int count;

	build_libraries();
	start();
	for (int step = 0; step < 600; step++) {
		seed = seed * 1103515245 + 12345;
		toggle((int)(seed >> 16) % LIBRARIES);
		count = 0;
		dl_iterate_phdr(compare, &count);
		for (int i = 0; i < LIBRARIES; i++) {
			const struct ep_module *module;

			if (!libraries[i].handle)
				continue;
			module = at(libraries[i].place);
			ck_assert_msg(module != NULL, "step %d: no %s", step, libraries[i].path);
			ck_assert_msg(strstr(path_of(module), libraries[i].path + 1) != NULL,
				      "step %d: %s, not %s", step, path_of(module),
				      libraries[i].path);
		}
		if (step % 50 == 0) {
			uint32_t loaded = loaded_count(), all = modules->count;

			refresh();
			ck_assert_uint_eq(loaded_count(), loaded);
			ck_assert_uint_eq(modules->count, all);
		}
	}
}
END_TEST

/* Code that no library has is found by reading the map alone. */
START_TEST(a_look_for_a_library_does_not_read_the_map)
{
	void *code;
	int fd;

	build_libraries();
	start();
	toggle(2); /* the lists are begun */
	fd = open(libraries[3].path, O_RDONLY);
	code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 4096);
	close(fd);
	ck_assert_ptr_ne(code, MAP_FAILED);
	for (int i = 0; i < 20; i++) {
		toggle(4);
		ck_assert_uint_eq(at(libraries[4].place) != NULL, libraries[4].handle != NULL);
		ck_assert_uint_eq(at(code) == NULL, kernel_answers());
	}
	refresh();
	ck_assert_ptr_nonnull(at(code));
}
END_TEST

static void *load_and_unload(void *number)
{
	int i = (int)(intptr_t)number;

	for (int n = 0; n < 300; n++)
		toggle(i);
	return NULL;
}

START_TEST(threads_that_load_and_unload_do_no_harm)
{
	pthread_t threads[4];
	int count = 0;
	uint32_t loaded;

	build_libraries();
	start();
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, load_and_unload, (void *)(intptr_t)(i + 2));
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	toggle(8);
	dl_iterate_phdr(compare, &count);
	ck_assert_ptr_nonnull(at(libraries[8].place));
	refresh();
	loaded = loaded_count();
	ck_assert_uint_eq(loaded, (unsigned)count);
}
END_TEST

static char directory[] = "/tmp/check_loadmap.XXXXXX";

static void enter(void)
{
	ck_assert_ptr_nonnull(mkdtemp(directory));
	ck_assert_int_eq(chdir(directory), 0);
}

static void leave(void)
{
	char command[64];

	snprintf(command, sizeof command, "rm -rf %s", directory);
	(void)!system(command);
}

static Suite *suite(void)
{
	Suite *all = suite_create("loadmap");
	TCase *one = tcase_create("loadmap");

	tcase_set_timeout(one, 60);
	tcase_add_checked_fixture(one, enter, leave);
	tcase_add_test(one, all_that_the_dynamic_linker_lists_is_there);
	tcase_add_test(one, program_and_vdso_are_flagged);
	tcase_add_test(one, a_library_comes_and_goes);
	tcase_add_test(one, another_library_in_its_place_is_another_entry);
	tcase_add_test(one, replaced_between_two_looks_is_seen_too);
	tcase_add_test(one, a_plug_in_reloaded_many_times_takes_few_entries);
	tcase_add_loop_test(one, names_are_bytes, 0, (int)(sizeof names / sizeof *names));
	tcase_add_test(one, a_deleted_file_stays_where_it_was);
	tcase_add_test(one, an_elf_file_mapped_as_data_is_no_module);
	tcase_add_test(one, code_without_a_header_is_told_by_its_file);
	tcase_add_test(one, a_file_cut_off_under_its_mapping_does_no_harm);
	tcase_add_test(one, what_does_not_fit_is_counted);
	tcase_add_test(one, without_news_nobody_looks);
	tcase_add_test(one, the_linkers_lists_tell_what_the_map_tells);
	tcase_add_test(one, a_look_for_a_library_does_not_read_the_map);
	tcase_add_test(one, threads_that_load_and_unload_do_no_harm);
	suite_add_tcase(all, one);
	return all;
}

int main(void)
{
	return ep_test_main(suite());
}
