/* SPDX-License-Identifier: BSD-2-Clause */
/* number.c: strtoull(3) takes signs, blanks and what does not fit; people do not mean that. */
#include "coredump/util/number.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool digits_parse(const char *text, uint64_t *out, char **end)
{
	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*out = strtoull(text, end, 10);
	return errno == 0;
}

bool ep_number_parse(const char *text, uint64_t least, uint64_t most, uint64_t *out)
{
	uint64_t number;
	char *end;

	if (!digits_parse(text, &number, &end) || *end || number < least || number > most)
		return false;
	*out = number;
	return true;
}

bool ep_size_parse(const char *text, uint64_t *bytes)
{
	static const char units[] = "KMGT";
	unsigned shift = 0;
	uint64_t number;
	const char *unit;
	char *end;

	if (!digits_parse(text, &number, &end))
		return false;
	end += strspn(end, " ");
	unit = *end ? strchr(units, *end) : NULL;
	if (unit) {
		shift = 10 * (unsigned)(unit - units + 1);
		end++;
		end += strcmp(end, "iB") == 0 ? 2 : strcmp(end, "B") == 0;
	}
	if (*end || !number || number > UINT64_MAX >> shift)
		return false;
	*bytes = number << shift;
	return true;
}
