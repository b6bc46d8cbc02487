/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report_silence.h: what is known of the time between the last record and the
 * process's end: a program that calls nothing records nothing.
 */
#ifndef EPITAPH_REPORT_SILENCE_H
#define EPITAPH_REPORT_SILENCE_H

#include "decoder/report.h"

#define EP_REPORT_SILENCE_UNKNOWN (-1)

struct ep_report_silence {
	const char *source;  /* "snapshot", for programs; NULL: nothing is known
			      */
	int64_t least, most; /* ns; EP_REPORT_SILENCE_UNKNOWN */
	uint64_t end_tsc;    /* the last record, and `least` more */
};

/* The report has a trace. Sets report->end_tsc as well. */
void ep_report_silence_init(struct ep_report_silence *silence,
			    struct ep_report *report);

/* "1.000 s, by the snapshot's clock"; false: it is not worth a line. */
bool ep_report_silence_text(const struct ep_report_silence *silence, char *out,
			    size_t size);

#endif
