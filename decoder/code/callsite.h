/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * callsite.h: whether the bytes in front of a return address are a call that may have come from
 * there. x86-64.
 */
#ifndef EPITAPH_CALLSITE_H
#define EPITAPH_CALLSITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EP_CALLSITE_SIZE 8u /* bytes that the longest one takes */

enum ep_callsite {
	EP_CALLSITE_NONE,     /* no call ends there */
	EP_CALLSITE_DIRECT,   /* one to another address: what it called may have jumped on */
	EP_CALLSITE_INDIRECT, /* by a pointer, or to `target` itself */
};

/* `code`: the `size` bytes that end at `after`. */
enum ep_callsite ep_callsite_look(const uint8_t *code, size_t size, uint64_t after,
				  uint64_t target);

/* A call by a register or a pointer that somebody else filled: nothing in the code says what it
 * calls. False: it may be one that does, or is none. */
bool ep_callsite_is_anonymous(const uint8_t *code, size_t size);

#endif
