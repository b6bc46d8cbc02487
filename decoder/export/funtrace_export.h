/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * funtrace_export.h: calls as a funtrace.raw (coredump/funtrace/funtrace.h), which the funtrace
 * project's funtrace2viz and our own reader open: one sample.
 */
#ifndef EPITAPH_FUNTRACE_EXPORT_H
#define EPITAPH_FUNTRACE_EXPORT_H

#include "decoder/export/export.h"

/*
 * As the others of export.h, but 16 bytes of memory for each call and each return: a thread's
 * entries lie in one piece, and its size comes first.
 *
 * The format has room for calls, returns and catches, each with one time: those that are known
 * within an interval only are its best number, in order. What is missing (gaps), and that a call
 * was left without a return, it cannot say. A module that was unloaded is listed where no other one
 * lies now.
 */
int ep_funtrace_write(FILE *out, const struct ep_export *export, uint64_t *shown,
		      struct ep_err *err);

#endif
