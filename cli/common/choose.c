/* SPDX-License-Identifier: BSD-2-Clause */
/* choose.c: the options that choose threads, calls and times. */
#include "cli/common/choose.h"

#include <assert.h>

#include "cli/common/say.h"
#include "decoder/util/timetext.h"

static int refuse(const char *option, const char *value, const char *wanted)
{
	ep_say("--%s=%s: %s", option, value, wanted);
	return EP_EXIT_USAGE;
}

void ep_choose_patterns(struct ep_patterns *patterns, const struct ep_arguments *arguments,
			const char *name)
{
	static_assert(EP_PATTERNS_MAX >= EP_VALUES_MAX, "each has a place");

	patterns->count = ep_argument_values(arguments, name, patterns->list);
}

int ep_choose(struct ep_selection *selection, const struct ep_arguments *arguments)
{
	const char *value;
	uint64_t depth = 0;

	*selection = (struct ep_selection){0};
	ep_choose_patterns(&selection->threads, arguments, "thread");
	ep_choose_patterns(&selection->functions, arguments, "function");
	value = ep_argument(arguments, "last");
	if (value && !ep_selection_parse_last(selection, value))
		return refuse("last", value, "a number of calls, or a time like 5ms");
	value = ep_argument(arguments, "since");
	if (value && !ep_when_parse(value, &selection->since))
		return refuse("since", value,
			      "a time with its unit and a sign: -10ms counts from the end, +1.5s "
			      "from the start");
	value = ep_argument(arguments, "until");
	if (value && !ep_when_parse(value, &selection->until))
		return refuse("until", value,
			      "a time with its unit and a sign: -10ms counts from the end, +1.5s "
			      "from the start");
	if (ep_argument_number(arguments, "depth", 1, UINT32_MAX, "a number from 1", &depth))
		return EP_EXIT_USAGE;
	selection->depth = (uint32_t)depth;
	value = ep_argument(arguments, "min-duration");
	if (value &&
	    (!ep_timetext_parse(value, &selection->min_duration) || selection->min_duration < 0))
		return refuse("min-duration", value, "a time like 20us");
	return 0;
}
