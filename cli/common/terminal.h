/* SPDX-License-Identifier: BSD-2-Clause */
/* terminal.h: how wide the user's terminal is, and a pager in front of it. */
#ifndef EPITAPH_TERMINAL_H
#define EPITAPH_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Columns that a line may have: of the terminal that stdout is, or was before the pager came, or
 * what COLUMNS says where it is none; from 80 to 200. 0: stdout is no terminal, and nothing is cut.
 */
size_t ep_terminal_columns(void);

/*
 * As git: when stdout is a terminal, it becomes a pipe to $EPITAPH_PAGER, else $PAGER, else less,
 * with LESS=FRX if LESS is not set. None when that is "" or "cat", or there is no such program
 * (which is said, unless it is less), nor less where TERM is not set or dumb. Before anything is
 * printed, and after colours were chosen. Signals that end a program do so when the pager has
 * ended.
 */
void ep_pager_start(void);
/* What is printed is seen by the user while it is: stdout is a terminal, or such a pager. */
bool ep_on_terminal(void);
/* Closes stdout and waits until the user has read it all. Nothing is printed after that. */
void ep_pager_finish(void);

#endif
