/* SPDX-License-Identifier: BSD-2-Clause */
/* results.c: see results.h. A test's name is any text: its file's name has %xx for what is not
 * plain. */
#include "funcount/budget/results.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "funcount/budget/budget_file.h"
#include "coredump/files/output.h"

#define RUN       ".run"
#define COUNTS    ".counts"
#define TRACED    ".traced"
#define WHOLE     "whole"
#define NAME_ROOM (NAME_MAX - 20) /* for endings, also of files aside */

static int no_memory(struct ep_err *err)
{
	return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
}

void ep_result_deinit(struct ep_result *result)
{
	free(result->name);
	ep_counts_destroy(result->counts);
	*result = (struct ep_result){0};
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

static int put_number(struct ep_sheet *sheet, const char *section, const char *key, uint64_t value,
		      struct ep_err *err)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	return ep_sheet_set(sheet, section, key, text, err);
}

static int fill_run(struct ep_sheet *sheet, const struct ep_result *result, struct ep_err *err)
{
	const char *in = "run";
	int rc = put_number(sheet, in, "calls", result->counts->calls, err);

	if (!rc)
		rc = put_number(sheet, in, "runs", result->runs, err);
	if (!rc && result->units)
		rc = put_number(sheet, in, "units", result->units, err);
	if (!rc)
		rc = put_number(sheet, in, "processes", result->processes, err);
	if (!rc)
		rc = put_number(sheet, in, "lost", result->lost, err);
	if (!rc)
		rc = put_number(sheet, in, "status", (uint64_t)result->status, err);
	return rc;
}

static int fill_observed(struct ep_sheet *sheet, const struct ep_observed *observed,
			 struct ep_err *err)
{
	const char *in = "traced";
	char history[40] = WHOLE;
	int rc = put_number(sheet, in, "runs", observed->runs, err);

	if (!rc)
		rc = put_number(sheet, in, "processes", observed->processes, err);
	if (!rc)
		rc = put_number(sheet, in, "lost", observed->lost, err);
	if (isfinite(observed->history))
		snprintf(history, sizeof(history), "%.9f s", observed->history);
	return rc ? rc : ep_sheet_set(sheet, in, "history", history, err);
}

static int write_sheet(const struct ep_sheet *sheet, const char *path, struct ep_err *err)
{
	struct ep_output file;
	int rc = ep_output_open_text(&file, path, err);

	if (rc)
		return rc;
	ep_sheet_print(sheet, file.file);
	return ep_output_commit(&file, err);
}

static int write_run(const char *path, const struct ep_result *result, struct ep_err *err)
{
	struct ep_sheet sheet;
	int rc = ep_sheet_parse(&sheet, path, "", 0, err);

	if (rc)
		return rc;
	rc = fill_run(&sheet, result, err);
	if (!rc)
		rc = write_sheet(&sheet, path, err);
	ep_sheet_deinit(&sheet);
	return rc;
}

static int write_observed(const char *path, const struct ep_observed *observed, struct ep_err *err)
{
	struct ep_sheet sheet;
	int rc = ep_sheet_parse(&sheet, path, "", 0, err);

	if (rc)
		return rc;
	rc = fill_observed(&sheet, observed, err);
	if (!rc)
		rc = write_sheet(&sheet, path, err);
	ep_sheet_deinit(&sheet);
	return rc;
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

static int take_number(const struct ep_sheet *sheet, const char *section, const char *key,
		       uint64_t *out, struct ep_err *err)
{
	const struct ep_sheet_line *line = ep_sheet_find(sheet, section, key);
	char *end;

	if (!line)
		return EP_OK;
	errno = 0;
	*out = strtoull(line->value, &end, 10);
	if (*line->value < '0' || *line->value > '9' || *end || errno)
		return ep_sheet_refuse(sheet, line, err, "not a number");
	return EP_OK;
}

static int take_run(struct ep_result *result, const struct ep_sheet *sheet, uint64_t *calls,
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
		rc = take_number(sheet, "run", numbers[i].key, numbers[i].value, err);
	result->status = (int)(status & 0xff);
	if (!rc && !result->runs)
		rc = ep_fail(err, EP_E_CORRUPT, 0, "%s: says of no run", sheet->name);
	return rc;
}

static int read_run(struct ep_result *result, const char *path, uint64_t *calls, struct ep_err *err)
{
	struct ep_sheet sheet;
	int rc = ep_sheet_read(&sheet, path, err);

	if (!rc)
		rc = take_run(result, &sheet, calls, err);
	ep_sheet_deinit(&sheet);
	return rc;
}

static int take_observed(struct ep_observed *out, const struct ep_sheet *sheet, struct ep_err *err)
{
	const char *in = "traced";
	const struct ep_sheet_line *line = ep_sheet_find(sheet, in, "history");
	char *end = NULL;
	int rc = take_number(sheet, in, "runs", &out->runs, err);

	if (!rc)
		rc = take_number(sheet, in, "processes", &out->processes, err);
	if (!rc)
		rc = take_number(sheet, in, "lost", &out->lost, err);
	if (rc || !line)
		return rc;
	out->history = INFINITY;
	if (strcmp(line->value, WHOLE) == 0)
		return EP_OK;
	out->history = strtod(line->value, &end);
	return end != line->value && strcmp(end, " s") == 0 && out->history >= 0 &&
			       isfinite(out->history)
		       ? EP_OK
		       : ep_sheet_refuse(sheet, line, err, "not a number of seconds: 0.5 s");
}

/* No file: nothing was observed. */
static int get_observed(struct ep_observed *out, const char *folder, const char *name,
			struct ep_err *err)
{
	char path[PATH_MAX];
	struct ep_sheet sheet;
	int rc = path_of(path, folder, name, TRACED, err);

	*out = (struct ep_observed){.history = INFINITY};
	if (rc)
		return rc;
	rc = ep_sheet_read(&sheet, path, err);
	if (!rc)
		rc = take_observed(out, &sheet, err);
	ep_sheet_deinit(&sheet);
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
	struct ep_result got = {.name = strdup(name)};
	char path[PATH_MAX];
	uint64_t calls = 0;
	int rc = got.name ? path_of(path, folder, name, RUN, err) : no_memory(err);

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
			     "%s: not of the run that its %s file tells of; "
			     "run the test again",
			     path, RUN);
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

/* The test of NAME.run; NULL: no memory. */
static char *name_of(const char *file)
{
	char *name = strndup(file, strlen(file) - strlen(RUN)), *to = name;

	for (const char *at = name; at && *at; at++) {
		if (*at == '%' && digit(at[1]) >= 0 && digit(at[2]) >= 0) {
			*to++ = (char)(digit(at[1]) * 16 + digit(at[2]));
			at += 2;
		} else {
			*to++ = *at;
		}
	}
	if (name)
		*to = '\0';
	return name;
}

static int by_alphabet(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Takes the name over, which may be NULL: no memory. */
static int add_name(char ***names, size_t *count, char *name, struct ep_err *err)
{
	char **grown = reallocarray(*names, *count + 1, sizeof(*grown));

	if (grown)
		*names = grown;
	if (!grown || !name) {
		free(name);
		return no_memory(err);
	}
	grown[(*count)++] = name;
	return EP_OK;
}

int ep_results_names(const char *folder, char ***names, size_t *count, struct ep_err *err)
{
	DIR *open = opendir(folder);
	struct dirent *entry;
	int rc = EP_OK;

	*names = NULL;
	*count = 0;
	if (!open)
		return errno == ENOENT ? EP_END : ep_fail(err, EP_E_IO, 0, "%s: %m", folder);
	while (!rc && (entry = readdir(open)))
		if (is_run(entry->d_name))
			rc = add_name(names, count, name_of(entry->d_name), err);
	closedir(open);
	if (rc) {
		ep_results_names_free(*names, *count);
		return rc;
	}
	if (*count)
		qsort(*names, *count, sizeof(**names), by_alphabet);
	return EP_OK;
}

void ep_results_names_free(char **names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(names[i]);
	free(names);
}
