/* SPDX-License-Identifier: BSD-2-Clause */
/* json.h: the parts of a report as JSON, for each other. */
#ifndef EPITAPH_REPORT_JSON_H
#define EPITAPH_REPORT_JSON_H

#include "decoder/report/model.h"
#include "decoder/util/json.h"

/* null for NULL and "". */
void ep_report_json_text(struct ep_json *json, const char *key, const char *text);
void ep_report_json_address(struct ep_json *json, const char *key, uint64_t address);
/* {"ago_ns":…,"exact":…}: before the last record of all; null unknown. */
void ep_report_json_time(struct ep_json *json, const struct ep_trace *trace, const char *key,
			 const struct ep_time *time);
/* "function", "symbol", "module". */
void ep_report_json_function(struct ep_json *json, const struct ep_function *function);
/* "place", where there is one. */
void ep_report_json_place(struct ep_json *json, const struct ep_report_place *place);
/* "wait", where there is one. */
void ep_report_json_wait(struct ep_json *json, const struct ep_lock_wait *wait);
/* "deadlocks", "groups", "groups_left_out". */
void ep_report_json_groups(struct ep_json *json, const struct ep_report_groups *groups);
void ep_report_json_thread(struct ep_json *json, const struct ep_trace *trace,
			   const struct ep_report_thread *thread);

#endif
