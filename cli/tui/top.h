/* SPDX-License-Identifier: BSD-2-Clause */
/* top.h: when the screen of a running process is to be made anew. */
#ifndef EPITAPH_TOP_H
#define EPITAPH_TOP_H

#include "cli/tui/view.h"

/* How long a key may be waited for, in ms; -1, of all other views: for ever. */
int ep_tui_top_wait(const struct ep_view *view);
/* Looks again, when it is time to. False: the user left meanwhile. */
bool ep_tui_top_look(struct ep_view *view);

#endif
