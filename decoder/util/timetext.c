/* SPDX-License-Identifier: BSD-2-Clause */
/* timetext.c: times to text and back. */
#include "decoder/util/timetext.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

__extension__ typedef __int128 wide;

static const struct {
	const char *name;
	int64_t ns;
} units[] = {
	{"ns", 1},       {"us", 1000},      {"\302\265s", 1000},  {"\316\274s", 1000},
	{"ms", 1000000}, {"s", 1000000000}, {"min", 60000000000}, {"h", 3600000000000},
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
	snprintf(out, EP_TIMETEXT_SIZE, "%s%" PRIu64 ".%03" PRIu64 " %s", sign, size / scale,
		 size % scale / (scale / 1000), unit);
	return out;
}

const char *ep_timetext_range(char out[EP_TIMETEXT_SIZE], int64_t likely, int64_t least,
			      int64_t most)
{
	const char *unit = most < 1000         ? "ns"
			   : most < 1000000    ? "us"
			   : most < 1000000000 ? "ms"
					       : "s";
	double scale = most < 1000 ? 1 : most < 1000000 ? 1e3 : most < 1000000000 ? 1e6 : 1e9;
	double high = (double)most / scale, low = least > 0 ? (double)least / scale : 0;

	if (ep_times_agree(least, most))
		return ep_timetext(out, likely);
	snprintf(out, EP_TIMETEXT_SIZE, "~%.*f-%.*f %s", high < 9.95 && scale > 1, low,
		 high < 9.95 && scale > 1, high, unit);
	return out;
}

const char *ep_timetext_clock(char out[EP_TIMETEXT_SIZE + 16], uint64_t ns)
{
	time_t seconds = (time_t)(ns / 1000000000);
	struct tm tm;
	char day[24];

	gmtime_r(&seconds, &tm);
	strftime(day, sizeof(day), "%Y-%m-%d %H:%M:%S", &tm);
	snprintf(out, EP_TIMETEXT_SIZE + 16, "%s.%09" PRIu64 " UTC", day, ns % 1000000000);
	return out;
}

/* ---- back ---- */

/* Digits from *text on, which is moved behind them. */
static bool digits_take(const char **text, uint64_t *value)
{
	*value = 0;
	for (; **text >= '0' && **text <= '9'; (*text)++)
		if (__builtin_mul_overflow(*value, UINT64_C(10), value) ||
		    __builtin_add_overflow(*value, (uint64_t)(**text - '0'), value))
			return false;
	return true;
}

/* ".25": 25 of 100. Digits beyond the 15th don't matter. */
static void fraction_take(const char **text, int64_t *value, int64_t *scale)
{
	*value = 0;
	*scale = 1;
	if (**text != '.')
		return;
	for ((*text)++; **text >= '0' && **text <= '9'; (*text)++)
		if (*scale < INT64_C(1000000000000000)) {
			*value = *value * 10 + (**text - '0');
			*scale *= 10;
		}
}

static bool starts_number(const char *text)
{
	return (text[0] >= '0' && text[0] <= '9') ||
	       (text[0] == '.' && text[1] >= '0' && text[1] <= '9');
}

static int64_t unit_find(const char *text)
{
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(text, units[i].name))
			return units[i].ns;
	return 0;
}

/* Integers throughout: 0.1s is 100000000 ns and nothing beside it. */
bool ep_timetext_parse(const char *text, int64_t *ns)
{
	bool negative = *text == '-';
	int64_t unit, value, scale;
	uint64_t whole;
	wide total;

	text += *text == '-' || *text == '+';
	if (!starts_number(text) || !digits_take(&text, &whole))
		return false;
	fraction_take(&text, &value, &scale);
	while (*text == ' ')
		text++;
	unit = unit_find(text);
	total = (wide)whole * unit + (wide)value * unit / scale;
	if (unit == 0 || total > INT64_MAX)
		return false;
	*ns = negative ? -(int64_t)total : (int64_t)total;
	return true;
}

/* ---- counts ---- */

const char *ep_counttext(char out[EP_TIMETEXT_SIZE], uint64_t count)
{
	char digits[24];
	int length = snprintf(digits, sizeof(digits), "%" PRIu64, count);
	char *to = out;

	for (int i = 0; i < length; i++) {
		if (i > 0 && (length - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
	return out;
}
