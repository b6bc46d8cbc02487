/* SPDX-License-Identifier: BSD-2-Clause */
/* evidence.c: questions to the source, the trace, the names and the unwinder. */
#include "decoder/report/evidence.h"

#include "decoder/code/hooks.h"

#define HOOK_FRAMES 16u /* of the runtime, and of what it calls */

void ep_evidence_examine(struct ep_evidence *evidence)
{
	ep_first_fault_find(&evidence->first, evidence->source, evidence->unwinder, evidence->names,
			    evidence->others);
	ep_source_death(evidence->source, &evidence->death);
	if (evidence->first.found)
		evidence->death = evidence->first.signal.death;
}

const struct ep_trace_thread *ep_evidence_trace_thread(const struct ep_evidence *evidence,
						       uint32_t tid)
{
	const struct ep_trace *trace = evidence->trace;
	const struct ep_trace_thread *best = NULL;

	for (size_t i = 0; trace && tid && i < trace->thread_count; i++)
		if (trace->threads[i].tid == tid &&
		    (!best || trace->threads[i].state != EP_THREAD_DEAD ||
		     best->state == EP_THREAD_DEAD))
			best = &trace->threads[i];
	return best;
}

const struct ep_function *ep_evidence_function(const struct ep_evidence *evidence,
					       const struct ep_frame *frame)
{
	return ep_frame_function(evidence->names, evidence->others, frame);
}

bool ep_evidence_debug(const struct ep_evidence *evidence, uint64_t address,
		       struct ep_names_debug *out)
{
	return (evidence->names && ep_names_debug(evidence->names, address, out)) ||
	       (evidence->others && ep_names_debug(evidence->others, address, out));
}

const char *ep_evidence_undebugged(const struct ep_evidence *evidence, uint64_t address)
{
	const char *why = evidence->names ? ep_names_undebugged(evidence->names, address) : "";

	return *why || !evidence->others ? why : ep_names_undebugged(evidence->others, address);
}

size_t ep_evidence_behind_hook(const struct ep_evidence *evidence, const struct ep_stack *stack,
			       size_t from)
{
	size_t behind = from;

	for (size_t i = from; i < stack->count && i - from < HOOK_FRAMES; i++) {
		if (stack->frames[i].signal)
			break;
		if (ep_is_in_hook(ep_evidence_function(evidence, &stack->frames[i])))
			behind = i + 1;
	}
	return behind;
}

bool ep_evidence_code(const struct ep_evidence *evidence, uint64_t address, uint8_t *code,
		      size_t size)
{
	return ep_source_read(evidence->source, address, code, size, NULL, NULL) == EP_OK ||
	       (evidence->names && ep_names_code(evidence->names, address, code, size) == size) ||
	       (evidence->others && ep_names_code(evidence->others, address, code, size) == size);
}

const struct ep_segment *ep_evidence_segment(const struct ep_source *source, uint64_t address)
{
	size_t count;
	const struct ep_segment *list = ep_source_segments(source, &count);

	for (size_t i = 0; i < count; i++)
		if (address >= list[i].address && address - list[i].address < list[i].memory_size)
			return &list[i];
	return NULL;
}

const struct ep_mapping *ep_evidence_mapping(const struct ep_source *source, uint64_t address)
{
	size_t count;
	const struct ep_mapping *list = ep_source_mappings(source, &count);

	for (size_t i = 0; i < count; i++)
		if (address >= list[i].start && address < list[i].end)
			return &list[i];
	return NULL;
}

bool ep_evidence_unwind(const struct ep_evidence *evidence, uint32_t tid, size_t limit,
			struct ep_stack *stack)
{
	*stack = (struct ep_stack){0};
	return evidence->unwinder && ep_unwind(evidence->unwinder, tid, limit, stack);
}

void ep_evidence_open_calls(const struct ep_evidence *evidence,
			    const struct ep_trace_thread *thread, struct ep_open_calls *out)
{
	ep_open_calls_init(out, evidence->trace, thread, evidence->names);
}

void ep_evidence_align(const struct ep_evidence *evidence, const struct ep_stack *stack,
		       const struct ep_open_calls *open, bool inlines, bool own_lines,
		       struct ep_alignment *out)
{
	const struct ep_alignment_of of = {
		.source = evidence->source,
		.names = evidence->names,
		.others = evidence->others,
		.stack = stack,
		.open = open,
		.inlines = inlines,
		.own_lines = own_lines,
	};

	ep_alignment_init(out, &of);
}
