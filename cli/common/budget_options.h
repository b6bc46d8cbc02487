/* SPDX-License-Identifier: BSD-2-Clause */
/* budget_options.h: options and words that exclude and budget share: percentages, sizes, costs, CPU
 * time. */
#ifndef EPITAPH_BUDGET_OPTIONS_H
#define EPITAPH_BUDGET_OPTIONS_H

#include <stdint.h>

#include "cli/common/option.h"
#include "decoder/util/json.h"
#include "funcount/exclude/cost.h"
#include "funcount/counts/counts.h"

/* "2%", "0.5 %" → 0.02, 0.005; 0 to 100000 %. */
bool ep_percent_parse(const char *text, double *part);

#define EP_PERCENT_SIZE 32
/* "12.3 %"; more digits where it is small. Returns `out`. */
const char *ep_percent_text(char out[EP_PERCENT_SIZE], double part);

/* "0.12 s" as ep_timetext, of seconds; "all of it" when infinite. `out` has EP_TIMETEXT_SIZE bytes.
 * Returns `out`. */
const char *ep_seconds_text(char *out, double seconds);

/* A member with three decimals; null: negative or without an end. */
void ep_json_member_real(struct ep_json *json, const char *key, double value);

/* --costs=FILE, or, with a warning, figures of another machine. An exit status; what is wrong was
 * printed. */
int ep_budget_costs(struct ep_costs *costs, const struct ep_arguments *arguments);

/*
 * CPU seconds that the counted runs would have taken without hooks: what they took, less what
 * counting cost by `costs`; never less than a tenth of it. 0: the counts do not know how long they
 * took.
 */
double ep_untraced_seconds(const struct ep_counts *counts, const struct ep_costs *costs);

#endif
