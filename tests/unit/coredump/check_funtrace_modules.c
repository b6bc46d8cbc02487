/* SPDX-License-Identifier: BSD-2-Clause */
/* check_funtrace_modules.c: PROCMAPS, whoever wrote it, leads to the right place of the right file.
 */
#include "tests/unit/main.h"

#include <link.h>
#include <string.h>
#include <unistd.h>

#include "coredump/kinds/open.h"
#include "coredump/funtrace/funtrace.h"
#include "decoder/trace/trace.h"
#include "tests/unit/build_funtrace.h"

#define MAPS "400000-500000 r-xp 00000000 00:00 0 /nowhere/bin/a\n"
#define HZ   UINT64_C(2000000000)
#define T    UINT64_C(1000000000000)
#define A    UINT64_C(0x401000)

static struct build_funtrace *b;
static struct ep_source *source;
static struct ep_image image;
static struct ep_trace *trace;
static struct ep_err err;

static void setup(void)
{
	b = build_funtrace_create();
}

static void close_all(void)
{
	ep_trace_destroy(trace);
	ep_image_deinit(&image);
	ep_source_close(source);
	trace = NULL;
	source = NULL;
}

static void teardown(void)
{
	close_all();
	build_funtrace_destroy(b);
}

static void open_it(void)
{
	struct ep_root_found found;

	ck_assert_msg(ep_source_open(&source, build_funtrace_path(b), &err) == EP_OK &&
			      ep_root_find(source, &found, &err) == EP_OK &&
			      ep_image_read(&image, source, &found, &err) == EP_OK &&
			      ep_trace_create(&trace, &image, &err) == EP_OK,
		      "%s", err.text);
	ck_assert_uint_eq(trace->damage.modules_corrupt, 0);
}

static void open_well(void)
{
	open_it();
	ck_assert_msg(ep_source_warning(source, 0) == NULL, "%s", ep_source_warning(source, 0));
}

START_TEST(lines_of_one_file_are_one_module)
{
	static const char maps[] = "    700000-    800000 r-xp 00000000 0:0 0 /nowhere/with "
				   "blank\n"
				   "400000-401000 r--p 00000000 08:01 12   /nowhere/lib/b.so\n"
				   "401000-402000 r-xp 00001000 08:01 12   /nowhere/lib/b.so\n"
				   "402000-403000 rw-p 00002000 08:01 12   /nowhere/lib/b.so\n"
				   "403000-404000 rw-p 00000000 00:00 0 \n"
				   "404000-405000 rw-p 00000000 00:00 0    [heap]\n"
				   "900000-901000 r-xp 0 0:0 0 linux-vdso.so.1\n";

	build_funtrace_begin(b, maps, HZ);
	build_funtrace_thread(b, 7, 7, "main");
	build_funtrace_entry(b, A, T);
	build_funtrace_end(b);
	open_well();
	ck_assert_uint_eq(trace->module_count, 2);
	ck_assert_str_eq(trace->modules[0].path, "/nowhere/lib/b.so");
	ck_assert_uint_eq(trace->modules[0].start, 0x400000);
	ck_assert_uint_eq(trace->modules[0].end, 0x403000);
	ck_assert_str_eq(trace->modules[1].path, "/nowhere/with blank");
	ck_assert_uint_eq(trace->modules[1].start, 0x700000);
	ck_assert(trace->modules[0].flags & EP_MODULE_NO_HEADER);
}
END_TEST

START_TEST(nonsense_lines_are_told)
{
	static const char maps[] = "nonsense\n400000\n400000-\n"
				   "500000-400000 r-xp 0 0:0 0 /nowhere/x\n"
				   "11112222333344445-11112222333344446 r-xp 0 "
				   "0:0 0 /nowhere/x\n\n" MAPS;

	build_funtrace_begin(b, maps, HZ);
	build_funtrace_thread(b, 7, 7, "main");
	build_funtrace_entry(b, A, T);
	build_funtrace_end(b);
	open_it();
	ck_assert_uint_eq(trace->module_count, 1);
	ck_assert_ptr_nonnull(strstr(ep_source_warning(source, 0), "5 lines"));
}
END_TEST

START_TEST(build_ids_come_from_their_own_chunk)
{
	static const char ids[] = "400000 0123aBcd\n500000 ff\nnonsense\n";

	build_funtrace_chunk(b, "PROCMAPS", MAPS, strlen(MAPS));
	build_funtrace_chunk(b, "BUILDIDS", ids, strlen(ids));
	build_funtrace_begin(b, NULL, HZ);
	build_funtrace_thread(b, 7, 7, "main");
	build_funtrace_entry(b, A, T);
	build_funtrace_end(b);
	open_well();
	ck_assert_uint_eq(trace->modules[0].build_id_size, 4);
	ck_assert_mem_eq(trace->modules[0].build_id, "\x01\x23\xab\xcd", 4);
}
END_TEST

/* This very program, as the loader has it. */
struct self {
	uint64_t bias, start, end, offset, memory_size, vaddr;
	uint64_t low, high; /* of all of it, whole pages */
	char path[512];
};

static int take_self(struct dl_phdr_info *info, size_t size, void *context)
{
	struct self *self = context;
	ssize_t length = readlink("/proc/self/exe", self->path, 500);

	(void)size;
	ck_assert(length > 0);
	self->path[length] = 0;
	self->bias = info->dlpi_addr;
	self->low = UINT64_MAX;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD)
			continue;
		if ((p->p_vaddr & ~4095ul) < self->low)
			self->low = p->p_vaddr & ~4095ul;
		self->high = (p->p_vaddr + p->p_memsz + 4095) & ~4095ul;
		if (!(p->p_flags & PF_X))
			continue;
		self->vaddr = p->p_vaddr;
		self->memory_size = p->p_memsz;
		self->offset = p->p_offset;
	}
	return 1; /* the program comes first */
}

/* Three hands write such a line; all lead to the same place. */
START_TEST(each_kind_of_map_gives_the_bias)
{
	struct self self = {0};
	char maps[3][700], ids[] = "";
	uint64_t start;

	dl_iterate_phdr(take_self, &self);
	start = self.bias + self.vaddr;
	/* funtrace's own: p_vaddr for an offset */
	snprintf(maps[0], 700, "%lx-%lx r-xp %lx 0:0 0 %s\n", start, start + self.memory_size,
		 self.vaddr, self.path);
	/* the kernel's */
	snprintf(maps[1], 700, "%lx-%lx r-xp %08lx 08:01 77 %s\n", start & ~4095ul,
		 (start + self.memory_size + 4095) & ~4095ul, self.offset & ~4095ul, self.path);
	/* our own: all of it */
	snprintf(maps[2], 700, "%lx-%lx r-xp 00000000 00:00 0 %s\n", self.bias + self.low,
		 self.bias + self.high, self.path);
	for (size_t i = 0; i < 3; i++) {
		b->size = 0;
		/* an id: the test's file may well be newer than the trace */
		build_funtrace_chunk(b, "PROCMAPS", maps[i], strlen(maps[i]));
		build_funtrace_chunk(b, "BUILDIDS", ids, strlen(ids));
		build_funtrace_begin(b, NULL, HZ);
		build_funtrace_thread(b, 7, 7, "main");
		build_funtrace_entry(b, start, T);
		build_funtrace_end(b);
		open_it();
		ck_assert_uint_eq(trace->module_count, 1);
		ck_assert_uint_eq(trace->modules[0].bias, self.bias);
		ck_assert_uint_eq(trace->modules[0].start, self.bias + self.low);
		ck_assert_uint_eq(trace->modules[0].end, self.bias + self.high);
		ck_assert(!(trace->modules[0].flags & EP_MODULE_NO_HEADER));
		close_all();
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("funtrace maps");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, lines_of_one_file_are_one_module);
	tcase_add_test(t, nonsense_lines_are_told);
	tcase_add_test(t, build_ids_come_from_their_own_chunk);
	tcase_add_test(t, each_kind_of_map_gives_the_bias);
	suite_add_tcase(suite, t);
	return ep_test_main(suite);
}
