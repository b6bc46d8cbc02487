/* SPDX-License-Identifier: BSD-2-Clause */
/* bad_return.c: Intel's manual, volume 2, RET: an address that is not canonical faults at the
 * instruction, before it is taken from the stack; any other one where it leads. */
#include "decoder/report/death/bad_return.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decoder/code/callsite.h"
#include "decoder/report/death/death.h"

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

static bool is_return(const uint8_t code[2])
{
	return code[0] == RET || code[0] == RET_CLEAN || (code[0] == REP && code[1] == RET);
}

static enum ep_callsite callsite(const struct ep_evidence *evidence, uint64_t after,
				 uint64_t target)
{
	uint8_t code[EP_CALLSITE_SIZE];

	return after > sizeof(code) &&
			       ep_evidence_code(evidence, after - sizeof(code), code, sizeof(code))
		       ? ep_callsite_look(code, sizeof(code), after, target)
		       : EP_CALLSITE_NONE;
}

/* ---- what it was ---- */

/* It stands at the `ret`, whose address is none. */
static bool at_return(struct jump *jump, const struct ep_evidence *evidence,
		      const struct ep_registers *registers)
{
	struct ep_frame frame = {.pc = registers->pc, .activation = true};
	uint8_t code[2];

	if (!ep_evidence_code(evidence, registers->pc, code, sizeof(code)) || !is_return(code) ||
	    !read_word(evidence->source, registers->sp, &jump->address) || jump->address >> 47 == 0)
		return false;
	if (evidence->names)
		jump->at = ep_evidence_function(evidence, &frame);
	return true;
}

/*
 * It is where the address led. What lies below the stack pointer stays after a `ret`; a call leaves
 * its own return address at the stack pointer. A function that was called directly may have jumped
 * on; then only zero, which lies everywhere, can also be below by chance.
 */
static bool behind_return(struct jump *jump, const struct ep_evidence *evidence,
			  const struct ep_registers *registers, bool returned)
{
	uint64_t taken, caller = 0;
	enum ep_callsite site = EP_CALLSITE_NONE;

	if (!read_word(evidence->source, registers->sp - sizeof(taken), &taken) ||
	    taken != registers->pc)
		return false;
	if (read_word(evidence->source, registers->sp, &caller))
		site = callsite(evidence, caller, registers->pc);
	jump->address = taken;
	return site == EP_CALLSITE_NONE || (site == EP_CALLSITE_DIRECT && (taken || returned));
}

/* ---- in words ---- */

static void say_return(struct ep_report_cause *cause, const struct jump *jump,
		       const struct ep_function *function)
{
	char quoted[16], *name;

	cause->code = "return-address";
	cause->function = function;
	for (unsigned names = 0; names < EP_CAUSE_NAMES; names++) {
		name = ep_cause_name(function ? function->name : "a function", names);
		snprintf(cause->text[names], sizeof(cause->text[names]),
			 "%s returned to 0x%" PRIx64
			 "%s, where no code is: %s return address was overwritten",
			 name, jump->address, ep_death_quoted(jump->address, quoted),
			 function ? "its" : "the");
		free(name);
	}
}

void ep_report_return_init(struct ep_report_cause *cause, const struct ep_evidence *evidence,
			   const struct ep_death *death, const struct ep_source_thread *thread)
{
	const struct ep_registers *registers = &thread->registers;
	const struct ep_function *returned;
	struct ep_open_calls open;
	struct jump jump = {0};
	bool found;

	if (death->signal != SIGSEGV || !death->has_siginfo || death->code <= 0)
		return;
	if (death->code == SI_KERNEL) {
		if (at_return(&jump, evidence, registers))
			say_return(cause, &jump, jump.at);
		return;
	}
	if (death->address != registers->pc)
		return;
	ep_evidence_open_calls(evidence, ep_evidence_trace_thread(evidence, death->tid), &open);
	/* What a handler called is later. */
	returned = evidence->first.found ? NULL : open.returned;
	found = behind_return(&jump, evidence, registers, returned != NULL);
	if (found)
		say_return(cause, &jump, returned);
	ep_open_calls_deinit(&open);
}
