/* SPDX-License-Identifier: BSD-2-Clause */
/* place.c: chooses the frame, and gives DWARF's expressions its registers and memory. */
#include "decoder/report/place.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/user.h>

#include "coredump/util/alloc.h"
#include "coredump/snapshot/redacted.h"
#include "decoder/code/callsite.h"
#include "decoder/names/system_module.h"
#include "decoder/report/signature.h"
#include "decoder/symbols/callsites.h"

#define FRAMES_MAX 64u  /* looked at */
#define RED_ZONE   128u /* below the stack pointer: psABI x86-64, section 3.2.2 */

/* ---- which frame ---- */

static bool is_standard(const char *name)
{
	return strncmp(name, "std::", 5) == 0 || strncmp(name, "__gnu_cxx::", 11) == 0;
}

/* How many frames, from the innermost on, are believed. */
static size_t believed(const struct ep_stack *stack, const struct ep_alignment *alignment)
{
	size_t count = stack->count;

	for (size_t i = alignment->overwritten; i < alignment->count; i++)
		if (alignment->rows[i].frame)
			return alignment->rows[i].number < count ? alignment->rows[i].number
								 : count;
	return count;
}

static bool is_own(const struct ep_frame *frame, const struct ep_function *function)
{
	return !frame->nowhere && !frame->signal && ep_signature_counts(function);
}

/* The program's own first; else one of what it was built with, such as a template of the C++
 * library. False: there is none. */
static bool choose(struct ep_report_place *place, const struct ep_evidence *evidence,
		   const struct ep_stack *stack, size_t count)
{
	size_t from = evidence->first.found ? evidence->first.frame : 0;

	for (size_t i = from; i < count && i - from < FRAMES_MAX; i++) {
		const struct ep_frame *frame = &stack->frames[i];
		const struct ep_function *function = ep_evidence_function(evidence, frame);
		bool standard = is_standard(function->name);

		if (!is_own(frame, function) || (place->known && standard))
			continue;
		place->known = true;
		place->frame = i;
		place->pc = frame->pc;
		place->function = function;
		if (!standard)
			break;
	}
	return place->known;
}

/* The innermost call inlined there that is not the C++ library's: how many are inside of it. */
static unsigned choose_inlined(struct ep_report_place *place, const struct ep_evidence *evidence,
			       const struct ep_frame *frame)
{
	struct ep_inlined calls[EP_INLINED_MAX];
	size_t count = ep_frame_inlined(evidence->names, evidence->others, frame, calls), skip = 0;

	place->line = ep_frame_line(evidence->names, evidence->others, frame);
	while (skip < count && is_standard(calls[skip].name))
		skip++;
	if (skip > 0)
		place->line = calls[skip - 1].call;
	place->inlined = skip < count ? calls[skip].name : NULL;
	return (unsigned)skip;
}

/* ---- its registers and memory, for the expressions ---- */

struct reader {
	const struct ep_evidence *evidence;
	bool whole;         /* nothing was left out */
	uint64_t low, high; /* else: what lies outside of it may have been */
	char code[160];
	/* the caller, for what it gave the function: looked at when that is asked for; inlines
	 * NULL: it is not known */
	bool asked;
	uint32_t tid;
	size_t number;         /* of the function's frame */
	struct ep_frame outer; /* the caller's */
	const char *symbol;
	struct ep_names_debug caller;
	struct ep_location_frame caller_frame;
};

/* What was not saved is in the module's file, if nobody could write to it. A snapshot does not say
 * of all that it lacks whether it was mapped. */
static int read_memory(void *context, uint64_t address, void *out, size_t size)
{
	struct reader *reader = context;
	const struct ep_evidence *evidence = reader->evidence;
	int code;

	if (!reader->whole &&
	    (address < reader->low || address >= reader->high || size > reader->high - address))
		return EP_E_PERMISSION;
	code = ep_source_read(evidence->source, address, out, size, NULL, NULL);
	if (code == EP_OK)
		return code;
	if ((evidence->names && ep_names_constant(evidence->names, address, out, size) == size) ||
	    (evidence->others && ep_names_constant(evidence->others, address, out, size) == size))
		return EP_OK;
	return code == EP_E_UNMAPPED && ep_source_kind(evidence->source) != EP_SOURCE_CORE
		       ? EP_E_UNSAVED
		       : code;
}

static const char *code_text(void *context, uint64_t address)
{
	struct reader *reader = context;
	const struct ep_frame frame = {.pc = address, .activation = true};
	const struct ep_function *function = ep_evidence_function(reader->evidence, &frame);

	if (!function->known || address < function->start || address >= function->end)
		return NULL;
	if (address == function->start)
		snprintf(reader->code, sizeof(reader->code), "%.140s", function->name);
	else
		snprintf(reader->code, sizeof(reader->code), "%.120s+%" PRIu64, function->name,
			 address - function->start);
	return reader->code;
}

/* The vector registers of the innermost frame, of a thread that no handler of the program's
 * interrupted: they are in the note behind its own. */
static void take_vectors(struct ep_location_frame *out, const struct ep_source *source,
			 const struct ep_source_thread *thread)
{
	struct user_fpregs_struct registers;
	size_t count, i = 0;
	const struct ep_note *notes = ep_source_notes(source, &count);

	while (i < count && notes[i].desc != thread->prstatus)
		i++;
	while (++i < count && notes[i].type != NT_PRSTATUS) {
		if (notes[i].type != NT_FPREGSET || notes[i].desc_size < sizeof(registers))
			continue;
		memcpy(&registers, notes[i].desc, sizeof(registers));
		static_assert(sizeof(out->vectors) == sizeof(registers.xmm_space), "xmm0-15");
		memcpy(out->vectors, registers.xmm_space, sizeof(out->vectors));
		out->vectors_known = true;
		return;
	}
}

static void fill_frame(struct ep_location_frame *out, const struct ep_frame_registers *registers)
{
	static_assert(EP_FRAME_REGISTERS == EP_LOCATION_REGISTERS, "the same numbers");
	memcpy(out->registers, registers->values, sizeof(out->registers));
	out->known = registers->known;
	out->cfa_known = registers->cfa_known;
	out->cfa = registers->cfa;
}

/* ---- variables ---- */

static bool debug_of(const struct ep_evidence *evidence, uint64_t address,
		     struct ep_names_debug *out)
{
	return (evidence->names && ep_names_debug(evidence->names, address, out)) ||
	       (evidence->others && ep_names_debug(evidence->others, address, out));
}

/* The system's libraries have debug information of which it takes long to read a little. Their
 * calls of a function that they were given, such as main, name none, so that nothing can be learnt
 * from there. */
static bool can_name(const struct ep_evidence *evidence, const struct ep_frame *caller)
{
	const struct ep_function *function = ep_evidence_function(evidence, caller);
	uint8_t code[EP_CALLSITE_SIZE];

	return !ep_module_is_system(function->in) || caller->pc <= sizeof(code) ||
	       !ep_evidence_code(evidence, caller->pc - sizeof(code), code, sizeof(code)) ||
	       !ep_callsite_is_anonymous(code, sizeof(code));
}

/* Not of a handler's: nobody called it. */
static void find_caller(struct reader *reader)
{
	struct ep_location_frame *out = &reader->caller_frame;
	const struct ep_frame *frame = &reader->outer;
	struct ep_frame_registers registers;

	reader->asked = true;
	if (!frame->pc || frame->activation || frame->signal || frame->guessed ||
	    !can_name(reader->evidence, frame) ||
	    !debug_of(reader->evidence, ep_frame_address(frame), &reader->caller))
		return;
	if (!ep_unwind_registers(reader->evidence->unwinder, reader->tid, reader->number + 1,
				 &registers)) {
		reader->caller.inlines = NULL;
		return;
	}
	*out = (struct ep_location_frame){
		.address = ep_frame_address(frame) - reader->caller.bias,
		.bias = reader->caller.bias,
		.read = read_memory,
		.context = reader,
	};
	fill_frame(out, &registers);
}

static bool entry_value(void *context, unsigned number, uint64_t *out)
{
	struct reader *reader = context;

	if (!reader->asked)
		find_caller(reader);
	return reader->caller.inlines &&
	       ep_callsite_register(reader->caller.inlines, &reader->caller_frame, reader->symbol,
				    number, out);
}

static void find_values(struct ep_report_place *place, struct reader *reader, uint32_t tid,
			const struct ep_frame *frame, const struct ep_names_debug *debug,
			unsigned skip)
{
	const struct ep_value_style style = {.code = code_text};
	const struct ep_source *source = reader->evidence->source;
	const struct ep_source_thread *thread = ep_source_thread(source, tid);
	struct ep_frame_registers registers;
	struct ep_location_frame at = {
		.address = ep_frame_address(frame) - debug->bias,
		.bias = debug->bias,
		.read = read_memory,
		.entry = entry_value,
		.context = reader,
	};

	if (!ep_unwind_registers(reader->evidence->unwinder, tid, place->frame, &registers)) {
		snprintf(place->why, sizeof(place->why), "the frame's registers are not known");
		return;
	}
	fill_frame(&at, &registers);
	reader->tid = tid;
	reader->number = place->frame;
	reader->outer = registers.outer;
	reader->symbol = place->function->symbol;
	if (place->frame == 0 && thread && thread->prstatus)
		take_vectors(&at, source, thread);
	ep_variables_init(&place->variables, debug->inlines, skip, &at, &style);
	if (!place->variables.found)
		snprintf(place->why, sizeof(place->why), "no debug information of the function");
}

/* Whether values may be shown; else `why` says why not. */
static bool may_show(struct ep_report_place *place, const struct ep_evidence *evidence,
		     const struct ep_frame *frame, bool debug)
{
	uint32_t redacted = ep_source_redacted(evidence->source);
	char text[EP_REDACTED_TEXT_MAX];

	if (redacted & (EP_REDACTED_STACKS | EP_REDACTED_REGISTERS))
		snprintf(place->why, sizeof(place->why), "left out when the snapshot was made: %s",
			 ep_redacted_text(text, sizeof(text), redacted));
	else if (evidence->first.found && evidence->first.frame == 0)
		snprintf(place->why, sizeof(place->why),
			 "the handler has returned: what lay on the stack may be overwritten");
	else if (frame->guessed)
		snprintf(place->why, sizeof(place->why),
			 "the frame was found by the frame pointer alone, and may be another");
	else if (!debug)
		snprintf(place->why, sizeof(place->why), "no debug information of %.100s",
			 place->function->module[0] ? place->function->module : "it");
	return !place->why[0];
}

/* ---- the whole ---- */

/* Below the folder where the files of another system lie, or as it is. */
static void find_source(struct ep_report_place *place, const struct ep_names_debug *debug)
{
	const char *file = place->line.file;

	if (debug->sysroot && file && file[0] == '/') {
		char *path = ep_asprintf("%s%s", debug->sysroot, file);

		ep_source_text_find(&place->source, path, place->line.line, debug->written);
		free(path);
		if (place->source.count)
			return;
	}
	ep_source_text_find(&place->source, file, place->line.line, debug->written);
}

void ep_report_place_init(struct ep_report_place *place, const struct ep_evidence *evidence,
			  uint32_t tid, const struct ep_stack *stack,
			  const struct ep_alignment *alignment)
{
	struct ep_names_debug debug = {0};
	struct reader reader = {.evidence = evidence};
	const struct ep_frame *frame;
	bool has_debug;
	unsigned skip;

	*place = (struct ep_report_place){0};
	if (!stack->count || !choose(place, evidence, stack, believed(stack, alignment)))
		return;
	frame = &stack->frames[place->frame];
	skip = choose_inlined(place, evidence, frame);
	has_debug = debug_of(evidence, ep_frame_address(frame), &debug);
	find_source(place, &debug);
	/* Arguments and environment of the program lie outside of all its frames. */
	reader.whole = ep_source_redacted(evidence->source) == 0;
	reader.low = frame->sp > RED_ZONE ? frame->sp - RED_ZONE : 0;
	reader.high = stack->frames[stack->count - 1].sp;
	if (may_show(place, evidence, frame, has_debug))
		find_values(place, &reader, tid, frame, &debug, skip);
}

void ep_report_place_deinit(struct ep_report_place *place)
{
	ep_source_text_deinit(&place->source);
	ep_variables_deinit(&place->variables);
	*place = (struct ep_report_place){0};
}

bool ep_report_place_is_below(const struct ep_report_place *place,
			      const struct ep_variable *variable)
{
	return !variable->argument && place->line.line && variable->line > place->line.line;
}
