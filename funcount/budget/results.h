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

/* What was seen of tracing itself when a test ran traced: how far back the rings went, and what
 * they lack. By a clock, so it is no verdict's business. */
struct ep_observed {
	uint64_t runs;      /* of the command; 0: it was never traced */
	uint64_t processes; /* that left a trace */
	uint64_t lost;      /* events known to be missing */
	double history;     /* seconds that the shortest ring went back which was written over;
			       INFINITY: none was */
};

/* Adds a process's trace. EP_END: there is none; and what a reader of traces says. */
int ep_observed_add_file(struct ep_observed *observed, const char *path, struct ep_err *err);
/* Adds other runs. */
void ep_observed_add(struct ep_observed *observed, const struct ep_observed *more);

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
