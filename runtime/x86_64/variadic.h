/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * variadic.h: the arguments of a variadic function, taken without vector registers (System V psABI
 * AMD64, 3.5.7): a va_list is this struct.
 */
#ifndef EPITAPH_X86_64_VARIADIC_H
#define EPITAPH_X86_64_VARIADIC_H

#include <stdint.h>

struct ep_variadic {
	uint32_t general; /* bytes from `saved`: the next of rdi to r9 */
	uint32_t vector;  /* likewise: the next of xmm0 to xmm7 */
	const char *stack;
	const char *saved;
};

#define EP_VARIADIC_GENERAL 48u  /* bytes of the general registers */
#define EP_VARIADIC_VECTOR  176u /* and of them all */

/* An integer or a pointer; of 32 bits the lower half counts. */
static inline uint64_t ep_variadic_word(struct ep_variadic *list)
{
	const char *at = list->stack;

	if (list->general < EP_VARIADIC_GENERAL) {
		at = list->saved + list->general;
		list->general += 8;
	} else {
		list->stack += 8;
	}
	return *(const uint64_t *)at;
}

/* The bits of a double. */
static inline uint64_t ep_variadic_double(struct ep_variadic *list)
{
	const char *at = list->stack;

	if (list->vector < EP_VARIADIC_VECTOR) {
		at = list->saved + list->vector;
		list->vector += 16;
	} else {
		list->stack += 8;
	}
	return *(const uint64_t *)at;
}

/* The bits of a long double: 64, and 16 above. */
static inline uint64_t ep_variadic_long_double(struct ep_variadic *list, uint16_t *above)
{
	const char *at = (const char *)(((uintptr_t)list->stack + 15) & ~(uintptr_t)15);

	list->stack = at + 16;
	*above = *(const uint16_t *)(at + 8);
	return *(const uint64_t *)at;
}

#endif
