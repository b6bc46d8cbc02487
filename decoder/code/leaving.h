/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * leaving.h: may a function leave its own frame and others by a jump (__builtin_longjmp, a goto out
 * of a nested function of GNU C), which no function that the runtime stands in front of tells? Read
 * from its code: the stack pointer is loaded from memory, then a jump by a register follows. And
 * which functions does code call?
 */
#ifndef EPITAPH_LEAVING_H
#define EPITAPH_LEAVING_H

#include "coredump/util/array.h"
#include "decoder/code/disassembler.h"
#include "decoder/names/names.h"

/* Zeroes: nothing was asked yet. */
struct ep_leaving {
	EP_ARRAY(struct ep_leaving_code) codes; /* by id of the function; private */
	csh handle;                             /* 0: not open */
	bool unusable;
};

/* What a function's code does. */
struct ep_leaving_code {
	bool looked;
	bool known;   /* its code was read to its end */
	bool jumps;   /* it has such a jump */
	bool traced;  /* it calls the hook of the entry, or has a sled for it */
	bool unnamed; /* it calls what is not written in it */
	uint64_t to;  /* where its jump leads, where that is written in it; 0 */
	EP_ARRAY(const struct ep_function *) calls;
};

void ep_leaving_deinit(struct ep_leaving *leaving);

/*
 * It may leave so, and each call that may be open in it is known: it calls nothing but traced
 * functions, by their names. Of a function that cannot jump only its bytes are looked at.
 */
bool ep_leaving_may(struct ep_leaving *leaving, struct ep_names *names,
		    const struct ep_function *function);

/* Its code has a call of `callee`. False: it has not, or its code is not known. */
bool ep_leaving_calls(struct ep_leaving *leaving, struct ep_names *names,
		      const struct ep_function *function, const struct ep_function *callee);

/* The function that its jump leads to, which goes on; NULL: unknown. */
const struct ep_function *ep_leaving_to(struct ep_leaving *leaving, struct ep_names *names,
					const struct ep_function *function);

#endif
