/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watch.h: commands that read a running process. A page of its memory, or a file that it has, may
 * lie in a file system that never answers, as FUSE has it: whoever reads that waits in the kernel,
 * and not even SIGKILL ends it. So a child reads, and is left behind when it does not come back.
 */
#ifndef EPITAPH_WATCH_H
#define EPITAPH_WATCH_H

#include "cli/common/option.h"

/* Runs the command, in a child if its first operand is a running process and it is no screen of a
 * terminal. Its exit status; EP_EXIT_UNREADABLE, and said, when it did not come back. Its output
 * is flushed. */
int ep_watch_run(const struct ep_arguments *arguments);

#endif
