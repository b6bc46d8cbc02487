/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chrome.h: the events of the Trace Event Format, and what each of its viewers wants beside them.
 */
#ifndef EPITAPH_CHROME_H
#define EPITAPH_CHROME_H

#include "decoder/export/export.h"
#include "decoder/util/json.h"

struct ep_chrome_style {
	void *context;
	/* What an event has of its function, asked for once: ,"name":"…","cat":"…","args":{"…":…
	 * with one argument at least. From malloc. */
	char *(*function)(void *context, const struct ep_function *function);
	/* The members behind traceEvents. */
	void (*tail)(void *context, struct ep_json *json);
	bool sort_index; /* the file says in which order the threads are */
};

/* As the formats of export.h. */
int ep_chrome_stream(FILE *out, const struct ep_export *export, const struct ep_chrome_style *style,
		     uint64_t *shown, struct ep_err *err);

#endif
