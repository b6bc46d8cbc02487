/* SPDX-License-Identifier: BSD-2-Clause */
/* glob.c: whatever comes behind the last * that was met is tried again one byte later; no earlier
 * one needs to take more. */
#include "runtime/lib/glob.h"

#include <stddef.h>

/* The byte at *at of a [...], which may be quoted; moves behind it. */
static unsigned char set_byte(const char **at)
{
	if (**at == '\\' && (*at)[1])
		++*at;
	return (unsigned char)*(*at)++;
}

/* Behind a [: *end is behind its ]. False: it has none, and so is a byte as any. */
static bool set_holds(const char *set, unsigned char byte, const char **end, bool *holds)
{
	bool negated = *set == '!' || *set == '^', found = false;
	const char *at = set + negated, *first = at;

	while (*at && (*at != ']' || at == first)) {
		unsigned char low = set_byte(&at), high = low;

		if (*at == '-' && at[1] && at[1] != ']') {
			at++;
			high = set_byte(&at);
		}
		found |= byte >= low && byte <= high;
	}
	if (*at != ']')
		return false;
	*end = at + 1;
	*holds = found != negated;
	return true;
}

/* One byte of the text; *next: the pattern behind what stands for it. */
static bool byte_matches(const char *pattern, unsigned char byte, const char **next)
{
	bool holds;

	*next = pattern + 1;
	if (*pattern == '?')
		return true;
	if (*pattern == '[' && set_holds(pattern + 1, byte, next, &holds))
		return holds;
	if (*pattern == '\\' && pattern[1]) {
		*next = pattern + 2;
		return (unsigned char)pattern[1] == byte;
	}
	return (unsigned char)*pattern == byte;
}

bool ep_glob_match(const char *pattern, const char *text)
{
	const char *star = NULL, *again = NULL, *next;

	while (*text) {
		if (*pattern == '*') {
			star = ++pattern;
			again = text;
		} else if (*pattern && byte_matches(pattern, (unsigned char)*text, &next)) {
			pattern = next;
			text++;
		} else if (star) {
			pattern = star;
			text = ++again;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}
