/* SPDX-License-Identifier: BSD-2-Clause */
/* alignment_places.c: the frames of a stack, and the calls inlined into them: where calls may be
 * paired. */
#include <stdlib.h>

#include "coredump/memory/source.h"
#include "coredump/util/alloc.h"
#include "decoder/code/disassembler.h"
#include "decoder/names/names.h"
#include "decoder/names/system_module.h"
#include "decoder/stack/alignment_impl.h"

/* ---- parts of a function that lie elsewhere ---- */

#define CODE_MAX 65536u

static bool jumps_into(csh handle, const uint8_t *code, size_t size, uint64_t address,
		       const struct ep_function *part)
{
	cs_insn *insn = ep_disassembler_instruction(handle);
	bool found = false;

	while (size && !found) {
		uint64_t target;
		bool in_slot;

		if (!ep_disassembler.cs_disasm_iter(handle, &code, &size, &address, insn)) {
			code++, size--, address++; /* the next byte may be an instruction */
			continue;
		}
		if (!ep_disassembler.cs_insn_group(handle, insn, X86_GRP_JUMP))
			continue;
		target = ep_insn_target(insn, &in_slot);
		found = !in_slot && target >= part->start && target < part->end;
	}
	ep_disassembler.cs_free(insn, 1);
	return found;
}

/* Whether a part of code that has no name (its symbol was stripped) belongs to a function that lies
 * elsewhere: compilers split off what is seldom executed (f.cold), and the function jumps there.
 * Its code, the first 64 KiB, has a direct jump into the part; `names` found both. False: it has
 * none, or cannot be read. */
static bool part_belongs(struct ep_source *source, struct ep_names *names,
			 const struct ep_function *function, const struct ep_function *part)
{
	size_t size = function->end - function->start, got;
	uint8_t *code;
	bool found;
	csh handle;

	if (function->end <= function->start || part->end <= part->start ||
	    ep_disassembler_open(&handle, NULL))
		return false;
	size = size < CODE_MAX ? size : CODE_MAX;
	code = ep_malloc(CODE_MAX);
	got = ep_names_code(names, function->start, code, size);
	if (got < size)
		ep_source_read(source, function->start, code, size, &got, NULL);
	found = jumps_into(handle, code, got, function->start, part);
	free(code);
	ep_disassembler.cs_close(&handle);
	return found;
}

/* ---- places ---- */

static void add_place(struct ep_places *places, const struct ep_alignment_row *row)
{
	ep_array_push(places, ((struct ep_frame_place){.row = *row, .call = EP_ROW_NONE}));
}

static void add_frame(struct ep_places *places, const struct ep_alignment_of *of, size_t number,
		      bool inlines)
{
	const struct ep_frame *frame = &of->stack->frames[number];
	const struct ep_function *function = ep_frame_function(of->names, of->others, frame);
	bool asked = !of->own_lines || !ep_module_is_system(function->in);
	struct ep_inlined inlined[EP_INLINED_MAX];
	size_t count =
		inlines && asked ? ep_frame_inlined(of->names, of->others, frame, inlined) : 0;
	struct ep_alignment_row row = {.frame = frame, .number = number, .function = function};

	if (asked)
		row.line = ep_frame_line(of->names, of->others, frame);
	for (size_t i = 0; i < count; i++) {
		row.inlined = inlined[i].name;
		add_place(places, &row);
		row.line = inlined[i].call;
	}
	row.inlined = NULL;
	add_place(places, &row);
}

struct ep_names *ep_row_names(const struct ep_alignment_of *of, const struct ep_alignment_row *row)
{
	return ep_names_find(of->names, ep_frame_address(row->frame), 0) == row->function
		       ? of->names
		       : of->others;
}

enum ep_hooks ep_row_hooks(const struct ep_alignment_of *of, const struct ep_alignment_row *row)
{
	return ep_hooks_look(of->source, ep_row_names(of, row), row->function,
			     ep_frame_address(row->frame));
}

/* A hook at work that has another block to begin: all of the one before are written, and its own is
 * not. A block may end with one that did not need two. */
static bool is_before_block(const struct ep_trace_thread *thread)
{
	return thread && thread->block_count &&
	       thread->blocks[thread->block_count - 1].words >= EP_BLOCK_RECORDS - 1;
}

/* Whether the hook of place `i`, which the frame inside of it is in, has its record still to write:
 * by where it stands, or in C by whether a block is to begin. */
static bool is_unrecorded(const struct ep_places *places, const struct ep_alignment_of *of,
			  size_t i)
{
	const struct ep_alignment_row *hook = &places->list[i - 1].row;

	if (hook->frame->activation)
		return ep_hook_is_to_record(of->source, ep_row_names(of, hook), hook->function,
					    hook->frame->pc);
	/* A hook of the program's own may have called anything. */
	if (ep_is_hook(hook->function) &&
	    (i < 2 || !ep_is_hook_in_c(places->list[i - 2].row.function)))
		return false;
	return is_before_block(of->open->thread);
}

/* Its frame is there, but by where it stands its call is not open: before the hook of the entry, or
 * behind that of the return. Only a frame that no call holds up can be there, or the one whose
 * return was recorded last. */
static void judge_passed(struct ep_places *places, const struct ep_alignment_of *of)
{
	const struct ep_function *returned = of->open->returned;

	for (size_t i = 0; i < places->count; i++) {
		struct ep_frame_place *place = &places->list[i];
		const struct ep_function *inner = i ? places->list[i - 1].row.function : NULL;
		bool last = returned && place->row.function == returned;
		enum ep_hooks hooks;

		if (place->row.inlined || ep_is_in_hook(place->row.function))
			continue;
		if (inner && ep_is_entry_hook(inner) && is_unrecorded(places, of, i)) {
			place->passed = true;
			place->row.verdict = EP_VERDICT_ENTERING;
			continue;
		}
		if (!place->row.frame->activation && !last)
			continue;
		/* The hook that is at work has recorded it, or what was recorded is another call's.
		 */
		if (last && inner && ep_is_exit_hook(inner)) {
			place->passed = !is_unrecorded(places, of, i);
			place->row.verdict = EP_VERDICT_RETURNING;
			returned = NULL;
			continue;
		}
		hooks = ep_row_hooks(of, &place->row);
		/* Of the innermost frame what was recorded last is enough. */
		place->passed = hooks == EP_HOOKS_ENTERING || hooks == EP_HOOKS_LEAVING ||
				(hooks == EP_HOOKS_UNKNOWN && last && i == 0);
		place->row.verdict =
			hooks == EP_HOOKS_ENTERING ? EP_VERDICT_ENTERING : EP_VERDICT_RETURNING;
		if (last)
			returned = NULL;
	}
}

#define ASKED_MAX 64u /* functions of open calls that are asked of a part */

/* The function of an open call of whose code the frame's, which has no name, is a part. */
static const struct ep_function *find_whole(const struct ep_alignment_of *of,
					    const struct ep_alignment_row *row)
{
	const struct ep_function *asked[ASKED_MAX], *part = row->function;
	size_t count = 0;

	if (row->inlined || row->frame->signal || row->frame->nowhere || part->known || !part->in ||
	    part->end <= part->start || ep_open_calls_saw(of->open, part))
		return NULL;
	for (size_t i = 0; i < of->open->count && count < ASKED_MAX; i++) {
		const struct ep_function *one = ep_open_calls_inner(of->open, i)->function;
		size_t before = 0;

		while (before < count && asked[before] != one)
			before++;
		if (before < count || one->in != part->in)
			continue;
		if (part_belongs(of->source, of->names, one, part))
			return one;
		asked[count++] = one;
	}
	return NULL;
}

static void find_parts(struct ep_places *places, const struct ep_alignment_of *of)
{
	for (size_t i = 0; i < places->count; i++) {
		struct ep_frame_place *place = &places->list[i];

		/* A recursion is asked once. */
		if (i && place[-1].row.function == place->row.function)
			place->part_of = place[-1].part_of;
		else
			place->part_of = find_whole(of, &place->row);
	}
}

static void places_make(struct ep_places *places, const struct ep_alignment_of *of, bool inlines)
{
	*places = (struct ep_places){0};
	for (size_t i = 0; of->stack && i < of->stack->count; i++)
		add_frame(places, of, i, inlines);
	judge_passed(places, of);
	find_parts(places, of);
	ep_places_pair(places, of->open);
}

/* ---- inlined calls that have hooks ---- */

static size_t pairs_count(const struct ep_places *places)
{
	size_t count = 0;

	for (size_t i = 0; i < places->count; i++)
		count += places->list[i].call != EP_ROW_NONE;
	return count;
}

/* Are there calls without a frame where the stack goes on? */
static bool lacks_frames(const struct ep_places *places, const struct ep_alignment_of *of)
{
	size_t pairs = pairs_count(places), outermost = 0;

	for (size_t i = 0; i < places->count; i++)
		if (places->list[i].call != EP_ROW_NONE)
			outermost = places->list[i].call + 1;
	return of->stack && (outermost > pairs || (of->stack->complete && of->open->count > pairs));
}

static void drop_unpaired_inlines(struct ep_places *places)
{
	size_t kept = 0;

	for (size_t i = 0; i < places->count; i++)
		if (!places->list[i].row.inlined || places->list[i].call != EP_ROW_NONE)
			places->list[kept++] = places->list[i];
	places->count = kept;
}

/* With -finstrument-functions also inlined functions have hooks: their calls are found among what
 * the debug information has at a frame. */
static void add_inlines(struct ep_places *places, const struct ep_alignment_of *of)
{
	struct ep_places more;

	places_make(&more, of, true);
	drop_unpaired_inlines(&more);
	if (pairs_count(&more) > pairs_count(places)) {
		struct ep_places fewer = *places;

		*places = more;
		more = fewer;
	}
	ep_array_deinit(&more);
}

void ep_places_init(struct ep_places *places, const struct ep_alignment_of *of)
{
	places_make(places, of, of->inlines);
	if (!of->inlines && lacks_frames(places, of))
		add_inlines(places, of);
}
