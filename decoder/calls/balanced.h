/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * balanced.h: calls that return in the block that they begin in. With all that is inside of them
 * they leave what is open as it was: who only wants to know what is open need not pair them.
 */
#ifndef EPITAPH_BALANCED_H
#define EPITAPH_BALANCED_H

#include "decoder/calls/identity.h"
#include "decoder/trace/records.h"

struct ep_balanced {
	size_t block; /* number of the one that was looked at, from 1; 0: none */
	/* of each record of the block: of a call, the record that ends it; 0: none is known to, or
	 * the record is no call */
	uint16_t end[EP_DECODED_MAX];
};

/* Looks at the block that `records` has decoded. Calls are noted as called. */
void ep_balanced_look(struct ep_balanced *balanced, struct ep_identities *identities,
		      const struct ep_records *records);

#endif
