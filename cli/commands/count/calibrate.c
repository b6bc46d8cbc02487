/* SPDX-License-Identifier: BSD-2-Clause */
/* calibrate.c: epitaph calibrate: what a traced call costs on this machine. */
#include "funcount/calibrate/calibrate.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/commands.h"
#include "cli/common/say.h"
#include "decoder/util/json.h"
#include "coredump/files/output.h"

/* lib/epitaph/calibrate beside bin/epitaph, built or installed. */
static int find_helper(char path[PATH_MAX])
{
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	for (int i = 0; i < 2 && length > 0; i++) {
		self[length] = '\0';
		slash = strrchr(self, '/');
		length = slash ? slash - self : 0;
	}
	if (length <= 0 ||
	    snprintf(path, PATH_MAX, "%.*s/lib/epitaph/calibrate", (int)length, self) >= PATH_MAX)
		path[0] = '\0';
	if (access(path, X_OK) == 0)
		return 0;
	ep_say("%s: the program that is timed is not there (make install puts it beside "
	       "epitaph-cc's files); --helper names it",
	       path);
	return EP_EXIT_UNREADABLE;
}

static void progress(double done)
{
	if (!isatty(STDERR_FILENO))
		return;
	if (done < 1)
		fprintf(stderr, "\rcalibrating: %2.0f %%", done * 100);
	else
		fprintf(stderr, "\r%20s\r", "");
}

/* ---- what is printed ----------------------------------------------------- */

static void print_code(const struct ep_costs *costs)
{
	printf("\nmore, where that much code is in use\n");
	for (unsigned i = 0; i < EP_COST_CODE_SIZES; i++)
		printf("%4u KiB %21s %7.2f  [%.2f to %.2f]  %6.1f cycles\n", ep_cost_code_size(i),
		       "", costs->code[i].ns, costs->code[i].low, costs->code[i].high,
		       costs->code[i].cycles);
}

static void print_text(const struct ep_calibration *calibration)
{
	printf("ns per traced call and its return, over an untraced one: median [quartiles], %u "
	       "rounds\n",
	       calibration->rounds);
	if (calibration->costs.machine[0])
		printf("%s\n", calibration->costs.machine);
	putchar('\n');
	for (int mode = 0; mode < EP_COST_MODES; mode++) {
		const struct ep_cost *cost = &calibration->costs.of[mode];

		printf("%-30s %7.2f  [%.2f to %.2f]  %6.1f cycles\n", ep_cost_words(mode), cost->ns,
		       cost->low, cost->high, cost->cycles);
	}
	print_code(&calibration->costs);
}

static void json_number(struct ep_json *json, const char *key, double value)
{
	ep_json_member_thousandth(json, key, (int64_t)(value * 1000 + (value < 0 ? -0.5 : 0.5)));
}

static void json_cost(struct ep_json *json, const char *key, const struct ep_cost *cost)
{
	ep_json_member_object(json, key);
	json_number(json, "ns", cost->ns);
	json_number(json, "low_ns", cost->low);
	json_number(json, "high_ns", cost->high);
	json_number(json, "cycles", cost->cycles);
	ep_json_object_end(json);
}

static void print_json(const struct ep_calibration *calibration)
{
	char doubt[256];
	struct ep_json json;

	ep_json_init(&json, stdout);
	ep_json_object(&json);
	ep_json_member_text(&json, "format", "epitaph-calibration");
	ep_json_member_int(&json, "version", 1);
	ep_json_member_text(&json, "machine", calibration->costs.machine);
	ep_json_member_int(&json, "rounds", calibration->rounds);
	json_number(&json, "drift", calibration->drift);
	ep_json_member_bool(&json, "quiet",
			    !ep_calibration_doubt(calibration, doubt, sizeof(doubt)));
	ep_json_member_object(&json, "costs");
	for (int mode = 0; mode < EP_COST_MODES; mode++)
		json_cost(&json, ep_cost_key(mode), &calibration->costs.of[mode]);
	ep_json_object_end(&json);
	ep_json_member_object(&json, "code");
	for (unsigned i = 0; i < EP_COST_CODE_SIZES; i++) {
		char kib[16];

		snprintf(kib, sizeof(kib), "%u", ep_cost_code_size(i));
		json_cost(&json, kib, &calibration->costs.code[i]);
	}
	ep_json_object_end(&json);
	ep_json_object_end(&json);
	ep_json_newline(&json);
	ep_json_finish(&json);
}

/* A file that is there is replaced when it holds costs and nothing else. */
static int check_output(const char *path)
{
	struct ep_keyfile file;
	struct ep_err err = {0};
	int rc = ep_keyfile_read(&file, path, &err);
	bool others = false;

	if (rc < 0) {
		ep_say("%s", err.text);
		return EP_EXIT_UNREADABLE;
	}
	for (size_t i = 0; i < file.lines.count; i++)
		others |= strcmp(file.lines.list[i].section, "costs") != 0;
	ep_keyfile_deinit(&file);
	if (!others)
		return EP_EXIT_COMPLETE;
	ep_say("%s: holds more than [costs] and is not replaced; name a file of its own", path);
	return EP_EXIT_UNREADABLE;
}

static int write_costs(const struct ep_costs *costs, const char *path)
{
	struct ep_output file;
	struct ep_err err = {0};
	int rc = ep_output_open_text(&file, path, &err);

	if (!rc) {
		ep_costs_print(costs, file.file);
		rc = ep_output_commit(&file, &err);
	}
	if (!rc)
		return EP_EXIT_COMPLETE;
	ep_say("%s", err.text);
	return EP_EXIT_UNREADABLE;
}

/* ---- the command --------------------------------------------------------- */

static int parse_rounds(const struct ep_arguments *arguments, unsigned *rounds)
{
	uint64_t number = EP_CALIBRATE_ROUNDS;
	char wanted[40];
	int result;

	snprintf(wanted, sizeof(wanted), "a number from 1 to %d", EP_CALIBRATE_ROUNDS_MAX);
	result = ep_argument_number(arguments, "rounds", 1, EP_CALIBRATE_ROUNDS_MAX, wanted,
				    &number);
	*rounds = (unsigned)number;
	return result;
}

static int calibrate_run(const struct ep_arguments *arguments)
{
	const char *helper = ep_argument(arguments, "helper");
	const char *output = ep_argument(arguments, "output");
	struct ep_calibration calibration;
	char path[PATH_MAX], doubt[256];
	struct ep_err err = {0};
	unsigned rounds;
	int result = parse_rounds(arguments, &rounds);

	if (!result && !helper) {
		result = find_helper(path);
		helper = path;
	}
	if (!result && output)
		result = check_output(output);
	if (result)
		return result;
	result = ep_calibrate(&calibration, helper, rounds, progress, &err);
	progress(1);
	if (result) {
		ep_say("%s", err.text);
		return EP_EXIT_UNREADABLE;
	}
	if (ep_argument_given(arguments, "json"))
		print_json(&calibration);
	else
		print_text(&calibration);
	result = output ? write_costs(&calibration.costs, output) : EP_EXIT_COMPLETE;
	if (result || !ep_calibration_doubt(&calibration, doubt, sizeof(doubt)))
		return result;
	ep_say("%s", doubt);
	return EP_EXIT_PARTIAL;
}

static const struct ep_option options[] = {
	{"output", 'o', "FILE",
	 "write the figures to FILE, for exclude and, copied into a budget file, for budget"},
	{"rounds", 0, "N", "N rounds, 0.3 s each (15)"},
	{"helper", 0, "FILE", "the program that is timed"},
	{"json", 'j', NULL, "for programs; its \"version\" is 1"},
	{NULL, 0, NULL, NULL},
};

const struct ep_command ep_command_calibrate = {
	.name = "calibrate",
	.operands = "",
	.summary = "what a traced call costs on this machine",
	.example = "calibrate -o costs",
	.description =
		"Times a small program in which three shapes of code are there with hooks and "
		"without, copies and modes in turn, and prints what a traced call and its return "
		"take longer than an untraced one: with every record timed, one in 8 and one in "
		"64, in auto, paused, counting, and excluded, which is the difference of two equal "
		"untraced copies: what the measurement is good for.\n\n"
		"The figure is that of the dearest shape, the quartiles are of all. Status 1: the "
		"machine was too busy to trust them.",
	.options = options,
	.run = calibrate_run,
};
