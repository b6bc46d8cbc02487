/* SPDX-License-Identifier: BSD-2-Clause */
/* choose.h: the options that choose threads, calls and times. */
#ifndef EPITAPH_CHOOSE_H
#define EPITAPH_CHOOSE_H

#include "cli/common/option.h"
#include "decoder/stream/selection.h"

/* The words of --since, also for a table of one's own. */
#define EP_CHOOSE_SINCE                                                    \
	"from TIME on: -10ms counts from the end, +1.5s from the start; "  \
	"the end is that of the process where it is known, as info says, " \
	"else the last record"

/* For a command's table. */
#define EP_CHOOSE_OPTIONS                                                                  \
	{"thread", 't', "THREAD",                                                          \
	 "only this one: its tid, #serial, or a pattern (*, ?) of its name; "              \
	 "may be given several times"},                                                    \
		{"last", 'n', "N|TIME",                                                    \
		 "only the last N calls of each listing, or the last TIME "                \
		 "(5ms) before the end"},                                                  \
		{"since", 0, "TIME", EP_CHOOSE_SINCE}, {"until", 0, "TIME", "up to TIME"}, \
		{"function", 'F', "PATTERN",                                               \
		 "only functions whose name the shell pattern matches; may "               \
		 "be "                                                                     \
		 "given several times"},                                                   \
		{"depth", 'd', "N", "only the N outermost levels"},                        \
	{                                                                                  \
		"min-duration", 0, "TIME",                                                 \
			"only calls that took at least TIME, or did not "                  \
			"return"                                                           \
	}

/* What was given for an option that may be given several times. */
void ep_choose_patterns(struct ep_patterns *patterns, const struct ep_arguments *arguments,
			const char *name);

/* 0, or EP_EXIT_USAGE with a message. */
int ep_choose(struct ep_selection *selection, const struct ep_arguments *arguments);

#endif
