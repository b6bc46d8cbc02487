/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * followup.h: what the assembly filter still has to do once the compiler is done. Where it wrote
 * assembly (-S) no assembler of ours ran: the text is filtered then. Where it linked, names of the
 * lists that no function has are reported. In all other cases the wrapper becomes the compiler.
 */
#ifndef EPITAPH_WRAPPER_FOLLOWUP_H
#define EPITAPH_WRAPPER_FOLLOWUP_H

#include "cli/wrapper/tracing.h"

bool ep_followup_wanted(const struct ep_tracing *tracing);

/* Runs the compiler, `words`, then that. Ends as the compiler ended. */
void ep_followup_run(const struct ep_tracing *tracing, const struct ep_words *words)
	__attribute__((noreturn));

#endif
