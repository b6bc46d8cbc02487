/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sequence.h: what one thread did in two traces, call by call. Where both histories are whole they
 * are compared from their beginnings; else the later beginning is looked for in the other one.
 */
#ifndef EPITAPH_SEQUENCE_H
#define EPITAPH_SEQUENCE_H

#include "decoder/stats/difference.h"

/* Fills all of `parting` but its threads, which are there. */
void ep_sequences_part(struct ep_parting *parting, const struct ep_side sides[2]);

#endif
