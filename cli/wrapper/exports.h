/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exports.h: an executable offers the runtime's functions to the shared libraries that it loads;
 * version scripts of its own, which hide all that they don't name, must name them.
 */
#ifndef EPITAPH_WRAPPER_EXPORTS_H
#define EPITAPH_WRAPPER_EXPORTS_H

#include "cli/wrapper/words.h"

/*
 * Appends the words `user`, whose response files are expanded to `flat`: as they are, or, where
 * they have version scripts, `flat` with each replaced by a copy that exports the `count` `names`,
 * too: memory with a name in /proc, which lives as long as the compiler and what it starts.
 */
void ep_exports_keep(const struct ep_words *user, const struct ep_words *flat,
		     const char *const *names, size_t count, struct ep_words *words);

#endif
