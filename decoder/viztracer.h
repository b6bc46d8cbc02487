/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * viztracer.h: calls as the JSON of VizTracer's viewer (vizviewer), which is
 * the Trace Event Format with the sources inside: "file_info" has each file's
 * text and line count, and where each function, by its event's name, begins.
 * Perfetto's and Chrome's viewers open the same file.
 */
#ifndef EPITAPH_VIZTRACER_H
#define EPITAPH_VIZTRACER_H

#include <stdio.h>

#include "decoder/calllist.h"

struct ep_viztracer_options {
	bool no_sources; /* leave the files' texts out */
};

/*
 * Writes the calls of `list` that are marked in `shown`. Times are microseconds
 * since the trace's first record, with all nanoseconds. A call that did not
 * return is a B without an E. Sources that cannot be read are left out; bytes
 * that are no UTF-8 become U+FFFD. EP_E_MEMORY, EP_E_IO (errno is in the text),
 * or EP_OK.
 */
int ep_viztracer_write(FILE *out, const struct ep_trace *trace,
		       struct ep_names *names, const struct ep_call_list *list,
		       const uint8_t *shown,
		       const struct ep_viztracer_options *options,
		       struct ep_err *err);

#endif
