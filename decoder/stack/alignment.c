/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * alignment.c: places of the stack, paired with calls, merged into rows, and each row judged. Where
 * the two part it is the trace that is believed: a call that did not return is open, whatever the
 * stack has become.
 */
#include "decoder/stack/alignment.h"

#include <stdlib.h>
#include <string.h>

#include "decoder/stack/alignment_impl.h"
#include "decoder/code/hooks.h"

/* ---- words ---- */

static const char *const verdicts[EP_VERDICT_COUNT][2] = {
	[EP_VERDICT_AGREE] = {"agree", "the trace has this call open"},
	[EP_VERDICT_NOT_INSTRUMENTED] = {"not-instrumented", "not instrumented"},
	[EP_VERDICT_INLINED] = {"inlined", "inlined"},
	[EP_VERDICT_ENTERING] = {"entering", "its hook had not run yet"},
	[EP_VERDICT_RETURNING] = {"returning", "its hook told its return"},
	[EP_VERDICT_TRACE_LOST] = {"trace-lost", "trace lost"},
	[EP_VERDICT_UNKNOWN] = {"unknown", "unknown"},
	[EP_VERDICT_OVERWRITTEN] = {"overwritten", "stack overwritten"},
	[EP_VERDICT_FRAME_LOST] = {"frame-lost", "frame lost"},
	[EP_VERDICT_NOT_UNWOUND] = {"not-unwound", "not unwound"},
};

static const char *const reasons[EP_REASON_COUNT][2] = {
	[EP_REASON_NONE] = {"", ""},
	[EP_REASON_NO_HOOK] = {"no-hook", "no hook in its code"},
	[EP_REASON_OWN_HOOK] = {"own-hook", "epitaph's own hook"},
	[EP_REASON_SIGNAL] = {"signal", "a signal came here, its handler is above"},
	[EP_REASON_SILENT_MODULE] = {"silent-module", "nothing of its module is in the history"},
	[EP_REASON_NO_FILE] = {"no-file", "code that is no file's"},
	[EP_REASON_NOWHERE] = {"nowhere", "no code is there"},
	[EP_REASON_UNREADABLE] = {"unreadable", "nothing tells whether it has hooks"},
	[EP_REASON_BEFORE_HISTORY] = {"before-history", "older than the history"},
	[EP_REASON_BEFORE_FORK] = {"before-fork", "called before the fork: the parent's"},
	[EP_REASON_LOST_BLOCKS] = {"lost-blocks", "blocks of records are lost there"},
	[EP_REASON_PAUSED] = {"paused", "tracing was paused"},
	[EP_REASON_HOLE] = {"hole", "records are lost there"},
	[EP_REASON_ESCAPE] = {"unknown-record", "records of an unknown kind are there"},
	[EP_REASON_TEXT] = {"text", "text was written over the records there"},
	[EP_REASON_NO_HISTORY] = {"no-history", "nothing of this thread is in the trace"},
	[EP_REASON_UNTOLD] = {"untold", "it has hooks, but no call is open"},
	[EP_REASON_CONTRADICTED] = {"contradicted", "it has hooks, but no call is open"},
	[EP_REASON_GUESSED] = {"guessed", "found by the frame pointer alone"},
	[EP_REASON_TRACE_GOES_ON] = {"trace-goes-on", "by the trace"},
	[EP_REASON_SKIPPED] = {"skipped", "the stack has no frame of it"},
	[EP_REASON_ACROSS_GAP] = {"across-gap", "perhaps it returned where history is lost"},
	[EP_REASON_OTHER_STACK] = {"other-stack", "perhaps on another stack"},
	[EP_REASON_LIMIT] = {"limit", "further out than was unwound"},
	[EP_REASON_UNSAVED] = {"unsaved", "the core lacks the stack there"},
	[EP_REASON_NO_UNWIND] = {"no-unwind-information", "the unwinder could not go on"},
	[EP_REASON_NO_STACK] = {"no-stack", "no stack from the core"},
};

const char *ep_verdict_name(enum ep_verdict verdict)
{
	return verdicts[verdict][0];
}

const char *ep_verdict_words(enum ep_verdict verdict)
{
	return verdicts[verdict][1];
}

const char *ep_reason_name(enum ep_reason reason)
{
	return reasons[reason][0];
}

const char *ep_reason_words(enum ep_reason reason)
{
	return reasons[reason][1];
}

/* ---- frames ---- */

const struct ep_function *ep_frame_function(struct ep_names *names, struct ep_names *others,
					    const struct ep_frame *frame)
{
	uint64_t at = ep_frame_address(frame);
	const struct ep_function *function = ep_names_find(names, at, 0);

	return !function->in && others ? ep_names_find(others, at, 0) : function;
}

size_t ep_frame_inlined(struct ep_names *names, struct ep_names *others,
			const struct ep_frame *frame, struct ep_inlined out[EP_INLINED_MAX])
{
	uint64_t at = ep_frame_address(frame);
	size_t count = ep_names_inlined(names, at, 0, out);

	return count == 0 && others ? ep_names_inlined(others, at, 0, out) : count;
}

static struct ep_line line_of(const struct ep_alignment_of *of, uint64_t at)
{
	struct ep_line line = ep_names_address_line(of->names, at, 0);

	if (!line.file && of->others)
		line = ep_names_address_line(of->others, at, 0);
	return line;
}

/* ---- places ---- */

static bool add_place(struct ep_places *places, const struct ep_row *row)
{
	struct ep_frame_place *grown;

	if (places->count == places->room) {
		size_t room = places->room ? 2 * places->room : 64;

		grown = realloc(places->list, room * sizeof(*grown));
		if (!grown)
			return false;
		places->list = grown;
		places->room = room;
	}
	places->list[places->count++] = (struct ep_frame_place){.row = *row, .call = EP_ROW_NONE};
	return true;
}

static bool add_frame(struct ep_places *places, const struct ep_alignment_of *of, size_t number,
		      bool inlines)
{
	const struct ep_frame *frame = &of->stack->frames[number];
	struct ep_inlined inlined[EP_INLINED_MAX];
	size_t count = inlines ? ep_frame_inlined(of->names, of->others, frame, inlined) : 0;
	struct ep_row row = {
		.frame = frame,
		.number = number,
		.function = ep_frame_function(of->names, of->others, frame),
		.line = line_of(of, ep_frame_address(frame)),
	};

	for (size_t i = 0; i < count; i++) {
		row.inlined = inlined[i].name;
		if (!add_place(places, &row))
			return false;
		row.line = inlined[i].call;
	}
	row.inlined = NULL;
	return add_place(places, &row);
}

static struct ep_names *names_of(const struct ep_alignment_of *of, const struct ep_row *row)
{
	return ep_names_find(of->names, ep_frame_address(row->frame), 0) == row->function
		       ? of->names
		       : of->others;
}

static enum ep_hooks hooks_of(const struct ep_alignment_of *of, const struct ep_row *row)
{
	return ep_hooks_look(of->source, names_of(of, row), row->function,
			     ep_frame_address(row->frame));
}

/* Its frame is there, but by where it stands its call is not open: before the hook of the entry, or
 * behind that of the return. Only a frame that no call holds up can be there, or the one that told
 * its return last. */
static void judge_passed(struct ep_places *places, const struct ep_alignment_of *of)
{
	const struct ep_function *returned = of->flight->returned;

	for (size_t i = 0; i < places->count; i++) {
		struct ep_frame_place *place = &places->list[i];
		bool last = returned && place->row.function == returned;
		enum ep_hooks hooks;

		if (place->row.inlined || ep_is_hook(place->row.function) ||
		    (!place->row.frame->activation && !last))
			continue;
		/* The hook that is at work has told it. */
		if (last && i && ep_is_exit_hook(places->list[i - 1].row.function)) {
			place->passed = true;
			place->row.verdict = EP_VERDICT_RETURNING;
			returned = NULL;
			continue;
		}
		hooks = hooks_of(of, &place->row);
		/* Of the innermost frame what was told last is enough. */
		place->passed = hooks == EP_HOOKS_ENTERING || hooks == EP_HOOKS_LEAVING ||
				(hooks == EP_HOOKS_UNKNOWN && last && i == 0);
		place->row.verdict =
			hooks == EP_HOOKS_ENTERING ? EP_VERDICT_ENTERING : EP_VERDICT_RETURNING;
		if (last)
			returned = NULL;
	}
}

/* False: out of memory. */
static bool places_make(struct ep_places *places, const struct ep_alignment_of *of, bool inlines)
{
	*places = (struct ep_places){0};
	for (size_t i = 0; of->stack && i < of->stack->count; i++)
		if (!add_frame(places, of, i, inlines)) {
			free(places->list);
			return false;
		}
	judge_passed(places, of);
	if (!places->starved && ep_places_pair(places, of->flight))
		return true;
	free(places->list);
	return false;
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
	return of->stack &&
	       (outermost > pairs || (of->stack->complete && of->flight->count > pairs));
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
static bool add_inlines(struct ep_places *places, const struct ep_alignment_of *of)
{
	struct ep_places more;

	if (of->inlines || !lacks_frames(places, of))
		return true;
	if (!places_make(&more, of, true))
		return false;
	drop_unpaired_inlines(&more);
	if (pairs_count(&more) <= pairs_count(places)) {
		free(more.list);
		return true;
	}
	free(places->list);
	*places = more;
	return true;
}

/* ---- rows ---- */

static void add_calls(struct ep_alignment *out, const struct ep_open_calls *flight, size_t from,
		      size_t to)
{
	for (size_t j = from; j < to; j++) {
		const struct ep_event *call = ep_open_calls_inner(flight, j);

		out->rows[out->count++] = (struct ep_row){
			.function = call->function, .call = call, .verdict = EP_VERDICT_FRAME_LOST};
	}
}

/* Calls without a frame stand outside of the frames that are in doubt, too: what has no hooks is
 * likelier a leaf. */
static void merge(struct ep_alignment *out, const struct ep_places *places,
		  const struct ep_open_calls *flight)
{
	size_t next = 0;

	for (size_t i = 0; i < places->count; i++) {
		const struct ep_frame_place *place = &places->list[i];
		struct ep_row row = place->row;

		if (place->call != EP_ROW_NONE) {
			add_calls(out, flight, next, place->call);
			next = place->call + 1;
			row.call = ep_open_calls_inner(flight, place->call);
			row.verdict = EP_VERDICT_AGREE;
		} else if (row.inlined) {
			row.verdict = EP_VERDICT_INLINED;
		} else if (!place->passed) {
			row.verdict = EP_VERDICT_COUNT;
		}
		out->rows[out->count++] = row;
	}
	add_calls(out, flight, next, flight->count);
}

/* The outermost row of which both are known; EP_ROW_NONE: there is none. */
static size_t last_agreed(const struct ep_alignment *alignment)
{
	for (size_t i = alignment->count; i-- > 0;)
		if (alignment->rows[i].verdict == EP_VERDICT_AGREE)
			return i;
	return EP_ROW_NONE;
}

/* ---- frames without a call ---- */

struct finding {
	enum ep_verdict verdict;
	enum ep_reason reason;
};

/* Of what is missing since `since`, the likeliest. */
static enum ep_reason missing_since(const struct ep_open_calls *flight, uint64_t since)
{
	static const enum ep_reason kinds[EP_OPEN_CALLS_GAPS] = {
		EP_REASON_LOST_BLOCKS, EP_REASON_PAUSED, EP_REASON_HOLE,
		EP_REASON_ESCAPE,      EP_REASON_TEXT,
	};
	size_t latest = 0;

	for (size_t i = 1; i < EP_OPEN_CALLS_GAPS; i++)
		if (flight->gaps[i] > flight->gaps[latest])
			latest = i;
	return flight->gaps[latest] && flight->gaps[latest] >= since ? kinds[latest]
								     : EP_REASON_NONE;
}

/* Why the trace does not have what is outside of all calls that it knows. */
static enum ep_reason before_all(const struct ep_open_calls *flight)
{
	const struct ep_trace_thread *thread = flight->thread;
	enum ep_reason gap = missing_since(flight, 0);

	if (!flight->known)
		return EP_REASON_NO_HISTORY;
	if (flight->outermost_known)
		return EP_REASON_UNTOLD;
	if (thread->forked)
		return EP_REASON_BEFORE_FORK;
	if (!thread->from_start)
		return EP_REASON_BEFORE_HISTORY;
	if (gap)
		return gap;
	return flight->trace->arena.pauses ? EP_REASON_PAUSED : EP_REASON_BEFORE_HISTORY;
}

/* It has hooks, and none of its calls is open. `outer`: the next row outwards that is agreed on;
 * NULL. */
static enum ep_reason why_lost(const struct ep_open_calls *flight, const struct ep_row *outer)
{
	enum ep_reason gap;

	if (!outer)
		return before_all(flight);
	gap = missing_since(flight, outer->call->begin.low);
	return gap ? gap : EP_REASON_UNTOLD;
}

static struct finding not_instrumented(enum ep_reason reason)
{
	return (struct finding){EP_VERDICT_NOT_INSTRUMENTED, reason};
}

/* Whether it has hooks; EP_VERDICT_COUNT: it has. `hooked`: a hook of its own is at work. */
static struct finding find_hooks(const struct ep_alignment_of *of, const struct ep_row *row,
				 bool hooked)
{
	const struct ep_function *function = row->function;
	enum ep_hooks hooks;

	if (ep_is_hook(function))
		return not_instrumented(EP_REASON_OWN_HOOK);
	if (row->frame->signal)
		return not_instrumented(EP_REASON_SIGNAL);
	if (row->frame->nowhere)
		return not_instrumented(EP_REASON_NOWHERE);
	if (!function->in)
		return not_instrumented(EP_REASON_NO_FILE);
	if (!hooked && names_of(of, row) == of->names && ep_open_calls_saw(of->flight, function))
		return (struct finding){EP_VERDICT_COUNT, EP_REASON_NONE};
	hooks = hooks_of(of, row);
	if (hooks == EP_HOOKS_ENTERING && (row->number == 0 || hooked))
		return (struct finding){EP_VERDICT_ENTERING, EP_REASON_NONE};
	if (hooks == EP_HOOKS_NONE)
		return not_instrumented(EP_REASON_NO_HOOK);
	if (hooks != EP_HOOKS_UNKNOWN)
		return (struct finding){EP_VERDICT_COUNT, EP_REASON_NONE};
	if (of->flight->known && of->flight->outermost_known &&
	    !ep_open_calls_saw_module(of->flight, function))
		return not_instrumented(EP_REASON_SILENT_MODULE);
	return (struct finding){EP_VERDICT_UNKNOWN, EP_REASON_UNREADABLE};
}

static void judge_frames(struct ep_alignment *alignment, const struct ep_alignment_of *of)
{
	const struct ep_row *outer = NULL;

	for (size_t i = alignment->count; i-- > 0;) {
		struct ep_row *row = &alignment->rows[i];
		struct finding found;

		if (row->verdict == EP_VERDICT_AGREE)
			outer = row;
		if (row->verdict != EP_VERDICT_COUNT)
			continue;
		found = find_hooks(of, row, i && ep_is_hook(row[-1].function));
		if (found.verdict == EP_VERDICT_COUNT)
			found = (struct finding){EP_VERDICT_TRACE_LOST,
						 why_lost(of->flight, outer)};
		row->verdict = found.verdict;
		row->reason = found.reason;
	}
}

/* ---- calls without a frame ---- */

/* Those that the stack has frames outside of. */
static void judge_skipped(struct ep_alignment *alignment, const struct ep_open_calls *flight,
			  size_t end)
{
	for (size_t i = 0; i < end; i++) {
		struct ep_row *row = &alignment->rows[i];

		if (row->verdict != EP_VERDICT_FRAME_LOST)
			continue;
		row->reason = row->call->flags & EP_CALL_ACROSS_GAP ? EP_REASON_ACROSS_GAP
			      : flight->other_stacks                ? EP_REASON_OTHER_STACK
								    : EP_REASON_SKIPPED;
	}
}

static bool is_doubtful(const struct ep_row *row)
{
	return row->frame->nowhere || row->frame->guessed ||
	       row->verdict == EP_VERDICT_TRACE_LOST || row->verdict == EP_VERDICT_OVERWRITTEN;
}

/* The trace goes on where the stack ended in nonsense, or as if it had begun there: from its first
 * frame that cannot be true nothing of it is believed. */
static void judge_overwritten(struct ep_alignment *alignment, size_t tail)
{
	size_t from = tail;

	while (from < alignment->count && alignment->rows[from].frame &&
	       !is_doubtful(&alignment->rows[from]))
		from++;
	alignment->overwritten = from;
	for (size_t i = from; i < alignment->count; i++) {
		struct ep_row *row = &alignment->rows[i];

		row->reason = !row->frame           ? EP_REASON_TRACE_GOES_ON
			      : row->frame->nowhere ? EP_REASON_NOWHERE
			      : row->frame->guessed ? EP_REASON_GUESSED
						    : EP_REASON_CONTRADICTED;
		row->verdict = EP_VERDICT_OVERWRITTEN;
	}
}

static enum ep_reason why_ended(const struct ep_stack *stack)
{
	if (!stack)
		return EP_REASON_NO_STACK;
	switch (stack->end) {
	case EP_STACK_LIMIT:
		return EP_REASON_LIMIT;
	case EP_STACK_UNSAVED:
		return EP_REASON_UNSAVED;
	case EP_STACK_REGISTERS:
		return EP_REASON_NO_STACK;
	default:
		return EP_REASON_NO_UNWIND;
	}
}

/* Where the unwinder had to guess before it came to nonsense, it was it that went astray. */
static bool was_guessing(const struct ep_alignment *alignment, size_t tail)
{
	for (size_t i = tail; i < alignment->count; i++) {
		const struct ep_frame *frame = alignment->rows[i].frame;

		if (frame && (frame->nowhere || frame->guessed))
			return frame->guessed;
	}
	return false;
}

/* Calls outside of all frames that they agree with. */
static void judge_tail(struct ep_alignment *alignment, const struct ep_alignment_of *of,
		       size_t tail)
{
	const struct ep_stack *stack = of->stack;
	bool nonsense = stack && (stack->end == EP_STACK_WHOLE || stack->end == EP_STACK_NOWHERE);
	bool calls = alignment->count > tail && !alignment->rows[alignment->count - 1].frame;

	if (!calls)
		return;
	if (nonsense && !of->flight->other_stacks && !was_guessing(alignment, tail)) {
		judge_overwritten(alignment, tail);
		return;
	}
	for (size_t i = tail; i < alignment->count; i++) {
		struct ep_row *row = &alignment->rows[i];

		if (row->frame)
			continue;
		row->verdict = nonsense && of->flight->other_stacks ? EP_VERDICT_FRAME_LOST
								    : EP_VERDICT_NOT_UNWOUND;
		row->reason = row->verdict == EP_VERDICT_FRAME_LOST ? EP_REASON_OTHER_STACK
								    : why_ended(stack);
	}
}

/* ---- the whole ---- */

static void judge(struct ep_alignment *alignment, const struct ep_alignment_of *of)
{
	size_t agreed = last_agreed(alignment);
	size_t tail = agreed == EP_ROW_NONE ? 0 : agreed + 1;

	alignment->overwritten = alignment->edge = EP_ROW_NONE;
	judge_frames(alignment, of);
	judge_skipped(alignment, of->flight, tail);
	judge_tail(alignment, of, tail);
	if (!of->flight->known || of->flight->outermost_known)
		return;
	for (alignment->edge = alignment->count;
	     alignment->edge > 0 && !alignment->rows[alignment->edge - 1].call;)
		alignment->edge--;
}

int ep_alignment_init(struct ep_alignment *alignment, const struct ep_alignment_of *of,
		      struct ep_err *err)
{
	struct ep_places places;
	bool made;

	*alignment = (struct ep_alignment){.overwritten = EP_ROW_NONE, .edge = EP_ROW_NONE};
	if (!places_make(&places, of, of->inlines))
		return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
	made = add_inlines(&places, of);
	if (made)
		alignment->rows =
			calloc(places.count + of->flight->count + 1, sizeof(*alignment->rows));
	if (alignment->rows) {
		merge(alignment, &places, of->flight);
		judge(alignment, of);
	}
	free(places.list);
	if (alignment->rows && !alignment->starved)
		return EP_OK;
	ep_alignment_deinit(alignment);
	return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
}

void ep_alignment_deinit(struct ep_alignment *alignment)
{
	free(alignment->rows);
	*alignment = (struct ep_alignment){0};
}
