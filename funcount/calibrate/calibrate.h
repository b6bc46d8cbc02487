/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * calibrate.h: measures what a traced call costs on this machine, by running a small traced program
 * (lib/epitaph/calibrate, funcount/calibrate/program/) in every mode in turn, round by round.
 */
#ifndef EPITAPH_CALIBRATE_H
#define EPITAPH_CALIBRATE_H

#include "funcount/exclude/cost.h"

#define EP_CALIBRATE_ROUNDS     15 /* by default */
#define EP_CALIBRATE_ROUNDS_MAX 1000

/* Above these a result is called doubtful: how far the untraced code's speed spreads from round to
 * round (interquartile, of its median), and how far two equal copies of it are apart, in
 * nanoseconds. */
#define EP_CALIBRATE_DRIFT_MAX 0.10
#define EP_CALIBRATE_APART_MAX 0.3

struct ep_calibration {
	struct ep_costs costs;
	double drift; /* of the untraced code's speed between rounds */
	unsigned rounds;
};

/* Called before each run with the part done, 0 to 1. */
typedef void (*ep_calibrate_progress_fn)(double done);

/*
 * `helper` is the program; `rounds` 1 to EP_CALIBRATE_ROUNDS_MAX of 0.3 seconds each, about. The
 * cost of a mode is the median of the dearest shape of code, so that hot programs cost no more than
 * predicted; low and high are the quartiles over all shapes. `progress` may be NULL. EP_E_IO: the
 * program cannot be run, or says something else than it should.
 */
int ep_calibrate(struct ep_calibration *out, const char *helper, unsigned rounds,
		 ep_calibrate_progress_fn progress, struct ep_err *err);

/* Why the result is doubtful, in words; NULL: it is not. */
const char *ep_calibration_doubt(const struct ep_calibration *calibration, char *text, size_t size);

#endif
