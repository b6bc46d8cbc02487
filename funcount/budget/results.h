/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * results.h: a folder of what tests did when they ran under `epitaph budget run`: for each test
 * NAME.counts, a counts file of all its processes, and NAME.run, the rest (keyfile.h). Both are
 * replaced together, under a lock on the folder: tests may run in parallel. NAME.traced is what was
 * observed when the test ran traced: other runs, so it stands alone.
 */
#ifndef EPITAPH_RESULTS_H
#define EPITAPH_RESULTS_H

#include "funcount/counts/counts.h"
#include "funcount/budget/observed.h"

struct ep_result {
	char *name;
	struct ep_counts *counts; /* of all runs */
	uint64_t runs;            /* of the command */
	uint64_t units;           /* of work, in all runs; 0: not known */
	uint64_t processes;       /* that counted, or were traced */
	uint64_t lost;            /* calls known to be missing */
	int status;               /* of the last run, as a shell gives it */
	struct ep_observed observed;
};

/* Of zeroed ones, too. */
void ep_result_deinit(struct ep_result *result);

/*
 * Files the result under its name; the folder is made when it is not there. `add`: on top of what
 * is there, else in its place. EP_E_MISMATCH: a run of it is there already; EP_E_USAGE: the name is
 * empty or too long for a file.
 */
int ep_results_put(const char *folder, const struct ep_result *result, bool add,
		   struct ep_err *err);

/* The same of what was observed. */
int ep_results_observe(const char *folder, const char *name, const struct ep_observed *observed,
		       bool add, struct ep_err *err);

/* EP_END: no result of that name. EP_E_CORRUPT: the two files do not belong together; EP_E_FORMAT
 * and those of ep_counts_load: damaged. */
int ep_results_get(const char *folder, const char *name, struct ep_result *result,
		   struct ep_err *err);

struct ep_results_names {
	char **list;
	size_t count, capacity;
};

/* The names of all results, by alphabet. EP_END: there is no such folder. */
int ep_results_names(const char *folder, struct ep_results_names *out, struct ep_err *err);
void ep_results_names_deinit(struct ep_results_names *names);

#endif
