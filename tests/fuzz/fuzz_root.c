/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_root.c: any bytes as the ELF object that should lead to the root: as a file on disk whose
 * memory was not saved, and as what was saved of it. The arena lies inside of a segment, so that no
 * other way but the last, the scan, finds it. The first byte says which ways there are; the rules
 * are core.c's.
 */
#include <unistd.h>

#include "tests/fuzz/core.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/build_core.h"

#define OBJECT UINT64_C(0x500000)
#define ROOT   UINT64_C(0x600800) /* what the seeds' notes lead to */

static struct build_arena *small_arena(void)
{
	struct build_arena_options options = BUILD_ARENA_DEFAULTS;
	struct build_arena *arena;

	options.size = 64 << 10;
	options.thread_capacity = options.module_capacity = 2;
	arena = build_arena_create(&options);
	build_arena_thread(arena, 100, "main", 1);
	build_arena_seal(arena);
	return arena;
}

/* A page before the arena, in the same segment. */
static void add_arena(struct build_core *core, const struct build_arena *arena)
{
	uint8_t *bytes = calloc(1, 4096 + arena->committed);

	MUST(bytes != NULL);
	memcpy(bytes + 4096, arena->bytes, arena->committed);
	build_core_memory(core, arena->arena->root.self - 4096, bytes, 4096 + arena->committed,
			  4096 + arena->size, 6);
	free(bytes);
}

static void add_notes(struct build_core *core, const char *path, size_t size)
{
	build_core_thread(core, 100, OBJECT, 0x7ff000000800, 0, 11);
	build_core_process(core, 100);
	build_core_auxv(
		core,
		(const uint64_t[][2]){
			{AT_PHDR, OBJECT + 64}, {AT_PHENT, 56}, {AT_PHNUM, 4}, {AT_ENTRY, OBJECT}},
		4);
	build_core_files(
		core, &(struct build_core_file){OBJECT, OBJECT + 4096 + (size & ~4095ul), 0, path},
		1);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct fuzz_bytes input = {bytes, size};
	uint8_t ways = fuzz_take8(&input), page[4096] = {0};
	struct build_core *core = build_core_create();
	struct build_arena *arena = small_arena();
	struct ep_root root = build_arena_root(arena, ROOT);
	char path[64];
	int fd = fuzz_file(input.at, input.left, path);

	add_notes(core, path, input.left);
	/* As the kernel saves it by default: the first page of an object. */
	build_core_memory(core, OBJECT, input.left ? input.at : NULL, ways & 1 ? input.left : 0,
			  4096 + (input.left & ~4095ul), 5);
	memcpy(page + ROOT % 4096, &root, sizeof(root));
	build_core_memory(core, ROOT & ~4095ul, page, ways & 2 ? 0 : 4096, 4096, 6);
	add_arena(core, arena);
	build_core_finish(core);
	fuzz_check_core(core->bytes, core->size);
	build_arena_destroy(arena);
	build_core_destroy(core);
	close(fd);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t max_size, unsigned seed)
{
	if (size < 2)
		return LLVMFuzzerMutate(bytes, size, max_size);
	return 1 + fuzz_mutate(bytes + 1, size - 1, max_size - 1, seed, NULL);
}
