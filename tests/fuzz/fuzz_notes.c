/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_notes.c: any bytes as the notes of a core that is otherwise whole: what the kernel says of
 * threads, signal and files, and what a snapshot says of itself. The rules are core.c's.
 */
#include "tests/fuzz/core.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/build_core.h"

#define ROOT UINT64_C(0x500800)

/* An arena, a root that leads to it, a stack, an ELF header. */
static void add_memory(struct build_core *core)
{
	struct build_arena_options options = BUILD_ARENA_DEFAULTS;
	struct build_arena *arena;
	uint8_t page[4096] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
	struct ep_root root;

	options.size = 64 << 10;
	options.thread_capacity = options.module_capacity = 2;
	arena = build_arena_create(&options);
	build_call(arena, build_arena_thread(arena, 100, "main", 1), 0x500000, 2000000);
	build_arena_seal(arena);
	root = build_arena_root(arena, ROOT);
	memcpy(page + ROOT % 4096, &root, sizeof(root));
	build_core_memory(core, 0x500000, page, 4096, 4096, 5);
	build_core_arena(core, arena);
	build_core_memory(core, 0x7ff000000000, NULL, 8192, 8192, 6);
	build_arena_destroy(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct build_core *core = build_core_create();

	core->notes = malloc(size + 1);
	MUST(core->notes != NULL);
	memcpy(core->notes, bytes, size);
	core->notes_size = size;
	add_memory(core);
	build_core_finish(core);
	fuzz_check_core(core->bytes, core->size);
	build_core_destroy(core);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t max_size, unsigned seed)
{
	return fuzz_mutate(bytes, size, max_size, seed, NULL);
}
