/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * blocking.h: can a thread wait while this function is the innermost traced call? Read from its
 * machine code and from that of the untraced functions that it calls: only a system call can make a
 * thread wait by itself. What it calls that is traced has records of its own and does not count.
 */
#ifndef EPITAPH_BLOCKING_H
#define EPITAPH_BLOCKING_H

#include "coredump/util/array.h"
#include "decoder/code/disassembler.h"
#include "decoder/names/names.h"

/* Zeroes: nothing was asked yet. */
struct ep_blocking {
	EP_ARRAY(uint8_t) answers; /* by id of the function; private */
	csh handle;                /* 0: not open */
	bool unusable;
	uint64_t left; /* instructions that may still be read */
};

void ep_blocking_deinit(struct ep_blocking *blocking);

/* False: its code was read and cannot make a system call. True where its code or its bounds are
 * unknown, or where it calls what is not written in the code. Asked once for each function. */
bool ep_blocking_may(struct ep_blocking *blocking, struct ep_names *names,
		     const struct ep_function *function);

#endif
