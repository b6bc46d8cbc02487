/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * signature.h: a key by which equal crashes group: the signal, and the innermost functions that the
 * thread was in. It has no address, no number of a compiler's clone, no depth of a recursion and
 * nothing of the C library in it, so that it stays the same across runs, hosts, and rebuilds that
 * did not change these functions. It may say that different crashes are equal; never that one
 * crash, with the same stack, is two.
 */
#ifndef EPITAPH_SIGNATURE_H
#define EPITAPH_SIGNATURE_H

#include <stdint.h>

#include "decoder/names/names.h"

#define EP_SIGNATURE_FUNCTIONS 5 /* that count, innermost first */

struct ep_signature {
	int signal;
	unsigned count;
	bool full; /* what is added is not looked at any more */
	const struct ep_function *functions[EP_SIGNATURE_FUNCTIONS];
	uint64_t key;
};

void ep_signature_init(struct ep_signature *signature, int signal);

/* The next function outwards. The C library's own, and one that is in it already, do not count. */
void ep_signature_add(struct ep_signature *signature, const struct ep_function *function);

/* Is it the program's own, and not of the libraries that lie below a crash and above main? */
bool ep_signature_counts(const struct ep_function *function);

/* "SIGSEGV-0123456789abcdef"; the text is cut where it does not fit. */
#define EP_SIGNATURE_KEY_MAX 40
void ep_signature_key(const struct ep_signature *signature, char out[EP_SIGNATURE_KEY_MAX]);

#endif
