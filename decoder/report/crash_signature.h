/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crash_signature.h: the functions that a crash is known by: those of the unwound stack, and where
 * the stack is damaged the open calls.
 */
#ifndef EPITAPH_CRASH_SIGNATURE_H
#define EPITAPH_CRASH_SIGNATURE_H

#include "decoder/report/evidence.h"
#include "decoder/report/signature.h"

/* EP_END: it did not die of a signal, or neither the stack nor the trace names a function.
 * EP_E_CORRUPT: there is too much that cannot be named. */
int ep_crash_signature(const struct ep_evidence *evidence, struct ep_signature *out,
		       struct ep_err *err);

#endif
