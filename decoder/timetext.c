/* SPDX-License-Identifier: BSD-2-Clause */
/* timetext.c: times to text and back. */
#include "decoder/timetext.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct {
	const char *name;
	int64_t ns;
} units[] = {
	{"ns", 1},          {"us", 1000},         {"\302\265s", 1000},
	{"ms", 1000000},    {"s", 1000000000},    {"min", 60000000000},
	{"h", 3600000000000},
};

const char *ep_timetext(char out[EP_TIMETEXT_SIZE], int64_t ns)
{
	uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
	const char *sign = ns < 0 ? "-" : "", *unit = "us";
	uint64_t scale = 1000;

	if (size < 1000) {
		snprintf(out, EP_TIMETEXT_SIZE, "%s%" PRIu64 " ns", sign, size);
		return out;
	}
	if (size >= 1000000000) {
		unit = "s";
		scale = 1000000000;
	} else if (size >= 1000000) {
		unit = "ms";
		scale = 1000000;
	}
	snprintf(out, EP_TIMETEXT_SIZE, "%s%" PRIu64 ".%03" PRIu64 " %s", sign,
		 size / scale, size % scale / (scale / 1000), unit);
	return out;
}

const char *ep_timetext_clock(char out[EP_TIMETEXT_SIZE + 16], uint64_t ns)
{
	time_t seconds = (time_t)(ns / 1000000000);
	struct tm tm;
	char day[24];

	gmtime_r(&seconds, &tm);
	strftime(day, sizeof(day), "%Y-%m-%d %H:%M:%S", &tm);
	snprintf(out, EP_TIMETEXT_SIZE + 16, "%s.%09" PRIu64 " UTC", day,
		 ns % 1000000000);
	return out;
}

bool ep_timetext_parse(const char *text, int64_t *ns)
{
	char *end;
	double value = strtod(text, &end);

	/* strtod also takes hexadecimal, infinities and NaNs. */
	if (end == text || strspn(text, "+-.0123456789eE") < (size_t)(end - text))
		return false;
	while (*end == ' ')
		end++;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		double result = value * (double)units[i].ns;

		if (strcmp(end, units[i].name))
			continue;
		if (result > 9e18 || result < -9e18)
			return false;
		*ns = (int64_t)(result + (result < 0 ? -0.5 : 0.5));
		return true;
	}
	return false;
}
