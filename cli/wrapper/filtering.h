/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * filtering.h: the assembly filter's part in a compiler's command. The compiler is told to look for
 * its assembler in a directory of ours first; the `as` there (cli/wrapper/as) takes hooks out and
 * becomes the real one. Its settings are words for the assembler among the compiler's own, so that
 * ccache knows them, and a checksum of the lists, so that it knows when those changed. Without a
 * filter's option the command stays what it is.
 */
#ifndef EPITAPH_WRAPPER_FILTERING_H
#define EPITAPH_WRAPPER_FILTERING_H

#include "cli/wrapper/tracing.h"
#include "funcount/filter/rules.h"

/* Takes "--epitaph-no-trace=FILE" and its like into *rules. False: `word` is none of them. Ends the
 * program when a list can't be read. */
bool ep_filtering_parse(struct ep_rules *rules, const char *word);

/* Whether it can: asked before a filter is used that nobody asked for. */
bool ep_filtering_works(const struct ep_tracing *tracing);

/* Words before and behind the user's. Ends the wrapper where the filter can't work: with a compiler
 * that assembles in the linker (clang -flto), or that was built to run a certain assembler. */
void ep_filtering_before(const struct ep_tracing *tracing, struct ep_words *words);
void ep_filtering_after(const struct ep_tracing *tracing, struct ep_words *words);

#endif
