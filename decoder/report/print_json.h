/* SPDX-License-Identifier: BSD-2-Clause */
/* print_json.h: the parts of a report as JSON, for each other. */
#ifndef EPITAPH_REPORT_PRINT_JSON_H
#define EPITAPH_REPORT_PRINT_JSON_H

#include "decoder/util/json.h"
#include "decoder/report/model.h"

/* null for NULL and "". */
void ep_report_json_text(struct ep_json *json, const char *key, const char *text);
void ep_report_json_address(struct ep_json *json, const char *key, uint64_t address);
/* {"ago_ns":…,"exact":…}: before the last record of all; null unknown. */
void ep_report_json_time(const struct ep_report *report, const char *key,
			 const struct ep_time *time);
/* "function", "symbol", "module". */
void ep_report_json_function(struct ep_json *json, const struct ep_function *function);
int ep_report_json_thread(struct ep_report *report, const struct ep_report_story *story,
			  struct ep_err *err);

#endif
