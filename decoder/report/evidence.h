/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * evidence.h: what a report is found from: a source, its trace, their names and the unwinder; and
 * what each part of the report asks them.
 */
#ifndef EPITAPH_REPORT_EVIDENCE_H
#define EPITAPH_REPORT_EVIDENCE_H

#include "decoder/stack/alignment.h"
#include "decoder/stack/first_fault.h"

/* All is borrowed. */
struct ep_evidence {
	struct ep_source *source;
	const struct ep_trace *trace; /* NULL: none */
	const char *missing;          /* why there is none; NULL */
	struct ep_names *names; /* of the trace's modules, or, without a trace, of the source's */
	struct ep_names
		*others; /* of the source's modules, for what the trace does not know; NULL */
	const struct ep_trace_module *modules; /* the source's; NULL none */
	size_t module_count;
	struct ep_unwinder *unwinder; /* NULL: live process, or no_unwinder */
	const char *no_unwinder;      /* why not; NULL */
	uint64_t ended;               /* when it ended, ns since 1970; 0 unknown */
	/* found by ep_evidence_examine */
	struct ep_first_fault first;
	struct ep_death death; /* the first; the core's where none came before */
};

/* After the members above are set, before anything else is asked. */
void ep_evidence_examine(struct ep_evidence *evidence);

/* The one of this tid that was alive last; NULL: it does not hold the thread. */
const struct ep_trace_thread *ep_evidence_trace_thread(const struct ep_evidence *evidence,
						       uint32_t tid);

/* As ep_frame_function. */
const struct ep_function *ep_evidence_function(const struct ep_evidence *evidence,
					       const struct ep_frame *frame);
/* As ep_names_debug. */
bool ep_evidence_debug(const struct ep_evidence *evidence, uint64_t address,
		       struct ep_names_debug *out);
/* As ep_names_undebugged. */
const char *ep_evidence_undebugged(const struct ep_evidence *evidence, uint64_t address);
/* From memory, and where that was not saved, from the module's file. */
bool ep_evidence_code(const struct ep_evidence *evidence, uint64_t address, uint8_t *code,
		      size_t size);
/* Segment and mapped file at an address; NULL none. */
const struct ep_segment *ep_evidence_segment(const struct ep_source *source, uint64_t address);
const struct ep_mapping *ep_evidence_mapping(const struct ep_source *source, uint64_t address);
/* As ep_unwind; *stack is empty where there is none. */
bool ep_evidence_unwind(const struct ep_evidence *evidence, uint32_t tid, size_t limit,
			struct ep_stack *stack);
/* The first frame from `from` on that is not a hook's own work, which is nothing that the program
 * does; `from` itself where that is in no hook. May be stack->count. */
size_t ep_evidence_behind_hook(const struct ep_evidence *evidence, const struct ep_stack *stack,
			       size_t from);
/* `thread` may be NULL. */
void ep_evidence_open_calls(const struct ep_evidence *evidence,
			    const struct ep_trace_thread *thread, struct ep_open_calls *out);
/* Of a stack, NULL for none, and open calls; the rest as in struct ep_alignment_of. */
void ep_evidence_align(const struct ep_evidence *evidence, const struct ep_stack *stack,
		       const struct ep_open_calls *open, bool inlines, bool own_lines,
		       struct ep_alignment *out);

#endif
