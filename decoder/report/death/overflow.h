/* SPDX-License-Identifier: BSD-2-Clause */
/* overflow.h: whether a thread has come to the lower end of its stack: the address lies in a gap or
 * a guard below memory that is a stack by more than its place. */
#ifndef EPITAPH_REPORT_OVERFLOW_H
#define EPITAPH_REPORT_OVERFLOW_H

#include "decoder/code/effects.h"
#include "decoder/report/evidence.h"

/* `has_all`: the thread has all its registers, not pc and sp only. `access`: the one that met the
 * address; NULL unknown. */
bool ep_stack_overflow(const struct ep_evidence *evidence, const struct ep_source_thread *thread,
		       bool has_all, uint64_t address, const struct ep_access *access);

/* Does a call that may lead to `target` end at `after`? */
bool ep_was_called_from(const struct ep_evidence *evidence, uint64_t after, uint64_t target);

#endif
