/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * results.c: what tests did, a pair of files each. A test's name is any text: its file's name has
 * %xx for what is not plain.
 */
#include "funcount/budget/results.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coredump/files/output.h"
#include "coredump/util/alloc.h"
#include "coredump/util/number.h"
#include "funcount/files/keyfile.h"
#include "coredump/util/error.h"
#include "coredump/kinds/open.h"
#include "coredump/snapshot/image.h"
#include "decoder/trace/trace.h"

#define RUN       ".run"
#define COUNTS    ".counts"
#define TRACED    ".traced"
#define WHOLE     "whole"
#define NAME_ROOM (NAME_MAX - 20) /* for endings, also of files aside */

void ep_result_deinit(struct ep_result *result)
{
	free(result->name);
	ep_counts_destroy(result->counts);
	*result = (struct ep_result){0};
}

/* ---- what was seen of tracing ---- */

static void add_thread(struct ep_observed *observed, const struct ep_trace *trace,
		       const struct ep_trace_thread *thread)
{
	int64_t ns = ep_trace_ns(trace, thread->first_tsc, thread->last_tsc);

	observed->lost += thread->lost_records;
	if (thread->block_count && !thread->from_start && !thread->forked)
		observed->history = fmin(observed->history, (double)ns / 1e9);
}

static void add_trace(struct ep_observed *observed, const struct ep_trace *trace)
{
	observed->processes++;
	observed->lost += trace->damage.holes;
	for (size_t i = 0; i < trace->thread_count; i++)
		add_thread(observed, trace, &trace->threads[i]);
}

static int add_source(struct ep_observed *observed, struct ep_source *source, struct ep_err *err)
{
	struct ep_root_found found;
	struct ep_image image = {0};
	struct ep_trace *trace = NULL;
	int rc = ep_root_find(source, &found, err);

	if (!rc)
		rc = ep_image_read(&image, source, &found, err);
	if (!rc)
		rc = ep_trace_create(&trace, &image, err);
	if (!rc)
		add_trace(observed, trace);
	ep_trace_destroy(trace);
	ep_image_deinit(&image);
	return rc;
}

int ep_observed_add_file(struct ep_observed *observed, const char *path, struct ep_err *err)
{
	struct ep_source *source;
	int rc = ep_source_open(&source, path, err);

	if (rc)
		return rc;
	rc = add_source(observed, source, err);
	ep_source_close(source);
	return rc;
}

void ep_observed_add(struct ep_observed *observed, const struct ep_observed *more)
{
	observed->history = observed->runs ? fmin(observed->history, more->history) : more->history;
	observed->runs += more->runs;
	observed->processes += more->processes;
	observed->lost += more->lost;
}

/* ---- file names ---------------------------------------------------------- */

static bool is_plain(unsigned char byte)
{
	return (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
	       (byte >= 'a' && byte <= 'z') || byte == '-' || byte == '_' || byte == '.';
}

/* folder/NAME + ending. A leading dot would hide the file. */
static int path_of(char path[PATH_MAX], const char *folder, const char *name, const char *ending,
		   struct ep_err *err)
{
	char file[NAME_MAX + 1];
	size_t used = 0;

	for (const char *at = name; *at && used + 3 < NAME_ROOM; at++) {
		bool plain = is_plain((unsigned char)*at) && !(at == name && *at == '.');

		used += (size_t)snprintf(file + used, 4, plain ? "%c" : "%%%02x",
					 (unsigned char)*at);
	}
	if (!*name || used + 3 >= NAME_ROOM ||
	    snprintf(path, PATH_MAX, "%s/%s%s", folder, file, ending) >= PATH_MAX)
		return ep_fail(err, EP_E_USAGE, 0, "\"%.100s\": %s", name,
			       *name ? "too long for the name of a test" : "a test needs a name");
	return EP_OK;
}

/* ---- writing ------------------------------------------------------------- */

static void print_run(FILE *out, const struct ep_result *result)
{
	fprintf(out, "[run]\ncalls = %" PRIu64 "\nruns = %" PRIu64 "\n", result->counts->calls,
		result->runs);
	if (result->units)
		fprintf(out, "units = %" PRIu64 "\n", result->units);
	fprintf(out, "processes = %" PRIu64 "\nlost = %" PRIu64 "\nstatus = %d\n",
		result->processes, result->lost, result->status);
}

static void print_observed(FILE *out, const struct ep_observed *observed)
{
	fprintf(out, "[traced]\nruns = %" PRIu64 "\nprocesses = %" PRIu64 "\nlost = %" PRIu64 "\n",
		observed->runs, observed->processes, observed->lost);
	if (isfinite(observed->history))
		fprintf(out, "history = %.9f s\n", observed->history);
	else
		fprintf(out, "history = " WHOLE "\n");
}

static int write_run(const char *path, const struct ep_result *result, struct ep_err *err)
{
	struct ep_output file;
	int rc = ep_output_open_text(&file, path, err);

	if (rc)
		return rc;
	print_run(file.file, result);
	return ep_output_commit(&file, err);
}

static int write_observed(const char *path, const struct ep_observed *observed, struct ep_err *err)
{
	struct ep_output file;
	int rc = ep_output_open_text(&file, path, err);

	if (rc)
		return rc;
	print_observed(file.file, observed);
	return ep_output_commit(&file, err);
}

static int write_counts(const char *path, const struct ep_counts *counts, struct ep_err *err)
{
	struct ep_output file;
	int rc = ep_output_open_text(&file, path, err);

	if (rc)
		return rc;
	if (ep_counts_print(counts, file.file) == 0)
		return ep_output_commit(&file, err);
	rc = ep_fail(err, EP_E_IO, 0, "%s: %m", path);
	ep_output_abandon(&file);
	return rc;
}

static int write_both(const char *folder, const struct ep_result *result, struct ep_err *err)
{
	char path[PATH_MAX];
	int rc = path_of(path, folder, result->name, COUNTS, err);

	if (!rc)
		rc = write_counts(path, result->counts, err);
	if (!rc)
		rc = path_of(path, folder, result->name, RUN, err);
	return rc ? rc : write_run(path, result, err);
}

static int get(const char *folder, const char *name, struct ep_result *result, struct ep_err *err);

/* On top of what is there. */
static int add_both(const char *folder, const struct ep_result *result, struct ep_err *err)
{
	struct ep_result sum;
	int rc = get(folder, result->name, &sum, err);

	if (rc == EP_END)
		return write_both(folder, result, err);
	if (rc)
		return rc;
	rc = ep_counts_merge(sum.counts, result->counts, err);
	sum.runs += result->runs;
	sum.units += result->units;
	sum.processes += result->processes;
	sum.lost += result->lost;
	sum.status = result->status;
	if (!rc)
		rc = write_both(folder, &sum, err);
	ep_result_deinit(&sum);
	return rc;
}

/* The lock is on the folder that a file lies in. */
static int lock_folder(const char *folder, int *lock, struct ep_err *err)
{
	char inside[PATH_MAX];

	if (snprintf(inside, sizeof(inside), "%s/any", folder) >= (int)sizeof(inside))
		return ep_fail(err, EP_E_USAGE, 0, "%.100s: name too long", folder);
	return ep_output_lock(lock, inside, err);
}

static int make_folder(const char *folder, int *lock, struct ep_err *err)
{
	if (mkdir(folder, 0777) && errno != EEXIST)
		return ep_fail(err, EP_E_IO, 0, "%s: %m", folder);
	return lock_folder(folder, lock, err);
}

int ep_results_put(const char *folder, const struct ep_result *result, bool add, struct ep_err *err)
{
	char path[PATH_MAX];
	int lock, rc = path_of(path, folder, result->name, RUN, err);

	if (!rc)
		rc = make_folder(folder, &lock, err);
	if (rc)
		return rc;
	rc = add ? add_both(folder, result, err) : write_both(folder, result, err);
	close(lock);
	return rc;
}

/* ---- reading ------------------------------------------------------------- */

static int parse_number(const struct ep_keyfile *file, const char *section, const char *key,
			uint64_t *out, struct ep_err *err)
{
	const struct ep_keyfile_line *line = ep_keyfile_find(file, section, key);

	return !line || ep_number_parse(line->value, 0, UINT64_MAX, out)
		       ? EP_OK
		       : ep_keyfile_refuse(file, line, err, "not a number");
}

static int parse_run(struct ep_result *result, const struct ep_keyfile *file, uint64_t *calls,
		     struct ep_err *err)
{
	uint64_t status = 0;
	const struct {
		const char *key;
		uint64_t *value;
	} numbers[] = {
		{"calls", calls},          {"runs", &result->runs},
		{"units", &result->units}, {"processes", &result->processes},
		{"lost", &result->lost},   {"status", &status},
	};
	int rc = EP_OK;

	for (size_t i = 0; !rc && i < sizeof(numbers) / sizeof(*numbers); i++)
		rc = parse_number(file, "run", numbers[i].key, numbers[i].value, err);
	result->status = (int)(status & 0xff);
	if (!rc && !result->runs)
		rc = ep_fail(err, EP_E_CORRUPT, 0, "%s: says of no run", file->name);
	return rc;
}

static int read_run(struct ep_result *result, const char *path, uint64_t *calls, struct ep_err *err)
{
	struct ep_keyfile file;
	int rc = ep_keyfile_read(&file, path, err);

	if (!rc)
		rc = parse_run(result, &file, calls, err);
	ep_keyfile_deinit(&file);
	return rc;
}

static int parse_observed(struct ep_observed *out, const struct ep_keyfile *file,
			  struct ep_err *err)
{
	const char *in = "traced";
	const struct ep_keyfile_line *line = ep_keyfile_find(file, in, "history");
	char *end = NULL;
	int rc = parse_number(file, in, "runs", &out->runs, err);

	if (!rc)
		rc = parse_number(file, in, "processes", &out->processes, err);
	if (!rc)
		rc = parse_number(file, in, "lost", &out->lost, err);
	if (rc || !line)
		return rc;
	out->history = INFINITY;
	if (strcmp(line->value, WHOLE) == 0)
		return EP_OK;
	out->history = strtod(line->value, &end);
	return end != line->value && strcmp(end, " s") == 0 && out->history >= 0 &&
			       isfinite(out->history)
		       ? EP_OK
		       : ep_keyfile_refuse(file, line, err, "not a number of seconds: 0.5 s");
}

/* No file: nothing was observed. */
static int get_observed(struct ep_observed *out, const char *folder, const char *name,
			struct ep_err *err)
{
	char path[PATH_MAX];
	struct ep_keyfile file;
	int rc = path_of(path, folder, name, TRACED, err);

	*out = (struct ep_observed){.history = INFINITY};
	if (rc)
		return rc;
	rc = ep_keyfile_read(&file, path, err);
	if (!rc)
		rc = parse_observed(out, &file, err);
	ep_keyfile_deinit(&file);
	return rc == EP_END ? EP_OK : rc;
}

int ep_results_observe(const char *folder, const char *name, const struct ep_observed *observed,
		       bool add, struct ep_err *err)
{
	struct ep_observed sum = {.history = INFINITY};
	char path[PATH_MAX];
	int lock, rc = path_of(path, folder, name, TRACED, err);

	if (!rc)
		rc = make_folder(folder, &lock, err);
	if (rc)
		return rc;
	if (add)
		rc = get_observed(&sum, folder, name, err);
	ep_observed_add(&sum, observed);
	if (!rc)
		rc = write_observed(path, &sum, err);
	close(lock);
	return rc;
}

static int get(const char *folder, const char *name, struct ep_result *result, struct ep_err *err)
{
	struct ep_result got = {.name = ep_strdup(name)};
	char path[PATH_MAX];
	uint64_t calls = 0;
	int rc = path_of(path, folder, name, RUN, err);

	if (!rc)
		rc = read_run(&got, path, &calls, err);
	if (!rc)
		rc = path_of(path, folder, name, COUNTS, err);
	if (!rc)
		rc = ep_counts_load(&got.counts, path, err);
	if (!rc)
		rc = get_observed(&got.observed, folder, name, err);
	if (!rc && calls != got.counts->calls)
		rc = ep_fail(err, EP_E_CORRUPT, 0,
			     "%s: not of the run that its %s file is of; run the test again", path,
			     RUN);
	if (rc)
		ep_result_deinit(&got);
	else
		*result = got;
	return rc;
}

int ep_results_get(const char *folder, const char *name, struct ep_result *result,
		   struct ep_err *err)
{
	int lock, rc;

	if (access(folder, F_OK) && errno == ENOENT)
		return EP_END;
	rc = lock_folder(folder, &lock, err);
	if (rc)
		return rc;
	rc = get(folder, name, result, err);
	close(lock);
	return rc;
}

/* ---- names --------------------------------------------------------------- */

static int digit(char byte)
{
	return byte >= '0' && byte <= '9'   ? byte - '0'
	       : byte >= 'a' && byte <= 'f' ? byte - 'a' + 10
					    : -1;
}

static bool is_run(const char *file)
{
	size_t length = strlen(file);

	return length > strlen(RUN) && !strcmp(file + length - strlen(RUN), RUN);
}

/* The test of NAME.run. */
static char *name_of(const char *file)
{
	char *name = ep_strndup(file, strlen(file) - strlen(RUN)), *to = name;

	for (const char *at = name; *at; at++) {
		if (*at == '%' && digit(at[1]) >= 0 && digit(at[2]) >= 0) {
			*to++ = (char)(digit(at[1]) * 16 + digit(at[2]));
			at += 2;
		} else {
			*to++ = *at;
		}
	}
	*to = '\0';
	return name;
}

static int by_alphabet(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int ep_results_names(const char *folder, struct ep_results_names *out, struct ep_err *err)
{
	DIR *open = opendir(folder);
	struct dirent *entry;

	*out = (struct ep_results_names){0};
	if (!open)
		return errno == ENOENT ? EP_END : ep_fail(err, EP_E_IO, 0, "%s: %m", folder);
	while ((entry = readdir(open)))
		if (is_run(entry->d_name))
			ep_array_push(out, name_of(entry->d_name));
	closedir(open);
	ep_array_sort(out, by_alphabet);
	return EP_OK;
}

void ep_results_names_deinit(struct ep_results_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->list[i]);
	ep_array_deinit(names);
}
