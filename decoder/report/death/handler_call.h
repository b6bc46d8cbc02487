/* SPDX-License-Identifier: BSD-2-Clause */
/* handler_call.h: which of a thread's calls are those of the handler that the first fault called.
 */
#ifndef EPITAPH_REPORT_HANDLER_CALL_H
#define EPITAPH_REPORT_HANDLER_CALL_H

#include "decoder/report/evidence.h"

/* Its call, or the first of what it called; NULL: the trace has none. */
const struct ep_event *ep_report_handler_call(const struct ep_evidence *evidence,
					      const struct ep_alignment *alignment,
					      const struct ep_open_calls *open);

#endif
