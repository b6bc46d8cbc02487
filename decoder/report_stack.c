/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report_stack.c: an unwound stack beside the calls that the trace knows to be
 * in flight. The two are paired by function, in order, as many as can be (the
 * longest common subsequence), preferring the innermost: recursion, tail calls
 * and untraced frames need no rule of their own. Nothing is said to be
 * outermost unless the thread's history is whole.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "decoder/report_impl.h"

/* Both sides are paired over this many innermost ones. */
#define PAIRED_MAX 1024
#define UNPAIRED   SIZE_MAX
/* Calls without a frame that are told, of each end. */
#define ALONE_INNER 16u
#define ALONE_OUTER 4u

/* ---- in flight ---- */

static int copy_open(struct ep_report_flight *flight,
		     const struct ep_calls *calls, struct ep_err *err)
{
	const struct ep_event *open = ep_calls_open(calls, &flight->count);

	flight->outermost_known = ep_calls_outermost_known(calls);
	flight->known = true;
	flight->calls = calloc(flight->count + 1, sizeof(*flight->calls));
	if (!flight->calls)
		return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
	if (flight->count)
		memcpy(flight->calls, open,
		       flight->count * sizeof(*flight->calls));
	return EP_OK;
}

int ep_report_flight_init(struct ep_report_flight *flight,
			  const struct ep_report *report,
			  const struct ep_trace_thread *thread,
			  struct ep_err *err)
{
	const struct ep_event *event;
	struct ep_calls *calls;
	int rc;

	memset(flight, 0, sizeof(*flight));
	if (!thread || !report->trace || thread->block_count == 0)
		return EP_OK;
	rc = ep_calls_create(&calls, report->trace, thread, report->names, err);
	if (rc)
		return rc;
	do
		rc = ep_calls_next(calls, &event);
	while (rc == EP_OK);
	rc = rc == EP_END ? copy_open(flight, calls, err) : rc;
	ep_calls_destroy(calls);
	return rc;
}

void ep_report_flight_deinit(struct ep_report_flight *flight)
{
	free(flight->calls);
	memset(flight, 0, sizeof(*flight));
}

/* ---- pairing ---- */

static const struct ep_event *flight_from_inner(
	const struct ep_report_flight *flight, size_t index)
{
	return &flight->calls[flight->count - 1 - index];
}

/* pairs[i]: which call, counted from the innermost, frame i is. `table` has
 * (frames + 1) * (calls + 1) cells: the most pairs from (i, j) on outwards. */
static void pair_up(const struct ep_function *const *functions, size_t frames,
		    const struct ep_report_flight *flight, size_t calls,
		    uint16_t *table, size_t *pairs)
{
	size_t width = calls + 1, i, j;

	for (i = frames; i-- > 0;)
		for (j = calls; j-- > 0;) {
			uint16_t best = table[(i + 1) * width + j];
			uint16_t other = table[i * width + j + 1];

			if (functions[i] ==
			    flight_from_inner(flight, j)->function)
				best = (uint16_t)(table[(i + 1) * width + j +
							1] +
						  1);
			else if (other > best)
				best = other;
			table[i * width + j] = best;
		}
	for (i = 0, j = 0; i < frames && j < calls;)
		if (functions[i] == flight_from_inner(flight, j)->function)
			pairs[i++] = j++;
		else if (table[(i + 1) * width + j] >= table[i * width + j + 1])
			i++;
		else
			j++;
}

/* Beyond what the table holds, in lockstep: the frames of a runaway recursion
 * and those that it began in. */
static void pair_rest(const struct ep_function *const *functions, size_t frames,
		      const struct ep_report_flight *flight, size_t paired,
		      size_t *pairs)
{
	size_t j = 0;

	for (size_t i = 0; i < paired; i++)
		if (pairs[i] != UNPAIRED)
			j = pairs[i] + 1;
	for (size_t i = paired; i < frames && j < flight->count; i++)
		if (functions[i] == flight_from_inner(flight, j)->function)
			pairs[i] = j++;
}

/* NULL: out of memory. */
static size_t *pairs_make(const struct ep_function *const *functions,
			  size_t frames, const struct ep_report_flight *flight)
{
	size_t calls = flight->count < PAIRED_MAX ? flight->count : PAIRED_MAX;
	size_t paired = frames < PAIRED_MAX ? frames : PAIRED_MAX;
	uint16_t *table = calloc((paired + 1) * (calls + 1), sizeof(*table));
	size_t *pairs = calloc(frames + 1, sizeof(*pairs));

	if (!table || !pairs) {
		free(table);
		free(pairs);
		return NULL;
	}
	for (size_t i = 0; i < frames; i++)
		pairs[i] = UNPAIRED;
	pair_up(functions, paired, flight, calls, table, pairs);
	if (frames > paired)
		pair_rest(functions, frames, flight, paired, pairs);
	free(table);
	return pairs;
}

/* ---- names ---- */

const struct ep_function *ep_report_function(const struct ep_report *report,
					     const struct ep_frame *frame)
{
	uint64_t at = frame->pc - (frame->activation ? 0 : 1);
	const struct ep_function *function =
		ep_names_find(report->names, at, 0);

	if (!function->in && report->others)
		return ep_names_find(report->others, at, 0);
	return function;
}

static struct ep_line line_of(const struct ep_report *report,
			      const struct ep_function *function,
			      const struct ep_frame *frame)
{
	uint64_t at = frame->pc - (frame->activation ? 0 : 1);
	struct ep_line line = ep_names_address_line(report->names, at, 0);

	(void)function;
	if (!line.file && report->others)
		line = ep_names_address_line(report->others, at, 0);
	return line;
}

const char *ep_report_ago(struct ep_report *report, const struct ep_time *time,
			  char out[EP_TIMETEXT_SIZE + 2])
{
	char text[EP_TIMETEXT_SIZE];
	int64_t ns =
		ep_trace_ns(report->trace, time->best, report->trace->last_tsc);

	if (!time->exact)
		report->ghosts = true;
	if (time->high == EP_TIME_UNKNOWN) {
		snprintf(out, EP_TIMETEXT_SIZE + 2, "?");
		return out;
	}
	snprintf(out, EP_TIMETEXT_SIZE + 2, "%s%s", time->exact ? "" : "~",
		 ep_timetext(text, ns > 0 ? ns : 0));
	return out;
}

/* ---- lines ---- */

/* A signal may find the thread in a hook: that is us, not the program. */
static bool is_hook(const struct ep_function *function)
{
	static const char *const hooks[] = {"__fentry__", "__return__",
					    "__cyg_profile_func_enter",
					    "__cyg_profile_func_exit"};

	for (size_t i = 0; i < sizeof(hooks) / sizeof(*hooks); i++)
		if (strcmp(function->symbol, hooks[i]) == 0)
			return true;
	return false;
}

static void print_frame(struct ep_report *report, size_t number,
			const struct ep_frame *frame,
			const struct ep_function *function)
{
	struct ep_line line = line_of(report, function, frame);
	uint64_t offset = frame->pc - function->start;
	char name[512];

	/* An unknown one is named module+0x1234 already. */
	if (function->known && function->start && frame->pc >= function->start)
		snprintf(name, sizeof(name), "%s+0x%" PRIx64, function->name,
			 offset);
	else
		snprintf(name, sizeof(name), "%s", function->name);
	fprintf(report->out, "  #%-4zu %s%-28s%s ", number, report->style.name,
		name, report->style.plain);
	if (is_hook(function))
		fprintf(report->out, " epitaph's own hook");
	else if (strcmp(function->symbol, "__restore_rt") == 0)
		fprintf(report->out,
			" a signal came here, its handler is above");
	else if (line.file && line.line)
		fprintf(report->out, " %s:%" PRIu32, line.file, line.line);
	else if (function->known && function->module[0])
		fprintf(report->out, " %s", function->module);
}

/* "called 3.1 us before the end"; after the thread's last clock read only the
 * earliest moment is known. */
static void print_called(struct ep_report *report, const struct ep_time *time)
{
	char text[EP_TIMETEXT_SIZE + 2];
	int64_t most =
		ep_trace_ns(report->trace, time->low, report->trace->last_tsc);

	if (time->high != EP_TIME_UNKNOWN)
		fprintf(report->out, "called %s before the end",
			ep_report_ago(report, time, text));
	else if (most > 0)
		fprintf(report->out, "called at most %s before the end",
			ep_timetext(text, most));
	else
		fprintf(report->out, "called after the last clock read");
}

static void print_beside(struct ep_report *report, const struct ep_event *call)
{
	if (call) {
		fprintf(report->out, "  %s[", report->style.dim);
		print_called(report, &call->begin);
		fprintf(report->out, "]%s", report->style.plain);
	}
	fputc('\n', report->out);
}

static void print_edge(struct ep_report *report)
{
	fprintf(report->out,
		"       %s-- the trace does not reach back to the calls below "
		"--%s\n",
		report->style.dim, report->style.plain);
}

/* The outermost frame that has a call; UNPAIRED: none has. */
static size_t outermost_paired(const size_t *pairs, size_t count)
{
	for (size_t i = count; i-- > 0;)
		if (pairs[i] != UNPAIRED)
			return i;
	return UNPAIRED;
}

/* Of a very deep stack both ends are shown. */
static bool is_shown(const struct ep_report *report, size_t i, size_t count)
{
	size_t outer = report->frames / 4;

	return count <= report->frames || i < report->frames - outer ||
	       i >= count - outer;
}

static void print_frames(struct ep_report *report, const struct ep_stack *stack,
			 const struct ep_function *const *functions,
			 const struct ep_report_flight *flight,
			 const size_t *pairs)
{
	size_t edge = outermost_paired(pairs, stack->count);
	bool skipping = false;

	for (size_t i = 0; i < stack->count; i++) {
		if (!is_shown(report, i, stack->count)) {
			if (!skipping)
				fprintf(report->out,
					"       … %zu frames are left out "
					"(--all shows them) …\n",
					stack->count - report->frames);
			skipping = true;
			continue;
		}
		print_frame(report, i, &stack->frames[i], functions[i]);
		print_beside(report,
			     pairs[i] == UNPAIRED
				     ? NULL
				     : flight_from_inner(flight, pairs[i]));
		if (i == edge && i + 1 < stack->count &&
		    !flight->outermost_known)
			print_edge(report);
	}
	if (edge == UNPAIRED && flight->known && !flight->outermost_known)
		fprintf(report->out,
			"       %s-- none of these calls is in the trace's "
			"history --%s\n",
			report->style.dim, report->style.plain);
}

static void print_flying(struct ep_report *report, const struct ep_event *call)
{
	fprintf(report->out, "       %s%s%s", report->style.name,
		call->function->name, report->style.plain);
	print_beside(report, call);
}

/* Calls in flight that have no frame; of many, both ends. */
static void print_frameless(struct ep_report *report,
			    const struct ep_stack *stack,
			    const struct ep_report_flight *flight,
			    const size_t *pairs)
{
	size_t alone = 0, at = 0;
	bool *has_frame = calloc(flight->count + 1, sizeof(*has_frame));

	if (!has_frame) {
		report->starved = true;
		return;
	}
	for (size_t i = 0; i < stack->count; i++)
		if (pairs[i] != UNPAIRED)
			has_frame[pairs[i]] = true;
	for (size_t j = 0; j < flight->count; j++)
		alone += !has_frame[j];
	if (alone)
		fprintf(report->out,
			"  in flight by the trace, but not on this stack "
			"(%s):\n",
			stack->complete ? "a tail call, or the stack is damaged"
					: "which ends too early");
	for (size_t j = 0; j < flight->count; j++) {
		if (has_frame[j])
			continue;
		if (at < ALONE_INNER || at + ALONE_OUTER >= alone)
			print_flying(report, flight_from_inner(flight, j));
		else if (at == ALONE_INNER)
			fprintf(report->out, "       … %zu more …\n",
				alone - ALONE_INNER - ALONE_OUTER);
		at++;
	}
	if (alone && !stack->complete && !flight->outermost_known)
		print_edge(report);
	free(has_frame);
}

/* The reason may have the name of a file in it. */
static void print_why(struct ep_report *report, const char *why)
{
	char *tame = ep_report_tamed(report, why);

	fprintf(report->out,
		"       %sthe stack could not be followed further: %s%s\n",
		report->style.warn, tame ? tame : "", report->style.plain);
	free(tame);
}

void ep_report_stack(struct ep_report *report, const struct ep_stack *stack,
		     const struct ep_report_flight *flight)
{
	const struct ep_function **functions =
		calloc(stack->count + 1, sizeof(*functions));
	size_t *pairs;

	if (!functions) {
		report->starved = true;
		return;
	}
	for (size_t i = 0; i < stack->count; i++)
		functions[i] = ep_report_function(report, &stack->frames[i]);
	pairs = pairs_make(functions, stack->count, flight);
	if (pairs) {
		print_frames(report, stack, functions, flight, pairs);
		if (!stack->complete)
			print_why(report, stack->why);
		print_frameless(report, stack, flight, pairs);
	} else {
		report->starved = true;
	}
	free(pairs);
	free(functions);
}

void ep_report_stack_line(struct ep_report *report,
			  const struct ep_stack *stack)
{
	char *tame;

	fprintf(report->out, "  stack      ");
	for (size_t i = 0; i < stack->count; i++) {
		if (i == EP_REPORT_OTHER_FRAMES) {
			fprintf(report->out, " < …");
			break;
		}
		fprintf(report->out, "%s%s", i ? " < " : "",
			ep_report_function(report, &stack->frames[i])->name);
	}
	if (!stack->complete && stack->count < EP_REPORT_OTHER_FRAMES) {
		tame = ep_report_tamed(report, stack->why);
		fprintf(report->out, " < ? (%s)", tame ? tame : "");
		free(tame);
	}
	fputc('\n', report->out);
}

void ep_report_flight(struct ep_report *report,
		      const struct ep_report_flight *flight, const char *head)
{
	char ago[EP_TIMETEXT_SIZE + 2];

	if (!flight->known)
		return;
	fprintf(report->out, "%s", head);
	for (size_t i = 0; i < flight->count; i++) {
		const struct ep_event *call = flight_from_inner(flight, i);

		if (i == EP_REPORT_OTHER_FRAMES) {
			fprintf(report->out, " < … %zu more",
				flight->count - i);
			break;
		}
		fprintf(report->out, "%s%s [%s]", i ? " < " : "",
			call->function->name,
			ep_report_ago(report, &call->begin, ago));
	}
	if (flight->count == 0)
		fprintf(report->out, "%s",
			flight->outermost_known
				? "nothing that is traced"
				: "nothing that the trace knows");
	else if (!flight->outermost_known)
		fprintf(report->out, " < (unknown: before the history)");
	fputc('\n', report->out);
}
