/* SPDX-License-Identifier: BSD-2-Clause */
/* doctor.c: epitaph doctor: would a crash here leave a trace? */
#include <stdio.h>

#include "cli/commands/doctor/checks.h"
#include "cli/common/commands.h"
#include "cli/common/say.h"
#include "coredump/handler/store.h"
#include "decoder/util/json.h"

static const char *const marks[] = {"ok", "doubt", "lost"};

static void print_finding(const struct ep_check *check, const struct ep_finding *finding)
{
	static const enum ep_color colors[] = {EP_DIM, EP_YELLOW, EP_RED};

	printf("%s%-6s%s %-13s %s\n", ep_color(colors[finding->verdict]), marks[finding->verdict],
	       ep_color(EP_PLAIN), check->name, ep_shown(finding->text));
	if (finding->remedy[0])
		printf("%21s→ %s\n", "", ep_shown(finding->remedy));
}

static void json_finding(struct ep_json *json, const struct ep_check *check,
			 const struct ep_finding *finding)
{
	ep_json_newline(json);
	ep_json_object(json);
	ep_json_member_text(json, "check", check->name);
	ep_json_member_text(json, "verdict", marks[finding->verdict]);
	ep_json_member_text(json, "text", finding->text);
	ep_json_member_text(json, "remedy", finding->remedy);
	ep_json_object_end(json);
}

static const char *last_words(enum ep_health worst)
{
	if (worst == EP_LOST)
		return "A crash here would leave no trace.";
	if (worst == EP_DOUBT)
		return "A crash here would leave a trace, with doubts.";
	return "A crash here would leave a trace.";
}

static int doctor_run(const struct ep_arguments *arguments)
{
	bool as_json = ep_argument_given(arguments, "json");
	enum ep_health worst = EP_WELL;
	const char *store = ep_argument(arguments, "store");
	struct ep_doctor_target target;
	struct ep_err err = {0};
	struct ep_json json;

	if (ep_doctor_target_examine(&target,
				     arguments->operand_count ? arguments->operands[0] : NULL,
				     store ? store : EP_STORE_DEFAULT, &err)) {
		ep_say("%s", err.text);
		return EP_EXIT_UNREADABLE;
	}
	if (as_json) {
		ep_json_init(&json, stdout);
		ep_json_array(&json);
	}
	for (const struct ep_check *check = ep_checks; check->name; check++) {
		struct ep_finding finding = {0};

		if (!check->look(&target, &finding))
			continue;
		if (finding.verdict > worst)
			worst = finding.verdict;
		if (as_json)
			json_finding(&json, check, &finding);
		else
			print_finding(check, &finding);
	}
	if (as_json) {
		ep_json_array_end(&json);
		ep_json_newline(&json);
		ep_json_finish(&json);
	} else {
		printf("\n%s\n", last_words(worst));
	}
	return (int)worst;
}

static const struct ep_option options[] = {
	{"json", 0, NULL, "JSON: an array of findings"},
	{"store", 0, "DIR",
	 "where epitaph catch --listen keeps snapshots (" EP_STORE_DEFAULT
	 "): shows which socket is its own"},
	{NULL, 0, NULL, NULL},
};

const struct ep_command ep_command_doctor = {
	.name = "doctor",
	.operands = "[PROGRAM|PID]",
	.operands_min = 0,
	.operands_max = 1,
	.summary = "whether a crash here would leave a trace, and what to do about it",
	.example = "doctor ./server",
	.description = "Looks at what stands between a crash and its trace: whether the program is "
		       "traced and recording, where the kernel sends cores, limits, filters, "
		       "rights, room on the disk, containers, names, clock, and permission for "
		       "scheduling events. Each finding comes with its remedy.\n\n"
		       "PROGRAM: as it would be started from here, with this shell's limits and "
		       "environment. PID: the running process. Without either: the system only.\n\n"
		       "Exits with status 0 when a crash would leave a trace, 1 when that is "
		       "doubtful, 2 when it would not, 3 when there is nothing to look at.",
	.options = options,
	.run = doctor_run,
};
