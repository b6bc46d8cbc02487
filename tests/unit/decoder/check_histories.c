/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_histories.c: programs by chance. A random program runs with a true stack of its own; what
 * it does is recorded, with untimed records, pauses, lost blocks, holes, exceptions and thunks as
 * asked for. Every event that comes out must be the truth, or say by a flag what it does not know.
 */
#include <stdlib.h>
#include <string.h>

#include "decoder/stream/stream.h"
#include "tests/unit/build_trace.h"
#include "tests/unit/fake_names.h"
#include "tests/unit/main.h"

#define START     UINT64_C(5000000000)
#define EVENTS    20000u
#define DEPTH_MAX 60u
#define NONE      SIZE_MAX
#define GRAIN     16u /* a stamp counts 8 cycles; 0 is written as 1 */

/* What the program may do, and what may happen to its trace. */
struct world {
	const char *name;
	bool recursion; /* functions are free of the depth they run at */
	bool bare;      /* functions without bounds */
	bool throws;
	bool thunks;
	bool pauses;
	bool holes;
	uint32_t lost_percent; /* of the blocks */
	uint32_t ring;         /* blocks; small: the history is cut */
	uint32_t every;        /* one record in how many is timed */
};

/* One call of the program, true. */
struct call {
	uint32_t depth, function;
	uint64_t begin, end; /* TSC; end 0: did not end */
	bool thrown;         /* left by an exception */
	bool recorded;       /* its begin is in a record that is left */
	bool returned;       /* and its return */
};

/* One record, as far as it is left. */
struct note {
	size_t call; /* NONE: a thunk's return */
	uint64_t tsc;
	uint64_t block; /* sequence */
	uint32_t index;
	bool is_return, timed;
};

struct program {
	const struct world *world;
	struct build_arena *arena;
	struct ep_thread *thread;
	struct call *calls;
	size_t call_count;
	struct note *notes;
	size_t note_count;
	size_t stack[DEPTH_MAX];
	uint32_t depth;
	uint64_t tsc;
	uint32_t paused; /* steps that are still not recorded */
	bool resuming;
};

static struct ep_names names;

/* ---- the program ---- */

static uint32_t chance(uint32_t n)
{
	return (uint32_t)rand() % n;
}

static uint64_t address_of(const struct program *p, uint32_t function, bool is_return)
{
	uint64_t start = (p->world->bare ? FAKE_BARE : FAKE_KNOWN) + function * FAKE_STEP;

	return start + (is_return ? 0x20 + chance(8) * 16 : 5);
}

static void note(struct program *p, size_t call, uint64_t address, bool is_return)
{
	struct build_cursor *cursor = &p->arena->cursors[p->thread->serial - 1];
	bool timed = chance(p->world->every) == 0 || !cursor->block ||
		     cursor->next + 2 >= EP_BLOCK_RECORDS;

	if (p->paused) {
		p->paused--;
		p->resuming = true;
		return;
	}
	if (p->resuming && cursor->block) {
		struct ep_block *block = build_block(p->arena, p->thread, p->tsc);

		block->flags |= EP_BLOCK_RESUMED;
		build_block_seal(p->arena, block);
	}
	p->resuming = false;
	build_event(p->arena, p->thread, address, is_return, timed ? p->tsc : 0);
	p->notes[p->note_count++] = (struct note){
		call, p->tsc, cursor->block->sequence, cursor->next - 1, is_return, timed};
}

static void do_call(struct program *p)
{
	uint32_t function = p->world->recursion ? chance(12) : p->depth * 8 + chance(4);
	size_t call = p->call_count++;

	p->calls[call] = (struct call){.depth = p->depth, .function = function, .begin = p->tsc};
	p->stack[p->depth++] = call;
	note(p, call, address_of(p, function, false), false);
}

static void do_return(struct program *p)
{
	size_t call = p->stack[--p->depth];

	p->calls[call].end = p->tsc;
	note(p, call, address_of(p, p->calls[call].function, true), true);
}

/* An exception, caught by somebody further out, who goes on. */
static void do_throw(struct program *p)
{
	uint32_t left = 1 + chance(p->depth - 1);

	while (left--) {
		struct call *call = &p->calls[p->stack[--p->depth]];

		call->end = p->tsc;
		call->thrown = true;
	}
}

static void do_thunk(struct program *p)
{
	note(p, NONE, FAKE_THUNK + chance(5) * FAKE_STEP + 0x20, true);
}

/* The depth wanders: now and then far down, so that a cut history has callers from before it that
 * return. */
static void step(struct program *p)
{
	bool down = p->tsc / 4000000 % 2;
	uint32_t dice = chance(1000);

	p->tsc += 1 + chance(chance(20) ? 500 : 300000);
	if (p->world->pauses && !p->paused && dice < 4)
		p->paused = 1 + chance(300);
	if (p->world->throws && dice < 15 && p->depth > 1)
		do_throw(p);
	else if (p->world->thunks && dice >= 980)
		do_thunk(p);
	else if (p->depth == 0 || (p->depth < DEPTH_MAX && chance(100) < (down ? 47u : 53u)))
		do_call(p);
	else
		do_return(p);
}

/* ---- what happens to its trace ---- */

static uint32_t ring_blocks(const struct program *p)
{
	return (uint32_t)(p->thread->ring_size / EP_BLOCK_SIZE);
}

/* A hook writes its record before it remembers the time, so a hole never hides a time from which
 * the next stamp counts. */
static void make_hole(struct ep_block *block)
{
	uint64_t *word = &block->records[chance(EP_BLOCK_RECORDS)];

	if (*word >> EP_STAMP_SHIFT == 0 && (*word & EP_ADDRESS_MASK) >= EP_ESCAPE_LIMIT)
		*word = 0;
}

static void lose(struct program *p)
{
	uint64_t blocks = p->thread->blocks;
	uint32_t ring = ring_blocks(p);

	for (uint32_t i = 0; i < ring && i < blocks; i++) {
		struct ep_block *block = build_block_at(p->arena, p->thread, i);

		if (chance(100) < p->world->lost_percent)
			memset(block, 0, sizeof(*block));
		for (unsigned n = 0; p->world->holes && n < 4; n++)
			make_hole(block);
	}
}

/* Forgets the notes whose records are gone. */
static void keep_what_is_left(struct program *p)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->note_count; i++) {
		const struct note *n = &p->notes[i];
		const struct ep_block *block =
			build_block_at(p->arena, p->thread, (n->block - 1) % ring_blocks(p));

		if (block->sequence != n->block || !block->records[n->index])
			continue;
		if (n->call != NONE && n->is_return)
			p->calls[n->call].returned = true;
		else if (n->call != NONE)
			p->calls[n->call].recorded = true;
		p->notes[kept++] = *n;
	}
	p->note_count = kept;
	if (p->paused || p->resuming)
		p->arena->arena->gate = EP_GATE_API;
}

/* ---- what comes out ---- */

struct check {
	const struct program *p;
	size_t note;            /* next one that must show up */
	size_t *call_of_number; /* decoder's number → call */
	uint64_t clean, flagged;
	bool have_offset;
	int64_t offset; /* decoded depth - true depth */
};

static const struct note *next_note(struct check *c, bool is_return)
{
	must(c->note < c->p->note_count);
	must(c->p->notes[c->note].is_return == is_return);
	return &c->p->notes[c->note++];
}

static void check_time(const struct ep_time *time, uint64_t tsc)
{
	must(time->low <= tsc + GRAIN);
	if (time->high != EP_TIME_UNKNOWN)
		must(tsc <= time->high + GRAIN);
}

static bool damaged(const struct world *w)
{
	return w->throws || w->pauses || w->holes || w->lost_percent;
}

static void check_depth(struct check *c, const struct ep_event *event, const struct call *call)
{
	int64_t offset = (int64_t)event->depth - (int64_t)call->depth;

	/* After an exception calls lie too deep until their caller returns; in a gap anything may
	 * have begun. */
	if (damaged(c->p->world))
		return;
	must(!c->have_offset || offset == c->offset);
	c->have_offset = true;
	c->offset = offset;
}

static void check_begin(struct check *c, const struct ep_event *event)
{
	const struct note *n = next_note(c, false);

	check_time(&event->begin, n->tsc);
	must(event->begin.exact || !n->timed);
	check_depth(c, event, &c->p->calls[n->call]);
	c->call_of_number[event->call] = n->call;
}

/* A call that was left must really have been, unless history is missing in it: then the return that
 * showed it may have been another call's. And at a time that the interval holds. */
static void check_abandoned(struct check *c, const struct ep_event *event)
{
	const struct call *call = &c->p->calls[c->call_of_number[event->call]];

	c->flagged++;
	if (event->flags & EP_CALL_ACROSS_GAP)
		return;
	if (c->p->world->recursion && c->p->world->throws)
		return; /* the trace cannot tell which level it was */
	must(call->thrown);
	check_time(&event->end, call->end);
}

static void check_before(struct check *c, const struct ep_event *event, const struct note *n)
{
	must(n->call != NONE);
	if (event->flags & EP_CALL_ACROSS_GAP || (c->p->world->recursion && damaged(c->p->world)))
		return;
	must(!c->p->calls[n->call].recorded);
	check_depth(c, event, &c->p->calls[n->call]);
}

static void check_stray(struct check *c, const struct note *n)
{
	/* A real function's return is stray only where its call was lost. */
	if (n->call != NONE)
		must(damaged(c->p->world) &&
		     (!c->p->calls[n->call].recorded || c->p->world->recursion));
}

static void check_matched(struct check *c, const struct ep_event *event, const struct note *n)
{
	const struct call *mine = &c->p->calls[c->call_of_number[event->call]];
	const struct call *other = &c->p->calls[n->call];

	must(n->call != NONE);
	must(mine->function == other->function);
	if (event->flags) {
		c->flagged++;
		return;
	}
	/* Recursion and an exception: another level of the same function. */
	if (c->p->world->recursion && c->p->world->throws)
		return;
	must(mine == other);
	c->clean++;
}

static void check_end(struct check *c, const struct ep_event *event)
{
	const struct note *n;

	if (event->flags & EP_CALL_ABANDONED) {
		check_abandoned(c, event);
		return;
	}
	n = next_note(c, true);
	check_time(&event->end, n->tsc);
	must(event->end.exact || !n->timed);
	if (event->flags & EP_CALL_STRAY)
		check_stray(c, n);
	else if (event->flags & EP_CALL_BEFORE)
		check_before(c, event, n);
	else
		check_matched(c, event, n);
}

/* What is open at the end is open in truth, or marked. */
static void check_open(struct check *c, const struct ep_calls *calls)
{
	size_t count;
	const struct ep_event *open = ep_calls_open(calls, &count);
	const struct program *p = c->p;

	for (size_t i = 0; i < count; i++) {
		const struct call *call = &p->calls[c->call_of_number[open[i].call]];

		if (!open[i].flags && !p->world->throws)
			must(call->end == 0);
	}
	/* And what is open in truth is there, when its call was recorded. */
	for (uint32_t d = 0; d < p->depth; d++) {
		bool found = !p->calls[p->stack[d]].recorded;

		for (size_t i = 0; i < count && !found; i++)
			found = c->call_of_number[open[i].call] == p->stack[d];
		must(found || damaged(p->world));
	}
}

/* The history is whole, and says so only then. */
static void check_whole(const struct program *p, const struct ep_calls *calls)
{
	if (ep_calls_outermost_known(calls))
		must(p->notes[0].block == 1 && !p->world->pauses && !p->world->holes &&
		     !p->world->lost_percent);
	else
		must(damaged(p->world) || p->notes[0].block != 1);
}

static void check_events(const struct program *p, const struct ep_trace *trace)
{
	struct check c = {.p = p};
	const struct ep_event *event;
	struct ep_calls *calls;

	c.call_of_number = calloc(3 * EVENTS, sizeof(*c.call_of_number));
	calls = ep_calls_create(trace, &trace->threads[0], &names);
	while (ep_calls_next(calls, &event) == EP_OK) {
		if (event->kind == EP_EVENT_BEGIN)
			check_begin(&c, event);
		else if (event->kind == EP_EVENT_END)
			check_end(&c, event);
	}
	must(c.note == p->note_count);
	check_open(&c, calls);
	check_whole(p, calls);
	/* A test that judges nothing would pass: most ends are plain. */
	if (!p->world->recursion || !p->world->throws)
		must(c.clean > p->note_count / 8);
	ep_calls_destroy(calls);
	free(c.call_of_number);
}

/* ---- the tail ---- */

struct shown {
	struct ep_event list[4096];
	size_t count;
};

static int show(void *context, const struct ep_event *event, const struct ep_nest_thread *none)
{
	struct shown *shown = context;

	(void)none;
	/* A tail does not tell these: they said it where they began. */
	if (event->kind >= EP_EVENT_OPEN)
		return EP_OK;
	must(shown->count < 4096);
	shown->list[shown->count++] = *event;
	return EP_OK;
}

static void must_be_the_same(const struct ep_event *a, const struct ep_event *b)
{
	must(a->kind == b->kind);
	must(a->function == b->function);
	must(a->flags == b->flags);
	must(a->depth == b->depth);
	must(a->gap == b->gap);
	must(a->begin.best == b->begin.best);
	must(a->end.best == b->end.best);
	if (a->kind != EP_EVENT_GAP)
		must(a->call == b->call);
}

/* What a reader who asks for the end takes in: not the calls that return. */
struct gist {
	uint64_t events, gaps, gap_ends;
	struct ep_event last;
	uint64_t functions; /* sum of the numbers of those that were called */
};

static struct gist read_gist(struct ep_calls *calls, struct ep_tail *tail)
{
	const struct ep_function *function;
	const struct ep_event *event;
	struct gist gist = {0};
	size_t next = 0;

	while (ep_calls_next(calls, &event) == EP_OK) {
		if (tail)
			ep_tail_event(tail, event, NULL);
		if (event->kind == EP_EVENT_GAP) {
			gist.gaps++;
			gist.gap_ends += event->begin.best + event->end.best;
		}
		gist.last = *event;
		gist.events++;
	}
	while ((function = ep_calls_called(calls, &next)))
		gist.functions += function->id + 1;
	return gist;
}

/* `all` told every event, `passed` not those of calls that returned. */
static void must_agree(const struct gist *passed, const struct gist *all)
{
	must(passed->events <= all->events);
	must(passed->gaps == all->gaps);
	must(passed->gap_ends == all->gap_ends);
	must(passed->functions == all->functions);
	must_be_the_same(&passed->last, &all->last);
}

static void must_have_the_same_open(const struct ep_calls *passed, const struct ep_calls *all)
{
	const struct ep_event *open[2];
	size_t count[2];

	open[0] = ep_calls_open(passed, &count[0]);
	open[1] = ep_calls_open(all, &count[1]);
	must(count[0] == count[1]);
	for (size_t i = 0; i < count[0]; i++)
		must_be_the_same(&open[0][i], &open[1][i]);
	must(ep_calls_outermost_known(passed) == ep_calls_outermost_known(all));
}

static struct ep_calls *planned(const struct ep_trace *trace)
{
	return ep_calls_create(trace, &trace->threads[0], &names);
}

static uint64_t passed_over; /* events */

static void check_passing(const struct ep_trace *trace)
{
	struct ep_calls *passing = planned(trace), *whole = planned(trace);
	struct gist passed, all = read_gist(whole, NULL);

	ep_calls_pass_over(passing, EP_TAIL_BLOCKS);
	passed = read_gist(passing, NULL);
	must_agree(&passed, &all);
	must_have_the_same_open(passing, whole);
	passed_over += all.events - passed.events;
	ep_calls_destroy(passing);
	ep_calls_destroy(whole);
}

/* One pass over the thread, and its tail; false: it takes more than one. */
static bool read_once(const struct ep_trace *trace, struct ep_tail *tail)
{
	struct ep_calls *once, *whole;
	struct gist passed, all;
	uint32_t too_deep;
	bool held;

	once = ep_calls_create_once(trace, &trace->threads[0], &names);
	ep_tail_init(tail, once);
	ep_calls_pass_over(once, EP_TAIL_BLOCKS);
	passed = read_gist(once, tail);
	held = ep_calls_once_held(once, &too_deep);
	if (held) {
		ep_tail_finish(tail, too_deep);
		whole = planned(trace);
		all = read_gist(whole, NULL);
		passed.last.depth -= too_deep;
		must_agree(&passed, &all);
		must_have_the_same_open(once, whole);
		ep_calls_destroy(whole);
	}
	ep_calls_destroy(once);
	return held;
}

static void check_tail(const struct ep_trace *trace, const struct ep_tail *tail, uint64_t calls)
{
	struct ep_selection selection = {.last_calls = calls};
	struct shown *whole = calloc(1, sizeof(*whole));
	struct shown *last = calloc(1, sizeof(*last));
	struct ep_sink sink = {.context = whole, .event = show};
	uint64_t shown[2];

	must(ep_stream(trace, &names, &selection, &sink, &shown[0]) == EP_OK);
	sink.context = last;
	must(ep_stream_tail(trace, &selection, tail, &sink, &shown[1]) == EP_OK);
	must(shown[0] == shown[1]);
	must(whole->count == last->count);
	for (size_t i = 0; i < whole->count; i++)
		must_be_the_same(&whole->list[i], &last->list[i]);
	free(whole);
	free(last);
}

/* How often a history was told by its tail. */
static int check_tails(const struct ep_trace *trace)
{
	static const uint64_t calls[] = {1, 300};
	struct ep_tail tail;
	int told = 0;

	if (read_once(trace, &tail))
		for (int i = 0; i < 2; i++)
			if (ep_tail_holds(&tail, calls[i])) {
				check_tail(trace, &tail, calls[i]);
				told++;
			}
	ep_tail_deinit(&tail);
	return told;
}

/* ---- worlds ---- */

static const struct world worlds[] = {
	{.name = "plain", .recursion = true, .ring = 128, .every = 1},
	{.name = "untimed", .recursion = true, .ring = 128, .every = 8},
	{.name = "cut", .recursion = true, .ring = 8, .every = 8},
	{.name = "bare", .recursion = true, .bare = true, .ring = 8, .every = 4},
	{.name = "thunks", .recursion = true, .thunks = true, .ring = 8, .every = 2},
	{.name = "throws", .throws = true, .ring = 128, .every = 1},
	{.name = "throws, cut", .throws = true, .ring = 8, .every = 8},
	{.name = "throws, thunks", .throws = true, .thunks = true, .ring = 8, .every = 1},
	{.name = "throws, bare", .throws = true, .bare = true, .ring = 128, .every = 1},
	{.name = "throws, recursion", .throws = true, .recursion = true, .ring = 8, .every = 8},
	{.name = "pauses", .pauses = true, .ring = 128, .every = 8},
	{.name = "pauses, cut", .pauses = true, .ring = 16, .every = 1},
	{.name = "lost", .lost_percent = 20, .ring = 64, .every = 8},
	{.name = "holes", .holes = true, .ring = 16, .every = 4},
	{.name = "everything",
	 .recursion = true,
	 .throws = true,
	 .thunks = true,
	 .pauses = true,
	 .holes = true,
	 .lost_percent = 10,
	 .ring = 16,
	 .every = 8},
};

#define WORLDS     ((int)(sizeof(worlds) / sizeof(worlds[0])))
#define TAIL_SEEDS 2 /* each is read many times */

/* The first of these histories are enough for a sanitizer to see each line run. */
#ifdef __SANITIZE_ADDRESS__
#define SEEDS 2
#else
#define SEEDS 6
#endif

static void run_program(struct program *p)
{
	struct build_arena_options options = BUILD_ARENA_DEFAULTS;

	p->arena = build_arena_create(&options);
	p->thread = build_arena_thread(p->arena, 101, "one", p->world->ring);
	p->calls = calloc(EVENTS, sizeof(*p->calls));
	p->notes = calloc(EVENTS, sizeof(*p->notes));
	p->tsc = START;
	for (unsigned i = 0; i < EVENTS; i++)
		step(p);
}

static void make_trace(struct program *p, struct ep_image *image, struct ep_trace **trace,
		       int number)
{
	p->world = &worlds[number % WORLDS];
	srand(1000 + (unsigned)number);
	run_program(p);
	lose(p);
	keep_what_is_left(p);
	build_image_of(image, p->arena);
	must(ep_trace_create(trace, image, NULL) == EP_OK);
	build_trace_check(*trace, &names);
}

static void free_trace(struct program *p, struct ep_image *image, struct ep_trace *trace)
{
	ep_trace_destroy(trace);
	build_image_free(image);
	build_arena_destroy(p->arena);
	free(p->calls);
	free(p->notes);
	fake_names_free(&names);
}

START_TEST(what_comes_out_is_the_truth_or_flagged)
{
	struct program p = {0};
	struct ep_trace *trace;
	struct ep_image image;

	make_trace(&p, &image, &trace, _i);
	check_events(&p, trace);
	free_trace(&p, &image, trace);
}
END_TEST

START_TEST(what_is_open_does_not_depend_on_calls_that_returned)
{
	struct program p = {0};
	struct ep_trace *trace;
	struct ep_image image;

	make_trace(&p, &image, &trace, _i);
	check_passing(trace);
	free_trace(&p, &image, trace);
	/* Where the history is no more than the last blocks, none can be. */
	if (worlds[_i % WORLDS].ring > 8)
		must(passed_over > 1000);
}
END_TEST

START_TEST(a_tail_tells_what_the_whole_history_does)
{
	struct ep_trace *trace;
	struct ep_image image;
	int told = 0;

	for (int seed = 0; seed < TAIL_SEEDS; seed++) {
		struct program p = {0};

		make_trace(&p, &image, &trace, _i + seed * WORLDS);
		told += check_tails(trace);
		free_trace(&p, &image, trace);
	}
	/* Plain histories are always told so, cut ones too. */
	if (_i < 3)
		must(told == 2 * TAIL_SEEDS);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("histories");
	TCase *tests = tcase_create("histories");

	tcase_add_loop_test(tests, what_comes_out_is_the_truth_or_flagged, 0, WORLDS * SEEDS);
	tcase_add_loop_test(tests, what_is_open_does_not_depend_on_calls_that_returned, 0,
			    WORLDS * SEEDS);
	tcase_add_loop_test(tests, a_tail_tells_what_the_whole_history_does, 0, WORLDS);
	suite_add_tcase(suite, tests);
	return ep_test_main(suite);
}
