/* SPDX-License-Identifier: BSD-2-Clause */
/* place_values.c: gives DWARF's expressions a frame's registers and memory, those of the frames
 * that called it, and the thread's own storage. */
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/user.h>

#include "coredump/memory/elfimage.h"
#include "coredump/snapshot/redacted.h"
#include "decoder/code/callsite.h"
#include "decoder/names/system_module.h"
#include "decoder/report/place/place_values.h"
#include "decoder/symbols/callsites.h"

#define CALLERS_MAX 8u   /* that are asked what they gave, each by the one before it */
#define RED_ZONE    128u /* below the stack pointer: psABI x86-64, section 3.2.2 */

/* A frame of the stack: what its expressions are calculated in. */
struct level {
	struct reader *reader;
	size_t number;      /* of the frame */
	const char *symbol; /* of its function */
	struct ep_frame outer;
	struct ep_names_debug debug;
	struct ep_location_frame at;
};

struct reader {
	const struct ep_evidence *evidence;
	uint32_t tid;
	bool whole;         /* nothing was left out */
	uint64_t low, high; /* else: what lies outside of it may have been */
	char code[160];
	size_t known; /* of the levels */
	struct level levels[CALLERS_MAX + 1];
};

/* What was not saved is in the module's file, if nobody could write to it. A snapshot does not say
 * of all that it lacks whether it was mapped. */
static int read_memory(void *context, uint64_t address, void *out, size_t size)
{
	struct reader *reader = ((struct level *)context)->reader;
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
	struct reader *reader = ((struct level *)context)->reader;
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

/* ---- vector registers ---- */

/* The upper halves of ymm0-15 (Intel's manual, volume 1, section 13.4: component 2 of the standard
 * format; zeroes where it is not marked as in use). */
#define XSAVE_COMPONENTS 512u /* which are in use */
#define XSAVE_ENABLED    464u /* which the kernel saves (Linux: struct fpx_sw_bytes) */
#define XSAVE_UPPER      576u
#define XSAVE_AVX        4u

static void take_upper(struct ep_location_frame *out, const struct ep_note *note)
{
	uint64_t enabled, used;

	if (note->desc_size < XSAVE_UPPER + 16u * EP_LOCATION_VECTORS)
		return;
	memcpy(&enabled, note->desc + XSAVE_ENABLED, sizeof(enabled));
	memcpy(&used, note->desc + XSAVE_COMPONENTS, sizeof(used));
	if (!(enabled & XSAVE_AVX))
		return;
	for (size_t i = 0; i < EP_LOCATION_VECTORS; i++) {
		if (used & XSAVE_AVX)
			memcpy(out->vectors[i] + 16, note->desc + XSAVE_UPPER + 16 * i, 16);
		else
			memset(out->vectors[i] + 16, 0, 16);
	}
	out->vector_size = 32;
}

static void take_lower(struct ep_location_frame *out, const struct ep_note *note)
{
	struct user_fpregs_struct registers;

	if (note->desc_size < sizeof(registers))
		return;
	memcpy(&registers, note->desc, sizeof(registers));
	for (size_t i = 0; i < EP_LOCATION_VECTORS; i++)
		memcpy(out->vectors[i], (const uint8_t *)registers.xmm_space + 16 * i, 16);
	out->vector_size = 16;
}

/* Those of the innermost frame, of a thread that no handler of the program's interrupted: they are
 * in the notes behind its own. */
static void take_vectors(struct ep_location_frame *out, const struct ep_source *source,
			 const struct ep_source_thread *thread)
{
	size_t count, i = 0;
	const struct ep_note *notes = ep_source_notes(source, &count);

	while (i < count && notes[i].desc != thread->prstatus)
		i++;
	while (++i < count && notes[i].type != NT_PRSTATUS) {
		if (notes[i].type == NT_FPREGSET)
			take_lower(out, &notes[i]);
		else if (notes[i].type == NT_X86_XSTATE && out->vector_size)
			take_upper(out, &notes[i]);
	}
}

/* ---- each thread's own variables ---- */

static bool thread_pointer(const struct ep_source_thread *thread, uint64_t *out)
{
	struct user_regs_struct registers;
	const size_t at = offsetof(struct elf_prstatus, pr_reg);

	if (!thread || !thread->prstatus || thread->prstatus_size < at + sizeof(registers))
		return false;
	memcpy(&registers, thread->prstatus + at, sizeof(registers));
	*out = registers.fs_base;
	return registers.fs_base != 0;
}

/*
 * Of the program itself it lies right below the thread pointer (ELF Handling For Thread-Local
 * Storage, variant II), which begins with its own address. That of a library is somewhere: the C
 * library alone knows.
 */
static bool tls_address(void *context, uint64_t offset, uint64_t *out)
{
	const struct level *level = context;
	struct ep_source *source = level->reader->evidence->source;
	uint64_t pointer, itself, align;
	struct ep_elf_image image;
	const Elf64_Phdr *tls;

	if (!thread_pointer(ep_source_thread(source, level->reader->tid), &pointer) ||
	    ep_source_read(source, pointer, &itself, sizeof(itself), NULL, NULL) != EP_OK ||
	    itself != pointer || ep_elf_image_executable(&image, source, NULL) != EP_OK ||
	    image.bias != level->at.bias || !(tls = ep_elf_image_header(&image, PT_TLS)))
		return false;
	align = tls->p_align ? tls->p_align : 1;
	if (offset >= tls->p_memsz || tls->p_memsz > pointer || align & (align - 1) ||
	    tls->p_vaddr & (align - 1))
		return false;
	*out = pointer - ((tls->p_memsz + align - 1) & ~(align - 1)) + offset;
	return true;
}

/* ---- the callers ---- */

static void fill_frame(struct ep_location_frame *out, const struct ep_frame_registers *registers)
{
	static_assert(EP_FRAME_REGISTERS == EP_LOCATION_REGISTERS, "the same numbers");
	memcpy(out->registers, registers->values, sizeof(out->registers));
	out->known = registers->known;
	out->cfa_known = registers->cfa_known;
	out->cfa = registers->cfa;
}

static bool entry_value(void *context, unsigned number, uint64_t *out);

/* False: its registers are not known. */
static bool level_init(struct level *level, struct reader *reader, size_t number, uint64_t address,
		       const struct ep_names_debug *debug, const char *symbol)
{
	struct ep_frame_registers registers;

	if (!ep_unwind_registers(reader->evidence->unwinder, reader->tid, number, &registers))
		return false;
	*level = (struct level){
		.reader = reader,
		.number = number,
		.symbol = symbol,
		.outer = registers.outer,
		.debug = *debug,
		.at = {.address = address - debug->bias,
		       .bias = debug->bias,
		       .read = read_memory,
		       .entry = entry_value,
		       .tls = tls_address},
	};
	level->at.context = level;
	fill_frame(&level->at, &registers);
	return true;
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

/* That of who called it; NULL: unknown. Nobody called a handler. */
static struct level *caller_of(struct level *level)
{
	struct reader *reader = level->reader;
	size_t index = (size_t)(level - reader->levels) + 1;
	const struct ep_frame *frame = &level->outer;
	struct ep_names_debug debug;

	if (index < reader->known)
		return &reader->levels[index];
	if (index > CALLERS_MAX || !frame->pc || frame->activation || frame->signal ||
	    frame->guessed || !can_name(reader->evidence, frame) ||
	    !ep_evidence_debug(reader->evidence, ep_frame_address(frame), &debug) ||
	    !level_init(&reader->levels[index], reader, level->number + 1, ep_frame_address(frame),
			&debug, ep_evidence_function(reader->evidence, frame)->symbol))
		return NULL;
	reader->known = index + 1;
	return &reader->levels[index];
}

static bool entry_value(void *context, unsigned number, uint64_t *out)
{
	struct level *level = context, *caller = caller_of(level);

	return caller &&
	       ep_callsite_register(caller->debug.inlines, &caller->at, level->symbol, number, out);
}

/* ---- the whole ---- */

const char *ep_report_place_values(struct ep_variables *out, const struct ep_evidence *evidence,
				   const struct ep_report_place_of *of)
{
	const struct ep_value_style style = {.code = code_text};
	const struct ep_source_thread *thread = ep_source_thread(evidence->source, of->tid);
	const struct ep_frame *frame = &of->stack->frames[of->frame];
	struct reader reader = {.evidence = evidence, .tid = of->tid, .known = 1};
	struct level *level = &reader.levels[0];

	/* Arguments and environment of the program lie outside of all its frames. */
	reader.whole = ep_source_redacted(evidence->source) == 0;
	reader.low = frame->sp > RED_ZONE ? frame->sp - RED_ZONE : 0;
	reader.high = of->stack->frames[of->stack->count - 1].sp;
	if (!level_init(level, &reader, of->frame, ep_frame_address(frame), of->debug, of->symbol))
		return "the frame's registers are not known";
	if (of->frame == 0 && thread && thread->prstatus)
		take_vectors(&level->at, evidence->source, thread);
	ep_variables_init(out, of->debug->inlines, of->skip, &level->at, &style);
	return out->found ? "" : "no debug information of the function";
}
