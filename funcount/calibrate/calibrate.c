/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * calibrate.c: runs the traced program in every mode, and measures. The reader itself is never
 * traced: what runs hooks is another program.
 */
#include "funcount/calibrate/calibrate.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coredump/files/procfile.h"
#include "coredump/util/alloc.h"

#define SHAPES_MAX 8
#define SLICES     "20" /* of a shape in a run */

extern char **environ;

/* One run's answer: nanoseconds per call of each shape. */
struct timing {
	unsigned shapes;
	double plain[SHAPES_MAX], excluded[SHAPES_MAX], traced[SHAPES_MAX];
	double code[1 + EP_COST_CODE_SIZES]; /* EP_COST_CODE_LEAST KiB, then the others */
	unsigned sizes;
	double cycles_per_ns;
};

/* What all runs of a mode came to: [round * shapes + shape]. */
struct series {
	double *values;
	size_t count;
};

/* ---- running it ---------------------------------------------------------- */

static bool is_ours(const char *variable)
{
	return !strncmp(variable, "EPITAPH", 7) && (variable[7] == '=' || variable[7] == '_');
}

/* In the child: nothing of the caller's settings holds. */
static void set_mode(enum ep_cost_mode mode)
{
	size_t kept = 0;

	for (size_t i = 0; environ[i]; i++)
		if (!is_ours(environ[i]))
			environ[kept++] = environ[i];
	environ[kept] = NULL;
	setenv("EPITAPH_TIMESTAMP_EVERY", ep_cost_every(mode), 1);
	/* What it costs when nothing is switched off. */
	setenv("EPITAPH_BUDGET", "none", 1);
	if (mode == EP_COST_PAUSED)
		setenv("EPITAPH", "off", 1);
	if (mode == EP_COST_COUNTING) {
		setenv("EPITAPH_MODE", "count", 1);
		setenv("EPITAPH_OUTPUT", "/dev/null", 1);
	}
}

static void exec_helper(const char *helper, enum ep_cost_mode mode, int out)
{
	char *const wide = mode == EP_COST_64 ? "wide" : NULL;
	char *const words[] = {(char *)helper, (char *)SLICES, wide, NULL};

	set_mode(mode);
	if (dup2(out, STDOUT_FILENO) >= 0)
		execv(helper, words);
	_exit(127);
}

/* "code 640 9.9": sizes in their order. */
static bool parse_code(const char *line, struct timing *timing)
{
	unsigned i = timing->sizes++, kib;

	return i <= EP_COST_CODE_SIZES &&
	       sscanf(line, "code %u %lf", &kib, &timing->code[i]) == 2 &&
	       kib == (i ? ep_cost_code_size(i - 1) : EP_COST_CODE_LEAST) &&
	       isfinite(timing->code[i]);
}

static bool parse_line(const char *line, struct timing *timing)
{
	unsigned i = timing->shapes;

	if (!strncmp(line, "code ", 5))
		return parse_code(line, timing);

	if (i == SHAPES_MAX ||
	    sscanf(line, "%*s %lf %lf %lf %lf", &timing->plain[i], &timing->excluded[i],
		   &timing->traced[i], &timing->cycles_per_ns) != 4)
		return false;
	timing->shapes++;
	return timing->plain[i] > 0 && isfinite(timing->plain[i]) &&
	       isfinite(timing->excluded[i]) && isfinite(timing->traced[i]) &&
	       timing->cycles_per_ns > 0;
}

static int parse_output(int fd, struct timing *timing, const char *helper, struct ep_err *err)
{
	FILE *file = fdopen(fd, "r");
	bool sane = file != NULL;
	char line[256];

	*timing = (struct timing){0};
	while (sane && fgets(line, sizeof(line), file))
		sane = parse_line(line, timing);
	if (file)
		fclose(file);
	else
		close(fd);
	return sane ? EP_OK
		    : ep_fail(err, EP_E_IO, 0, "%s: not the program that times hooks", helper);
}

static int run_once(const char *helper, enum ep_cost_mode mode, struct timing *timing,
		    struct ep_err *err)
{
	int ends[2], status = 0, rc;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC))
		return ep_fail(err, EP_E_IO, 0, "pipe: %m");
	child = fork();
	if (child == 0)
		exec_helper(helper, mode, ends[1]);
	close(ends[1]);
	if (child < 0) {
		close(ends[0]);
		return ep_fail(err, EP_E_IO, 0, "fork: %m");
	}
	rc = parse_output(ends[0], timing, helper, err);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (rc || (WIFEXITED(status) && WEXITSTATUS(status) == 0 && timing->shapes))
		return rc;
	return ep_fail(err, EP_E_IO, 0, "%s: %s %d", helper,
		       WIFSIGNALED(status) ? "killed by signal" : "ended with status",
		       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

/* ---- what came of it ----------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The part of `values` that is below the answer: 0.5 is the median. */
static double quantile(double *values, size_t count, double part)
{
	qsort(values, count, sizeof(*values), compare);
	return values[(size_t)((double)(count - 1) * part + 0.5)];
}

/* The median of the shape whose median is the greatest. */
static double dearest(const struct series *series, unsigned shapes)
{
	size_t rounds = series->count / shapes;
	double *column = ep_malloc(rounds * sizeof(*column));
	double most = -INFINITY;

	for (unsigned shape = 0; shape < shapes; shape++) {
		for (size_t i = 0; i < rounds; i++)
			column[i] = series->values[i * shapes + shape];
		most = fmax(most, quantile(column, rounds, 0.5));
	}
	free(column);
	return most;
}

static struct ep_cost cost_of(const struct series *series, unsigned shapes, double cycles_per_ns)
{
	struct ep_cost cost = {.ns = dearest(series, shapes)};

	cost.low = quantile(series->values, series->count, 0.25);
	cost.high = quantile(series->values, series->count, 0.75);
	cost.high = fmax(cost.high, cost.ns);
	cost.cycles = cost.ns * cycles_per_ns;
	return cost;
}

/* Of the untraced code's times, shape by shape: the worst. */
static double drift_of(const struct series *plain, unsigned shapes)
{
	size_t rounds = plain->count / shapes;
	double *column = ep_malloc(rounds * sizeof(*column));
	double worst = 0;

	for (unsigned shape = 0; shape < shapes; shape++) {
		for (size_t i = 0; i < rounds; i++)
			column[i] = plain->values[i * shapes + shape];
		worst = fmax(worst,
			     (quantile(column, rounds, 0.75) - quantile(column, rounds, 0.25)) /
				     quantile(column, rounds, 0.5));
	}
	free(column);
	return worst;
}

static void machine_name(char *out, size_t size)
{
	struct ep_procfile file;
	char name[200], *line;

	*out = '\0';
	ep_procfile_open(&file, "/proc/cpuinfo");
	while (!*out && (line = ep_procfile_next(&file, '\n')))
		if (sscanf(line, "model name : %199[^\n]", name) == 1)
			snprintf(out, size, "%.*s", (int)strcspn(name, "#"), name);
	ep_procfile_close(&file);
}

static void append(struct series *series, const double *values, unsigned count)
{
	memcpy(series->values + series->count, values, count * sizeof(*values));
	series->count += count;
}

/* EP_COST_EXCLUDED holds what the equal copies differ by, of all runs. */
struct measured {
	struct series of[EP_COST_MODES], plain;
	struct series code; /* what each size costs more than the least, in one mode */
	double cycles_per_ns;
	unsigned shapes;
};

static int measure(struct measured *measured, const char *helper, unsigned rounds,
		   ep_calibrate_progress_fn progress, struct ep_err *err)
{
	unsigned runs = rounds * EP_COST_EXCLUDED;

	for (unsigned run = 0; run < runs; run++) {
		enum ep_cost_mode mode = run % EP_COST_EXCLUDED;
		struct timing timing;
		int rc;

		if (progress)
			progress((double)run / runs);
		rc = run_once(helper, mode, &timing, err);
		if (rc)
			return rc;
		append(&measured->of[mode], timing.traced, timing.shapes);
		append(&measured->of[EP_COST_EXCLUDED], timing.excluded, timing.shapes);
		append(&measured->plain, timing.plain, timing.shapes);
		if (mode == EP_COST_64 && timing.sizes == 1 + EP_COST_CODE_SIZES) {
			for (int i = 1; i <= EP_COST_CODE_SIZES; i++)
				timing.code[i] -= timing.code[0];
			append(&measured->code, timing.code + 1, EP_COST_CODE_SIZES);
		}
		measured->cycles_per_ns = timing.cycles_per_ns;
		measured->shapes = timing.shapes;
	}
	return EP_OK;
}

static_assert(EP_COST_EXCLUDED == EP_COST_MODES - 1, "all modes before it are run");

static struct ep_cost code_cost(const struct series *series, unsigned size, double cycles_per_ns)
{
	size_t rounds = series->count / EP_COST_CODE_SIZES;
	double *column = ep_malloc(rounds * sizeof(*column));
	struct ep_cost cost;

	for (size_t i = 0; i < rounds; i++)
		column[i] = series->values[i * EP_COST_CODE_SIZES + size];
	cost.ns = quantile(column, rounds, 0.5);
	cost.low = quantile(column, rounds, 0.25);
	cost.high = quantile(column, rounds, 0.75);
	cost.cycles = cost.ns * cycles_per_ns;
	free(column);
	return cost;
}

static void conclude(struct ep_calibration *out, const struct measured *from)
{
	ep_costs_default(&out->costs);
	for (int mode = 0; mode < EP_COST_MODES; mode++)
		out->costs.of[mode] = cost_of(&from->of[mode], from->shapes, from->cycles_per_ns);
	for (unsigned i = 0; from->code.count && i < EP_COST_CODE_SIZES; i++)
		out->costs.code[i] = code_cost(&from->code, i, from->cycles_per_ns);
	out->drift = drift_of(&from->plain, from->shapes);
	machine_name(out->costs.machine, sizeof(out->costs.machine));
}

int ep_calibrate(struct ep_calibration *out, const char *helper, unsigned rounds,
		 ep_calibrate_progress_fn progress, struct ep_err *err)
{
	size_t room = (size_t)rounds * EP_COST_MODES * SHAPES_MAX;
	double *values = ep_calloc(room * (EP_COST_MODES + 2), sizeof(*values));
	struct measured measured = {.plain = {.values = values}};
	int rc;

	measured.code.values = values + room * (EP_COST_MODES + 1);
	for (int mode = 0; mode < EP_COST_MODES; mode++)
		measured.of[mode].values = values + room * (size_t)(mode + 1);
	rc = measure(&measured, helper, rounds, progress, err);
	if (!rc) {
		*out = (struct ep_calibration){.rounds = rounds};
		conclude(out, &measured);
	}
	free(values);
	return rc;
}

const char *ep_calibration_doubt(const struct ep_calibration *calibration, char *text, size_t size)
{
	double apart = fabs(calibration->costs.of[EP_COST_EXCLUDED].ns);

	if (calibration->drift > EP_CALIBRATE_DRIFT_MAX)
		snprintf(text, size,
			 "the machine is busy: untraced code ran at speeds %.0f %% apart; measure "
			 "again when it is quiet",
			 calibration->drift * 100);
	else if (apart > EP_CALIBRATE_APART_MAX)
		snprintf(text, size,
			 "two equal copies of untraced code differ by %.2f ns a call: figures "
			 "below that mean nothing here",
			 apart);
	else
		return NULL;
	return text;
}
