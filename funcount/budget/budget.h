/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * budget.h: a file of limits in the traced project's repository, and the verdict on what its tests
 * did. No clock is read: the same file and the same counts give the same verdict everywhere
 * (docs/overhead.md has the format).
 *
 * 	tolerance = 5%
 * 	[costs]			# as epitaph calibrate -o writes them
 * 	full = 18.5 ns
 * 	[test parse]
 * 	max-calls = 1200000	# per run
 * 	max-calls-per-unit = 45
 * 	unit = parse_record	# its calls are the units, or `run --units`
 * 	max-overhead = 10%
 * 	min-history = 500ms	# per MiB of ring
 * 	reference-calls = …	# of a run that was good
 * 	reference-cpu = 1.25 s	# of a run without tracing
 */
#ifndef EPITAPH_BUDGET_H
#define EPITAPH_BUDGET_H

#include "funcount/exclude/cost.h"
#include "funcount/budget/results.h"

#define EP_BUDGET_TOLERANCE 0.05 /* unless the file says */

/* Negative: no such limit, not known. Per run of the test. */
struct ep_budget_test {
	char *name;
	double max_calls, max_calls_per_unit, max_overhead, min_history;
	double tolerance;
	char *unit; /* a function; NULL: `budget run --units` says how many there are */
	double reference_calls, reference_units, reference_cpu;
};

struct ep_budget {
	struct ep_costs costs;
	unsigned every; /* timestamp-every: 0 auto */
	double tolerance;
	EP_ARRAY(struct ep_budget_test) tests; /* as they stand in the file */
};

/*
 * EP_END: there is no such file; the budget is empty. EP_E_FORMAT, with
 * line and column: damaged, or a key or a section that is none of ours.
 */
int ep_budget_read(struct ep_budget *budget, const char *path, struct ep_err *err);
/* From text; `name` is for messages. */
int ep_budget_parse(struct ep_budget *budget, const char *name, const char *text, size_t size,
		    struct ep_err *err);
void ep_budget_deinit(struct ep_budget *budget); /* zeroed is allowed */

/* NULL: none of that name. */
const struct ep_budget_test *ep_budget_find(const struct ep_budget *budget, const char *name);

/* "[test NAME]", as the file has it. */
void ep_budget_section_print(const char *name, FILE *out);

/* ---- the verdict --------------------------------------------------------- */

enum ep_budget_limit {
	EP_LIMIT_CALLS,
	EP_LIMIT_CALLS_PER_UNIT,
	EP_LIMIT_OVERHEAD,
	EP_LIMIT_HISTORY,
	EP_LIMITS
};

struct ep_budget_check {
	bool set;         /* there is such a limit */
	bool known;       /* and what to compare with it */
	bool exceeded;    /* by more than the tolerance */
	double limit, is; /* calls; calls; part; seconds */
};

struct ep_budget_verdict {
	struct ep_budget_check checks[EP_LIMITS];
	double calls, units;            /* per run; units negative: not known */
	struct ep_prediction predicted; /* overhead negative: not known */
	bool exceeded;                  /* any of them */
	bool incomplete;                /* counts, or something a limit needs, is missing */
};

/* "calls per run" … */
const char *ep_budget_limit_words(enum ep_budget_limit limit);

/* `units` of all runs, negative: not known. Limits of calls that the file does not set are the
 * reference's. */
void ep_budget_judge(struct ep_budget_verdict *out, const struct ep_budget *budget,
		     const struct ep_budget_test *test, const struct ep_result *result,
		     double units);

/* The most calls per run that meet all limits of the test (for what to exclude); infinite: there
 * are none. */
double ep_budget_most_calls(const struct ep_budget *budget, const struct ep_budget_test *test,
			    double units);

#endif
