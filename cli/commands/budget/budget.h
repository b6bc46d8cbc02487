/* SPDX-License-Identifier: BSD-2-Clause */
/* budget.h: what the budget commands share, and how verdicts are printed. */
#ifndef EPITAPH_CLI_BUDGET_H
#define EPITAPH_CLI_BUDGET_H

#include <stdio.h>

#include "cli/common/option.h"
#include "cli/common/session.h"
#include "funcount/budget/budget.h"
#include "funcount/exclude/exclude.h"

#define EP_BUDGET_FILE    "epitaph.budget"  /* unless it is named */
#define EP_BUDGET_RESULTS "epitaph-results" /* unless it is named */

/* --results, or $EPITAPH_BUDGET_RESULTS, or EP_BUDGET_RESULTS. */
const char *ep_budget_folder(const struct ep_arguments *arguments);

enum ep_budget_state {
	EP_BUDGET_GOOD,
	EP_BUDGET_EXCEEDED,
	EP_BUDGET_INCOMPLETE, /* good as far as is known */
	EP_BUDGET_NOT_RUN,    /* no result */
	EP_BUDGET_UNKNOWN,    /* a result, and not in the file */
	EP_BUDGET_DAMAGED,    /* its result cannot be read: `err` */
};

/* One test, of the file, of the results, or of both. */
struct ep_budget_item {
	enum ep_budget_state state;
	char *name;
	const struct ep_budget_test *test; /* NULL unknown */
	struct ep_result result;
	struct ep_budget_verdict verdict;
	struct ep_called *called;      /* of those that exceed; else maybe NULL */
	struct ep_exclusion exclusion; /* of them: what would meet the limits */
	struct ep_err err;
};

struct ep_budget_items {
	struct ep_budget_item *list;
	size_t count, capacity;
	const struct ep_budget *budget;
	const char *path; /* of the file */
};

/* As text, and as JSON. */
void ep_budget_print_text(const struct ep_budget_items *items, FILE *out);
void ep_budget_print_json(const struct ep_budget_items *items, FILE *out);

#endif
