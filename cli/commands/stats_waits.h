/* SPDX-License-Identifier: BSD-2-Clause */
/* stats_waits.h: epitaph stats --waits. */
#ifndef EPITAPH_CLI_STATS_WAITS_H
#define EPITAPH_CLI_STATS_WAITS_H

#include "cli/common/grid.h"
#include "decoder/util/patterns.h"
#include "decoder/stats/waits.h"

/* Those of the functions that match. */
void ep_waits_print(const struct ep_waits *waits, const struct ep_trace *trace,
		    const struct ep_table_form *form, const struct ep_patterns *functions);

#endif
