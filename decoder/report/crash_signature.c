/* SPDX-License-Identifier: BSD-2-Clause */
/* crash_signature.c: frames that count, or the frame at which the thread was and its open calls. */
#include "decoder/report/crash_signature.h"

#include "decoder/report/death/handler_call.h"

#define FRAMES_MAX 4096

static void add_stack(const struct ep_evidence *evidence, struct ep_signature *signature,
		      const struct ep_stack *stack)
{
	size_t from = ep_evidence_behind_hook(evidence, stack, evidence->first.frame);

	for (size_t i = from; i < stack->count; i++)
		if (!stack->frames[i].signal)
			ep_signature_add(signature,
					 ep_evidence_function(evidence, &stack->frames[i]));
}

/* The call from which on they are a handler's; NULL: none is. */
static const struct ep_event *find_handler(const struct ep_evidence *evidence,
					   const struct ep_stack *stack,
					   const struct ep_open_calls *open)
{
	struct ep_alignment alignment;
	const struct ep_event *call;

	if (!evidence->first.found || !evidence->first.frame || !open->count)
		return NULL;
	ep_evidence_align(evidence, stack, open, false, false, &alignment);
	call = ep_report_handler_call(evidence, &alignment, open);
	ep_alignment_deinit(&alignment);
	return call;
}

static void add_open_calls(const struct ep_evidence *evidence, struct ep_signature *signature,
			   const struct ep_stack *stack)
{
	const struct ep_event *handler;
	struct ep_open_calls open;

	ep_evidence_open_calls(evidence, ep_evidence_trace_thread(evidence, evidence->death.tid),
			       &open);
	handler = find_handler(evidence, stack, &open);
	for (size_t i = open.count; i-- > 0;)
		if (!handler || open.calls[i].call < handler->call)
			ep_signature_add(signature, open.calls[i].function);
	ep_open_calls_deinit(&open);
}

/* By the stack; where that is cut off or damaged, by the frame at which the thread was, which is
 * known in any case, and the open calls. */
static void by_stack(const struct ep_evidence *evidence, struct ep_signature *out)
{
	struct ep_signature by_calls = *out;
	size_t at = evidence->first.frame;
	struct ep_stack stack;

	ep_evidence_unwind(evidence, evidence->death.tid, FRAMES_MAX, &stack);
	add_stack(evidence, out, &stack);
	if (!stack.complete || !out->count) {
		if (at < stack.count)
			ep_signature_add(&by_calls,
					 ep_evidence_function(evidence, &stack.frames[at]));
		add_open_calls(evidence, &by_calls, &stack);
		if (by_calls.count)
			*out = by_calls;
	}
	ep_stack_deinit(&stack);
}

/* A name that is not known would be another crash's. */
static bool lacks_names(const struct ep_evidence *evidence)
{
	return (evidence->names && ep_names_incomplete(evidence->names)) ||
	       (evidence->others && ep_names_incomplete(evidence->others));
}

int ep_crash_signature(const struct ep_evidence *evidence, struct ep_signature *out,
		       struct ep_err *err)
{
	const char *why = NULL;

	ep_signature_init(out, evidence->death.signal);
	if (evidence->death.signal == 0)
		why = "it did not die of a signal";
	else
		by_stack(evidence, out);
	/* A key of the signal alone would be that of every such crash. */
	if (!why && out->count == 0)
		why = "neither its stack nor its trace names a function";
	if (!why && lacks_names(evidence))
		return ep_fail(err, EP_E_CORRUPT, 0, "%s: names are missing",
			       ep_source_name(evidence->source));
	if (why)
		return ep_fail(err, EP_END, 0, "%s: %s, so there is nothing to know it by",
			       ep_source_name(evidence->source), why);
	return EP_OK;
}
