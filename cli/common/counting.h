/* SPDX-License-Identifier: BSD-2-Clause */
/* counting.h: what the commands that read counts share: SOURCEs to counts, and the warnings about
 * them. */
#ifndef EPITAPH_COUNTING_CLI_H
#define EPITAPH_COUNTING_CLI_H

#include "cli/common/option.h"
#include "funcount/counts/functions.h"

/* Counts of all `names` together. 0, or an exit status with a message. */
int ep_counting_load(struct ep_counts **out, char *const *names, int count);

/* EP_E_… of counts as an exit status. */
int ep_counting_status(int code);

/* Warns of what is missing in the counts, and which modules came in several builds.
 * EP_EXIT_COMPLETE or EP_EXIT_PARTIAL. */
int ep_counting_warn(const struct ep_counts *counts);

/*
 * Names for all functions of the counts, by the options of how functions are named; what goes wrong
 * is printed. EP_EXIT_COMPLETE or EP_EXIT_PARTIAL: use them. Anything else is the command's exit
 * status.
 */
int ep_counting_name(struct ep_functions *functions, const struct ep_counts *counts,
		     const struct ep_arguments *arguments);

#endif
