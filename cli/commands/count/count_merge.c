/* SPDX-License-Identifier: BSD-2-Clause */
/* count_merge.c: the counts of many runs in one file. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <errno.h>
#include <unistd.h>

#include "cli/common/commands.h"
#include "cli/common/counting.h"
#include "cli/common/say.h"
#include "coredump/files/output.h"

static int write_file(struct ep_output *output, const struct ep_counts *counts, struct ep_err *err)
{
	int fd = dup(output->fd);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
	bool good;

	if (!file) {
		if (fd >= 0)
			close(fd);
		return ep_fail(err, EP_E_IO, 0, "%s: %s", output->path, strerror(errno));
	}
	good = ep_counts_print(counts, file) == 0;
	good &= fclose(file) == 0;
	return good ? EP_OK : ep_fail(err, EP_E_IO, 0, "%s: %s", output->path, strerror(errno));
}

static int write_named(const char *path, const struct ep_counts *counts)
{
	struct ep_output output;
	struct ep_err err = {0};
	int result = ep_output_open(&output, path, true, &err);

	if (!result) {
		result = write_file(&output, counts, &err);
		if (result)
			ep_output_abandon(&output);
		else
			result = ep_output_commit(&output, &err);
	}
	if (!result)
		return EP_EXIT_COMPLETE;
	ep_say("%s", err.text);
	return result == EP_E_USAGE ? EP_EXIT_USAGE : EP_EXIT_UNREADABLE;
}

static int count_merge_run(const struct ep_arguments *arguments)
{
	const char *path = ep_argument(arguments, "output");
	struct ep_counts *counts;
	int result, status;

	if (!path) {
		ep_say("count merge: --output says where to; - is stdout");
		return EP_EXIT_USAGE;
	}
	result = ep_counting_load(&counts, arguments->operands, arguments->operand_count);
	if (result)
		return result;
	status = write_named(path, counts);
	result = ep_counting_warn(counts);
	ep_counts_destroy(counts);
	return status ? status : result;
}

static const struct ep_option options[] = {
	{"output", 'o', "FILE",
	 "where to, replaced if it exists, also if it is a SOURCE; - is stdout"},
	{NULL, 0, NULL, NULL},
};

const struct ep_command ep_command_count_merge = {
	.name = "count merge",
	.operands = "-o FILE SOURCE...",
	.operands_min = 1,
	.operands_max = INT_MAX,
	.summary = "add up the counts of many runs and machines",
	.example = "count merge -o all.counts first.counts second.counts",
	.description = "Writes a file of counts: the sum of those of all SOURCEs, with a line for "
		       "each process that counted. Modules are the same when their build-ids are, "
		       "wherever they lay; of one path and different build-ids they stay apart, "
		       "with a warning. The file is text (docs/format.md says how), sorted, the "
		       "same for the same runs in any order. A run that is given twice is refused.",
	.options = options,
	.run = count_merge_run,
};
