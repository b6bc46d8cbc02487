/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crash_signature.c: the functions that a crash is known by: those of the unwound stack, and where
 * the stack is damaged those in flight by the trace.
 */
#include "decoder/report/model.h"
#include "decoder/report/signature.h"

#define FRAMES_MAX 4096

static const struct ep_trace_thread *thread_of(const struct ep_trace *trace, uint32_t tid)
{
	const struct ep_trace_thread *best = NULL;

	for (size_t i = 0; trace && i < trace->thread_count; i++)
		if (trace->threads[i].tid == tid &&
		    (!best || trace->threads[i].start_tsc > best->start_tsc))
			best = &trace->threads[i];
	return best;
}

static void add_stack(const struct ep_report *report, struct ep_signature *signature,
		      const struct ep_stack *stack)
{
	for (size_t i = report->first.frame; i < stack->count; i++)
		if (!stack->frames[i].signal)
			ep_signature_add(signature, ep_frame_function(report->names, report->others,
								      &stack->frames[i]));
}

/* The call from which on they are a handler's; NULL: none is. */
static int find_handler(const struct ep_report *report, const struct ep_stack *stack,
			const struct ep_open_calls *flight, const struct ep_event **out,
			struct ep_err *err)
{
	const struct ep_alignment_of of = {
		.source = report->source,
		.names = report->names,
		.others = report->others,
		.stack = stack,
		.flight = flight,
	};
	struct ep_alignment alignment;
	int rc;

	*out = NULL;
	if (!report->first.found || !report->first.frame || !flight->count)
		return EP_OK;
	rc = ep_alignment_init(&alignment, &of, err);
	if (rc)
		return rc;
	*out = ep_report_handler_call(report, &alignment, flight);
	ep_alignment_deinit(&alignment);
	return EP_OK;
}

static int add_flight(const struct ep_report *report, struct ep_signature *signature, uint32_t tid,
		      const struct ep_stack *stack, struct ep_err *err)
{
	const struct ep_event *handler;
	struct ep_open_calls flight;
	int rc = ep_open_calls_init(&flight, report->trace, thread_of(report->trace, tid),
				    report->names, err);

	if (rc)
		return rc;
	rc = find_handler(report, stack, &flight, &handler, err);
	for (size_t i = rc ? 0 : flight.count; i-- > 0;)
		if (!handler || flight.calls[i].call < handler->call)
			ep_signature_add(signature, flight.calls[i].function);
	ep_open_calls_deinit(&flight);
	return rc;
}

/* By the stack; where that is cut off or damaged, by the frame at which the thread was, which is
 * known in any case, and what was in flight. */
static int by_stack(const struct ep_report *report, uint32_t tid, struct ep_signature *out,
		    struct ep_err *err)
{
	struct ep_signature in_flight = *out;
	size_t at = report->first.frame;
	struct ep_stack stack = {0};
	int rc = report->unwinder ? ep_unwind(report->unwinder, tid, FRAMES_MAX, &stack, err)
				  : EP_END;

	if (rc == EP_E_MEMORY)
		return rc;
	add_stack(report, out, &stack);
	if (stack.complete && out->count) {
		ep_stack_deinit(&stack);
		return EP_OK;
	}
	if (at < stack.count)
		ep_signature_add(&in_flight, ep_frame_function(report->names, report->others,
							       &stack.frames[at]));
	rc = add_flight(report, &in_flight, tid, &stack, err);
	if (in_flight.count)
		*out = in_flight;
	ep_stack_deinit(&stack);
	return rc;
}

/* A name that there was no memory for would be another crash's. */
static bool starved(const struct ep_report *report)
{
	return (report->names && ep_names_incomplete(report->names)) ||
	       (report->others && ep_names_incomplete(report->others));
}

int ep_report_signature(struct ep_report *report, struct ep_signature *out, struct ep_err *err)
{
	struct ep_death death;
	int rc = ep_report_find_first(report, err);

	if (rc)
		return rc;
	ep_report_death(report, &death);
	if (death.signal == 0)
		return ep_fail(err, EP_END, 0,
			       "%s: it did not die of a signal, so there is "
			       "nothing to know it by",
			       ep_source_name(report->source));
	ep_signature_init(out, death.signal);
	rc = by_stack(report, death.tid, out, err);
	if (rc == EP_OK && starved(report))
		return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
	/* A key of the signal alone would be that of every such crash. */
	if (rc == EP_OK && out->count == 0)
		return ep_fail(err, EP_END, 0,
			       "%s: neither its stack nor its trace names a "
			       "function, so there is nothing to know it by",
			       ep_source_name(report->source));
	return rc;
}
