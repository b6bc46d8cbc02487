/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cost.h: what tracing costs, as figures: nanoseconds that a traced call (with its return) takes
 * longer than an untraced one, by mode, measured by `epitaph calibrate`; and the model that makes a
 * prediction of them:
 *
 * 	overhead = calls * cost of a call / CPU time without tracing
 * 	history  = seconds that one MiB of ring goes back
 *
 * The same figures give the same prediction on every machine: no clock is read.
 */
#ifndef EPITAPH_COST_H
#define EPITAPH_COST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "funcount/files/keyfile.h"

/*        name, key in a file, EPITAPH_TIMESTAMP_EVERY, words */
#define EP_COST_MODES_LIST(X)                                         \
	X(EP_COST_FULL, "full", "1", "every record timed")            \
	X(EP_COST_8, "one-in-8", "8", "one record in 8 timed")        \
	X(EP_COST_64, "one-in-64", "64", "one record in 64 timed")    \
	X(EP_COST_AUTO, "auto", "auto", "auto, calls in a row")       \
	X(EP_COST_PAUSED, "paused", "auto", "paused: EPITAPH=off")    \
	X(EP_COST_COUNTING, "counting", "auto", "EPITAPH_MODE=count") \
	X(EP_COST_EXCLUDED, "excluded", "auto", "no hooks: NOFUNTRACE, a list")

enum ep_cost_mode {
#define EP_COST_ENUM(name, key, every, words) name,
	EP_COST_MODES_LIST(EP_COST_ENUM)
#undef EP_COST_ENUM
		EP_COST_MODES
};

const char *ep_cost_key(enum ep_cost_mode mode);
const char *ep_cost_words(enum ep_cost_mode mode);
const char *ep_cost_every(enum ep_cost_mode mode);

/* Of one call and its return; cycles are 0 where unknown. */
struct ep_cost {
	double ns, low, high; /* median, first and third quartile */
	double cycles;
};

/* Code of which the sizes below, in KiB, are in use, and what a call with hooks costs more there
 * than in code of EP_COST_CODE_LEAST, where the processor has all of it at hand. */
#define EP_COST_CODE_LEAST 40
#define EP_COST_CODE_SIZES 3 /* 160, 640, 1280 */

struct ep_costs {
	struct ep_cost of[EP_COST_MODES];
	struct ep_cost code[EP_COST_CODE_SIZES];
	double clock_budget; /* part of its time that auto spends on the clock:
				EPITAPH_CLOCK_BUDGET, 0.05 */
	char machine[128];   /* the processor; "" unknown */
};

/* Figures to begin with, where nobody has calibrated: those of docs/bench.md. */
void ep_costs_default(struct ep_costs *costs);

/*
 * From the section [costs] of a file; what it does not hold stays as it is in *costs. EP_END: there
 * is no such section. EP_E_FORMAT, with line and column: a value is no cost, or a key is none of
 * ours.
 */
int ep_costs_parse(struct ep_costs *costs, const struct ep_keyfile *file, struct ep_err *err);
/* As that section. Errors are the FILE's. */
void ep_costs_print(const struct ep_costs *costs, FILE *out);

/* EPITAPH_TIMESTAMP_EVERY: 0 is auto, else 1, 2, 4 … 64. False: none of these. */
bool ep_cost_every_parse(const char *text, unsigned *every);

/* Which sizes these are, in KiB, ascending. */
unsigned ep_cost_code_size(unsigned index);
/* What a call costs more, in nanoseconds, where `bytes` of code are in use; between the sizes by
 * the logarithm, beyond them no more than at the last. */
double ep_cost_of_code(const struct ep_costs *costs, uint64_t bytes);
/* Adds that to the cost of a call in each mode in which hooks run. */
void ep_costs_widen(struct ep_costs *costs, uint64_t bytes);

struct ep_prediction {
	double overhead; /* 0.05: 5 % more CPU time than without tracing */
	double history;  /* seconds per MiB; infinite without calls */
};

/* What `calls` in `seconds` of untraced CPU time, more than 0, come to. */
struct ep_prediction ep_cost_predict(const struct ep_costs *costs, unsigned every, double calls,
				     double seconds);

/* The most calls that keep the overhead at or below `overhead`; that make one MiB of ring go back
 * `history` seconds or more. */
double ep_cost_calls_for_overhead(const struct ep_costs *costs, unsigned every, double overhead,
				  double seconds);
double ep_cost_calls_for_history(const struct ep_costs *costs, unsigned every, double history,
				 double seconds);

#endif
