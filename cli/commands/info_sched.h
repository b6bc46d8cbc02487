/* SPDX-License-Identifier: BSD-2-Clause */
/* info_sched.h: what info says of scheduling events. */
#ifndef EPITAPH_CLI_INFO_SCHED_H
#define EPITAPH_CLI_INFO_SCHED_H

#include "decoder/util/json.h"
#include "decoder/trace/trace.h"

/* A line or two; nothing for a trace that knows of no such events. */
void ep_info_print_schedule(const struct ep_trace *trace);
/* The member "scheduling": an object, or null. */
void ep_info_json_schedule(struct ep_json *json, const struct ep_trace *trace);

#define EP_INFO_WHY 256

/* In words: why there are none, and how to get them. Returns `out`. */
const char *ep_info_why_no_schedule(char out[EP_INFO_WHY], const struct ep_trace *trace);

#endif
