/* SPDX-License-Identifier: BSD-2-Clause */
/* flags.h: what is to be known of a call's line, in the words that replay --format=tsv has too. */
#ifndef EPITAPH_EXPORT_FLAGS_H
#define EPITAPH_EXPORT_FLAGS_H

#include "decoder/stream/nest.h"

#define EP_EXPORT_FLAGS_MAX 9u

/* Of a call that ended by `end`; NULL: it did not. How many `words` there are; they are static. */
static inline unsigned ep_export_flags(const struct ep_nest_frame *frame,
				       const struct ep_event *end,
				       const char *words[EP_EXPORT_FLAGS_MAX])
{
	const struct {
		bool on;
		const char *word;
	} all[EP_EXPORT_FLAGS_MAX] = {
		{!(frame->flags & EP_CALL_BEFORE) &&
			 (!frame->begin.exact || (end && !end->end.exact)),
		 "approximate"},
		{!end, "did-not-return"},
		{frame->flags & EP_CALL_BEFORE, "began-before"},
		{end && frame->flags & EP_CALL_ABANDONED, "abandoned"},
		{end && frame->flags & EP_CALL_UNWOUND, "unwound"},
		{frame->flags & EP_CALL_SWITCHED, "switched-off"},
		{frame->flags & EP_CALL_ACROSS_GAP, "across-gap"},
		{end && frame->flags & EP_CALL_AMBIGUOUS, "ambiguous"},
		{frame->flags & EP_CALL_UNSURE_WAIT, "unsure-wait"},
	};
	unsigned count = 0;

	for (unsigned i = 0; i < EP_EXPORT_FLAGS_MAX; i++)
		if (all[i].on)
			words[count++] = all[i].word;
	return count;
}

#endif
