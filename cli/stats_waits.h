/* SPDX-License-Identifier: BSD-2-Clause */
/* stats_waits.h: epitaph stats --waits. */
#ifndef EPITAPH_CLI_STATS_WAITS_H
#define EPITAPH_CLI_STATS_WAITS_H

#include <stdint.h>

#include "decoder/waits.h"

enum ep_waits_layout { EP_WAITS_TEXT, EP_WAITS_CSV, EP_WAITS_JSON };

/* The first `limit` of them, 0 all; of functions that `pattern` names, NULL
 * all. */
void ep_waits_print(const struct ep_waits *waits, const struct ep_trace *trace,
		    enum ep_waits_layout layout, uint64_t limit,
		    const char *pattern);

#endif
