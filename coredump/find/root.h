/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * root.h: finds the arena in a source without symbols, debug info or the executable, and says which
 * way it was found (EP_FOUND_ in runtime/format.h). Every candidate is validated: magic, version,
 * CRC, self pointer.
 */
#ifndef EPITAPH_ROOT_H
#define EPITAPH_ROOT_H

#include "coredump/find/root_check.h"
#include "coredump/memory/source.h"
#include "runtime/format.h"

struct ep_root_found {
	struct ep_root root;   /* the arena's copy, or the root itself when the arena's first page
				  cannot be read */
	uint64_t root_address; /* of the root in the runtime's data; 0 when only the arena was seen
				*/
	uint64_t arena_address;
	uint32_t how;        /* EP_FOUND_ */
	uint32_t off_reason; /* EP_OFF_, by the root; 0 also when it was not seen */
	char where[256];     /* for people: "PT_LOAD at 0x1000…", "note in /usr/bin/server" */
};

/*
 * EP_OK; EP_END: there is none (the program was not traced, or nothing of it was saved: err says
 * which, and what to do); EP_E_VERSION: one is there, of another major. A root whose arena was not
 * saved is EP_E_UNSAVED with *out filled.
 */
int ep_root_find(struct ep_source *source, struct ep_root_found *out, struct ep_err *err);

const char *ep_found_text(uint32_t how); /* "magic at the start of a segment", … Static. */

/* Why tracing is off for good (EP_OFF_). Static. */
const char *ep_off_text(uint32_t reason);

#endif
