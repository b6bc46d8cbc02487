/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * filter.h: assembly without the hooks of some of its functions. All hooks of a function go or
 * none. Lines that go leave empty ones: what the assembler says of a line is true of the compiler's
 * text too. No directive is touched but those of gcc's -mrecord-mcount for a hook that is gone;
 * what goes leaves the stack as it was (a push goes with its pop), so that .cfi stays right.
 */
#ifndef EPITAPH_FILTER_FILTER_H
#define EPITAPH_FILTER_FILTER_H

#include <stdio.h>

#include "funcount/filter/assembly.h"
#include "funcount/filter/rules.h"

enum ep_edit { EP_EDIT_KEEP, EP_EDIT_EMPTY, EP_EDIT_RETURN };

struct ep_outcome {
	struct ep_rule_verdict verdict;
	uint32_t instructions; /* without hooks and what belongs to them */
	bool stripped;
	const char *refused; /* why a verdict was not followed; static */
	uint32_t refused_line;
};

struct ep_filter {
	struct ep_assembly assembly;
	struct ep_outcome *outcomes; /* one for each function */
	uint8_t *edits;              /* ep_edit of each line, if stripped */
	uint32_t stripped, refused;  /* functions */
};

/* Decides on `text`, which must outlive the filter; EP_E_LIMIT. A function that has no hooks is not
 * asked after in the rules' thresholds, but in their lists, so that their names are known to
 * exist. */
int ep_filter_decide(struct ep_filter *filter, struct ep_rules *rules, const char *text,
		     size_t size, struct ep_err *err);

/* The text without what was decided on. Errors are left in `out`. */
void ep_filter_write(const struct ep_filter *filter, FILE *out);
void ep_filter_deinit(struct ep_filter *filter);

/* One line for each function with hooks, to `out`, each begun with `who`: what was done and why.
 * Only those that were left against their verdict, unless `all`. */
void ep_filter_report(const struct ep_filter *filter, const struct ep_rules *rules, const char *who,
		      const char *file, bool all, FILE *out);

#endif
