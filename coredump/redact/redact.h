/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * redact.h: takes out of a snapshot what somebody wants left out, from the bytes that were gathered
 * and before anything of them is written: what is left out never was in the file.
 */
#ifndef EPITAPH_REDACT_H
#define EPITAPH_REDACT_H

#include "coredump/snapshot/gathered.h"
#include "coredump/snapshot/pages.h"

struct ep_redact_options {
	uint32_t words;                    /* EP_REDACTED_; 0: nothing is done */
	uint64_t arena, arena_size;        /* the process's own, or the kept one */
	uint64_t identity;                 /* of the arenas */
	const struct ep_root_found *found; /* NULL: the snapshot is of one kept arena only */
	const struct ep_pages *pages;      /* NULL as well */
};

/* What was gathered must have been captured. EP_E_IO: no random bytes. */
int ep_redact(struct ep_gathered *gathered, const struct ep_redact_options *options,
	      struct ep_err *err);

#endif
