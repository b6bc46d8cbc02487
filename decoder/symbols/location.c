/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * location.c: a stack machine over libdw's decoded operations. Every number on its stack is 64
 * bits; typed operations of DWARF 5 other than plain conversions are not understood, and said so.
 */
#include "decoder/symbols/location.h"

#include <dwarf.h>
#include <string.h>

#include "coredump/util/error.h"
#include "decoder/symbols/type.h"

#define STACK_MAX 64u
#define STEPS_MAX 1024u /* operations of one variable: a DW_OP_bra may go back */

#define NO_REGISTER "a register that was not saved"
#define NO_MEMORY   "memory that the core does not have"
#define NO_SENSE    "an expression that makes no sense"

struct machine {
	const struct ep_location_frame *frame;
	Dwarf_Attribute *attribute; /* what the operations come from */
	uint64_t stack[STACK_MAX];
	size_t depth;
	unsigned steps;
	bool in_base;             /* of the frame: it must not ask for itself */
	bool is_value;            /* the top is the value, not its address */
	bool by_caller;           /* a value of the function's entry came into it */
	int in_register;          /* -1: it is not */
	const Dwarf_Op *implicit; /* DW_OP_implicit_value */
	const char *why;          /* it failed */
};

static bool fail(struct machine *m, const char *why)
{
	m->why = why;
	return false;
}

static bool push(struct machine *m, uint64_t value)
{
	if (m->depth == STACK_MAX)
		return fail(m, NO_SENSE);
	m->stack[m->depth++] = value;
	return true;
}

static bool pop(struct machine *m, uint64_t *out)
{
	if (m->depth == 0)
		return fail(m, NO_SENSE);
	*out = m->stack[--m->depth];
	return true;
}

static bool push_register(struct machine *m, uint64_t number, uint64_t offset)
{
	if (number >= EP_LOCATION_REGISTERS || !(m->frame->known >> number & 1))
		return fail(m, NO_REGISTER);
	return push(m, m->frame->registers[number] + offset);
}

static bool push_memory(struct machine *m, uint64_t size)
{
	uint64_t address, value = 0;

	if (!pop(m, &address))
		return false;
	if (size == 0 || size > sizeof(value))
		return fail(m, NO_SENSE);
	if (m->frame->read(m->frame->context, address, &value, size) != EP_OK)
		return fail(m, NO_MEMORY);
	return push(m, value);
}

/* ---- what is apart from the stack ---- */

static bool run(struct machine *m, const Dwarf_Op *ops, size_t count);

/* A register, or an expression of its own: DW_OP_call_frame_cfa of gcc. */
static bool push_frame_base(struct machine *m, uint64_t offset)
{
	Dwarf_Die function = m->frame->base;
	struct machine base = {
		.frame = m->frame, .steps = m->steps, .in_base = true, .in_register = -1};
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t count;
	bool done;

	if (m->in_base || !function.addr ||
	    !dwarf_attr_integrate(&function, DW_AT_frame_base, &attribute) ||
	    dwarf_getlocation_addr(&attribute, m->frame->address, &ops, &count, 1) != 1)
		return fail(m, "a frame base that is not told");
	base.attribute = &attribute;
	done = run(&base, ops, count);
	m->steps = base.steps;
	if (!done)
		return fail(m, base.why);
	if (base.in_register >= 0)
		return push_register(m, (unsigned)base.in_register, offset);
	return base.depth ? push(m, base.stack[base.depth - 1] + offset) : fail(m, NO_SENSE);
}

static bool push_address(struct machine *m, const Dwarf_Op *op)
{
	Dwarf_Attribute attribute;
	Dwarf_Addr address;

	if (dwarf_getlocation_attr(m->attribute, op, &attribute) != 0 ||
	    dwarf_formaddr(&attribute, &address) != 0)
		return fail(m, NO_SENSE);
	return push(m, address + m->frame->bias);
}

static bool only_register(const Dwarf_Op *ops, size_t count, unsigned *number)
{
	if (count != 1)
		return false;
	if (ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg15)
		*number = ops[0].atom - DW_OP_reg0;
	else if (ops[0].atom == DW_OP_regx && ops[0].number < 16)
		*number = (unsigned)ops[0].number;
	else
		return false;
	return true;
}

static bool push_entry(struct machine *m, const Dwarf_Op *op)
{
	Dwarf_Attribute attribute;
	unsigned number;
	uint64_t value;
	Dwarf_Op *ops;
	size_t count;

	if (dwarf_getlocation_attr(m->attribute, op, &attribute) != 0 ||
	    dwarf_getlocation(&attribute, &ops, &count) != 0 || !only_register(ops, count, &number))
		return fail(m, NO_SENSE);
	if (!m->frame->entry || !m->frame->entry(m->frame->context, number, &value))
		return fail(m, "");
	m->by_caller = true;
	return push(m, value);
}

/* ---- operations ---- */

static bool pick(struct machine *m, uint64_t index)
{
	return index < m->depth ? push(m, m->stack[m->depth - 1 - index]) : fail(m, NO_SENSE);
}

static bool rotate(struct machine *m, size_t count)
{
	uint64_t top, *at;

	if (m->depth < count)
		return fail(m, NO_SENSE);
	at = &m->stack[m->depth - count];
	top = m->stack[m->depth - 1];
	memmove(at + 1, at, (count - 1) * sizeof(*at));
	*at = top;
	return true;
}

static bool unary(struct machine *m, const Dwarf_Op *op)
{
	uint64_t a;

	if (!pop(m, &a))
		return false;
	switch (op->atom) {
	case DW_OP_abs:
		return push(m, (int64_t)a < 0 ? -a : a);
	case DW_OP_neg:
		return push(m, -a);
	case DW_OP_not:
		return push(m, ~a);
	default:
		return push(m, a + op->number); /* DW_OP_plus_uconst */
	}
}

static bool divide(struct machine *m, uint64_t a, uint64_t b, bool modulo)
{
	if (b == 0)
		return fail(m, NO_SENSE);
	if (modulo)
		return push(m, a % b);
	/* The only signed quotient that does not fit wraps around. */
	return push(m, b == UINT64_MAX ? -a : (uint64_t)((int64_t)a / (int64_t)b));
}

static uint64_t shift_signed(uint64_t a, uint64_t b)
{
	return (uint64_t)((int64_t)a >> (b > 63 ? 63 : b));
}

static bool binary(struct machine *m, unsigned atom)
{
	uint64_t a, b;

	if (!pop(m, &b) || !pop(m, &a))
		return false;
	switch (atom) {
	case DW_OP_and:
		return push(m, a & b);
	case DW_OP_or:
		return push(m, a | b);
	case DW_OP_xor:
		return push(m, a ^ b);
	case DW_OP_plus:
		return push(m, a + b);
	case DW_OP_minus:
		return push(m, a - b);
	case DW_OP_mul:
		return push(m, a * b);
	case DW_OP_div:
	case DW_OP_mod:
		return divide(m, a, b, atom == DW_OP_mod);
	case DW_OP_shl:
		return push(m, b < 64 ? a << b : 0);
	case DW_OP_shr:
		return push(m, b < 64 ? a >> b : 0);
	case DW_OP_shra:
		return push(m, shift_signed(a, b));
	case DW_OP_eq:
		return push(m, a == b);
	case DW_OP_ne:
		return push(m, a != b);
	case DW_OP_lt:
		return push(m, (int64_t)a < (int64_t)b);
	case DW_OP_le:
		return push(m, (int64_t)a <= (int64_t)b);
	case DW_OP_gt:
		return push(m, (int64_t)a > (int64_t)b);
	default:
		return push(m, (int64_t)a >= (int64_t)b);
	}
}

static bool move(struct machine *m, const Dwarf_Op *op)
{
	uint64_t ignored;

	switch (op->atom) {
	case DW_OP_dup:
		return pick(m, 0);
	case DW_OP_over:
		return pick(m, 1);
	case DW_OP_pick:
		return pick(m, op->number);
	case DW_OP_drop:
		return pop(m, &ignored);
	case DW_OP_swap:
		return rotate(m, 2);
	default:
		return rotate(m, 3);
	}
}

static bool finish(struct machine *m, const Dwarf_Op *op)
{
	switch (op->atom) {
	case DW_OP_regx:
		m->in_register = op->number <= 32 ? (int)op->number : 255;
		return true;
	case DW_OP_stack_value:
		m->is_value = true;
		return m->depth ? true : fail(m, NO_SENSE);
	case DW_OP_implicit_value:
		m->implicit = op;
		return true;
	case DW_OP_implicit_pointer:
	case DW_OP_GNU_implicit_pointer:
		return fail(m, "synthetic pointer");
	case DW_OP_form_tls_address:
	case DW_OP_GNU_push_tls_address:
		return fail(m, "a variable of each thread's own");
	default:
		return fail(m, "an operation that is not understood");
	}
}

static bool operate(struct machine *m, const Dwarf_Op *op)
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
		return m->frame->cfa_known ? push(m, m->frame->cfa)
					   : fail(m, "a frame whose caller is not known");
	case DW_OP_deref:
		return push_memory(m, 8);
	case DW_OP_deref_size:
		return push_memory(m, op->number);
	case DW_OP_entry_value:
	case DW_OP_GNU_entry_value:
		return push_entry(m, op);
	case DW_OP_abs:
	case DW_OP_neg:
	case DW_OP_not:
	case DW_OP_plus_uconst:
		return unary(m, op);
	default:
		break;
	}
	if ((atom >= DW_OP_and && atom <= DW_OP_xor) || (atom >= DW_OP_eq && atom <= DW_OP_ne))
		return binary(m, atom);
	return finish(m, op);
}

/* ---- the way through them ---- */

static bool is_branch(unsigned atom)
{
	return atom == DW_OP_skip || atom == DW_OP_bra;
}

/* *at: the operation that a branch leads to, or the end. Its size is 3 bytes. */
static bool branch(struct machine *m, const Dwarf_Op *ops, size_t count, size_t *at)
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
		return fail(m, NO_SENSE);
	*at = i;
	return true;
}

static bool run(struct machine *m, const Dwarf_Op *ops, size_t count)
{
	size_t i = 0;

	while (i < count) {
		if (m->steps++ >= STEPS_MAX)
			return fail(m, "an expression without an end");
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

/* ---- one location, or pieces of several ---- */

static void unknown(struct ep_location *out, const char *why)
{
	out->kind = *why ? EP_LOCATION_UNKNOWN : EP_LOCATION_NONE;
	out->why = why;
}

/* Of a register: as many as it has; 0: unknown. */
static size_t register_bytes(const struct ep_location_frame *frame, unsigned number,
			     uint8_t out[16])
{
	unsigned vector = number - EP_LOCATION_REGISTERS;

	if (number < EP_LOCATION_REGISTERS) {
		memcpy(out, &frame->registers[number], 8);
		return frame->known >> number & 1 ? 8 : 0;
	}
	if (vector >= EP_LOCATION_VECTORS || !frame->vectors_known)
		return 0;
	memcpy(out, frame->vectors[vector], 16);
	return 16;
}

static void append(struct ep_location *out, const void *bytes, size_t size)
{
	if (size > EP_LOCATION_BYTES_MAX - out->size)
		size = EP_LOCATION_BYTES_MAX - out->size;
	memcpy(out->bytes + out->size, bytes, size);
	out->size += size;
}

static void append_implicit(struct ep_location *out, const struct machine *m)
{
	Dwarf_Block block;

	if (dwarf_getlocation_implicit_value(m->attribute, m->implicit, &block) == 0)
		append(out, block.data, block.length);
}

/* `size` 0: all that there is. */
static bool settle_bytes(struct ep_location *out, const struct machine *m, size_t size)
{
	uint8_t bytes[16];
	size_t got = sizeof(m->stack[0]), before = out->size;

	out->kind = EP_LOCATION_BYTES;
	if (m->implicit) {
		append_implicit(out, m);
		if (size && out->size - before > size)
			out->size = before + size;
		return true;
	}
	if (m->in_register >= 0)
		got = register_bytes(m->frame, (unsigned)m->in_register, bytes);
	else
		memcpy(bytes, &m->stack[m->depth - 1], got);
	if (got)
		append(out, bytes, size && size < got ? size : got);
	return got != 0;
}

/* Where the machine came to, with no pieces. */
static void settle(struct ep_location *out, const struct machine *m)
{
	if (m->in_register >= 0 || m->is_value || m->implicit) {
		if (!settle_bytes(out, m, 0))
			unknown(out, m->in_register < (int)EP_LOCATION_REGISTERS
					     ? NO_REGISTER
					     : "a register that is not known");
		return;
	}
	if (!m->depth) {
		unknown(out, NO_SENSE);
		return;
	}
	out->kind = EP_LOCATION_MEMORY;
	out->address = m->stack[m->depth - 1];
}

/* The bytes that a piece is cut out of: of a register, a value, memory. How many came. */
static size_t piece_bytes(const struct machine *m, uint64_t wanted,
			  uint8_t out[EP_LOCATION_BYTES_MAX])
{
	struct ep_location whole = {0};

	if (m->in_register >= 0 || m->is_value || m->implicit) {
		settle_bytes(&whole, m, 0);
		memcpy(out, whole.bytes, whole.size);
		return whole.size;
	}
	if (!m->depth || wanted > EP_LOCATION_BYTES_MAX ||
	    m->frame->read(m->frame->context, m->stack[m->depth - 1], out, wanted) != EP_OK)
		return 0;
	return wanted;
}

#define BITS_MAX   (8u * EP_LOCATION_BYTES_MAX)
#define BYTES_MASK (UINT64_MAX >> 3) /* 8 times as many are a number, too */

static void put_bit(struct ep_location *out, uint64_t at, bool there, bool bit)
{
	out->missing[at / 8] |= (uint8_t)(!there << at % 8);
	out->bytes[at / 8] |= (uint8_t)((there && bit) << at % 8);
}

/* A piece of `size` bits from bit `offset` of it on; *at: where it goes. */
static void settle_piece(struct ep_location *out, const struct machine *m, uint64_t size,
			 uint64_t offset, uint64_t *at)
{
	uint8_t bytes[EP_LOCATION_BYTES_MAX];
	uint64_t got = 0;

	if (size > BITS_MAX - *at)
		size = BITS_MAX - *at;
	if (offset < BITS_MAX)
		got = 8 * piece_bytes(m, (offset + size + 7) / 8, bytes);
	for (uint64_t i = 0; i < size; i++) {
		uint64_t from = offset + i;
		bool there = from < got;

		put_bit(out, *at + i, there, there && bytes[from / 8] >> from % 8 & 1);
	}
	*at += size;
	out->size = (*at + 7) / 8;
}

static bool has_pieces(const Dwarf_Op *ops, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (ops[i].atom == DW_OP_piece || ops[i].atom == DW_OP_bit_piece)
			return true;
	return false;
}

static void forget(struct machine *m)
{
	m->depth = 0;
	m->in_register = -1;
	m->is_value = false;
	m->implicit = NULL;
}

static void find_pieces(struct ep_location *out, struct machine *m, const Dwarf_Op *ops,
			size_t count)
{
	uint64_t at = 0;
	size_t from = 0;

	out->kind = EP_LOCATION_BYTES;
	for (size_t i = 0; i < count; i++) {
		bool bits = ops[i].atom == DW_OP_bit_piece;

		if (!bits && ops[i].atom != DW_OP_piece)
			continue;
		forget(m);
		/* A piece that cannot be had is missing as one that is nowhere. */
		if (!run(m, ops + from, i - from))
			forget(m);
		settle_piece(out, m, bits ? ops[i].number : 8 * (ops[i].number & BYTES_MASK),
			     bits ? ops[i].number2 : 0, &at);
		from = i + 1;
	}
}

static void evaluate(struct ep_location *out, struct machine *m, const Dwarf_Op *ops, size_t count)
{
	if (has_pieces(ops, count))
		find_pieces(out, m, ops, count);
	else if (count == 0)
		unknown(out, "");
	else if (!run(m, ops, count))
		unknown(out, m->why);
	else
		settle(out, m);
	out->by_caller = m->by_caller;
}

/* ---- attributes ---- */

static void find_constant(struct ep_location *out, Dwarf_Attribute *attribute)
{
	const char *text;
	Dwarf_Block block;
	int64_t number;

	out->kind = EP_LOCATION_BYTES;
	if (dwarf_formblock(attribute, &block) == 0)
		append(out, block.data, block.length);
	else if (ep_type_constant(attribute, &number))
		append(out, &number, sizeof(number));
	else if ((text = dwarf_formstring(attribute)))
		append(out, text, strlen(text) + 1);
	else
		unknown(out, NO_SENSE);
}

void ep_location_find(struct ep_location *out, const struct ep_location_frame *frame,
		      Dwarf_Die *variable)
{
	struct machine m = {.frame = frame, .in_register = -1};
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t count;
	int found;

	*out = (struct ep_location){.kind = EP_LOCATION_NONE, .why = ""};
	if (!dwarf_attr_integrate(variable, DW_AT_location, &attribute)) {
		if (dwarf_attr_integrate(variable, DW_AT_const_value, &attribute))
			find_constant(out, &attribute);
		return;
	}
	m.attribute = &attribute;
	found = dwarf_getlocation_addr(&attribute, frame->address, &ops, &count, 1);
	if (found < 0)
		unknown(out, "an expression that is not understood");
	else if (found > 0)
		evaluate(out, &m, ops, count);
}

bool ep_location_number(const struct ep_location_frame *frame, Dwarf_Attribute *expression,
			uint64_t *out)
{
	struct machine m = {.frame = frame, .attribute = expression, .in_register = -1};
	Dwarf_Op *ops;
	size_t count;

	if (dwarf_getlocation(expression, &ops, &count) != 0 || has_pieces(ops, count) ||
	    !run(&m, ops, count))
		return false;
	if (m.in_register >= 0 && !push_register(&m, (unsigned)m.in_register, 0))
		return false;
	if (!m.depth || m.implicit)
		return false;
	*out = m.stack[m.depth - 1];
	return true;
}

bool ep_location_register(Dwarf_Die *die, unsigned *number)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t count;

	return dwarf_attr(die, DW_AT_location, &attribute) &&
	       dwarf_getlocation(&attribute, &ops, &count) == 0 &&
	       only_register(ops, count, number);
}
