/* SPDX-License-Identifier: BSD-2-Clause */
/* mentions.h: whether a source, or what it includes, has functions of a convention that hooks do
 * not keep (funcount/filter/convention.h), by its text. */
#ifndef EPITAPH_WRAPPER_MENTIONS_H
#define EPITAPH_WRAPPER_MENTIONS_H

#include "cli/wrapper/words.h"

/*
 * EP_CONVENTION_ bits of the attributes whose names stand in `sources`, in files that these
 * include, or in the command's words. Headers are looked for beside the file that names them and in
 * the folders of `words`, not in the compiler's own; a header that a macro names, and standard
 * input, are not looked at. Says more rather than less: whoever asks then looks at the assembly.
 */
unsigned ep_mentions_find(const struct ep_words *words, const struct ep_words *sources);

#endif
