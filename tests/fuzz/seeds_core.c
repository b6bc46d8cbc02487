/* SPDX-License-Identifier: BSD-2-Clause */
/* seeds_core.c: writes the first inputs of fuzz_core into the folder named: small cores of every
 * shape that the tests know. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "coredump/kinds/open.h"
#include "coredump/extract/extract.h"
#include "tests/unit/build_core.h"

static const char *folder;

static void save(const char *name, const void *bytes, size_t size)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	if (!file || fwrite(bytes, 1, size, file) != size || fclose(file)) {
		perror(path);
		exit(1);
	}
}

/* An arena as small as can be, two threads, stacks, a list of link maps. */
static struct build_core *small_core(bool many)
{
	struct build_arena_options options = BUILD_ARENA_DEFAULTS;
	struct build_core *core = build_core_create();
	uint8_t page[4096] = {0};
	Elf64_Phdr headers[2] = {{.p_type = PT_LOAD, .p_memsz = 4096},
				 {.p_type = PT_DYNAMIC, .p_vaddr = 0x400, .p_memsz = 32}};
	uint64_t debug[] = {DT_DEBUG, 0x500500, DT_NULL, 0};
	uint64_t lists[] = {2, 0x500600, 0, 0, 0, 0x500500};
	uint64_t map[] = {0, 0x500700, 0, 0x500600, 0};
	struct build_arena *arena;
	struct ep_root root;

	options.thread_capacity = options.module_capacity = 2;
	arena = build_arena_create(&options);
	build_call(arena, build_arena_thread(arena, 100, "main", 1), 0x500000, 2000000);
	build_arena_seal(arena);
	root = build_arena_root(arena, 0x500800);
	memcpy(page,
	       "\x7f"
	       "ELF",
	       4);
	memcpy(page + 64, headers, sizeof(headers));
	memcpy(page + 0x400, debug, sizeof(debug));
	memcpy(page + 0x500, lists, sizeof(lists));
	memcpy(page + 0x600, map, sizeof(map));
	memcpy(page + 0x700, "libfirst.so", 12);
	memcpy(page + 0x800, &root, sizeof(root));
	build_core_thread(core, 100, 0x500010, 0x7ff000000800, 0, SIGSEGV);
	build_core_process(core, 100);
	build_core_signal(core, &(siginfo_t){.si_signo = SIGSEGV});
	build_core_auxv(core, (const uint64_t[][2]){{AT_PHDR, 0x500040}, {AT_PHNUM, 2}}, 2);
	build_core_files(core, (struct build_core_file[]){{0x500000, 0x501000, 0, "/bin/server"}},
			 1);
	build_core_thread(core, 101, 0x500010, 0x7fe000000800, 0, 0);
	build_core_memory(core, 0x500000, page, 4096, 4096, PF_R | PF_X);
	build_core_arena(core, arena);
	build_core_memory(core, 0x7fe000000000, NULL, 4096, 8192, PF_R | PF_W);
	build_core_memory(core, 0x7ff000000000, NULL, 4096, 4096, PF_R | PF_W);
	core->many = many;
	build_core_finish(core);
	build_arena_destroy(arena);
	return core;
}

/* A core with a snapshot that the process kept: the arena's own bytes under the other magic. */
static void save_kept(void)
{
	const uint64_t kept_at = UINT64_C(0x300000000);
	struct build_arena_options options = BUILD_ARENA_DEFAULTS;
	struct build_core *core = build_core_create();
	struct build_arena *arena, *kept;

	options.thread_capacity = options.module_capacity = 2;
	options.size = 64 << 10;
	arena = build_arena_create(&options);
	options.address = kept_at;
	kept = build_arena_create(&options);
	build_call(kept, build_arena_thread(kept, 100, "main", 1), 0x500000, 2000000);
	build_arena_seal(kept);
	memcpy(kept->arena->root.magic, EP_KEPT_MAGIC, EP_MAGIC_SIZE);
	kept->arena->root.arena_size = kept->committed;
	build_root_seal(&kept->arena->root);
	*(struct ep_kept *)(void *)(arena->bytes + 3072) = (struct ep_kept){
		.state = EP_KEPT_VALID, .number = 1, .address = kept_at, .size = kept->committed};
	for (unsigned i = 0; i < EP_SECTION_MAX; i++)
		if (!arena->arena->sections[i].type) {
			arena->arena->sections[i] = (struct ep_section){
				EP_SECTION_KEPT, sizeof(struct ep_kept), 3072, 64};
			arena->arena->section_count = i + 1;
			break;
		}
	build_arena_seal(arena);
	build_core_thread(core, 100, 0x500010, 0x7ff000000800, 0, SIGSEGV);
	build_core_arena(core, arena);
	build_core_memory(core, kept_at, kept->bytes, kept->committed, kept->committed,
			  PF_R | PF_W);
	build_core_finish(core);
	save("kept", core->bytes, core->size);
	build_core_destroy(core);
	build_arena_destroy(arena);
	build_arena_destroy(kept);
}

/* The file of an arena, cut off behind its threads: one thread lives, one ended. */
static void save_arena_file(void)
{
	struct build_arena_options options = BUILD_ARENA_DEFAULTS;
	struct build_arena *arena;

	options.thread_capacity = options.module_capacity = 2;
	arena = build_arena_create(&options);
	build_call(arena, build_arena_thread(arena, 100, "main", 1), 0x500000, 2000000);
	build_arena_thread(arena, 101, "ended", 1)->state = EP_THREAD_DEAD;
	arena->process->start_ticks = 1;
	arena->process->oom_file = build_arena_string(arena, "/dev/tty", 8);
	build_arena_seal(arena);
	save("arena-file", arena->bytes, 24832);
	build_arena_destroy(arena);
}

static void save_snapshot(struct build_core *core)
{
	struct ep_source *source;
	struct ep_root_found found;
	struct ep_err err;
	char path[4096];

	snprintf(path, sizeof(path), "%s/snapshot", folder);
	remove(path);
	if (ep_source_open_core(&source, build_core_path(core), &err) ||
	    ep_root_find(source, &found, &err) ||
	    ep_extract(source, &found, path, NULL, NULL, &err)) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	chmod(path, 0644);
	ep_source_close(source);
}

int main(int count, char **words)
{
	struct build_core *core;

	if (count != 2)
		return 64;
	folder = words[1];
	save_kept();
	save_arena_file();
	core = small_core(true);
	save("many-segments", core->bytes, core->size);
	build_core_destroy(core);
	core = small_core(false);
	save("core", core->bytes, core->size);
	save("cut", core->bytes, core->size / 2);
	save("headers", core->bytes, 4096);
	save_snapshot(core);
	build_core_phdr(core, 1)->p_vaddr = UINT64_C(0x1fffff000);
	save("arena-inside", core->bytes, core->size);
	build_core_phdr(core, 4)->p_vaddr = UINT64_C(0x200001000);
	save("overlap", core->bytes, core->size);
	build_core_destroy(core);
	return 0;
}
