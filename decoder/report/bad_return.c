/* SPDX-License-Identifier: BSD-2-Clause */
/* bad_return.c: see bad_return.h. Intel's manual, volume 2, RET: an address that is not canonical
 * faults at the instruction, before it is taken from the stack; any other one where it leads. */
#include "decoder/report/bad_return.h"

#include <ctype.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "decoder/stack/alignment.h"
#include "decoder/code/callsite.h"
#include "decoder/report/model.h"

#define RET       0xc3
#define RET_CLEAN 0xc2
#define REP       0xf3

struct jump {
	uint64_t address; /* where no code is */
	bool by_return;
	const struct ep_function *at; /* the `ret` is in it; NULL unknown */
};

/* ---- code and stack ---- */

static bool read_word(struct ep_source *source, uint64_t address, uint64_t *value)
{
	return ep_source_read(source, address, value, sizeof(*value), NULL, NULL) == EP_OK;
}

/* From memory, and where that was not saved, from the module's file. */
static bool read_code(struct ep_report *report, uint64_t address, uint8_t *code, size_t size)
{
	return ep_source_read(report->source, address, code, size, NULL, NULL) == EP_OK ||
	       (report->names && ep_names_code(report->names, address, code, size) == size) ||
	       (report->others && ep_names_code(report->others, address, code, size) == size);
}

static bool is_return(const uint8_t code[2])
{
	return code[0] == RET || code[0] == RET_CLEAN || (code[0] == REP && code[1] == RET);
}

static enum ep_callsite callsite(struct ep_report *report, uint64_t after, uint64_t target)
{
	uint8_t code[EP_CALLSITE_SIZE];

	return after > sizeof(code) && read_code(report, after - sizeof(code), code, sizeof(code))
		       ? ep_callsite_look(code, sizeof(code), after, target)
		       : EP_CALLSITE_NONE;
}

/* ---- what it was ---- */

/* It stands at the `ret`, whose address is none. */
static bool at_return(struct jump *jump, struct ep_report *report,
		      const struct ep_registers *registers)
{
	struct ep_frame frame = {.pc = registers->pc, .activation = true};
	uint8_t code[2];

	if (!read_code(report, registers->pc, code, sizeof(code)) || !is_return(code) ||
	    !read_word(report->source, registers->sp, &jump->address) || jump->address >> 47 == 0)
		return false;
	if (report->names)
		jump->at = ep_frame_function(report->names, report->others, &frame);
	return true;
}

/*
 * It is where the address led. What lies below the stack pointer stays after a `ret`; a call leaves
 * its own return address at the stack pointer. A function that was called directly may have jumped
 * on; then only zero, which lies everywhere, can also be below by chance.
 */
static bool behind_return(struct jump *jump, struct ep_report *report,
			  const struct ep_registers *registers, bool returned)
{
	uint64_t taken, caller = 0;
	enum ep_callsite site = EP_CALLSITE_NONE;

	if (!read_word(report->source, registers->sp - sizeof(taken), &taken) ||
	    taken != registers->pc)
		return false;
	if (read_word(report->source, registers->sp, &caller))
		site = callsite(report, caller, registers->pc);
	jump->address = taken;
	return site == EP_CALLSITE_NONE || (site == EP_CALLSITE_DIRECT && (taken || returned));
}

/* ---- in words ---- */

/* "ABCD": an address that is text tells whose text ran away. */
static bool is_text(uint64_t address, char out[9])
{
	size_t length = 0;

	memset(out, 0, 9);
	memcpy(out, &address, sizeof(address));
	while (length < 8 && isascii((unsigned char)out[length]) &&
	       isprint((unsigned char)out[length]))
		length++;
	for (size_t i = length; i < 8; i++)
		if (out[i])
			return false;
	return length >= 2;
}

static void tell(struct ep_report_cause *cause, const struct jump *jump,
		 const struct ep_function *function)
{
	char words[9];
	bool text = is_text(jump->address, words);

	cause->code = "return-address";
	cause->function = function;
	snprintf(cause->text, sizeof(cause->text),
		 "%s returned to 0x%" PRIx64
		 "%s%s%s, where no code is: %s return address was overwritten",
		 function ? function->name : "a function", jump->address, text ? " (\"" : "",
		 text ? words : "", text ? "\")" : "", function ? "its" : "the");
}

void ep_report_return_init(struct ep_report_cause *cause, struct ep_report *report,
			   const struct ep_death *death, const struct ep_source_thread *thread)
{
	const struct ep_registers *registers = &thread->registers;
	const struct ep_function *returned;
	struct ep_open_calls flight;
	struct jump jump = {0};
	bool found;

	if (death->signal != SIGSEGV || !death->has_siginfo || death->code <= 0)
		return;
	if (death->code == SI_KERNEL) {
		if (at_return(&jump, report, registers))
			tell(cause, &jump, jump.at);
		return;
	}
	if (death->address != registers->pc)
		return;
	if (ep_open_calls_init(&flight, report->trace,
			       ep_report_trace_thread(report->trace, death->tid), report->names,
			       NULL)) {
		report->starved = true;
		return;
	}
	/* What a handler called is later. */
	returned = report->first.found ? NULL : flight.returned;
	found = behind_return(&jump, report, registers, returned != NULL);
	if (found)
		tell(cause, &jump, returned);
	ep_open_calls_deinit(&flight);
}
