/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_switching.c: programs by chance, whose functions are switched off and on while they run. A
 * random program has a true tree of calls; its hooks record what hooks would that are off entries
 * first and on returns first, some of them late. What comes out must be the truth: an open call is
 * a caller, a return ends its own call, nobody is said to have been left who was not, and between
 * two switches of a function all of its calls are there.
 */
#include <stdlib.h>
#include <string.h>

#include "decoder/calls/calls.h"
#include "tests/unit/build_switches.h"
#include "tests/unit/build_trace.h"
#include "tests/unit/fake_names.h"
#include "tests/unit/main.h"

#define START     UINT64_C(5000000000)
#define EVENTS    1500u
#define DEPTH_MAX 40u
#define FUNCTIONS 12u
#define STEADY    4u /* of them, never switched */
#define OFFS      10u
#define BUFFERS   8u
#define NONE      SIZE_MAX
#define GRAIN     16u

/* What may happen. */
struct world {
	const char *name;
	bool bare;     /* functions without bounds */
	bool jumps;    /* exceptions and longjmp, which leave marks */
	bool late;     /* the thread waits in hooks */
	bool often;    /* more intervals than are kept */
	bool all;      /* everything goes off, too */
	uint32_t ring; /* blocks */
	uint32_t every;
};

/* One time that a function was off: the interval, and what each hook did in it. */
struct off {
	struct ep_off_interval told;
	uint64_t entry_off, return_off, return_on, entry_on;
};

struct function {
	struct off offs[OFFS];
	unsigned count;
};

struct call {
	uint32_t function;
	size_t parent;
	uint64_t begin, end; /* end 0: did not end */
	bool thrown;
	bool recorded, returned; /* its begin and its return are in records that are left */
	bool shown, open;        /* as far as it was read */
	bool matched, across;
};

struct note {
	size_t call;
	uint64_t block;
	uint32_t index;
	bool is_return;
};

struct program {
	const struct world *world;
	struct build_arena *arena;
	struct ep_switches *switches;
	struct ep_thread *thread;
	struct function functions[FUNCTIONS];
	struct off all[EP_ALL_OFF];
	unsigned all_count;
	bool paused;
	struct call calls[2 * EVENTS];
	size_t call_count;
	struct note notes[2 * EVENTS];
	size_t note_count;
	size_t stack[DEPTH_MAX];
	uint32_t depth;
	size_t saved[BUFFERS]; /* the call that saved it; NONE */
	uint64_t tsc;
};

static struct ep_names names;
static struct program p;

static uint32_t chance(uint32_t n)
{
	return (uint32_t)rand() % n;
}

/* ---- when hooks are off ---- */

static uint64_t some(uint32_t most)
{
	return 1 + chance(chance(2) ? most : 200);
}

static struct off make_off(uint64_t from)
{
	struct off off;

	off.told.off_begin = from;
	off.entry_off = from + some(20000);
	off.return_off = off.entry_off + some(20000);
	off.told.off_end = off.return_off + some(20000);
	off.told.on_begin = off.told.off_end + some(chance(2) ? 3000000 : 100000);
	off.return_on = off.told.on_begin + some(20000);
	off.entry_on = off.return_on + some(20000);
	off.told.on_end = off.entry_on + some(20000);
	return off;
}

static void plan_offs(struct function *function, unsigned most)
{
	uint64_t tsc = START;

	function->count = chance(most + 1);
	for (unsigned i = 0; i < function->count; i++) {
		function->offs[i] = make_off(tsc + some(chance(2) ? 6000000 : 100000));
		tsc = function->offs[i].told.on_end;
	}
}

static bool is_off(const struct off *off, bool is_return)
{
	return is_return ? p.tsc >= off->return_off && p.tsc < off->return_on
			 : p.tsc >= off->entry_off && p.tsc < off->entry_on;
}

/* Everything off: a hook that runs before its own flip sees it at its next look at the clock. */
static bool sees_all(const struct off *off, uint32_t function, bool is_return)
{
	bool gate = p.tsc >= off->told.off_begin && p.tsc < off->told.on_begin;

	if (gate && chance(p.world->every) == 0)
		p.paused = true;
	/* Some are never visited, and stay as they are. */
	return (gate && p.paused) || (function % 3 && is_off(off, is_return));
}

static bool hook_is_off(uint32_t number, bool is_return)
{
	const struct function *function = &p.functions[number];

	for (unsigned i = 0; i < function->count; i++)
		if (is_off(&function->offs[i], is_return))
			return true;
	for (unsigned i = 0; i < p.all_count; i++)
		if (sees_all(&p.all[i], number, is_return))
			return true;
	return false;
}

/* ---- records ---- */

static uint64_t start_of(uint32_t function)
{
	return (p.world->bare ? FAKE_BARE : FAKE_KNOWN) + function * FAKE_STEP;
}

static struct build_cursor *cursor(void)
{
	return &p.arena->cursors[p.thread->serial - 1];
}

static void resume_if_paused(void)
{
	struct ep_block *block;

	if (!p.paused || !cursor()->block)
		return;
	block = build_block(p.arena, p.thread, p.tsc);
	block->flags |= EP_BLOCK_RESUMED;
	build_block_seal(p.arena, block);
	p.paused = false;
}

static void run_hook(size_t call, bool is_return)
{
	uint32_t function = p.calls[call].function;
	uint64_t address = start_of(function) + (is_return ? 0x20 + chance(8) * 16 : 5);
	bool timed;

	if (hook_is_off(function, is_return))
		return;
	if (p.world->late && chance(40) == 0)
		p.tsc += some(200000);
	resume_if_paused();
	timed = chance(p.world->every) == 0 || !cursor()->block ||
		cursor()->next + 2 >= EP_BLOCK_RECORDS || p.tsc - cursor()->last_tsc > 100000;
	build_event(p.arena, p.thread, address, is_return, timed ? p.tsc : 0);
	p.notes[p.note_count++] =
		(struct note){call, cursor()->block->sequence, cursor()->next - 1, is_return};
}

static void mark(unsigned kind, const uint64_t *values, unsigned count)
{
	uint32_t stamp = (uint32_t)(p.tsc >> EP_TICK_SHIFT & 0xffff);
	uint64_t *at;
	unsigned data = 0;

	stamp += stamp == 0;

	if (!cursor()->block || cursor()->next + 12 >= EP_BLOCK_RECORDS)
		build_block(p.arena, p.thread, p.tsc);
	else if (p.tsc - cursor()->last_tsc > 100000)
		build_block(p.arena, p.thread, p.tsc);
	at = &cursor()->block->records[cursor()->next];
	for (unsigned i = 0; i < count; i++) {
		at[++data] = ep_escape_make(EP_ESCAPE_DATA, values[i] & 0x3ffffff);
		at[++data] = ep_escape_make(EP_ESCAPE_DATA, (uint32_t)(values[i] >> 26));
	}
	at[0] = ep_escape_make(EP_ESCAPE_MARK, kind | data << 5 | stamp << 10);
	cursor()->next += 1 + data;
	cursor()->last_tsc = p.tsc;
}

/* ---- the program ---- */

static void do_call(void)
{
	size_t call = p.call_count++;

	p.calls[call] = (struct call){
		.function = chance(FUNCTIONS),
		.parent = p.depth ? p.stack[p.depth - 1] : NONE,
	};
	run_hook(call, false);
	p.calls[call].begin = p.tsc;
	p.stack[p.depth++] = call;
}

static void do_return(void)
{
	size_t call = p.stack[p.depth - 1];

	run_hook(call, true);
	p.depth--;
	p.calls[call].end = p.tsc;
}

static void leave_call(void)
{
	struct call *call = &p.calls[p.stack[--p.depth]];

	call->end = p.tsc;
	call->thrown = true;
}

static void do_throw(void)
{
	uint32_t left = 1 + chance(p.depth - 1);

	while (left--) {
		uint64_t at = start_of(p.calls[p.stack[p.depth - 1]].function) + 0x30;

		mark(EP_MARK_LEFT, &at, 1);
		leave_call();
	}
	mark(EP_MARK_CAUGHT, (uint64_t[]){start_of(p.calls[p.stack[p.depth - 1]].function) + 0x30},
	     1);
}

static uint64_t buffer(unsigned number)
{
	return 0x7f0000001000 + (uint64_t)number * 512;
}

static void do_save(void)
{
	unsigned number = chance(BUFFERS);

	p.saved[number] = p.stack[p.depth - 1];
	mark(EP_MARK_SAVE, (uint64_t[]){buffer(number)}, 1);
}

/* Where the call that saved it stands; 0: it has returned. */
static uint32_t depth_of(unsigned number)
{
	uint32_t depth = p.depth;

	while (depth > 0 && p.stack[depth - 1] != p.saved[number])
		depth--;
	return depth;
}

/* To a call that is open still. */
static void do_longjmp(void)
{
	unsigned number = chance(BUFFERS);
	uint32_t depth = depth_of(number);

	for (unsigned i = 0; i < BUFFERS && !depth; i++)
		depth = depth_of(number = (number + 1) % BUFFERS);
	if (!depth)
		return;
	mark(EP_MARK_RESUME, (uint64_t[]){buffer(number), FAKE_KNOWN + 0xff020}, 2);
	while (p.depth > depth)
		leave_call();
}

/* The depth wanders. */
static void step(void)
{
	bool down = (p.tsc - START) / 400000 % 2;
	uint32_t dice = chance(1000);

	p.tsc += 1 + chance(chance(20) ? 500 : 60000);
	if (p.world->jumps && !p.paused && dice < 20 && p.depth > 1)
		do_throw();
	else if (p.world->jumps && !p.paused && dice < 60 && p.depth > 0)
		do_save();
	else if (p.world->jumps && !p.paused && dice < 80)
		do_longjmp();
	else if (p.depth == 0 || (p.depth < DEPTH_MAX && chance(100) < (down ? 45u : 55u)))
		do_call();
	else
		do_return();
}

/* ---- what the process says of it ---- */

static uint64_t if_past(uint64_t tsc)
{
	return tsc <= p.tsc ? tsc : 0;
}

static struct ep_off_interval past(const struct ep_off_interval *told)
{
	return (struct ep_off_interval){if_past(told->off_begin), if_past(told->off_end),
					if_past(told->on_begin), if_past(told->on_end)};
}

static void tell_offs(uint32_t number)
{
	const struct function *function = &p.functions[number];
	struct ep_switched *one = NULL;

	for (unsigned i = 0; i < function->count; i++) {
		struct ep_off_interval told = past(&function->offs[i].told);

		if (!told.off_begin)
			break;
		if (!one)
			one = build_switched(p.switches, number % 2, start_of(number),
					     start_of(number) + FAKE_STEP);
		build_off(one, told.off_begin, told.off_end, told.on_begin, told.on_end);
	}
}

static void tell_all(void)
{
	for (unsigned i = 0; i < p.all_count; i++) {
		p.switches->all[i] = past(&p.all[i].told);
		p.switches->all_count += p.switches->all[i].off_begin != 0;
		if (p.switches->all[i].off_begin && !p.switches->all[i].on_begin)
			p.arena->arena->gate = EP_GATE_OFF;
	}
}

/* Notes whose records are left. */
static void keep_what_is_left(void)
{
	uint32_t ring = (uint32_t)(p.thread->ring_size / EP_BLOCK_SIZE);
	size_t kept = 0;

	for (size_t i = 0; i < p.note_count; i++) {
		const struct note *n = &p.notes[i];
		struct call *call = &p.calls[n->call];

		if (build_block_at(p.arena, p.thread, (n->block - 1) % ring)->sequence != n->block)
			continue;
		if (n->is_return)
			call->returned = true;
		else
			call->recorded = true;
		p.notes[kept++] = *n;
	}
	p.note_count = kept;
}

static void run_program(const struct world *world, unsigned seed)
{
	struct build_arena_options options = BUILD_ARENA_DEFAULTS;
	uint64_t tsc = START;

	srand(seed);
	memset(&p, 0, sizeof(p));
	p.world = world;
	options.size = 1 << 19;
	options.thread_capacity = options.module_capacity = 4;
	p.arena = build_arena_create(&options);
	p.switches = build_switches(p.arena, FUNCTIONS, FUNCTIONS);
	p.thread = build_arena_thread(p.arena, 101, "one", world->ring);
	for (unsigned i = 0; i < BUFFERS; i++)
		p.saved[i] = NONE;
	for (unsigned i = STEADY; i < FUNCTIONS; i++)
		plan_offs(&p.functions[i], world->often ? OFFS : EP_SWITCHED_OFF);
	for (p.all_count = 0; world->all && p.all_count < 3; p.all_count++) {
		p.all[p.all_count] = make_off(tsc + some(8000000));
		tsc = p.all[p.all_count].told.on_end;
	}
	p.tsc = START;
	for (unsigned i = 0; i < EVENTS; i++)
		step();
	for (unsigned i = STEADY; i < FUNCTIONS; i++)
		tell_offs(i);
	tell_all();
	keep_what_is_left();
}

/* ---- what comes out ---- */

static struct {
	size_t note;
	size_t call_of_number[4 * EVENTS];
	size_t stack[2 * EVENTS];
	size_t height;
} shown;

static uint64_t matches, cuts, exact; /* of all programs: a test that judges nothing would pass */

static bool is_above(size_t caller, size_t call)
{
	while (call != NONE && call != caller)
		call = p.calls[call].parent;
	return call == caller;
}

/* The next caller that was never off is among those that are open. */
static void check_callers(size_t call)
{
	for (size_t up = p.calls[call].parent; up != NONE; up = p.calls[up].parent)
		if (p.calls[up].function < STEADY && p.calls[up].recorded && !p.world->all) {
			must(p.calls[up].open);
			return;
		}
}

/* Near a time when everything was off, what is not certain is left out. */
static bool is_near_all(uint64_t tsc)
{
	for (unsigned i = 0; i < p.all_count; i++)
		if (tsc + 400000 > p.all[i].told.off_begin && tsc < p.all[i].told.on_end + 400000)
			return true;
	return false;
}

static bool is_note_of(const struct note *note, const struct ep_event *event)
{
	const struct call *call = &p.calls[note->call];

	return !note->is_return && start_of(call->function) + 5 == event->address &&
	       event->begin.low <= call->begin + GRAIN &&
	       (event->begin.high == EP_TIME_UNKNOWN || call->begin <= event->begin.high + GRAIN);
}

static void skip_notes(const struct ep_event *event)
{
	while (shown.note < p.note_count && !is_note_of(&p.notes[shown.note], event)) {
		const struct note *note = &p.notes[shown.note++];

		must(note->is_return || is_near_all(p.calls[note->call].begin));
	}
}

static void check_begin(const struct ep_event *event)
{
	struct call *call;
	size_t number;

	skip_notes(event);
	must(shown.note < p.note_count);
	number = p.notes[shown.note++].call;
	call = &p.calls[number];
	must(event->begin.low <= call->begin + GRAIN);
	must(event->begin.high == EP_TIME_UNKNOWN || call->begin <= event->begin.high + GRAIN);
	if (shown.height) {
		size_t top = shown.stack[shown.height - 1];

		must(is_above(top, number) || p.calls[top].across);
	}
	check_callers(number);
	call->shown = call->open = true;
	shown.call_of_number[event->call] = number;
	shown.stack[shown.height++] = number;
}

/* Somebody's return, of a call that began before what is known. */
static void check_before(const struct ep_event *event)
{
	for (size_t i = 0; i < p.call_count; i++) {
		const struct call *call = &p.calls[i];

		if (call->returned && start_of(call->function) == (event->address & ~0xffULL) &&
		    event->end.low <= call->end + GRAIN &&
		    (event->end.high == EP_TIME_UNKNOWN || call->end <= event->end.high + GRAIN) &&
		    call->begin <= event->begin.high + GRAIN)
			return;
	}
	must(false);
}

static void check_matched(const struct ep_event *event, struct call *call)
{
	must(call->returned);
	must(!call->thrown);
	must(event->end.low <= call->end + GRAIN);
	must(event->end.high == EP_TIME_UNKNOWN || call->end <= event->end.high + GRAIN);
	call->matched = true;
	matches++;
}

static void check_end(const struct ep_event *event)
{
	struct call *call;

	must(!(event->flags & (EP_CALL_STRAY | EP_CALL_AMBIGUOUS)) || p.world->all);
	if (event->flags & EP_CALL_STRAY)
		return;
	if (event->flags & EP_CALL_BEFORE) {
		check_before(event);

		return;
	}
	call = &p.calls[shown.call_of_number[event->call]];
	must(shown.height && &p.calls[shown.stack[shown.height - 1]] == call);
	shown.height--;
	call->open = false;
	if (event->flags & EP_CALL_ACROSS_GAP)
		return;
	if (event->flags & EP_CALL_SWITCHED) {
		must(!call->end || event->end.low <= call->end + GRAIN);
		must(call->function >= STEADY || p.world->all);
		cuts++;
	} else if (event->flags & EP_CALL_UNWOUND) {
		must(call->thrown);
	} else {
		must(!(event->flags & EP_CALL_ABANDONED));
		check_matched(event, call);
	}
}

/* Was it on from well before until well after? */
static bool was_on(const struct call *call)
{
	const struct function *function = &p.functions[call->function];

	if (function->count > EP_SWITCHED_OFF)
		return false;
	for (unsigned i = 0; i < function->count; i++)
		if (call->begin < function->offs[i].told.on_end + 3 * EP_SWITCH_SLACK &&
		    call->end + 3 * EP_SWITCH_SLACK > function->offs[i].told.off_begin)
			return false;
	return true;
}

/* Between two switches all are there. */
static void check_exact(void)
{
	for (size_t i = 0; i < p.call_count; i++) {
		const struct call *call = &p.calls[i];

		if (p.world->every > 1 && call->function >= STEADY)
			continue;
		if (!call->recorded || !call->end || call->thrown || p.world->all || !was_on(call))
			continue;
		must(call->matched);
		exact++;
	}
}

static void check_open(const struct ep_calls *calls)
{
	size_t count;
	const struct ep_event *open = ep_calls_open(calls, &count);

	must(count == shown.height);
	for (size_t i = 0; i < count; i++) {
		const struct call *call = &p.calls[shown.stack[i]];

		must(!call->end || open[i].flags & (EP_CALL_SWITCHED | EP_CALL_ACROSS_GAP));
	}
	if (p.depth)
		for (size_t up = p.stack[p.depth - 1]; up != NONE; up = p.calls[up].parent)
			must(p.calls[up].function >= STEADY || !p.calls[up].recorded ||
			     p.calls[up].open || p.world->all);
}

static void note_gap(void)
{
	for (size_t i = 0; i < shown.height; i++)
		p.calls[shown.stack[i]].across = true;
}

static void check_events(const struct ep_trace *trace)
{
	struct ep_calls *calls = ep_calls_create(trace, &trace->threads[0], &names);
	const struct ep_event *event;

	shown.note = shown.height = 0;
	while (ep_calls_next(calls, &event) == EP_OK) {
		if (event->kind == EP_EVENT_BEGIN)
			check_begin(event);
		else if (event->kind == EP_EVENT_END)
			check_end(event);
		else if (event->kind == EP_EVENT_GAP)
			note_gap();
		must(event->kind != EP_EVENT_GAP || p.world->all);
	}
	check_exact();
	check_open(calls);
	ep_calls_destroy(calls);
}

/* What is open does not depend on how it was read. */
static void check_passing(const struct ep_trace *trace)
{
	struct ep_calls *calls[3];
	const struct ep_event *event, *open[3];
	size_t count[3];
	uint32_t deep = 0;
	int ways = 3;

	calls[0] = ep_calls_create(trace, &trace->threads[0], &names);
	calls[1] = ep_calls_create(trace, &trace->threads[0], &names);
	calls[2] = ep_calls_create_once(trace, &trace->threads[0], &names);
	ep_calls_pass_over(calls[1], 1);
	for (int i = 0; i < 3; i++)
		while (ep_calls_next(calls[i], &event) == EP_OK)
			;
	if (!ep_calls_once_held(calls[2], &deep))
		ways = 2;
	open[0] = ep_calls_open(calls[0], &count[0]);
	for (int i = 1; i < ways; i++) {
		open[i] = ep_calls_open(calls[i], &count[i]);
		must(count[i] == count[0]);
		for (size_t n = 0; n < count[0]; n++) {
			must(open[i][n].call == open[0][n].call);
			must(open[i][n].flags == open[0][n].flags);
			must(open[i][n].depth == open[0][n].depth);
		}
	}
	for (int i = 0; i < 3; i++)
		ep_calls_destroy(calls[i]);
}

/* ---- worlds ---- */

static const struct world worlds[] = {
	{.name = "plain", .ring = 8, .every = 1},
	{.name = "untimed", .ring = 8, .every = 8},
	{.name = "rarely timed", .ring = 8, .every = 64},
	{.name = "late", .late = true, .ring = 8, .every = 1},
	{.name = "late, untimed", .late = true, .ring = 8, .every = 16},
	{.name = "cut", .late = true, .ring = 2, .every = 4},
	{.name = "often", .often = true, .ring = 8, .every = 1},
	{.name = "often, cut", .often = true, .late = true, .ring = 2, .every = 8},
	{.name = "jumps", .jumps = true, .ring = 16, .every = 1},
	{.name = "jumps, late", .jumps = true, .late = true, .ring = 16, .every = 8},
	{.name = "jumps, often", .jumps = true, .often = true, .ring = 16, .every = 4},
	{.name = "bare", .bare = true, .ring = 8, .every = 1},
	{.name = "bare, often", .bare = true, .often = true, .late = true, .ring = 8, .every = 4},
	{.name = "all", .all = true, .ring = 16, .every = 1},
	{.name = "all, untimed", .all = true, .late = true, .ring = 16, .every = 8},
};

#define WORLDS ((int)(sizeof(worlds) / sizeof(worlds[0])))
#define SEEDS  100u /* EP_TEST_SEEDS: more, by hand */

START_TEST(what_comes_out_is_the_truth)
{
	const char *more = getenv("EP_TEST_SEEDS");
	unsigned seeds = more ? (unsigned)atoi(more) : SEEDS;

	matches = cuts = exact = 0;
	for (unsigned seed = 0; seed < seeds; seed++) {
		struct ep_trace *trace;
		struct ep_image image;

		run_program(&worlds[_i], seed * 64 + (unsigned)_i);
		build_image_of(&image, p.arena);
		must(ep_trace_create(&trace, &image, NULL) == EP_OK);
		build_trace_check(trace, &names);
		check_events(trace);
		check_passing(trace);
		ep_trace_destroy(trace);
		build_image_free(&image);
		build_arena_destroy(p.arena);
		fake_names_free(&names);
	}
	must(matches > seeds * 20);
	must(cuts > seeds / 2);
	must(exact > seeds * 10 || worlds[_i].all);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("switching");
	TCase *tests = tcase_create("switching");

	tcase_set_timeout(tests, 120);
	tcase_add_loop_test(tests, what_comes_out_is_the_truth, 0, WORLDS);
	suite_add_tcase(suite, tests);
	return ep_test_main(suite);
}
