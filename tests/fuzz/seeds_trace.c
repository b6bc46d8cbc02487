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

/* ---- marks (EP_ESCAPE_MARK) ---- */

static void put(struct build_arena *b, struct ep_thread *thread, uint64_t word)
{
	struct build_cursor *cursor = &b->cursors[thread->serial - 1];

	if (cursor->next == EP_BLOCK_RECORDS)
		build_block(b, thread, cursor->last_tsc);
	cursor->block->records[cursor->next++] = word;
}

/* A mark with up to three values, or with `text`. */
static void mark(struct build_arena *b, struct ep_thread *thread, unsigned kind,
		 unsigned count, const uint64_t *values, const char *text)
{
	struct build_cursor *cursor = &b->cursors[thread->serial - 1];
	uint64_t tsc = cursor->last_tsc + 80;
	unsigned letters = text ? (unsigned)strlen(text) : 0;
	unsigned data = 2 * count + (letters + 2) / 3;
	uint32_t stamp = (uint32_t)(tsc >> EP_TICK_SHIFT & 0xffff);

	put(b, thread,
	    ep_escape_make(EP_ESCAPE_MARK,
			   kind | data << 5 | (stamp ? stamp : 1) << 10));
	for (unsigned i = 0; i < count; i++) {
		put(b, thread,
		    ep_escape_make(EP_ESCAPE_DATA, values[i] & 0x3ffffff));
		put(b, thread,
		    ep_escape_make(EP_ESCAPE_DATA,
				   values[i] >> 26 & 0x3ffffff));
	}
	for (unsigned i = 0; i < letters; i += 3) {
		uint32_t three = 0;

		for (unsigned k = 0; k < 3 && i + k < letters; k++)
			three |= (uint32_t)(uint8_t)text[i + k] << 8 * k;
		put(b, thread, ep_escape_make(EP_ESCAPE_DATA, three));
	}
	cursor->last_tsc = tsc;
}

#define MARK(kind, ...)                                              \
	mark(b, thread, kind, sizeof((uint64_t[]){__VA_ARGS__}) / 8, \
	     (const uint64_t[]){__VA_ARGS__}, NULL)

/* f0 calls f1 calls f2, which throws; f0 catches. */
static void exception(struct build_arena *b, struct ep_thread *thread,
		      uint64_t *tsc, bool rethrown)
{
	const uint64_t f = FAKE_KNOWN, at = f + 2 * FAKE_STEP + 9;

	for (unsigned i = 0; i < 3; i++)
		build_call(b, thread, f + i * FAKE_STEP, *tsc += 400);
	mark(b, thread, EP_MARK_THROW, 1, &at, "St13runtime_error");
	MARK(EP_MARK_LEFT, f + 2 * FAKE_STEP + 9, f + FAKE_STEP + 9);
	if (rethrown) {
		MARK(EP_MARK_LANDED, f + FAKE_STEP + 20);
		MARK(EP_MARK_RETHROW, f + FAKE_STEP + 30);
		MARK(EP_MARK_LEFT, f + FAKE_STEP + 30);
	}
	MARK(EP_MARK_CAUGHT, f + 50);
	build_return(b, thread, f + 60, *tsc += 4000);
}

static void jump(struct build_arena *b, struct ep_thread *thread, uint64_t *tsc)
{
	const uint64_t f = FAKE_KNOWN;

	build_call(b, thread, f, *tsc += 400);
	MARK(EP_MARK_SAVE, 0x7000, f + 5);
	build_call(b, thread, f + FAKE_STEP, *tsc += 400);
	build_call(b, thread, f + 2 * FAKE_STEP, *tsc += 400);
	MARK(EP_MARK_RESUME, 0x7000, f + 2 * FAKE_STEP + 9);
	build_return(b, thread, f + 60, *tsc += 4000);
}

static void fibers(struct build_arena *b, struct ep_thread *thread,
		   uint64_t *tsc)
{
	const uint64_t f = FAKE_KNOWN;

	build_call(b, thread, f, *tsc += 400);
	MARK(EP_MARK_FRESH, 0x8000, 0x9000, f + 3 * FAKE_STEP);
	MARK(EP_MARK_SWAP, 0x9000, 0x8000, f + 9);
	build_call(b, thread, f + 3 * FAKE_STEP, *tsc += 4000);
	MARK(EP_MARK_SWAP, 0x8000, 0x9000, f + 3 * FAKE_STEP + 9);
	build_call(b, thread, f + FAKE_STEP, *tsc += 4000);
	build_return(b, thread, f + FAKE_STEP + 4, *tsc += 400);
	MARK(EP_MARK_SWAP, 0x9000, 0x8000, f + 9);
	build_return(b, thread, f + 3 * FAKE_STEP + 20, *tsc += 4000);
	build_return(b, thread, f + 60, *tsc += 400);
}

static void save_marks(void)
{
	struct build_arena *b = new_arena();
	struct ep_thread *thread = build_arena_thread(b, 101, "main", 2);
	uint64_t tsc = START;

	build_call(b, thread, FAKE_KNOWN + 7 * FAKE_STEP, tsc);
	for (int i = 0; i < 4; i++) {
		exception(b, thread, &tsc, i & 1);
		jump(b, thread, &tsc);
		fibers(b, thread, &tsc);
	}
	save(b, "marks");
}

int main(int count, char **words)
{
	if (count != 2)
		return 64;
	folder = words[1];
	save_whole();
	save_cut();
	save_damaged();
	save_marks();
	return 0;
}
