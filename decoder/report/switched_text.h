/* SPDX-License-Identifier: BSD-2-Clause */
/* switched_text.h: which functions were off at the end, since when and why, in one line a reason:
 * whoever shows calls says so, as what is not there was perhaps not looked at. */
#ifndef EPITAPH_SWITCHED_TEXT_H
#define EPITAPH_SWITCHED_TEXT_H

#include "decoder/names/names.h"
#include "decoder/trace/trace.h"

/* `code`: a word for programs, static. `text`: until it returns; not escaped. */
typedef void (*ep_switched_text_fn)(void *context, const char *code, const char *text);

/* `names`: NULL, then no function is named. Not called where nothing was off. */
void ep_switched_texts(const struct ep_trace *trace, struct ep_names *names,
		       ep_switched_text_fn print, void *context);

#endif
