/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report_signature.c: the functions that a crash is known by: those of the
 * unwound stack, and where the stack is damaged those in flight by the trace.
 */
#include "decoder/report_impl.h"
#include "decoder/signature.h"

#define FRAMES_MAX 4096

static const struct ep_trace_thread *thread_of(const struct ep_trace *trace,
					       uint32_t tid)
{
	const struct ep_trace_thread *best = NULL;

	for (size_t i = 0; trace && i < trace->thread_count; i++)
		if (trace->threads[i].tid == tid &&
		    (!best || trace->threads[i].start_tsc > best->start_tsc))
			best = &trace->threads[i];
	return best;
}

static void add_stack(const struct ep_report *report,
		      struct ep_signature *signature,
		      const struct ep_stack *stack)
{
	for (size_t i = 0; i < stack->count; i++)
		ep_signature_add(signature,
				 ep_frame_function(report->names,
						   report->others,
						   &stack->frames[i]));
}

static int add_flight(const struct ep_report *report,
		      struct ep_signature *signature, uint32_t tid,
		      struct ep_err *err)
{
	struct ep_flight flight;
	int rc = ep_flight_init(&flight, report->trace,
				thread_of(report->trace, tid), report->names,
				err);

	for (size_t i = rc ? 0 : flight.count; i-- > 0;)
		ep_signature_add(signature, flight.calls[i].function);
	if (!rc)
		ep_flight_deinit(&flight);
	return rc;
}

/* EP_OK: by the stack; EP_END: not so, but *in_flight has the frame at which
 * the thread is. */
static int by_stack(const struct ep_report *report, uint32_t tid,
		    struct ep_signature *out, struct ep_signature *in_flight,
		    struct ep_err *err)
{
	struct ep_stack stack;
	int rc = report->unwinder ? ep_unwind(report->unwinder, tid, FRAMES_MAX,
					      &stack, err)
				  : EP_END;

	if (rc)
		return rc == EP_E_MEMORY ? rc : EP_END;
	add_stack(report, out, &stack);
	/* Where it is, is known in any case. */
	if (stack.count)
		ep_signature_add(in_flight,
				 ep_frame_function(report->names,
						   report->others,
						   &stack.frames[0]));
	rc = stack.complete && out->count ? EP_OK : EP_END;
	ep_stack_deinit(&stack);
	return rc;
}

/* A name that there was no memory for would be another crash's. */
static bool starved(const struct ep_report *report)
{
	return (report->names && ep_names_starved(report->names)) ||
	       (report->others && ep_names_starved(report->others));
}

int ep_report_signature(struct ep_report *report, struct ep_signature *out,
			struct ep_err *err)
{
	struct ep_signature in_flight;
	struct ep_death death;
	int rc;

	ep_source_death(report->source, &death);
	if (death.signal == 0)
		return ep_fail(err, EP_END, 0,
			       "%s: it did not die of a signal, so there is "
			       "nothing to know it by",
			       ep_source_name(report->source));
	ep_signature_init(out, death.signal);
	ep_signature_init(&in_flight, death.signal);
	rc = by_stack(report, death.tid, out, &in_flight, err);
	if (rc == EP_END) {
		rc = add_flight(report, &in_flight, death.tid, err);
		if (rc == EP_OK && in_flight.count)
			*out = in_flight;
	}
	if (rc == EP_OK && starved(report))
		rc = ep_fail(err, EP_E_MEMORY, 0, "out of memory");
	return rc;
}
