/* SPDX-License-Identifier: BSD-2-Clause */
/* text.c: FTRACETX: the lines of ftrace's trace_pipe, whose clock is
 * the TSC: "main-7   [010] d.... 1473223221396767: sched_switch: …". */
#include <string.h>

#include "coredump/funtrace/funtrace_impl.h"

#define LINE_MOST   65536u
#define DIGITS_MOST 19u /* 2^62 has as many */

/* "123: " up to `colon`, behind a blank. False: no time. */
static bool parse_time(struct ep_funtrace_line *line, const char *start, const char *colon)
{
	const char *at = colon;

	while (at > start && at[-1] >= '0' && at[-1] <= '9')
		at--;
	if (at == colon || (size_t)(colon - at) > DIGITS_MOST || at == start ||
	    (at[-1] != ' ' && at[-1] != '\t'))
		return false;
	line->before = start;
	line->before_size = (size_t)(at - start);
	for (line->tsc = 0; at < colon; at++)
		line->tsc = line->tsc * 10 + (uint64_t)(*at - '0');
	return line->tsc != 0 && line->tsc < EP_FUNTRACE_TSC_MAX;
}

static bool parse_line(struct ep_funtrace_line *line, const char *start, size_t size)
{
	const char *colon = memmem(start, size, ": ", 2);

	if (!colon || size > LINE_MOST || memchr(start, 0, size) || !parse_time(line, start, colon))
		return false;
	line->after = colon;
	line->after_size = size - (size_t)(colon - start);
	return true;
}

bool ep_funtrace_line_next(const struct ep_funtrace_facts *facts, size_t *at,
			   struct ep_funtrace_line *line, uint64_t *refused)
{
	while (*at < facts->scheduling) {
		const char *start = facts->text + *at;
		size_t left = facts->scheduling - *at;
		const char *end = memchr(start, '\n', left);
		size_t size = end ? (size_t)(end - start) : left;

		*at += size + (end != NULL);
		if (parse_line(line, start, size))
			return true;
		*refused += size != 0;
	}
	return false;
}

void ep_funtrace_count_lines(struct ep_funtrace_facts *facts)
{
	struct ep_funtrace_line line;
	size_t at = 0;

	while (ep_funtrace_line_next(facts, &at, &line, &facts->scheduling_refused))
		facts->scheduling_events++;
}
