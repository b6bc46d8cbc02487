/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * replay.h: calls as an indented tree, for people, and as tab-separated lines,
 * for programs.
 */
#ifndef EPITAPH_REPLAY_H
#define EPITAPH_REPLAY_H

#include <stdio.h>

#include "decoder/calllist.h"

/* Escape sequences, "" for none. */
struct ep_replay_style {
	const char *plain, *dim, *warn, *name;
	bool threads; /* a column that names the thread */
};

/* The moments of `list` whose call is marked in `shown`. Times count from the
 * trace's last moment; ~ marks those known within an interval only, >
 * those known not to be earlier. */
void ep_replay_tree(FILE *out, const struct ep_trace *trace,
		    const struct ep_call_list *list, const uint8_t *shown,
		    const struct ep_replay_style *style);

/* One line a moment; the first, which begins with #, names the columns. */
void ep_replay_tsv(FILE *out, const struct ep_trace *trace,
		   const struct ep_call_list *list, const uint8_t *shown);

/* "3 blocks of history were overwritten", … of a gap. Returns `out`. */
const char *ep_replay_gap(char *out, size_t size, const struct ep_call *gap);

#endif
