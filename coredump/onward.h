/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * onward.h: the kernel's stream goes on to what core_pattern named before: a
 * program, a socket, or a file, as the kernel itself would have written it,
 * with the crashed user's permissions and limit.
 */
#ifndef EPITAPH_ONWARD_H
#define EPITAPH_ONWARD_H

#include "coredump/crash.h"
#include "coredump/source.h"

/*
 * `previous`: core_pattern's value before; "" for none: the stream is read to
 * its end and dropped. Ends with the stream, or when nothing moved for
 * `seconds`. EP_OK; EP_E_IO, EP_E_PERMISSION: it went nowhere, and was dropped.
 */
int ep_onward(struct ep_source *held, const struct ep_crash *crash,
	      const char *previous, bool uses_pid, unsigned seconds,
	      struct ep_err *err);

#endif
