/* SPDX-License-Identifier: BSD-2-Clause */
/* seeds_trace.c: writes the first inputs of fuzz_trace into the folder named:
 * small arenas of every shape that the tests know. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/build_arena.h"
#include "tests/unit/fake_names.h"

#define START UINT64_C(5000000000)

static const char *folder;

static struct build_arena *new_arena(void)
{
	struct build_arena_options options = BUILD_ARENA_DEFAULTS;

	options.size = 256 << 10;
	options.thread_capacity = options.module_capacity = 8;
	return build_arena_create(&options);
}

static void save(struct build_arena *b, const char *name)
{
	char path[4096];
	FILE *file;

	build_arena_seal(b);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	if (!file || fwrite(b->bytes, 1, b->committed, file) != b->committed ||
	    fclose(file) != 0) {
		perror(path);
		exit(1);
	}
	build_arena_destroy(b);
}

/* Calls and returns that mostly fit, of all kinds of functions. */
static void fill(struct build_arena *b, struct ep_thread *thread,
		 unsigned events, unsigned every)
{
	static const uint64_t bases[] = {FAKE_KNOWN, FAKE_BARE};
	uint64_t stack[64], tsc = START;
	unsigned height = 0;

	for (unsigned i = 0; i < events; i++) {
		bool call = height == 0 || (height < 64 && i % 7 < 4);
		uint64_t step = i % 97 == 0 ? 1u << 20 : 50 + i % 300;

		tsc += step;
		if (call)
			stack[height++] = bases[thread->serial % 2] +
					  i % 11 * FAKE_STEP + 5;
		else
			height -= 1 + (i % 50 == 0 && height > 1);
		build_event(b, thread, stack[call ? height - 1 : height], !call,
			    i % every == 0 ? tsc : 0);
		if (i % 60 == 0)
			build_return(b, thread, FAKE_THUNK + 0x40, tsc);
	}
}

static void save_whole(void)
{
	struct build_arena *b = new_arena();

	build_arena_module(b, "/bin/a", 0x400000, 0x500000, 0, "12345678", 8);
	build_arena_module(b, "/lib/b", 0x480000, 0x800000, 0, NULL, 0);
	fill(b, build_arena_thread(b, 101, "main", 2), 900, 1);
	fill(b, build_arena_thread(b, 102, "worker", 2), 900, 8);
	save(b, "whole");
}

static void save_cut(void)
{
	struct build_arena *b = new_arena();
	struct ep_thread *thread = build_arena_thread(b, 101, "main", 4);
	struct ep_block *block;

	fill(b, thread, 4000, 4);
	block = build_block_at(b, thread, 1);
	block->flags |= EP_BLOCK_RESUMED;
	build_block_seal(b, block);
	memset(build_block_at(b, thread, 2), 0, EP_BLOCK_SIZE);
	for (unsigned i = 30; i < 400; i += 50)
		build_block_at(b, thread, 3)->records[i] = 0;
	save(b, "cut");
}

static void save_damaged(void)
{
	struct build_arena *b = new_arena();
	struct ep_thread *thread = build_arena_thread(b, 101, "main", 4);

	fill(b, thread, 1500, 2);
	thread->serial = 7;
	build_block_at(b, thread, 0)->records[5] = ep_escape_make(6, 1234);
	build_block_at(b, thread, 1)->check = 0;
	memset(build_block_at(b, thread, 3), 'x', 900);
	save(b, "damaged");
}

int main(int count, char **words)
{
	if (count != 2)
		return 64;
	folder = words[1];
	save_whole();
	save_cut();
	save_damaged();
	return 0;
}
