/* SPDX-License-Identifier: BSD-2-Clause */
/* seeds_trace.c: writes the first inputs of fuzz_trace into the folder named: small arenas of every
 * shape that the tests know. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/build_switches.h"
#include "tests/unit/build_watchdogs.h"
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
	if (!file || fwrite(b->bytes, 1, b->committed, file) != b->committed || fclose(file) != 0) {
		perror(path);
		exit(1);
	}
	build_arena_destroy(b);
}

/* Calls and returns that mostly fit, of all kinds of functions. */
static void fill(struct build_arena *b, struct ep_thread *thread, unsigned events, unsigned every)
{
	static const uint64_t bases[] = {FAKE_KNOWN, FAKE_BARE};
	uint64_t stack[64], tsc = START;
	unsigned height = 0;

	for (unsigned i = 0; i < events; i++) {
		bool call = height == 0 || (height < 64 && i % 7 < 4);
		uint64_t step = i % 97 == 0 ? 1u << 20 : 50 + i % 300;

		tsc += step;
		if (call)
			stack[height++] = bases[thread->serial % 2] + i % 11 * FAKE_STEP + 5;
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

/* Functions that went off and came back, and everything did. */
static void save_switched(void)
{
	struct build_arena *b = new_arena();
	struct ep_switches *switches = build_switches(b, 8, 2);

	for (unsigned i = 0; i < 6; i++) {
		uint64_t base = (i % 2 ? FAKE_KNOWN : FAKE_BARE) + i * FAKE_STEP;
		struct ep_switched *one = build_switched(switches, i == 5, base, base + FAKE_STEP);

		for (uint64_t n = 0, tsc = START + 20000 * i; n < i; n++, tsc += 60000)
			build_off(one, tsc, tsc + 500, tsc + 30000, n + 1 < i ? tsc + 30500 : 0);
	}
	switches->all_count = 1;
	switches->all[0] = (struct ep_off_interval){START + 150000, START + 160000, START + 170000,
						    START + 180000};
	fill(b, build_arena_thread(b, 101, "main", 2), 900, 1);
	fill(b, build_arena_thread(b, 102, "worker", 2), 900, 8);
	save(b, "switched");
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
static void mark(struct build_arena *b, struct ep_thread *thread, unsigned kind, unsigned count,
		 const uint64_t *values, const char *text)
{
	struct build_cursor *cursor = &b->cursors[thread->serial - 1];
	uint64_t tsc = cursor->last_tsc + 80;
	unsigned letters = text ? (unsigned)strlen(text) : 0;
	unsigned data = 2 * count + (letters + 2) / 3;
	uint32_t stamp = (uint32_t)(tsc >> EP_TICK_SHIFT & 0xffff);

	put(b, thread,
	    ep_escape_make(EP_ESCAPE_MARK, kind | data << 5 | (stamp ? stamp : 1) << 10));
	for (unsigned i = 0; i < count; i++) {
		put(b, thread, ep_escape_make(EP_ESCAPE_DATA, values[i] & 0x3ffffff));
		put(b, thread, ep_escape_make(EP_ESCAPE_DATA, values[i] >> 26 & 0x3ffffff));
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
static void exception(struct build_arena *b, struct ep_thread *thread, uint64_t *tsc, bool rethrown)
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

static void fibers(struct build_arena *b, struct ep_thread *thread, uint64_t *tsc)
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

/* ---- notes, spans, watchdogs ---- */

/* A note's arguments. */
struct arguments {
	uint32_t words[EP_MARK_DATA_MAX];
	unsigned count;
};

/* A value with `more` words behind its first. */
static void add_value(struct arguments *to, unsigned kind, unsigned more, uint64_t value)
{
	to->words[to->count++] = kind | (uint32_t)(value & 0x3fffff) << EP_NOTE_SHIFT;
	value >>= 22;
	for (; more > 0; more--, value >>= 26)
		to->words[to->count++] = value & 0x3ffffff;
}

static void add_text(struct arguments *to, unsigned kind, const char *text)
{
	size_t length = strlen(text);

	to->words[to->count++] = kind | (uint32_t)length << EP_NOTE_SHIFT;
	for (size_t i = 0; i < length; i++) {
		uint32_t byte = (uint32_t)(uint8_t)text[i] << 8 * (i % 3);

		if (i % 3)
			to->words[to->count - 1] |= byte;
		else
			to->words[to->count++] = byte;
	}
}

/* `format` 0: more of the one before. The arguments are taken. */
static void note(struct build_arena *b, struct ep_thread *thread, uint64_t format,
		 struct arguments *of)
{
	struct build_cursor *cursor = &b->cursors[thread->serial - 1];
	uint64_t at = format ? FAKE_KNOWN + 9 : 0;
	unsigned addresses = format ? 4 : 2;

	cursor->last_tsc += 80;
	put(b, thread,
	    ep_escape_make(EP_ESCAPE_MARK,
			   EP_MARK_NOTE | (addresses + of->count) << 5 |
				   (uint32_t)(cursor->last_tsc >> EP_TICK_SHIFT & 0xffff) << 10));
	for (unsigned i = 0; i < addresses; i++) {
		uint64_t address = i < 2 ? format : at;

		put(b, thread,
		    ep_escape_make(EP_ESCAPE_DATA, address >> (i % 2 ? 26 : 0) & 0x3ffffff));
	}
	for (unsigned i = 0; i < of->count; i++)
		put(b, thread, ep_escape_make(EP_ESCAPE_DATA, of->words[i]));
	of->count = 0;
}

/* What the format (of fake_names.h) takes; or anything, where it is none. */
static void fitting_notes(struct build_arena *b, struct ep_thread *thread, const uint64_t *formats)
{
	struct arguments of = {.count = 0};

	add_text(&of, EP_NOTE_STRING, "users");
	add_value(&of, EP_NOTE_INT, 1, (uint32_t)-300);
	add_value(&of, EP_NOTE_INT, 1, 2);
	add_text(&of, EP_NOTE_STRING, "\303\244bc");
	add_value(&of, EP_NOTE_DOUBLE, 2, UINT64_C(0x3ff8000000000000));
	add_value(&of, EP_NOTE_ERRNO, 1, 2);
	note(b, thread, formats[0], &of);
	for (unsigned i = 0; i < 5; i++)
		add_value(&of, EP_NOTE_INT, 1, 70000 * i);
	add_value(&of, EP_NOTE_LONG, 2, UINT64_C(0x123456789abcdef0));
	add_value(&of, EP_NOTE_INT, 1, 'x');
	add_value(&of, EP_NOTE_INT, 1, 0x20ac);
	add_value(&of, EP_NOTE_POINTER, 2, FAKE_KNOWN);
	note(b, thread, formats[1], &of);
	add_value(&of, EP_NOTE_INT, 1, 9);
	add_text(&of, EP_NOTE_STRING, "right");
	add_value(&of, EP_NOTE_INT, 1, (uint32_t)-9);
	add_value(&of, EP_NOTE_INT, 1, 3);
	add_text(&of, EP_NOTE_STRING, "left, cut off");
	note(b, thread, formats[2], &of);
	add_text(&of, EP_NOTE_WIDE, "wide");
	add_value(&of, EP_NOTE_LONG_DOUBLE, 3, UINT64_C(1) << 63);
	of.words[of.count - 1] |= 0x3fff << 6; /* 1.0 */
	add_value(&of, EP_NOTE_DOUBLE, 2, UINT64_C(0x4000000000000000));
	add_value(&of, EP_NOTE_ERRNO, 1, 4);
	add_value(&of, EP_NOTE_MORE, 0, 0);
	note(b, thread, 0, &of);
	add_value(&of, EP_NOTE_LONG, 2, 255);
	add_value(&of, EP_NOTE_INT, 1, 'y');
	add_value(&of, EP_NOTE_STRING, 0, 0);
	of.words[of.count - 1] |= EP_NOTE_NULL;
	note(b, thread, formats[3], &of);
	add_text(&of, EP_NOTE_STRING, "abc");
	of.words[0] |= EP_NOTE_TRUNCATED;
	add_value(&of, EP_NOTE_INT, 1, 1);
	note(b, thread, formats[0], &of);
}

static void notes(struct build_arena *b, struct ep_thread *thread)
{
	const uint64_t f = FAKE_KNOWN, bare = FAKE_BARE;
	const uint64_t fit[] = {f, f + FAKE_STEP, f + 2 * FAKE_STEP, f + 3 * FAKE_STEP};
	const uint64_t unfit[] = {fit[1], fit[2], fit[3], fit[0]};
	const uint64_t none[] = {bare, bare, bare, bare};

	fitting_notes(b, thread, fit);
	fitting_notes(b, thread, unfit);
	fitting_notes(b, thread, none);
}

static void span(struct build_arena *b, struct ep_thread *thread, unsigned kind, const char *name)
{
	const uint64_t at = FAKE_KNOWN + 7;

	mark(b, thread, kind, 1, &at, name);
}

static void spans(struct build_arena *b, struct ep_thread *thread)
{
	static const char *const names[] = {"request", "frame", "frame"};
	struct build_cursor *cursor = &b->cursors[thread->serial - 1];

	for (unsigned i = 0; i < 3; i++)
		span(b, thread, EP_MARK_SPAN_BEGIN, names[i]);
	span(b, thread, EP_MARK_SPAN_END, "frame");
	span(b, thread, EP_MARK_SPAN_END, "request");
	span(b, thread, EP_MARK_SPAN_END, "never");
	cursor->next++; /* a hole */
	span(b, thread, EP_MARK_SPAN_END, "frame");
	span(b, thread, EP_MARK_SPAN_BEGIN, "open");
}

static void save_notes(void)
{
	struct build_arena *b = new_arena();
	const uint64_t miss[] = {FAKE_KNOWN + 5, 2000000};
	struct ep_thread *thread;
	uint64_t tsc = START;

	build_watchdogs(b, 3)[1].state = EP_WATCHDOG_PAUSED;
	build_stacks(b, 2, 256);
	thread = build_arena_thread(b, 101, "main", 2);
	build_call(b, thread, FAKE_KNOWN, tsc);
	notes(b, thread);
	spans(b, thread);
	mark(b, thread, EP_MARK_WATCHDOG, 2, miss, "dog");
	build_return(b, thread, FAKE_KNOWN + 9, tsc += 40000);
	save(b, "notes");
}

int main(int count, char **words)
{
	if (count != 2)
		return 64;
	folder = words[1];
	save_whole();
	save_switched();
	save_cut();
	save_damaged();
	save_marks();
	save_notes();
	return 0;
}
