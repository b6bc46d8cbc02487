/* SPDX-License-Identifier: BSD-2-Clause */
/* timetext.h: times as people write and read them. */
#ifndef EPITAPH_TIMETEXT_H
#define EPITAPH_TIMETEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EP_TIMETEXT_SIZE 32

/* "870 ns", "12.345 us", "3.250 ms", "1.500 s": three digits after the point from a microsecond on;
 * signed. Returns `out`. */
const char *ep_timetext(char out[EP_TIMETEXT_SIZE], int64_t ns);

/* They are one figure: to a tenth of the greater. */
static inline bool ep_times_agree(int64_t least, int64_t most)
{
	return least >= most - most / 10;
}

/* A duration that is somewhere between two: `likely`, as above, where these agree; else "~0.2-5.3
 * ms", "~12-87 us". At most 12 characters up to 999 s. Returns `out`. */
const char *ep_timetext_range(char out[EP_TIMETEXT_SIZE], int64_t likely, int64_t least,
			      int64_t most);

/* "2026-11-20 23:59:59.123456789 UTC" of ns since 1970. Returns `out`. */
const char *ep_timetext_clock(char out[EP_TIMETEXT_SIZE + 16], uint64_t ns);

/* "5ms", "1.5 s", "200us", "10ns", "2min" → ns. False: not a time. The whole text must be one;
 * without a unit it is none. */
bool ep_timetext_parse(const char *text, int64_t *ns);

/* "12,345". Returns `out`. */
const char *ep_counttext(char out[EP_TIMETEXT_SIZE], uint64_t count);

#endif
