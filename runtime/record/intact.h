/* SPDX-License-Identifier: BSD-2-Clause */
/* intact.h: the calling thread's state is held against initialized data before it is followed
 * (integrity.h). */
#ifndef EPITAPH_INTACT_H
#define EPITAPH_INTACT_H

#include <stdbool.h>

#include "runtime/record/tls.h"

/* The arena's first page, and of the caller's thread-local memory and thread entry whatever is
 * followed, are what they should be. Else false: tracing has ended. Signal safe. */
bool ep_intact(const struct ep_tls *tls);

#endif
