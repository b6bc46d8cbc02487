/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bad_return.h: a `ret` that went where no code is, told from a call of a bad pointer: the
 * processor took the address from just below the stack pointer, and no call leads to what lies
 * there now.
 */
#ifndef EPITAPH_REPORT_BAD_RETURN_H
#define EPITAPH_REPORT_BAD_RETURN_H

#include "decoder/report/death/cause.h"

/* Leaves *cause as it is when the thread did not die of that. */
void ep_report_return_init(struct ep_report_cause *cause, const struct ep_evidence *evidence,
			   const struct ep_death *death, const struct ep_source_thread *thread);

#endif
