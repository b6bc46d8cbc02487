/* SPDX-License-Identifier: BSD-2-Clause */
/* operand.c: all arithmetic is of 64 bits, and what does not fit its type is cut off behind it. */
#include "decoder/symbols/operand.h"

#include <dwarf.h>
#include <string.h>

#include "decoder/symbols/type.h"

/* ---- types ---- */

bool ep_operand_of_type(Dwarf_Die *type, struct ep_operand *out)
{
	uint64_t encoding, size;

	if (dwarf_tag(type) != DW_TAG_base_type || !ep_type_size(type, &size) ||
	    !ep_type_number(type, DW_AT_encoding, &encoding) ||
	    (size != 1 && size != 2 && size != 4 && size != 8) ||
	    (encoding == DW_ATE_float && size < 4))
		return false;
	*out = (struct ep_operand){.size = (uint8_t)size, .kind = EP_OPERAND_UNSIGNED};
	if (encoding == DW_ATE_float)
		out->kind = EP_OPERAND_REAL;
	else if (encoding == DW_ATE_signed || encoding == DW_ATE_signed_char)
		out->kind = EP_OPERAND_SIGNED;
	else if (encoding == DW_ATE_complex_float || encoding == DW_ATE_imaginary_float ||
		 encoding == DW_ATE_decimal_float)
		return false;
	return true;
}

struct ep_operand ep_operand_of_bits(struct ep_operand like, uint64_t bits)
{
	unsigned unused = 64 - 8u * like.size;

	if (like.kind == EP_OPERAND_SIGNED)
		like.bits = (uint64_t)((int64_t)(bits << unused) >> unused);
	else
		like.bits = bits << unused >> unused;
	return like;
}

static double real_of(struct ep_operand a)
{
	double wide;
	float narrow;

	if (a.size == sizeof(narrow)) {
		memcpy(&narrow, &a.bits, sizeof(narrow));
		return (double)narrow;
	}
	memcpy(&wide, &a.bits, sizeof(wide));
	return wide;
}

static struct ep_operand of_real(struct ep_operand like, double number)
{
	float narrow = (float)number;

	like.bits = 0;
	if (like.size == sizeof(narrow))
		memcpy(&like.bits, &narrow, sizeof(narrow));
	else
		memcpy(&like.bits, &number, sizeof(number));
	return like;
}

/* As the processor does it: what has no such integer is the least one. */
static uint64_t integer_of(double number)
{
	if (number >= 0x1p63 && number < 0x1p64)
		return (uint64_t)number;
	return number >= -0x1p63 && number < 0x1p63 ? (uint64_t)(int64_t)number : UINT64_C(1) << 63;
}

struct ep_operand ep_operand_convert(struct ep_operand like, struct ep_operand from)
{
	if (from.kind == EP_OPERAND_REAL)
		return like.kind == EP_OPERAND_REAL
			       ? of_real(like, real_of(from))
			       : ep_operand_of_bits(like, integer_of(real_of(from)));
	if (like.kind != EP_OPERAND_REAL)
		return ep_operand_of_bits(like, from.bits);
	return of_real(like, from.kind == EP_OPERAND_SIGNED ? (double)(int64_t)from.bits
							    : (double)from.bits);
}

/* ---- operations ---- */

bool ep_operand_unary(unsigned atom, struct ep_operand a, struct ep_operand *out)
{
	bool negative = a.kind != EP_OPERAND_UNSIGNED && (int64_t)a.bits < 0;

	if (a.kind == EP_OPERAND_REAL) {
		double number = real_of(a);

		if (atom == DW_OP_not)
			return false;
		*out = of_real(a, atom == DW_OP_neg || number < 0 ? -number : number);
		return true;
	}
	if (atom == DW_OP_not)
		*out = ep_operand_of_bits(a, ~a.bits);
	else
		*out = ep_operand_of_bits(a, atom == DW_OP_neg || negative ? -a.bits : a.bits);
	return true;
}

static bool compare(unsigned atom, bool less, bool equal)
{
	switch (atom) {
	case DW_OP_eq:
		return equal;
	case DW_OP_ne:
		return !equal;
	case DW_OP_lt:
		return less;
	case DW_OP_le:
		return less || equal;
	case DW_OP_gt:
		return !less && !equal;
	default:
		return !less;
	}
}

static bool reals(unsigned atom, struct ep_operand a, struct ep_operand b, struct ep_operand *out)
{
	double x = real_of(a), y = real_of(b);

	switch (atom) {
	case DW_OP_plus:
		*out = of_real(a, x + y);
		return true;
	case DW_OP_minus:
		*out = of_real(a, x - y);
		return true;
	case DW_OP_mul:
		*out = of_real(a, x * y);
		return true;
	case DW_OP_div:
		*out = of_real(a, x / y);
		return y < 0 || y > 0;
	default:
		return false;
	}
}

/* A generic number is divided with its sign, and its rest is without one. The only signed quotient
 * that does not fit wraps around. */
static bool divide(unsigned atom, struct ep_operand a, struct ep_operand b, uint64_t *out)
{
	bool with_sign =
		a.kind == EP_OPERAND_SIGNED || (a.kind == EP_OPERAND_GENERIC && atom == DW_OP_div);

	if (b.bits == 0)
		return false;
	if (!with_sign)
		*out = atom == DW_OP_div ? a.bits / b.bits : a.bits % b.bits;
	else if (b.bits == UINT64_MAX)
		*out = atom == DW_OP_div ? -a.bits : 0;
	else
		*out = (uint64_t)(atom == DW_OP_div ? (int64_t)a.bits / (int64_t)b.bits
						    : (int64_t)a.bits % (int64_t)b.bits);
	return true;
}

static uint64_t shift(unsigned atom, struct ep_operand a, uint64_t by)
{
	unsigned unused = 64 - 8u * a.size;

	if (atom == DW_OP_shra)
		return (uint64_t)((int64_t)(a.bits << unused) >> unused >> (by > 63 ? 63 : by));
	if (by > 63)
		return 0;
	return atom == DW_OP_shl ? a.bits << by : a.bits << unused >> unused >> by;
}

static bool integers(unsigned atom, struct ep_operand a, struct ep_operand b, uint64_t *out)
{
	switch (atom) {
	case DW_OP_and:
		*out = a.bits & b.bits;
		return true;
	case DW_OP_or:
		*out = a.bits | b.bits;
		return true;
	case DW_OP_xor:
		*out = a.bits ^ b.bits;
		return true;
	case DW_OP_plus:
		*out = a.bits + b.bits;
		return true;
	case DW_OP_minus:
		*out = a.bits - b.bits;
		return true;
	case DW_OP_mul:
		*out = a.bits * b.bits;
		return true;
	case DW_OP_div:
	case DW_OP_mod:
		return divide(atom, a, b, out);
	default:
		*out = shift(atom, a, b.bits);
		return true;
	}
}

static bool is_less(struct ep_operand a, struct ep_operand b)
{
	if (a.kind == EP_OPERAND_REAL)
		return real_of(a) < real_of(b);
	return a.kind == EP_OPERAND_UNSIGNED ? a.bits < b.bits : (int64_t)a.bits < (int64_t)b.bits;
}

static bool is_equal(struct ep_operand a, struct ep_operand b)
{
	if (a.kind != EP_OPERAND_REAL)
		return a.bits == b.bits;
	return real_of(a) <= real_of(b) && real_of(a) >= real_of(b);
}

/* How far it is shifted may be of another type. */
static bool fit(unsigned atom, struct ep_operand a, struct ep_operand b)
{
	bool shifts = atom == DW_OP_shl || atom == DW_OP_shr || atom == DW_OP_shra;

	if (shifts)
		return a.kind != EP_OPERAND_REAL && b.kind != EP_OPERAND_REAL;
	return a.kind == b.kind && a.size == b.size;
}

bool ep_operand_binary(unsigned atom, struct ep_operand a, struct ep_operand b,
		       struct ep_operand *out)
{
	uint64_t bits;

	if (!fit(atom, a, b))
		return false;
	if (atom >= DW_OP_eq && atom <= DW_OP_ne) {
		*out = ep_operand_generic(compare(atom, is_less(a, b), is_equal(a, b)));
		return true;
	}
	if (a.kind == EP_OPERAND_REAL)
		return reals(atom, a, b, out);
	if (!integers(atom, a, b, &bits))
		return false;
	*out = ep_operand_of_bits(a, bits);
	return true;
}
