/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_alignment.c: stacks beside open calls, case by case. Functions are letters, and what is
 * known of each is all that the fakes below tell: a capital has no hooks, u may have some, e is a
 * frame before its hook, r one behind its return's, H is a hook of an entry that has recorded, P
 * one that has not, L and R such hooks of returns, B what an entry's leaves to C, C what is called
 * there, S the signal frame, N no file's code, Q of a module of which nothing was called. ! is a
 * frame where no code is, g? one that was guessed. Calls are written outermost first; b- history is
 * missing inside of it.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "decoder/stack/alignment_impl.h"
#include "decoder/code/hooks.h"
#include "tests/unit/main.h"

#define ROOM 4096u /* frames or calls */

/* ---- what is known of functions ---- */

static struct ep_trace_module modules[2];
static struct ep_function functions[128];
static char letters[128][2];
static const char *inlined_there; /* at every frame of i */

static const struct ep_function *function_of(char letter)
{
	struct ep_function *one = &functions[(unsigned char)letter];

	letters[(unsigned char)letter][0] = letter;
	*one = (struct ep_function){
		.id = (unsigned char)letter,
		.name = letters[(unsigned char)letter],
		.symbol = "",
		.in = letter == 'N'   ? NULL
		      : letter == 'Q' ? &modules[1]
				      : &modules[0],
	};
	return one;
}

/* The address of a frame is its letter; where no code is, it is one that is no letter. */
const struct ep_function *ep_names_find(struct ep_names *names, uint64_t address, uint64_t tsc)
{
	(void)names, (void)tsc;
	return function_of(address < 128 ? (char)address : 'N');
}

struct ep_line ep_names_address_line(struct ep_names *names, uint64_t address, uint64_t tsc)
{
	(void)names, (void)address, (void)tsc;
	return (struct ep_line){0};
}

size_t ep_names_inlined(struct ep_names *names, uint64_t address, uint64_t tsc,
			struct ep_inlined out[EP_INLINED_MAX])
{
	(void)names, (void)tsc;
	if (address != 'i' || !inlined_there)
		return 0;
	out[0] = (struct ep_inlined){.name = inlined_there};
	return 1;
}

bool ep_names_debug(struct ep_names *names, uint64_t address, struct ep_names_debug *out)
{
	(void)names, (void)address, (void)out;
	return false;
}

/* For the builders, which nobody calls here. */
const char *ep_names_constant_string(struct ep_names *names, uint64_t address, uint64_t tsc)
{
	(void)names, (void)address, (void)tsc;
	return NULL;
}

const struct ep_function *ep_names_span(struct ep_names *names, const char *name)
{
	(void)names, (void)name;
	return NULL;
}

bool ep_names_word(const struct ep_names *names, uint64_t address, uint64_t *out)
{
	(void)names, (void)address, (void)out;
	return false;
}

size_t ep_names_code(struct ep_names *names, uint64_t address, void *out, size_t size)
{
	(void)names, (void)address, (void)out, (void)size;
	return 0;
}

enum ep_hooks ep_hooks_look(struct ep_source *source, struct ep_names *names,
			    const struct ep_function *function, uint64_t pc)
{
	(void)source, (void)names, (void)pc;
	switch (function->id) {
	case 'u':
	case 'Q':
		return EP_HOOKS_UNKNOWN;
	case 'e':
		return EP_HOOKS_ENTERING;
	case 'r':
		return EP_HOOKS_LEAVING;
	default:
		return isupper((int)function->id) ? EP_HOOKS_NONE : EP_HOOKS_SOME;
	}
}

bool ep_is_hook(const struct ep_function *function)
{
	return strchr("HPLR", (int)function->id) != NULL;
}

bool ep_is_in_hook(const struct ep_function *function)
{
	return ep_is_hook(function) || function->id == 'B';
}

bool ep_is_entry_hook(const struct ep_function *function)
{
	return strchr("HPB", (int)function->id) != NULL;
}

bool ep_is_exit_hook(const struct ep_function *function)
{
	return strchr("LR", (int)function->id) != NULL;
}

bool ep_is_hook_in_c(const struct ep_function *function)
{
	return function->id == 'C';
}

bool ep_hook_is_to_record(struct ep_source *source, struct ep_names *names,
			  const struct ep_function *hook, uint64_t pc)
{
	(void)source, (void)names;
	return pc == hook->id && strchr("PR", (int)hook->id) != NULL;
}

bool ep_open_calls_saw(const struct ep_open_calls *open, const struct ep_function *function)
{
	(void)open, (void)function;
	return false;
}

bool ep_open_calls_saw_module(const struct ep_open_calls *open, const struct ep_function *function)
{
	(void)open;
	return function->in == &modules[0];
}

/* ---- words to stacks and calls ---- */

/* Of the open calls and of how the stack ended. */
enum {
	WHOLE = 1,    /* nothing was outside of the outermost call */
	NO_STACK = 2, /* none at all */
	NO_TRACE = 4, /* of this thread */
	STACKS = 8,   /* it goes on upon other stacks */
	FORKED = 16,
	BEGUN = 32,     /* its history begins with it */
	PAUSES = 64,    /* there were some */
	RETURNED = 128, /* the last event is the return of the first frame that is no hook's */
	FULL = 256      /* its last block is */
};

#define NO_GAP (-1)

struct scene {
	const char *name, *stack, *calls, *want;
	unsigned flags;
	enum ep_stack_end end;
	int gap;          /* kind, by its bit's number, or NO_GAP */
	uint64_t gap_end; /* calls begin at 100, 200, 300 … */
};

static struct ep_frame frames[ROOM];
static struct ep_event calls[ROOM];
static struct ep_stack stack;
static struct ep_open_calls open;
static struct ep_trace_thread thread;
static struct ep_trace_block block;
static struct ep_trace trace;
static char got[ROOM * 16];

static void take_stack(const char *words)
{
	stack.count = 0;
	for (const char *at = words; *at; at++)
		if (*at == '?')
			frames[stack.count - 1].guessed = true;
		else if (*at != ' ')
			frames[stack.count++] =
				(struct ep_frame){.pc = *at == '!' ? 1000 : (uint64_t)*at,
						  .activation = true,
						  .nowhere = *at == '!',
						  .signal = *at == 'S'};
	for (size_t i = 1; i < stack.count; i++) {
		frames[i].activation = false;
		frames[i].pc++;
	}
	stack.frames = frames;
}

static void take_calls(const char *words)
{
	open.count = 0;
	for (const char *at = words; *at; at++)
		if (*at == '-')
			calls[open.count - 1].flags |= EP_CALL_ACROSS_GAP;
		else if (*at != ' ') {
			uint64_t begin = 100 * (open.count + 1);

			calls[open.count++] =
				(struct ep_event){.function = function_of(*at),
						  .begin = {begin, begin, begin, .exact = true}};
		}
	open.calls = calls;
}

static void put(const char *text)
{
	strncat(got, text, sizeof(got) - strlen(got) - 1);
}

static void put_row(const struct ep_alignment_row *row)
{
	put(*got ? " " : "");
	put(row->frame ? "" : "(");
	put(row->inlined                        ? row->inlined
	    : row->frame && row->frame->nowhere ? "!"
						: row->function->name);
	put(row->frame ? "=" : ")=");
	put(ep_verdict_name(row->verdict));
	put(row->reason ? "/" : "");
	put(ep_reason_name(row->reason));
}

static void align(const struct scene *scene, bool inlines)
{
	const struct ep_alignment_of of = {
		.stack = scene->flags & NO_STACK ? NULL : &stack,
		.open = &open,
		.inlines = inlines,
	};
	struct ep_alignment alignment;

	open = (struct ep_open_calls){0};
	take_stack(scene->stack);
	take_calls(scene->calls);
	stack.end = scene->end;
	stack.complete = scene->end == EP_STACK_WHOLE;
	thread = (struct ep_trace_thread){
		.forked = scene->flags & FORKED,
		.from_start = scene->flags & BEGUN,
	};
	block.words = EP_BLOCK_RECORDS - !(scene->flags & FULL) * 2;
	thread.blocks = &block;
	thread.block_count = 1;
	trace.arena.pauses = !!(scene->flags & PAUSES);
	open.thread = &thread;
	open.trace = &trace;
	open.known = !(scene->flags & NO_TRACE);
	open.outermost_known = scene->flags & WHOLE;
	open.other_stacks = scene->flags & STACKS;
	if (scene->flags & RETURNED)
		open.returned = function_of(scene->stack[strcspn(scene->stack, "abcdefgr")]);
	if (scene->gap != NO_GAP)
		open.gaps[scene->gap] = scene->gap_end;
	ep_alignment_init(&alignment, &of);
	got[0] = '\0';
	for (size_t i = 0; i < alignment.count; i++) {
		if (i == alignment.overwritten)
			put(" |");
		put_row(&alignment.rows[i]);
	}
	ep_alignment_deinit(&alignment);
}

/* ---- the table ---- */

#define SCENE(name, stack, calls, flags, want)                             \
	{                                                                  \
		name, stack, calls, want, flags, EP_STACK_WHOLE, NO_GAP, 0 \
	}
#define ENDED(name, end, stack, calls, flags, want)             \
	{                                                       \
		name, stack, calls, want, flags, end, NO_GAP, 0 \
	}
#define GAP(name, kind, at, flags, want)                                    \
	{                                                                   \
		name, "c b a", "a c", want, flags, EP_STACK_WHOLE, kind, at \
	}
#define OUTSIDE(name, flags, kind, reason)                                           \
	{                                                                            \
		name, "c b a", "b c", "c=agree b=agree a=trace-lost/" reason, flags, \
			EP_STACK_WHOLE, kind, 1                                      \
	}

static const struct scene scenes[] = {
	SCENE("all", "c b a", "a b c", WHOLE, "c=agree b=agree a=agree"),
	SCENE("nothing", "", "", WHOLE, ""),
	/* not instrumented */
	SCENE("a library's", "c X a", "a c", WHOLE, "c=agree X=not-instrumented/no-hook a=agree"),
	SCENE("our hook", "H a", "a", WHOLE, "H=not-instrumented/own-hook a=agree"),
	SCENE("our hook's work", "X u H e a", "a", WHOLE,
	      "X=not-instrumented/own-hook u=not-instrumented/own-hook H=not-instrumented/own-hook "
	      "e=entering a=agree"),
	SCENE("a signal in our hook's work", "c X S X H a", "a c", WHOLE,
	      "c=agree X=not-instrumented/no-hook S=not-instrumented/signal "
	      "X=not-instrumented/own-hook H=not-instrumented/own-hook a=agree"),
	SCENE("a signal", "c S a", "a c", WHOLE, "c=agree S=not-instrumented/signal a=agree"),
	SCENE("no file", "N a", "a", WHOLE, "N=not-instrumented/no-file a=agree"),
	SCENE("a call of nothing", "! a", "a", WHOLE, "!=not-instrumented/nowhere a=agree"),
	SCENE("a silent module", "Q a", "a", WHOLE, "Q=not-instrumented/silent-module a=agree"),
	SCENE("a silent module, and older calls", "Q a", "a", 0, "Q=unknown/unreadable a=agree"),
	SCENE("no code", "u a", "a", WHOLE, "u=unknown/unreadable a=agree"),
	/* where its hooks are */
	SCENE("before its hook", "e a", "a", WHOLE, "e=entering a=agree"),
	SCENE("behind its return", "r a", "a", WHOLE | RETURNED, "r=returning a=agree"),
	SCENE("an older call of it", "e e a", "a e", WHOLE, "e=entering e=agree a=agree"),
	SCENE("a block begins", "X B c c c a", "a c c", WHOLE | FULL,
	      "X=not-instrumented/own-hook B=not-instrumented/own-hook "
	      "c=entering c=agree c=agree a=agree"),
	SCENE("a block has begun", "X B c c c a", "a c c c", WHOLE,
	      "X=not-instrumented/own-hook B=not-instrumented/own-hook "
	      "c=agree c=agree c=agree a=agree"),
	SCENE("a block begins in older ones", "X B c c c a", "c c", FULL,
	      "X=not-instrumented/own-hook B=not-instrumented/own-hook "
	      "c=entering c=agree c=agree a=trace-lost/before-history"),
	SCENE("before the record of an entry", "P c c a", "a c", WHOLE,
	      "P=not-instrumented/own-hook c=entering c=agree a=agree"),
	SCENE("behind the record of an entry", "H c c a", "a c c", WHOLE,
	      "H=not-instrumented/own-hook c=agree c=agree a=agree"),
	SCENE("before the record of an entry, in older calls", "P c c c a", "c c", 0,
	      "P=not-instrumented/own-hook c=entering c=agree c=agree a=trace-lost/before-history"),
	SCENE("a hook in C, and a block begins", "C H c c a", "a c", WHOLE | FULL,
	      "C=not-instrumented/own-hook H=not-instrumented/own-hook "
	      "c=entering c=agree a=agree"),
	SCENE("a hook of its own, and a block ends", "X H c c a", "a c c", WHOLE | FULL,
	      "X=not-instrumented/own-hook H=not-instrumented/own-hook "
	      "c=agree c=agree a=agree"),
	SCENE("before the record of a return", "R c c a", "a c c", WHOLE | RETURNED,
	      "R=not-instrumented/own-hook c=agree c=agree a=agree"),
	SCENE("behind the record of a return", "L c c a", "a c", WHOLE | RETURNED,
	      "L=not-instrumented/own-hook c=returning c=agree a=agree"),
	SCENE("a return's hook in C, and a block begins", "C L c c a", "a c c",
	      WHOLE | RETURNED | FULL,
	      "C=not-instrumented/own-hook L=not-instrumented/own-hook "
	      "c=agree c=agree a=agree"),
	/* trace lost */
	OUTSIDE("fork", FORKED, NO_GAP, "before-fork"),
	OUTSIDE("short history", 0, NO_GAP, "before-history"),
	OUTSIDE("short history with a gap", 0, 0, "before-history"),
	OUTSIDE("lost blocks", BEGUN, 0, "lost-blocks"),
	OUTSIDE("pause", BEGUN, 1, "paused"),
	OUTSIDE("hole", BEGUN, 2, "hole"),
	OUTSIDE("newer version", BEGUN, 3, "unknown-record"),
	OUTSIDE("text", BEGUN, 4, "text"),
	OUTSIDE("pause at the start", BEGUN | PAUSES, NO_GAP, "paused"),
	OUTSIDE("nothing tells", WHOLE, NO_GAP, "untold"),
	GAP("lost blocks inside", 0, 150, WHOLE, "c=agree b=trace-lost/lost-blocks a=agree"),
	GAP("pause inside", 1, 150, WHOLE, "c=agree b=trace-lost/paused a=agree"),
	GAP("hole inside", 2, 150, WHOLE, "c=agree b=trace-lost/hole a=agree"),
	GAP("text inside", 4, 150, WHOLE, "c=agree b=trace-lost/text a=agree"),
	GAP("lost blocks before", 0, 99, WHOLE, "c=agree b=trace-lost/untold a=agree"),
	SCENE("no records", "b a", "", NO_TRACE, "b=trace-lost/no-history a=trace-lost/no-history"),
	/* frame lost */
	SCENE("left", "c a", "a b c", WHOLE, "c=agree (b)=frame-lost/skipped a=agree"),
	SCENE("perhaps over", "c a", "a b- c", WHOLE, "c=agree (b)=frame-lost/across-gap a=agree"),
	SCENE("elsewhere", "c a", "a b c", WHOLE | STACKS,
	      "c=agree (b)=frame-lost/other-stack a=agree"),
	SCENE("another stack's beginning", "c", "a b c", WHOLE | STACKS,
	      "c=agree (b)=frame-lost/other-stack "
	      "(a)=frame-lost/other-stack"),
	/* overwritten */
	ENDED("nonsense", EP_STACK_NOWHERE, "c !", "a b c", WHOLE,
	      "c=agree | !=overwritten/nowhere "
	      "(b)=overwritten/trace-goes-on (a)=overwritten/trace-goes-on"),
	SCENE("zeroes", "c", "a b c", WHOLE,
	      "c=agree | (b)=overwritten/trace-goes-on "
	      "(a)=overwritten/trace-goes-on"),
	ENDED("frames that cannot be", EP_STACK_NOWHERE, "c X d !", "a c", WHOLE,
	      "c=agree X=not-instrumented/no-hook | "
	      "d=overwritten/contradicted !=overwritten/nowhere "
	      "(a)=overwritten/trace-goes-on"),
	ENDED("a guess behind nonsense", EP_STACK_NOWHERE, "c ! g?", "a c", WHOLE,
	      "c=agree | !=overwritten/nowhere g=overwritten/guessed "
	      "(a)=overwritten/trace-goes-on"),
	ENDED("nonsense behind a guess", EP_STACK_NOWHERE, "c X? !", "a c", WHOLE,
	      "c=agree X=not-instrumented/no-hook "
	      "!=not-instrumented/nowhere (a)=not-unwound/"
	      "no-unwind-information"),
	ENDED("all agree", EP_STACK_NOWHERE, "b a !", "a b", WHOLE,
	      "b=agree a=agree !=not-instrumented/nowhere"),
	/* not unwound */
	ENDED("the limit", EP_STACK_LIMIT, "c", "b c", WHOLE, "c=agree (b)=not-unwound/limit"),
	ENDED("not saved", EP_STACK_UNSAVED, "c", "b c", WHOLE, "c=agree (b)=not-unwound/unsaved"),
	ENDED("no information", EP_STACK_UNREADABLE, "c", "b c", WHOLE,
	      "c=agree (b)=not-unwound/no-unwind-information"),
	ENDED("no registers", EP_STACK_REGISTERS, "", "b c", WHOLE,
	      "(c)=not-unwound/no-stack (b)=not-unwound/no-stack"),
	SCENE("no stack", "", "b c", WHOLE | NO_STACK,
	      "(c)=not-unwound/no-stack (b)=not-unwound/no-stack"),
	/* pairs */
	SCENE("the innermost of a recursion", "f f f a", "a f f", BEGUN,
	      "f=agree f=agree f=trace-lost/untold a=agree"),
	SCENE("as many as can be", "a b c a", "a b a", WHOLE,
	      "a=agree b=agree c=trace-lost/untold a=agree"),
	/* Of two that exclude each other, the inner call has its frame. */
	SCENE("not crosswise", "a b m", "m a b", WHOLE,
	      "a=trace-lost/untold b=agree (a)=frame-lost/skipped m=agree"),
};

#define SCENES (sizeof(scenes) / sizeof(*scenes))

START_TEST(each_row_has_its_verdict)
{
	align(&scenes[_i], false);
	ck_assert_msg(!strcmp(got, scenes[_i].want), "%s:\n  is   %s\n  want %s", scenes[_i].name,
		      got, scenes[_i].want);
}
END_TEST

/* ---- inlined calls ---- */

START_TEST(calls_inlined_into_a_frame_are_rows_when_asked_for)
{
	struct scene scene = SCENE("", "i a", "a i", WHOLE, "");

	inlined_there = "x";
	align(&scene, true);
	ck_assert_str_eq(got, "x=inlined i=agree a=agree");
	align(&scene, false);
	ck_assert_str_eq(got, "i=agree a=agree");
}
END_TEST

START_TEST(inlined_calls_with_hooks_are_found_without_being_asked_for)
{
	struct scene scene = SCENE("", "i a", "a i x", WHOLE, "");

	inlined_there = "x";
	align(&scene, false);
	ck_assert_str_eq(got, "x=agree i=agree a=agree");
}
END_TEST

/* ---- many ---- */

/* A place or a call of each letter. */
static void pair(const char *inner_frames, const char *outer_calls, struct ep_places *places)
{
	size_t count = strlen(inner_frames);

	places->list = calloc(count + 1, sizeof(*places->list));
	places->count = count;
	for (size_t i = 0; i < count; i++)
		places->list[i].row.function = function_of(inner_frames[i]);
	take_calls(outer_calls);
	ep_places_pair(places, &open);
}

/* Pairs ascend on both sides and are of one function. */
static size_t count_pairs(const struct ep_places *places)
{
	size_t pairs = 0, next = 0;

	for (size_t i = 0; i < places->count; i++) {
		size_t call = places->list[i].call;

		if (call == EP_ROW_NONE)
			continue;
		must(call >= next && call < open.count);
		must(ep_open_calls_inner(&open, call)->function == places->list[i].row.function);
		next = call + 1;
		pairs++;
	}
	return pairs;
}

static size_t most(const char *a, const char *b)
{
	size_t with, without;

	if (!*a || !*b)
		return 0;
	if (*a == *b)
		return 1 + most(a + 1, b + 1);
	with = most(a + 1, b);
	without = most(a, b + 1);
	return with > without ? with : without;
}

START_TEST(no_way_of_pairing_has_more_pairs)
{
	for (unsigned round = 0; round < 300; round++) {
		char inner[9] = "", outer[9] = "", reversed[9] = "";
		size_t calls_there = (size_t)rand() % 9;
		struct ep_places places = {0};

		for (int i = rand() % 9; i-- > 0;)
			inner[i] = (char)('a' + rand() % 3);
		for (size_t i = 0; i < calls_there; i++)
			outer[i] = reversed[calls_there - 1 - i] = (char)('a' + rand() % 3);
		pair(inner, outer, &places);
		must(count_pairs(&places) == most(inner, reversed));
		free(places.list);
	}
}
END_TEST

START_TEST(what_has_told_its_return_is_never_paired)
{
	struct ep_places places = {0};

	pair("ba", "ab", &places);
	ck_assert_uint_eq(count_pairs(&places), 2);
	places.list[0].passed = true;
	ep_places_pair(&places, &open);
	ck_assert_uint_eq(count_pairs(&places), 1);
	ck_assert_uint_eq(places.list[0].call, EP_ROW_NONE);
	free(places.list);
}
END_TEST

/* More frames than are compared with each other: the rest goes in step. */
START_TEST(a_runaway_recursion_is_paired_to_its_beginning)
{
	static char inner[3001], outer[2001];
	struct ep_places places = {0};

	/* Both have 999 calls of f, frames of others between them. */
	memset(inner, 'X', 3000);
	for (unsigned i = 0; i < 999; i++)
		inner[3 * i] = 'f';
	inner[2999] = 'm';
	memset(outer, 'f', 1000);
	outer[0] = 'm';
	pair(inner, outer, &places);
	ck_assert_uint_eq(count_pairs(&places), 1000);
	ck_assert_uint_eq(places.list[2999].call, 999);
	free(places.list);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("alignment");
	TCase *tests = tcase_create("alignment");

	tcase_add_loop_test(tests, each_row_has_its_verdict, 0, SCENES);
	tcase_add_test(tests, calls_inlined_into_a_frame_are_rows_when_asked_for);
	tcase_add_test(tests, inlined_calls_with_hooks_are_found_without_being_asked_for);
	tcase_add_test(tests, no_way_of_pairing_has_more_pairs);
	tcase_add_test(tests, what_has_told_its_return_is_never_paired);
	tcase_add_test(tests, a_runaway_recursion_is_paired_to_its_beginning);
	suite_add_tcase(suite, tests);
	return ep_test_main(suite);
}
