/* SPDX-License-Identifier: BSD-2-Clause */
/* glob.h: shell patterns (glob(7)): * ? and [...] with ranges and !; a backslash quotes what
 * follows. As fnmatch(3) without flags, but for classes ([:alpha:]). Signal safe. */
#ifndef EPITAPH_GLOB_H
#define EPITAPH_GLOB_H

#include <stdbool.h>

/* Whether all of `text` is what the pattern says. Takes time by the product of the lengths at
 * most. */
bool ep_glob_match(const char *pattern, const char *text);

#endif
