/* SPDX-License-Identifier: BSD-2-Clause */
/* location_impl.h: the stack machine that location expressions run on, and what its files share. */
#ifndef EPITAPH_LOCATION_IMPL_H
#define EPITAPH_LOCATION_IMPL_H

#include <dwarf.h>

#include "decoder/symbols/location.h"
#include "decoder/symbols/operand.h"

#define EP_MACHINE_STACK_MAX 64u

#define EP_NO_REGISTER "a register that was not saved"
#define EP_NO_VECTOR   "a register that is not known"
#define EP_NO_MEMORY   "memory that the core does not have"
#define EP_NO_SENSE    "an expression that makes no sense"
#define EP_NO_TYPE     "a number of a type that is not understood"

struct ep_location_machine {
	const struct ep_location_frame *frame;
	Dwarf_Attribute *attribute; /* what the operations come from */
	struct ep_operand stack[EP_MACHINE_STACK_MAX];
	size_t depth;
	unsigned steps;
	bool in_base;             /* of the frame: it must not ask for itself */
	bool in_variable;         /* that another one's expression asked for */
	bool is_value;            /* the top is the value, not its address */
	bool by_caller;           /* a value of the function's entry came into it */
	int in_register;          /* -1: it is not */
	const Dwarf_Op *implicit; /* DW_OP_implicit_value, DW_OP_implicit_pointer */
	const char *why;          /* it failed */
};

static inline bool ep_machine_fail(struct ep_location_machine *m, const char *why)
{
	m->why = why;
	return false;
}

/* Runs operations, from a stack that is as `m` has it; false: m->why. */
bool ep_machine_run(struct ep_location_machine *m, const Dwarf_Op *ops, size_t count);
/* The lowest 8 bytes of a register, also of a vector. */
bool ep_machine_register(struct ep_location_machine *m, uint64_t number, uint64_t *out);
/* The one register that the operations are. */
bool ep_machine_only_register(const Dwarf_Op *ops, size_t count, unsigned *number);
/* An integer of a variable, which must not be told by another variable in its turn. */
bool ep_machine_variable(struct ep_location_machine *m, Dwarf_Die *variable, uint64_t *out);

#endif
