/* SPDX-License-Identifier: BSD-2-Clause */
/* budget_options.c: percentages, sizes, costs and times as exclude and budget take them. */
#include "cli/common/budget_options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/say.h"
#include "decoder/util/timetext.h"

/* ---- numbers ------------------------------------------------------------- */

bool ep_percent_parse(const char *text, double *part)
{
	char *end;
	double number;

	if (*text < '0' || *text > '9')
		return false;
	number = strtod(text, &end);
	end += strspn(end, " ");
	if (strcmp(end, "%") != 0 || !(number <= 1e5))
		return false;
	*part = number / 100;
	return true;
}

const char *ep_percent_text(char out[EP_PERCENT_SIZE], double part)
{
	int digits = part == 0 ? 0 : part < 0.001 ? 4 : part < 0.01 ? 2 : 1;

	snprintf(out, EP_PERCENT_SIZE, "%.*f %%", digits, part * 100);
	return out;
}

const char *ep_seconds_text(char *out, double seconds)
{
	if (!(seconds < 9e9))
		snprintf(out, EP_TIMETEXT_SIZE, "all of it");
	else
		ep_timetext(out, (int64_t)(seconds * 1e9));
	return out;
}

void ep_json_member_real(struct ep_json *json, const char *key, double value)
{
	ep_json_key(json, key);
	if (value >= 0 && value < 9e12)
		ep_json_thousandth(json, (int64_t)(value * 1000 + 0.5));
	else
		ep_json_null(json);
}

/* ---- costs --------------------------------------------------------------- */

static int read_costs(struct ep_costs *costs, const char *path)
{
	struct ep_err err = {0};
	struct ep_keyfile file;
	int rc = ep_keyfile_read(&file, path, &err);

	if (rc >= 0) {
		rc = ep_costs_parse(costs, &file, &err);
		ep_keyfile_deinit(&file);
	}
	if (rc == EP_END)
		ep_say("%s: has no [costs]; epitaph calibrate -o %s writes them", path, path);
	else if (rc)
		ep_say("%s", err.text);
	return rc ? EP_EXIT_UNREADABLE : EP_EXIT_COMPLETE;
}

int ep_budget_costs(struct ep_costs *costs, const struct ep_arguments *arguments)
{
	const char *path = ep_argument(arguments, "costs");

	ep_costs_default(costs);
	if (path)
		return read_costs(costs, path);
	ep_say("costs of another machine are taken; epitaph calibrate -o FILE and --costs=FILE "
	       "give this one's");
	return EP_EXIT_COMPLETE;
}

/* ---- counts -------------------------------------------------------------- */

double ep_untraced_seconds(const struct ep_counts *counts, const struct ep_costs *costs)
{
	double took = (double)ep_counts_cpu(counts) / 1e9;
	double counting = (double)counts->calls * costs->of[EP_COST_COUNTING].ns / 1e9;

	return fmax(took - counting, took / 10);
}
