/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * location_machine.c: a stack machine over libdw's decoded operations. Numbers on its stack have at
 * most 64 bits; types that are wider are not understood, and said so.
 */
#include <string.h>

#include "coredump/util/error.h"
#include "decoder/symbols/location_impl.h"
#include "decoder/symbols/type.h"

#define STEPS_MAX 1024u /* operations of one variable: a DW_OP_bra may go back */

static bool push_operand(struct ep_location_machine *m, struct ep_operand operand)
{
	if (m->depth == EP_MACHINE_STACK_MAX)
		return ep_machine_fail(m, EP_NO_SENSE);
	m->stack[m->depth++] = operand;
	return true;
}

static bool push(struct ep_location_machine *m, uint64_t value)
{
	return push_operand(m, ep_operand_generic(value));
}

static bool pop_operand(struct ep_location_machine *m, struct ep_operand *out)
{
	if (m->depth == 0)
		return ep_machine_fail(m, EP_NO_SENSE);
	*out = m->stack[--m->depth];
	return true;
}

/* An address, a condition. */
static bool pop(struct ep_location_machine *m, uint64_t *out)
{
	struct ep_operand operand;

	if (!pop_operand(m, &operand))
		return false;
	*out = operand.bits;
	return operand.kind != EP_OPERAND_REAL || ep_machine_fail(m, EP_NO_SENSE);
}

static bool push_register(struct ep_location_machine *m, uint64_t number, uint64_t offset)
{
	if (number >= EP_LOCATION_REGISTERS || !(m->frame->known >> number & 1))
		return ep_machine_fail(m, EP_NO_REGISTER);
	return push(m, m->frame->registers[number] + offset);
}

static bool push_memory(struct ep_location_machine *m, uint64_t size, struct ep_operand like)
{
	uint64_t address, value = 0;

	if (!pop(m, &address))
		return false;
	if (size == 0 || size > sizeof(value))
		return ep_machine_fail(m, EP_NO_SENSE);
	if (m->frame->read(m->frame->context, address, &value, size) != EP_OK)
		return ep_machine_fail(m, EP_NO_MEMORY);
	return push_operand(m, ep_operand_of_bits(like, value));
}

/* ---- numbers of a type ---- */

/* The zero of the type that the operation names; none is the generic one. */
static bool type_of(struct ep_location_machine *m, const Dwarf_Op *op, struct ep_operand *out)
{
	bool converts = op->atom == DW_OP_convert || op->atom == DW_OP_GNU_convert ||
			op->atom == DW_OP_reinterpret || op->atom == DW_OP_GNU_reinterpret;
	Dwarf_Die type;

	*out = ep_operand_generic(0);
	if (converts && op->number == 0)
		return true;
	if (dwarf_getlocation_die(m->attribute, op, &type) != 0)
		return ep_machine_fail(m, EP_NO_SENSE);
	return ep_operand_of_type(&type, out) || ep_machine_fail(m, EP_NO_TYPE);
}

/* Its lowest 8 bytes; of a vector register, too. */
bool ep_machine_register(struct ep_location_machine *m, uint64_t number, uint64_t *out)
{
	uint64_t vector = number - EP_LOCATION_REGISTERS;

	if (number < EP_LOCATION_REGISTERS) {
		*out = m->frame->registers[number];
		return m->frame->known >> number & 1 || ep_machine_fail(m, EP_NO_REGISTER);
	}
	if (vector >= EP_LOCATION_VECTORS || !m->frame->vector_size)
		return ep_machine_fail(m, EP_NO_VECTOR);
	memcpy(out, m->frame->vectors[vector], sizeof(*out));
	return true;
}

static bool push_constant(struct ep_location_machine *m, const Dwarf_Op *op, struct ep_operand like)
{
	Dwarf_Attribute attribute;
	Dwarf_Block block;
	uint64_t bits = 0;

	if (dwarf_getlocation_attr(m->attribute, op, &attribute) != 0 ||
	    dwarf_formblock(&attribute, &block) != 0 || block.length != like.size)
		return ep_machine_fail(m, EP_NO_SENSE);
	memcpy(&bits, block.data, like.size);
	return push_operand(m, ep_operand_of_bits(like, bits));
}

static bool change_type(struct ep_location_machine *m, struct ep_operand like, bool convert)
{
	struct ep_operand from;

	if (!pop_operand(m, &from))
		return false;
	if (convert)
		return push_operand(m, ep_operand_convert(like, from));
	if (from.size != like.size)
		return ep_machine_fail(m, EP_NO_SENSE);
	return push_operand(m, ep_operand_of_bits(like, from.bits));
}

static bool operate_typed(struct ep_location_machine *m, const Dwarf_Op *op)
{
	struct ep_operand like;
	uint64_t bits;

	if (!type_of(m, op, &like))
		return false;
	switch (op->atom) {
	case DW_OP_const_type:
	case DW_OP_GNU_const_type:
		return push_constant(m, op, like);
	case DW_OP_regval_type:
	case DW_OP_GNU_regval_type:
		return ep_machine_register(m, op->number, &bits) &&
		       push_operand(m, ep_operand_of_bits(like, bits));
	case DW_OP_deref_type:
	case DW_OP_GNU_deref_type:
		return push_memory(m, op->number, like);
	default:
		return change_type(m, like,
				   op->atom == DW_OP_convert || op->atom == DW_OP_GNU_convert);
	}
}

/* ---- what is apart from the stack ---- */

/* A register, or an expression of its own: DW_OP_call_frame_cfa of gcc. */
static bool push_frame_base(struct ep_location_machine *m, uint64_t offset)
{
	Dwarf_Die function = m->frame->base;
	struct ep_location_machine base = {.frame = m->frame,
					   .steps = m->steps,
					   .in_base = true,
					   .in_variable = m->in_variable,
					   .in_register = -1};
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t count;
	bool done;

	if (m->in_base || !function.addr ||
	    !dwarf_attr_integrate(&function, DW_AT_frame_base, &attribute) ||
	    dwarf_getlocation_addr(&attribute, m->frame->address, &ops, &count, 1) != 1)
		return ep_machine_fail(m, "no frame base in the debug information");
	base.attribute = &attribute;
	done = ep_machine_run(&base, ops, count);
	m->steps = base.steps;
	if (!done)
		return ep_machine_fail(m, base.why);
	if (base.in_register >= 0)
		return push_register(m, (unsigned)base.in_register, offset);
	return base.depth ? push(m, base.stack[base.depth - 1].bits + offset)
			  : ep_machine_fail(m, EP_NO_SENSE);
}

static bool push_address(struct ep_location_machine *m, const Dwarf_Op *op)
{
	Dwarf_Attribute attribute;
	Dwarf_Addr address;

	if (dwarf_getlocation_attr(m->attribute, op, &attribute) != 0 ||
	    dwarf_formaddr(&attribute, &address) != 0)
		return ep_machine_fail(m, EP_NO_SENSE);
	return push(m, address + m->frame->bias);
}

static bool is_register(uint64_t number)
{
	return number < EP_LOCATION_REGISTERS + EP_LOCATION_VECTORS &&
	       number != EP_LOCATION_REGISTERS - 1;
}

bool ep_machine_only_register(const Dwarf_Op *ops, size_t count, unsigned *number)
{
	uint64_t found;

	if (count != 1)
		return false;
	if (ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31)
		found = ops[0].atom - DW_OP_reg0;
	else if (ops[0].atom == DW_OP_regx || ops[0].atom == DW_OP_regval_type ||
		 ops[0].atom == DW_OP_GNU_regval_type)
		found = ops[0].number;
	else
		return false;
	*number = (unsigned)found;
	return is_register(found);
}

/* What a register held, as the type that is told with it, or as all of it that is known. */
static bool push_entry(struct ep_location_machine *m, const Dwarf_Op *op)
{
	struct ep_operand like = ep_operand_generic(0);
	Dwarf_Attribute attribute;
	unsigned number;
	uint64_t value;
	Dwarf_Op *ops;
	size_t count;

	if (dwarf_getlocation_attr(m->attribute, op, &attribute) != 0 ||
	    dwarf_getlocation(&attribute, &ops, &count) != 0 ||
	    !ep_machine_only_register(ops, count, &number))
		return ep_machine_fail(m, EP_NO_SENSE);
	if ((ops[0].atom == DW_OP_regval_type || ops[0].atom == DW_OP_GNU_regval_type) &&
	    !type_of(m, &ops[0], &like))
		return false;
	if (!m->frame->entry || !m->frame->entry(m->frame->context, number, &value))
		return ep_machine_fail(m, "");
	m->by_caller = true;
	return push_operand(m, ep_operand_of_bits(like, value));
}

static bool push_tls(struct ep_location_machine *m)
{
	uint64_t offset, address;

	if (!pop(m, &offset))
		return false;
	if (!m->frame->tls || !m->frame->tls(m->frame->context, offset, &address))
		return ep_machine_fail(m, "a variable of each thread's own");
	return push(m, address);
}

/* Of a variable that is told by name, in its own type. */
static bool push_variable(struct ep_location_machine *m, const Dwarf_Op *op)
{
	Dwarf_Die variable, type;
	struct ep_operand like;
	uint64_t bits;

	if (dwarf_getlocation_die(m->attribute, op, &variable) != 0 ||
	    !ep_type_of(&variable, &type) || !ep_type_peel(&type))
		return ep_machine_fail(m, EP_NO_SENSE);
	if (!ep_operand_of_type(&type, &like))
		return ep_machine_fail(m, EP_NO_TYPE);
	return ep_machine_variable(m, &variable, &bits) &&
	       push_operand(m, ep_operand_of_bits(like, bits));
}

/* ---- operations ---- */

static bool pick(struct ep_location_machine *m, uint64_t index)
{
	return index < m->depth ? push_operand(m, m->stack[m->depth - 1 - index])
				: ep_machine_fail(m, EP_NO_SENSE);
}

static bool rotate(struct ep_location_machine *m, size_t count)
{
	struct ep_operand top, *at;

	if (m->depth < count)
		return ep_machine_fail(m, EP_NO_SENSE);
	at = &m->stack[m->depth - count];
	top = m->stack[m->depth - 1];
	memmove(at + 1, at, (count - 1) * sizeof(*at));
	*at = top;
	return true;
}

static bool unary(struct ep_location_machine *m, const Dwarf_Op *op)
{
	struct ep_operand a;

	if (!pop_operand(m, &a))
		return false;
	if (op->atom != DW_OP_plus_uconst)
		return ep_operand_unary(op->atom, a, &a) ? push_operand(m, a)
							 : ep_machine_fail(m, EP_NO_SENSE);
	if (a.kind == EP_OPERAND_REAL)
		return ep_machine_fail(m, EP_NO_SENSE);
	return push_operand(m, ep_operand_of_bits(a, a.bits + op->number));
}

static bool binary(struct ep_location_machine *m, unsigned atom)
{
	struct ep_operand a, b, result;

	if (!pop_operand(m, &b) || !pop_operand(m, &a))
		return false;
	return ep_operand_binary(atom, a, b, &result) ? push_operand(m, result)
						      : ep_machine_fail(m, EP_NO_SENSE);
}

static bool move(struct ep_location_machine *m, const Dwarf_Op *op)
{
	struct ep_operand ignored;

	switch (op->atom) {
	case DW_OP_dup:
		return pick(m, 0);
	case DW_OP_over:
		return pick(m, 1);
	case DW_OP_pick:
		return pick(m, op->number);
	case DW_OP_drop:
		return pop_operand(m, &ignored);
	case DW_OP_swap:
		return rotate(m, 2);
	default:
		return rotate(m, 3);
	}
}

static bool finish(struct ep_location_machine *m, const Dwarf_Op *op)
{
	switch (op->atom) {
	case DW_OP_regx:
		m->in_register = op->number <= 32 ? (int)op->number : 255;
		return true;
	case DW_OP_stack_value:
		m->is_value = true;
		return m->depth ? true : ep_machine_fail(m, EP_NO_SENSE);
	case DW_OP_implicit_value:
	case DW_OP_implicit_pointer:
	case DW_OP_GNU_implicit_pointer:
		m->implicit = op;
		return true;
	case DW_OP_form_tls_address:
	case DW_OP_GNU_push_tls_address:
		return push_tls(m);
	case DW_OP_GNU_variable_value:
		return push_variable(m, op);
	case DW_OP_const_type:
	case DW_OP_regval_type:
	case DW_OP_deref_type:
	case DW_OP_convert:
	case DW_OP_reinterpret:
	case DW_OP_GNU_const_type:
	case DW_OP_GNU_regval_type:
	case DW_OP_GNU_deref_type:
	case DW_OP_GNU_convert:
	case DW_OP_GNU_reinterpret:
		return operate_typed(m, op);
	default:
		return ep_machine_fail(m, "an operation that is not understood");
	}
}

/* DW_OP_abs … xor, eq … ne. */
static bool calculate(struct ep_location_machine *m, const Dwarf_Op *op)
{
	switch (op->atom) {
	case DW_OP_abs:
	case DW_OP_neg:
	case DW_OP_not:
	case DW_OP_plus_uconst:
		return unary(m, op);
	default:
		return binary(m, op->atom);
	}
}

static bool operate(struct ep_location_machine *m, const Dwarf_Op *op)
{
	unsigned atom = op->atom;

	if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31)
		return push(m, atom - DW_OP_lit0);
	if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31)
		return push_register(m, atom - DW_OP_breg0, op->number);
	if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31) {
		m->in_register = (int)(atom - DW_OP_reg0);
		return true;
	}
	if (atom >= DW_OP_const1u && atom <= DW_OP_consts)
		return push(m, op->number);
	if (atom >= DW_OP_dup && atom <= DW_OP_rot)
		return move(m, op);
	if ((atom >= DW_OP_abs && atom <= DW_OP_xor) || (atom >= DW_OP_eq && atom <= DW_OP_ne))
		return calculate(m, op);
	switch (atom) {
	case DW_OP_nop:
		return true;
	case DW_OP_addr:
		return push(m, op->number + m->frame->bias);
	case DW_OP_addrx:
	case DW_OP_GNU_addr_index:
	case DW_OP_constx:
	case DW_OP_GNU_const_index:
		return push_address(m, op);
	case DW_OP_bregx:
		return push_register(m, op->number, op->number2);
	case DW_OP_fbreg:
		return push_frame_base(m, op->number);
	case DW_OP_call_frame_cfa:
		return m->frame->cfa_known
			       ? push(m, m->frame->cfa)
			       : ep_machine_fail(m, "a frame whose caller is not known");
	case DW_OP_deref:
		return push_memory(m, 8, ep_operand_generic(0));
	case DW_OP_deref_size:
		return push_memory(m, op->number, ep_operand_generic(0));
	case DW_OP_entry_value:
	case DW_OP_GNU_entry_value:
		return push_entry(m, op);
	default:
		return finish(m, op);
	}
}

/* ---- the way through them ---- */

static bool is_branch(unsigned atom)
{
	return atom == DW_OP_skip || atom == DW_OP_bra;
}

/* *at: the operation that a branch leads to, or the end. Its size is 3 bytes. */
static bool branch(struct ep_location_machine *m, const Dwarf_Op *ops, size_t count, size_t *at)
{
	const Dwarf_Op *op = &ops[*at];
	Dwarf_Word target = op->offset + 3 + op->number;
	uint64_t condition = 1;
	size_t i = 0;

	if (op->atom == DW_OP_bra && !pop(m, &condition))
		return false;
	if (!condition) {
		++*at;
		return true;
	}
	while (i < count && ops[i].offset != target)
		i++;
	/* What is behind the last one is its end, too. */
	if (i == count && target <= ops[count - 1].offset)
		return ep_machine_fail(m, EP_NO_SENSE);
	*at = i;
	return true;
}

bool ep_machine_run(struct ep_location_machine *m, const Dwarf_Op *ops, size_t count)
{
	size_t i = 0;

	while (i < count) {
		if (m->steps++ >= STEPS_MAX)
			return ep_machine_fail(m, "an expression without an end");
		if (is_branch(ops[i].atom)) {
			if (!branch(m, ops, count, &i))
				return false;
			continue;
		}
		if (!operate(m, &ops[i]))
			return false;
		i++;
	}
	return true;
}
