/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * viztracer.h: calls as the JSON of VizTracer's viewer (vizviewer), which is the Trace Event
 * Format, and "file_info": where each function, by its event's name, begins, and of sources that
 * the user wants in it text and line count. Perfetto's and Chrome's viewers open the same file.
 */
#ifndef EPITAPH_VIZTRACER_H
#define EPITAPH_VIZTRACER_H

#include "decoder/export/export.h"

/*
 * As the others of export.h. A call that did not return is a B without an E. Sources that cannot be
 * read are left out; bytes that are no UTF-8 become U+FFFD.
 */
int ep_viztracer_write(FILE *out, const struct ep_export *export, uint64_t *shown,
		       struct ep_err *err);

#endif
