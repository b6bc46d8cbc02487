/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * operand.h: a number on the stack of a location expression: DWARF's generic one of 64 bits, or one
 * of a base type (DWARF 5, section 2.5.1), and what the operations make of two of them.
 */
#ifndef EPITAPH_OPERAND_H
#define EPITAPH_OPERAND_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

enum ep_operand_kind {
	EP_OPERAND_GENERIC,
	EP_OPERAND_SIGNED,
	EP_OPERAND_UNSIGNED,
	EP_OPERAND_REAL
};

struct ep_operand {
	uint64_t bits; /* an integer is extended by its sign, if it has one */
	enum ep_operand_kind kind;
	uint8_t size; /* bytes: 1, 2, 4 or 8; of a REAL 4 or 8 */
};

static inline struct ep_operand ep_operand_generic(uint64_t bits)
{
	return (struct ep_operand){bits, EP_OPERAND_GENERIC, 8};
}

/* The zero of a base type; false: numbers of it are not understood. */
bool ep_operand_of_type(Dwarf_Die *type, struct ep_operand *out);
/* One like `like`, of whose bytes these are the lowest. */
struct ep_operand ep_operand_of_bits(struct ep_operand like, uint64_t bits);
/* The same number, as far as `like` can hold it. */
struct ep_operand ep_operand_convert(struct ep_operand like, struct ep_operand from);

/* DW_OP_abs, DW_OP_neg, DW_OP_not. False: it makes no sense. */
bool ep_operand_unary(unsigned atom, struct ep_operand a, struct ep_operand *out);
/* DW_OP_and … DW_OP_xor, DW_OP_eq … DW_OP_ne. False: they are of different types, or divided by
 * zero. */
bool ep_operand_binary(unsigned atom, struct ep_operand a, struct ep_operand b,
		       struct ep_operand *out);

#endif
