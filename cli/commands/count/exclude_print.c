/* SPDX-License-Identifier: BSD-2-Clause */
/* exclude_print.c: the chosen functions as a list for the assembly filter, as gcc's option, as
 * places in the source, as JSON. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/count/exclude.h"
#include "cli/common/budget_options.h"
#include "cli/common/say.h"
#include "coredump/util/alloc.h"
#include "decoder/util/json.h"
#include "decoder/util/timetext.h"
#include "funcount/counts/gccname.h"

#define MIB 1048576.0

/* ---- what all begin with ------------------------------------------------- */

static void comment_prediction(const struct ep_exclude_result *result, const char *when,
			       uint64_t calls, const struct ep_prediction *predicted, FILE *out)
{
	char overhead[EP_PERCENT_SIZE], history[EP_TIMETEXT_SIZE];
	char count[EP_TIMETEXT_SIZE];

	fprintf(out, "# %s: %s calls in %.3f s: overhead %s, %.4g MiB of ring hold %s\n", when,
		ep_counttext(count, calls), result->limits->seconds,
		ep_percent_text(overhead, predicted->overhead), (double)result->ring / MIB,
		ep_seconds_text(history, predicted->history * (double)result->ring / MIB));
}

static void comment_head(const struct ep_exclude_result *result, FILE *out)
{
	const struct ep_exclusion *chosen = result->exclusion;
	uint64_t all = result->called->calls;
	char share[EP_PERCENT_SIZE];

	fprintf(out, "# epitaph exclude %s: %zu of %zu functions, %s of the calls\n", result->words,
		chosen->count, result->called->group_count,
		ep_percent_text(share, all ? (double)chosen->calls / (double)all : 0));
	fprintf(out,
		"# %.0f KiB of code make 99 %% of the calls: a call costs %.1f ns and the clock\n",
		(double)ep_called_code(result->called) / 1024,
		result->limits->costs->of[EP_COST_64].ns);
	comment_prediction(result, "before", all, &chosen->before, out);
	comment_prediction(result, "after", all - chosen->calls, &chosen->after, out);
	if (!chosen->met)
		fprintf(out, "# the limits are not met\n");
}

static const struct ep_called_group *chosen_group(const struct ep_exclude_result *result, size_t i)
{
	return &result->called->groups[result->exclusion->groups[i]];
}

/* "1,024 calls, 3.4 %, 45 bytes, a leaf, median 12 ns" */
static void print_figures(const struct ep_exclude_result *result, size_t group, FILE *out)
{
	const struct ep_called_group *which = &result->called->groups[group];
	const struct ep_exclude_times *times =
		result->limits->times ? &result->limits->times[group] : NULL;
	char count[EP_TIMETEXT_SIZE], share[EP_PERCENT_SIZE];
	char median[EP_TIMETEXT_SIZE];

	fprintf(out, "%s calls, %s", ep_counttext(count, which->calls),
		ep_percent_text(share, (double)which->calls / (double)result->called->calls));
	if (which->size)
		fprintf(out, ", %" PRIu64 " bytes", which->size);
	if (times && times->leaf)
		fprintf(out, ", a leaf");
	if (times && times->median >= 0)
		fprintf(out, ", median %s", ep_timetext(median, times->median));
}

/* ---- a list for epitaph-cc ----------------------------------------------- */

static void print_list(const struct ep_exclude_result *result, FILE *out)
{
	comment_head(result, out);
	for (size_t i = 0; i < result->exclusion->count; i++) {
		const struct ep_called_group *group = chosen_group(result, i);

		fprintf(out, "%-32s # ", group->name);
		print_figures(result, result->exclusion->groups[i], out);
		fputc('\n', out);
	}
}

/* ---- gcc's option -------------------------------------------------------- */

static void names_free(char **names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(names[i]);
	free(names);
}

/* gcc's name of every called function. */
static char **names_make(const struct ep_called *called)
{
	char **names = ep_calloc(called->function_count, sizeof(*names));

	for (size_t i = 0; i < called->function_count; i++) {
		const struct ep_function *function = called->functions[i].function;

		names[i] = function->known ? ep_gcc_name(function->symbol, function->name)
					   : ep_strdup(function->name);
	}
	return names;
}

static void warn_hits(const struct ep_called *called, char *const *names, const char *name,
		      size_t group)
{
	const struct ep_called_function *first;
	size_t hits = ep_gcc_hits(called, names, name, group, &first);

	if (hits)
		ep_say("gcc finds \"%s\" also in the names of %zu other called functions: %s%s",
		       name, hits, first->function->name, hits > 1 ? ", …" : "");
}

/* Equal names come once: a group may have functions of several files. */
static bool is_first(const struct ep_called_group *group, char *const *names, size_t index)
{
	for (size_t i = group->first; i < index; i++)
		if (!strcmp(names[i], names[index]))
			return false;
	return true;
}

static void print_words(const struct ep_exclude_result *result, char *const *names, FILE *out)
{
	const char *comma = "-finstrument-functions-exclude-function-list=";

	for (size_t i = 0; i < result->exclusion->count; i++) {
		const struct ep_called_group *group = chosen_group(result, i);

		for (size_t j = group->first; j < group->first + group->count; j++) {
			char *word;

			if (!is_first(group, names, j))
				continue;
			word = ep_gcc_word(names[j]);
			fprintf(out, "%s%s", comma, word);
			comma = ",";
			free(word);
			warn_hits(result->called, names, names[j], result->exclusion->groups[i]);
		}
	}
	if (result->exclusion->count)
		fputc('\n', out);
}

/* No comments: the line goes into a command, or a response file. */
static void print_gcc(const struct ep_exclude_result *result, FILE *out)
{
	char **names = names_make(result->called);

	print_words(result, names, out);
	names_free(names, result->called->function_count);
}

/* ---- places in the source ------------------------------------------------ */

static void print_source(const struct ep_exclude_result *result, FILE *out)
{
	comment_head(result, out);
	for (size_t i = 0; i < result->exclusion->count; i++) {
		const struct ep_called_group *group = chosen_group(result, i);

		for (size_t j = 0; j < group->count; j++) {
			const struct ep_called_function *one =
				&result->called->functions[group->first + j];

			if (one->line.file)
				fprintf(out, "%s:%" PRIu32 ": ", one->line.file, one->line.line);
			else
				fprintf(out, "%s: ", ep_shown(one->function->module));
			fprintf(out, "NOFUNTRACE %s  # ", one->function->name);
			print_figures(result, result->exclusion->groups[i], out);
			fputc('\n', out);
		}
	}
}

/* ---- JSON ---------------------------------------------------------------- */

static void json_prediction(struct ep_json *json, const char *key,
			    const struct ep_exclude_result *result, uint64_t calls,
			    const struct ep_prediction *predicted)
{
	ep_json_member_object(json, key);
	ep_json_member_uint(json, "calls", calls);
	ep_json_member_real(json, "overhead_percent", predicted->overhead * 100);
	ep_json_member_real(json, "history_us",
			    predicted->history * (double)result->ring / MIB * 1e6);
	ep_json_object_end(json);
}

static void json_group(struct ep_json *json, const struct ep_exclude_result *result, size_t index)
{
	const struct ep_called_group *group = &result->called->groups[index];
	const struct ep_called_function *first = &result->called->functions[group->first];

	ep_json_object(json);
	ep_json_member_text(json, "symbol", group->name);
	ep_json_member_text(json, "function", first->function->name);
	ep_json_member_text(json, "module", first->function->module);
	ep_json_member_uint(json, "calls", group->calls);
	ep_json_member_uint(json, "size", group->size);
	if (first->line.file) {
		ep_json_member_text(json, "file", first->line.file);
		ep_json_member_uint(json, "line", first->line.line);
	}
	if (result->limits->times && result->limits->times[index].median >= 0)
		ep_json_member_int(json, "median_ns", result->limits->times[index].median);
	ep_json_object_end(json);
	ep_json_newline(json);
}

static void print_json(const struct ep_exclude_result *result, FILE *out)
{
	const struct ep_exclusion *chosen = result->exclusion;
	uint64_t all = result->called->calls;
	struct ep_json json;

	ep_json_init(&json, out);
	ep_json_object(&json);
	ep_json_member_text(&json, "format", "epitaph-exclude");
	ep_json_member_int(&json, "version", 1);
	ep_json_member_bool(&json, "met", chosen->met);
	ep_json_member_uint(&json, "ring_bytes", result->ring);
	ep_json_member_uint(&json, "code_bytes", ep_called_code(result->called));
	ep_json_member_real(&json, "cpu_us", result->limits->seconds * 1e6);
	json_prediction(&json, "before", result, all, &chosen->before);
	json_prediction(&json, "after", result, all - chosen->calls, &chosen->after);
	ep_json_member_uint(&json, "kept_calls", chosen->kept_calls);
	ep_json_member_uint(&json, "unknown_calls", chosen->unknown_calls);
	ep_json_member_array(&json, "functions");
	ep_json_newline(&json);
	for (size_t i = 0; i < chosen->count; i++)
		json_group(&json, result, chosen->groups[i]);
	ep_json_array_end(&json);
	ep_json_object_end(&json);
	ep_json_newline(&json);
	/* Why the output failed is printed when it is given its name. */
	ep_json_finish(&json);
}

/* ---- which --------------------------------------------------------------- */

static const struct {
	const char *name;
	void (*print)(const struct ep_exclude_result *result, FILE *out);
} formats[] = {
	{"list", print_list},
	{"gcc", print_gcc},
	{"source", print_source},
	{"json", print_json},
};

#define FORMATS (sizeof(formats) / sizeof(*formats))

bool ep_exclude_format(const char *format)
{
	for (size_t i = 0; i < FORMATS; i++)
		if (!strcmp(formats[i].name, format))
			return true;
	return false;
}

void ep_exclude_print(const struct ep_exclude_result *result, const char *format, FILE *out)
{
	for (size_t i = 0; i < FORMATS; i++)
		if (!strcmp(formats[i].name, format))
			formats[i].print(result, out);
}
