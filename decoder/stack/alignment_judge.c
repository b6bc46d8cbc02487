/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * alignment_judge.c: each row's verdict. Where stack and trace part it is the trace that is
 * believed: a call that did not return is open, whatever the stack has become.
 */
#include "decoder/stack/alignment_impl.h"
#include "decoder/trace/switches.h"

/* ---- frames without a call ---- */

struct finding {
	enum ep_verdict verdict;
	enum ep_reason reason;
};

/* Of what is missing since `since`, the likeliest. */
static enum ep_reason missing_since(const struct ep_open_calls *open, uint64_t since)
{
	static const enum ep_reason kinds[EP_OPEN_CALLS_GAPS] = {
		EP_REASON_LOST_BLOCKS, EP_REASON_PAUSED, EP_REASON_HOLE,
		EP_REASON_ESCAPE,      EP_REASON_TEXT,
	};
	size_t latest = 0;

	for (size_t i = 1; i < EP_OPEN_CALLS_GAPS; i++)
		if (open->gaps[i] > open->gaps[latest])
			latest = i;
	return open->gaps[latest] && open->gaps[latest] >= since ? kinds[latest] : EP_REASON_NONE;
}

/* Why the trace does not have what is outside of all calls that it knows. */
static enum ep_reason before_all(const struct ep_open_calls *open)
{
	const struct ep_trace_thread *thread = open->thread;
	enum ep_reason gap = missing_since(open, 0);

	if (!open->known)
		return EP_REASON_NO_HISTORY;
	if (open->outermost_known)
		return EP_REASON_UNTOLD;
	if (thread->forked)
		return EP_REASON_BEFORE_FORK;
	if (!thread->from_start)
		return EP_REASON_BEFORE_HISTORY;
	if (gap)
		return gap;
	return open->trace->arena.pauses ? EP_REASON_PAUSED : EP_REASON_BEFORE_HISTORY;
}

/* It has hooks, and none of its calls is open. `outer`: the next row outwards that is agreed on;
 * NULL. */
static enum ep_reason why_lost(const struct ep_open_calls *open,
			       const struct ep_alignment_row *outer)
{
	enum ep_reason gap;

	if (!outer)
		return before_all(open);
	gap = missing_since(open, outer->call->begin.low);
	return gap ? gap : EP_REASON_UNTOLD;
}

static struct finding not_instrumented(enum ep_reason reason)
{
	return (struct finding){EP_VERDICT_NOT_INSTRUMENTED, reason};
}

/* Whether it has hooks; EP_VERDICT_COUNT: it has. `hooked`: a hook of its own is at work. */
static struct finding find_hooks(const struct ep_alignment_of *of,
				 const struct ep_alignment_row *row, bool hooked)
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
	if (ep_switched_now(of->open->trace, function->start))
		return not_instrumented(EP_REASON_SWITCHED_OFF);
	if (!hooked && ep_row_names(of, row) == of->names && ep_open_calls_saw(of->open, function))
		return (struct finding){EP_VERDICT_COUNT, EP_REASON_NONE};
	hooks = ep_row_hooks(of, row);
	if (hooks == EP_HOOKS_ENTERING && (row->number == 0 || hooked))
		return (struct finding){EP_VERDICT_ENTERING, EP_REASON_NONE};
	if (hooks == EP_HOOKS_NONE)
		return not_instrumented(EP_REASON_NO_HOOK);
	if (hooks != EP_HOOKS_UNKNOWN)
		return (struct finding){EP_VERDICT_COUNT, EP_REASON_NONE};
	if (of->open->known && of->open->outermost_known &&
	    !ep_open_calls_saw_module(of->open, function))
		return not_instrumented(EP_REASON_SILENT_MODULE);
	return (struct finding){EP_VERDICT_UNKNOWN, EP_REASON_UNREADABLE};
}

/* It has hooks, and the trace has no call of it. */
static struct finding lost(const struct ep_open_calls *open, const struct ep_alignment_row *row,
			   const struct ep_alignment_row *outer)
{
	enum ep_reason why = why_lost(open, outer);

	if (why == EP_REASON_UNTOLD && ep_switched_ever(open->trace, row->function->start))
		why = EP_REASON_WAS_OFF;
	return (struct finding){EP_VERDICT_TRACE_LOST, why};
}

/* What a hook has called is its work, up to a signal that came meanwhile. `outer`: is the next row
 * outwards? */
static bool is_hooks_work(const struct ep_alignment_row *row, bool outer)
{
	return !row->frame->signal && (outer || ep_is_in_hook(row->function));
}

static void judge_frames(struct ep_alignment *alignment, const struct ep_alignment_of *of)
{
	const struct ep_alignment_row *outer = NULL;
	bool in_hook = false;

	for (size_t i = alignment->count; i-- > 0;) {
		struct ep_alignment_row *row = &alignment->rows[i];
		struct finding found;

		if (row->verdict == EP_VERDICT_AGREE)
			outer = row;
		if (row->verdict != EP_VERDICT_COUNT)
			continue;
		in_hook = is_hooks_work(row, in_hook);
		found = in_hook ? not_instrumented(EP_REASON_OWN_HOOK)
				: find_hooks(of, row, i && ep_is_in_hook(row[-1].function));
		if (found.verdict == EP_VERDICT_COUNT)
			found = lost(of->open, row, outer);
		row->verdict = found.verdict;
		row->reason = found.reason;
	}
}

/* ---- calls without a frame ---- */

/* Those that the stack has frames outside of. */
static void judge_skipped(struct ep_alignment *alignment, const struct ep_open_calls *open,
			  size_t end)
{
	for (size_t i = 0; i < end; i++) {
		struct ep_alignment_row *row = &alignment->rows[i];

		if (row->verdict != EP_VERDICT_FRAME_LOST)
			continue;
		row->reason = row->call->flags & EP_CALL_SWITCHED     ? EP_REASON_OFF_SINCE
			      : row->call->flags & EP_CALL_ACROSS_GAP ? EP_REASON_ACROSS_GAP
			      : open->other_stacks                    ? EP_REASON_OTHER_STACK
								      : EP_REASON_SKIPPED;
	}
}

static bool is_doubtful(const struct ep_alignment_row *row)
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
		struct ep_alignment_row *row = &alignment->rows[i];

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

/* A frame of code of which no file is known may be that of a call: without functions' bounds the
 * two are not laid beside each other, and that says nothing of the stack. */
static bool has_unreadable(const struct ep_alignment *alignment, size_t tail)
{
	for (size_t i = tail; i < alignment->count; i++)
		if (alignment->rows[i].frame && alignment->rows[i].verdict == EP_VERDICT_UNKNOWN)
			return true;
	return false;
}

/* Calls outside of all frames that they agree with. */
static void judge_tail(struct ep_alignment *alignment, const struct ep_alignment_of *of,
		       size_t tail)
{
	const struct ep_stack *stack = of->stack;
	bool nonsense = stack && (stack->end == EP_STACK_WHOLE || stack->end == EP_STACK_NOWHERE);
	const struct ep_alignment_row *last;

	if (alignment->count <= tail)
		return;
	last = &alignment->rows[alignment->count - 1];
	if (last->frame)
		return;
	/* It may have returned, and what is outside of it was off as well. */
	if (last->call->flags & EP_CALL_SWITCHED) {
		judge_skipped(alignment, of->open, alignment->count);
		return;
	}
	if (nonsense && !of->open->other_stacks && !was_guessing(alignment, tail) &&
	    !has_unreadable(alignment, tail)) {
		judge_overwritten(alignment, tail);
		return;
	}
	for (size_t i = tail; i < alignment->count; i++) {
		struct ep_alignment_row *row = &alignment->rows[i];

		if (row->frame)
			continue;
		row->verdict = nonsense && of->open->other_stacks ? EP_VERDICT_FRAME_LOST
								  : EP_VERDICT_NOT_UNWOUND;
		row->reason = row->verdict == EP_VERDICT_FRAME_LOST         ? EP_REASON_OTHER_STACK
			      : nonsense && has_unreadable(alignment, tail) ? EP_REASON_UNREADABLE
									    : why_ended(stack);
	}
}

/* ---- the whole ---- */

/* The outermost row of which both are known; EP_ROW_NONE: there is none. */
static size_t last_agreed(const struct ep_alignment *alignment)
{
	for (size_t i = alignment->count; i-- > 0;)
		if (alignment->rows[i].verdict == EP_VERDICT_AGREE)
			return i;
	return EP_ROW_NONE;
}

void ep_alignment_judge(struct ep_alignment *alignment, const struct ep_alignment_of *of)
{
	size_t agreed = last_agreed(alignment);
	size_t tail = agreed == EP_ROW_NONE ? 0 : agreed + 1;

	alignment->overwritten = alignment->edge = EP_ROW_NONE;
	judge_frames(alignment, of);
	judge_skipped(alignment, of->open, tail);
	judge_tail(alignment, of, tail);
	if (!of->open->known || of->open->outermost_known)
		return;
	for (alignment->edge = alignment->count;
	     alignment->edge > 0 && !alignment->rows[alignment->edge - 1].call;)
		alignment->edge--;
}
