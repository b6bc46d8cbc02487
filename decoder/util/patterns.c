/* SPDX-License-Identifier: BSD-2-Clause */
/* patterns.c: fnmatch over a list. */
#include "decoder/util/patterns.h"

#include <fnmatch.h>

bool ep_patterns_match(const struct ep_patterns *patterns, const char *name)
{
	for (size_t i = 0; i < patterns->count; i++)
		if (fnmatch(patterns->list[i], name, 0) == 0)
			return true;
	return patterns->count == 0;
}
