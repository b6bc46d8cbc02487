/* SPDX-License-Identifier: BSD-2-Clause */
/* budget.c: limits, and the verdict on what tests did. */
#include "funcount/budget/budget.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"
#include "decoder/util/timetext.h"

#define TEST    "test " /* a section's name begins with it */
#define UNKNOWN (-1.0)

/* ---- values -------------------------------------------------------------- */

static bool number_parse(const char *text, const char *unit, double *out)
{
	char *end;
	double number;

	if (*text < '0' || *text > '9')
		return false;
	number = strtod(text, &end);
	if (!(number <= 1e18))
		return false;
	if (*unit)
		end += strspn(end, " ");
	if (strcmp(end, unit) != 0)
		return false;
	*out = number;
	return true;
}

static bool parse_count(const char *text, double *out)
{
	return number_parse(text, "", out);
}

static bool parse_percent(const char *text, double *out)
{
	double number;

	if (!number_parse(text, "%", &number))
		return false;
	*out = number / 100;
	return true;
}

static bool parse_time(const char *text, double *out)
{
	int64_t ns;

	if (!ep_timetext_parse(text, &ns) || ns < 0)
		return false;
	*out = (double)ns / 1e9;
	return true;
}

static const struct {
	const char *key;
	size_t offset; /* of the double in struct ep_budget_test */
	bool (*parse)(const char *text, double *out);
	const char *takes;
} keys[] = {
#define FIELD(name) offsetof(struct ep_budget_test, name)
	{"max-calls", FIELD(max_calls), parse_count, "a number"},
	{"max-calls-per-unit", FIELD(max_calls_per_unit), parse_count, "a number"},
	{"max-overhead", FIELD(max_overhead), parse_percent, "a percentage: 10%"},
	{"min-history", FIELD(min_history), parse_time, "a time: 500ms"},
	{"tolerance", FIELD(tolerance), parse_percent, "a percentage: 5%"},
	{"reference-calls", FIELD(reference_calls), parse_count, "a number"},
	{"reference-units", FIELD(reference_units), parse_count, "a number"},
	{"reference-cpu", FIELD(reference_cpu), parse_time, "a time: 1.25 s"},
#undef FIELD
};

#define KEYS (sizeof(keys) / sizeof(*keys))

/* ---- names --------------------------------------------------------------- */

/* In a section's name these would end it: they stand as %5d, %23, %25. */
#define ESCAPED "]#%"

void ep_budget_section_print(const char *name, FILE *out)
{
	fputs("[" TEST, out);
	for (; *name; name++)
		fprintf(out, strchr(ESCAPED, *name) ? "%%%02x" : "%c", (unsigned char)*name);
	fputs("]\n", out);
}

static char *name_of(const char *section)
{
	char *name = ep_strdup(section), *to = name;
	unsigned byte;

	for (const char *at = section; *at; at++, to++) {
		*to = *at;
		if (*at == '%' && at[1] >= '2' && at[1] <= '5' && at[2] &&
		    sscanf(at + 1, "%2x", &byte) == 1 && strchr(ESCAPED, (int)byte)) {
			*to = (char)byte;
			at += 2;
		}
	}
	*to = '\0';
	return name;
}

/* ---- reading ------------------------------------------------------------- */

static int parse_test_entry(struct ep_budget_test *test, const struct ep_keyfile *file,
			    const struct ep_keyfile_line *line, struct ep_err *err)
{
	if (!strcmp(line->key, "unit")) {
		free(test->unit);
		test->unit = ep_strdup(line->value);
		return EP_OK;
	}
	for (size_t i = 0; i < KEYS; i++) {
		double *value = (double *)((char *)test + keys[i].offset);

		if (strcmp(keys[i].key, line->key) != 0)
			continue;
		return keys[i].parse(line->value, value)
			       ? EP_OK
			       : ep_keyfile_refuse(file, line, err, "%s takes %s", line->key,
						   keys[i].takes);
	}
	return ep_keyfile_refuse(file, line, err, "%s: no key of a test", line->key);
}

static int parse_top_entry(struct ep_budget *budget, const struct ep_keyfile *file,
			   const struct ep_keyfile_line *line, struct ep_err *err)
{
	if (!strcmp(line->key, "tolerance"))
		return parse_percent(line->value, &budget->tolerance)
			       ? EP_OK
			       : ep_keyfile_refuse(file, line, err, "a percentage: 5%%");
	if (!strcmp(line->key, "timestamp-every"))
		return ep_cost_every_parse(line->value, &budget->every)
			       ? EP_OK
			       : ep_keyfile_refuse(file, line, err, "auto, 1, 2, 4 … 64");
	if (strcmp(line->key, "version") != 0)
		return ep_keyfile_refuse(file, line, err, "%s: no key outside of sections",
					 line->key);
	return !strcmp(line->value, "1")
		       ? EP_OK
		       : ep_keyfile_refuse(file, line, err, "this program reads version 1");
}

static void add_test(struct ep_budget *budget, const char *name)
{
	struct ep_budget_test *test = ep_array_add(&budget->tests);

	test->name = name_of(name);
	for (size_t i = 0; i < KEYS; i++)
		*(double *)((char *)test + keys[i].offset) = UNKNOWN;
}

static int parse_section(struct ep_budget *budget, const struct ep_keyfile *file,
			 const struct ep_keyfile_line *line, struct ep_err *err)
{
	const char *name = line->section;

	if (!strcmp(name, "costs"))
		return EP_OK;
	if (strncmp(name, TEST, strlen(TEST)) != 0)
		return ep_keyfile_refuse(file, line, err, "[costs] or [test NAME]");
	name += strlen(TEST);
	add_test(budget, name + strspn(name, " \t"));
	return EP_OK;
}

static int parse_line(struct ep_budget *budget, const struct ep_keyfile *file,
		      const struct ep_keyfile_line *line, struct ep_err *err)
{
	if (!line->key)
		return parse_section(budget, file, line, err);
	if (!strcmp(line->section, "costs"))
		return EP_OK;
	if (!*line->section)
		return parse_top_entry(budget, file, line, err);
	return parse_test_entry(&budget->tests.list[budget->tests.count - 1], file, line, err);
}

/* `file` is not needed afterwards. */
static int parse_file(struct ep_budget *budget, struct ep_keyfile *file, struct ep_err *err)
{
	int rc = EP_OK;

	budget->tolerance = EP_BUDGET_TOLERANCE;
	ep_costs_default(&budget->costs);
	for (size_t i = 0; !rc && i < file->lines.count; i++)
		rc = parse_line(budget, file, &file->lines.list[i], err);
	if (!rc)
		rc = ep_costs_parse(&budget->costs, file, err);
	for (size_t i = 0; i < budget->tests.count; i++)
		if (budget->tests.list[i].tolerance < 0)
			budget->tests.list[i].tolerance = budget->tolerance;
	ep_keyfile_deinit(file);
	if (rc < 0)
		ep_budget_deinit(budget);
	return rc < 0 ? rc : EP_OK;
}

int ep_budget_parse(struct ep_budget *budget, const char *name, const char *text, size_t size,
		    struct ep_err *err)
{
	struct ep_keyfile file;
	int rc = ep_keyfile_parse(&file, name, text, size, err);

	*budget = (struct ep_budget){0};
	return rc ? rc : parse_file(budget, &file, err);
}

int ep_budget_read(struct ep_budget *budget, const char *path, struct ep_err *err)
{
	struct ep_keyfile file;
	int found = ep_keyfile_read(&file, path, err), rc;

	*budget = (struct ep_budget){0};
	if (found < 0)
		return found;
	rc = parse_file(budget, &file, err);
	return rc ? rc : found;
}

void ep_budget_deinit(struct ep_budget *budget)
{
	for (size_t i = 0; i < budget->tests.count; i++) {
		free(budget->tests.list[i].name);
		free(budget->tests.list[i].unit);
	}
	ep_array_deinit(&budget->tests);
	*budget = (struct ep_budget){0};
}

const struct ep_budget_test *ep_budget_find(const struct ep_budget *budget, const char *name)
{
	for (size_t i = 0; i < budget->tests.count; i++)
		if (!strcmp(budget->tests.list[i].name, name))
			return &budget->tests.list[i];
	return NULL;
}

/* ---- the verdict --------------------------------------------------------- */

const char *ep_budget_limit_words(enum ep_budget_limit limit)
{
	static const char *const words[EP_LIMITS] = {
		[EP_LIMIT_CALLS] = "calls per run",
		[EP_LIMIT_CALLS_PER_UNIT] = "calls per unit",
		[EP_LIMIT_OVERHEAD] = "predicted overhead",
		[EP_LIMIT_HISTORY] = "history per MiB of ring",
	};

	return words[limit];
}

/* Limits of calls: the file's own, else the reference. */
static double calls_limit(const struct ep_budget_test *test)
{
	bool others =
		test->max_calls_per_unit >= 0 || test->max_overhead >= 0 || test->min_history >= 0;

	if (test->max_calls >= 0)
		return test->max_calls;
	return others ? UNKNOWN : test->reference_calls;
}

/* `is` negative: not known. */
static void compare(struct ep_budget_verdict *verdict, enum ep_budget_limit which, double limit,
		    double is, double tolerance)
{
	struct ep_budget_check *check = &verdict->checks[which];

	*check = (struct ep_budget_check){
		.set = limit >= 0, .known = is >= 0, .limit = limit, .is = is};
	if (!check->set)
		return;
	if (!check->known)
		verdict->incomplete = true;
	else if (which == EP_LIMIT_HISTORY)
		check->exceeded = is < limit / (1 + tolerance);
	else
		check->exceeded = is > limit * (1 + tolerance);
	verdict->exceeded |= check->exceeded;
}

void ep_budget_judge(struct ep_budget_verdict *out, const struct ep_budget *budget,
		     const struct ep_budget_test *test, const struct ep_result *result,
		     double units)
{
	double runs = (double)result->runs;
	bool timed = test->reference_cpu > 0;

	*out = (struct ep_budget_verdict){
		.calls = (double)result->counts->calls / runs,
		.units = units > 0 ? units / runs : UNKNOWN,
		.predicted = {UNKNOWN, UNKNOWN},
		.incomplete = result->lost || ep_counts_incomplete(result->counts),
	};
	if (timed)
		out->predicted = ep_cost_predict(&budget->costs, budget->every, out->calls,
						 test->reference_cpu);
	compare(out, EP_LIMIT_CALLS, calls_limit(test), out->calls, test->tolerance);
	compare(out, EP_LIMIT_CALLS_PER_UNIT, test->max_calls_per_unit,
		out->units > 0 ? out->calls / out->units : UNKNOWN, test->tolerance);
	compare(out, EP_LIMIT_OVERHEAD, test->max_overhead, out->predicted.overhead,
		test->tolerance);
	compare(out, EP_LIMIT_HISTORY, test->min_history, out->predicted.history, test->tolerance);
}

double ep_budget_most_calls(const struct ep_budget *budget, const struct ep_budget_test *test,
			    double units)
{
	double most = INFINITY, calls = calls_limit(test);

	if (calls >= 0)
		most = calls;
	if (test->max_calls_per_unit >= 0 && units > 0)
		most = fmin(most, test->max_calls_per_unit * units);
	if (test->max_overhead >= 0 && test->reference_cpu > 0)
		most = fmin(most,
			    ep_cost_calls_for_overhead(&budget->costs, budget->every,
						       test->max_overhead, test->reference_cpu));
	if (test->min_history > 0 && test->reference_cpu > 0)
		most = fmin(most,
			    ep_cost_calls_for_history(&budget->costs, budget->every,
						      test->min_history, test->reference_cpu));
	return most;
}
