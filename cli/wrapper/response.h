/* SPDX-License-Identifier: BSD-2-Clause */
/* response.h: what @files say. */
#ifndef EPITAPH_WRAPPER_RESPONSE_H
#define EPITAPH_WRAPPER_RESPONSE_H

#include "cli/wrapper/words.h"

/*
 * Appends to *flat all words of `words`, with @file replaced by the file's own words, also nested,
 * as the compiler will do it; a file that cannot be read stays as it is, as the compiler leaves it.
 * After 2,000 files (gcc's own limit) the rest stays unread.
 */
void ep_response_expand(const struct ep_words *words, struct ep_words *flat);

#endif
