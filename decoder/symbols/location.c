/* SPDX-License-Identifier: BSD-2-Clause */
/* location.c: what a location expression came to, at once or in pieces, and the attributes that
 * have one. */
#include "decoder/symbols/location.h"

#include <string.h>

#include "coredump/util/error.h"
#include "decoder/symbols/location_impl.h"
#include "decoder/symbols/type.h"

static void unknown(struct ep_location *out, const char *why)
{
	out->kind = *why ? EP_LOCATION_UNKNOWN : EP_LOCATION_NONE;
	out->why = why;
}

/* Of a register: as many as it has; 0: unknown. */
static size_t register_bytes(const struct ep_location_frame *frame, unsigned number,
			     uint8_t out[EP_LOCATION_VECTOR_SIZE])
{
	unsigned vector = number - EP_LOCATION_REGISTERS;

	if (number < EP_LOCATION_REGISTERS) {
		memcpy(out, &frame->registers[number], 8);
		return frame->known >> number & 1 ? 8 : 0;
	}
	if (vector >= EP_LOCATION_VECTORS)
		return 0;
	memcpy(out, frame->vectors[vector], frame->vector_size);
	return frame->vector_size;
}

static void append(struct ep_location *out, const void *bytes, size_t size)
{
	if (size > EP_LOCATION_BYTES_MAX - out->size)
		size = EP_LOCATION_BYTES_MAX - out->size;
	memcpy(out->bytes + out->size, bytes, size);
	out->size += size;
}

static void append_implicit(struct ep_location *out, const struct ep_location_machine *m)
{
	Dwarf_Block block;

	if (dwarf_getlocation_implicit_value(m->attribute, m->implicit, &block) == 0)
		append(out, block.data, block.length);
}

/* `size` 0: all that there is. */
static bool settle_bytes(struct ep_location *out, const struct ep_location_machine *m, size_t size)
{
	uint8_t bytes[EP_LOCATION_VECTOR_SIZE];
	size_t got, before = out->size;

	out->kind = EP_LOCATION_BYTES;
	if (m->implicit) {
		append_implicit(out, m);
		if (size && out->size - before > size)
			out->size = before + size;
		return true;
	}
	if (m->in_register >= 0) {
		got = register_bytes(m->frame, (unsigned)m->in_register, bytes);
	} else {
		got = m->stack[m->depth - 1].size;
		memcpy(bytes, &m->stack[m->depth - 1].bits, got);
	}
	if (got)
		append(out, bytes, size && size < got ? size : got);
	return got != 0;
}

static bool is_pointer(const struct ep_location_machine *m)
{
	return m->implicit && m->implicit->atom != DW_OP_implicit_value;
}

static void settle_pointer(struct ep_location *out, const struct ep_location_machine *m)
{
	if (dwarf_getlocation_die(m->attribute, m->implicit, &out->target) != 0) {
		unknown(out, EP_NO_SENSE);
		return;
	}
	out->kind = EP_LOCATION_POINTER;
	out->offset = m->implicit->number2;
}

/* Where the machine came to, with no pieces. */
static void settle(struct ep_location *out, const struct ep_location_machine *m)
{
	if (is_pointer(m)) {
		settle_pointer(out, m);
		return;
	}
	if (m->in_register >= 0 || m->is_value || m->implicit) {
		if (!settle_bytes(out, m, 0))
			unknown(out, m->in_register < (int)EP_LOCATION_REGISTERS ? EP_NO_REGISTER
										 : EP_NO_VECTOR);
		return;
	}
	if (!m->depth) {
		unknown(out, EP_NO_SENSE);
		return;
	}
	out->kind = EP_LOCATION_MEMORY;
	out->address = m->stack[m->depth - 1].bits;
}

/* The bytes that a piece is cut out of: of a register, a value, memory. How many came. */
static size_t piece_bytes(const struct ep_location_machine *m, uint64_t wanted,
			  uint8_t out[EP_LOCATION_BYTES_MAX])
{
	struct ep_location whole = {0};

	if (is_pointer(m))
		return 0;
	if (m->in_register >= 0 || m->is_value || m->implicit) {
		settle_bytes(&whole, m, 0);
		memcpy(out, whole.bytes, whole.size);
		return whole.size;
	}
	if (!m->depth || wanted > EP_LOCATION_BYTES_MAX ||
	    m->frame->read(m->frame->context, m->stack[m->depth - 1].bits, out, wanted) != EP_OK)
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
static void settle_piece(struct ep_location *out, const struct ep_location_machine *m,
			 uint64_t size, uint64_t offset, uint64_t *at)
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

static void forget(struct ep_location_machine *m)
{
	m->depth = 0;
	m->in_register = -1;
	m->is_value = false;
	m->implicit = NULL;
}

static void find_pieces(struct ep_location *out, struct ep_location_machine *m, const Dwarf_Op *ops,
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
		if (!ep_machine_run(m, ops + from, i - from))
			forget(m);
		settle_piece(out, m, bits ? ops[i].number : 8 * (ops[i].number & BYTES_MASK),
			     bits ? ops[i].number2 : 0, &at);
		from = i + 1;
	}
}

static void evaluate(struct ep_location *out, struct ep_location_machine *m, const Dwarf_Op *ops,
		     size_t count)
{
	if (has_pieces(ops, count))
		find_pieces(out, m, ops, count);
	else if (count == 0)
		unknown(out, "");
	else if (!ep_machine_run(m, ops, count))
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
		unknown(out, EP_NO_SENSE);
}

/* `asked`: by another one's expression. */
static void find(struct ep_location *out, const struct ep_location_frame *frame,
		 Dwarf_Die *variable, bool asked)
{
	struct ep_location_machine m = {.frame = frame, .in_register = -1, .in_variable = asked};
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

void ep_location_find(struct ep_location *out, const struct ep_location_frame *frame,
		      Dwarf_Die *variable)
{
	find(out, frame, variable, false);
}

bool ep_machine_variable(struct ep_location_machine *m, Dwarf_Die *variable, uint64_t *out)
{
	struct ep_location location;
	uint64_t size;
	Dwarf_Die type;

	*out = 0;
	if (m->in_variable || !ep_type_of(variable, &type) || !ep_type_size(&type, &size) ||
	    size == 0 || size > sizeof(*out))
		return ep_machine_fail(m, EP_NO_SENSE);
	find(&location, m->frame, variable, true);
	if (location.kind == EP_LOCATION_MEMORY)
		return m->frame->read(m->frame->context, location.address, out, size) == EP_OK ||
		       ep_machine_fail(m, EP_NO_MEMORY);
	if (location.kind != EP_LOCATION_BYTES || location.size < size)
		return ep_machine_fail(m, "");
	for (size_t i = 0; i < size; i++)
		if (location.missing[i])
			return ep_machine_fail(m, "");
	memcpy(out, location.bytes, size);
	return true;
}

/* Of what the machine came to: a register's, a constant's or the uppermost one. */
static bool result(struct ep_location_machine *m, uint64_t *out)
{
	Dwarf_Block block;

	if (m->in_register >= 0)
		return ep_machine_register(m, (unsigned)m->in_register, out);
	if (!m->implicit) {
		*out = m->depth ? m->stack[m->depth - 1].bits : 0;
		return m->depth > 0;
	}
	*out = 0;
	if (is_pointer(m) ||
	    dwarf_getlocation_implicit_value(m->attribute, m->implicit, &block) != 0 ||
	    block.length > sizeof(*out))
		return false;
	memcpy(out, block.data, block.length);
	return true;
}

bool ep_location_number(const struct ep_location_frame *frame, Dwarf_Attribute *expression,
			uint64_t *out)
{
	struct ep_location_machine m = {.frame = frame, .attribute = expression, .in_register = -1};
	Dwarf_Die variable;
	Dwarf_Op *ops;
	size_t count;

	if (dwarf_formref_die(expression, &variable))
		return ep_machine_variable(&m, &variable, out);
	return dwarf_getlocation(expression, &ops, &count) == 0 && !has_pieces(ops, count) &&
	       ep_machine_run(&m, ops, count) && result(&m, out);
}

bool ep_location_register(Dwarf_Die *die, unsigned *number)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t count;

	return dwarf_attr(die, DW_AT_location, &attribute) &&
	       dwarf_getlocation(&attribute, &ops, &count) == 0 &&
	       ep_machine_only_register(ops, count, number);
}
