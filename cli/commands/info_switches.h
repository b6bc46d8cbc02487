/* SPDX-License-Identifier: BSD-2-Clause */
/* info_switches.h: what info says of hooks that come and go. */
#ifndef EPITAPH_INFO_SWITCHES_H
#define EPITAPH_INFO_SWITCHES_H

#include "decoder/trace/switches.h"
#include "decoder/util/json.h"

/* Lines of info; nothing where nothing was switched nor a budget set. */
void ep_info_switches_print(const struct ep_trace *trace);

/* The member "switching"; absent where the runtime does not know of it. */
void ep_info_switches_json(struct ep_json *json, const struct ep_trace *trace);

#endif
