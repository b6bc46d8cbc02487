/* SPDX-License-Identifier: BSD-2-Clause */
/* place.c: chooses the frame, and whether its values may be shown. */
#include "decoder/report/place/place.h"

#include <stdio.h>
#include <string.h>

#include "coredump/util/alloc.h"
#include "coredump/snapshot/redacted.h"
#include "decoder/report/place/place_values.h"
#include "decoder/report/signature.h"

#define FRAMES_MAX 64u /* looked at */

/* ---- which frame ---- */

static bool is_standard(const char *name)
{
	return strncmp(name, "std::", 5) == 0 || strncmp(name, "__gnu_cxx::", 11) == 0;
}

/* How many frames, from the innermost on, are believed. */
static size_t believed(const struct ep_stack *stack, const struct ep_alignment *alignment)
{
	size_t count = stack->count;

	for (size_t i = alignment->overwritten; i < alignment->count; i++)
		if (alignment->rows[i].frame)
			return alignment->rows[i].number < count ? alignment->rows[i].number
								 : count;
	return count;
}

static bool is_own(const struct ep_frame *frame, const struct ep_function *function)
{
	return !frame->nowhere && !frame->signal && ep_signature_counts(function);
}

/* The program's own first; else one of what it was built with, such as a template of the C++
 * library. False: there is none. */
static bool choose(struct ep_report_place *place, const struct ep_evidence *evidence,
		   const struct ep_stack *stack, size_t count)
{
	size_t from = ep_evidence_behind_hook(evidence, stack,
					      evidence->first.found ? evidence->first.frame : 0);

	for (size_t i = from; i < count && i - from < FRAMES_MAX; i++) {
		const struct ep_frame *frame = &stack->frames[i];
		const struct ep_function *function = ep_evidence_function(evidence, frame);
		bool standard = is_standard(function->name);

		if (!is_own(frame, function) || (place->known && standard))
			continue;
		place->known = true;
		place->frame = i;
		place->pc = frame->pc;
		place->function = function;
		if (!standard)
			break;
	}
	return place->known;
}

/* The innermost call inlined there that is not the C++ library's: how many are inside of it. */
static unsigned choose_inlined(struct ep_report_place *place, const struct ep_evidence *evidence,
			       const struct ep_frame *frame)
{
	struct ep_inlined calls[EP_INLINED_MAX];
	size_t count = ep_frame_inlined(evidence->names, evidence->others, frame, calls), skip = 0;

	place->line = ep_frame_line(evidence->names, evidence->others, frame);
	while (skip < count && is_standard(calls[skip].name))
		skip++;
	if (skip > 0)
		place->line = calls[skip - 1].call;
	place->inlined = skip < count ? calls[skip].name : NULL;
	return (unsigned)skip;
}

/* Whether values may be shown; else `why` says why not. */
static bool may_show(struct ep_report_place *place, const struct ep_evidence *evidence,
		     const struct ep_frame *frame, bool debug)
{
	uint32_t redacted = ep_source_redacted(evidence->source);
	const char *unread = ep_evidence_undebugged(evidence, ep_frame_address(frame));
	char text[EP_REDACTED_TEXT_MAX];

	if (redacted & (EP_REDACTED_STACKS | EP_REDACTED_REGISTERS))
		snprintf(place->why, sizeof(place->why), "left out when the snapshot was made: %s",
			 ep_redacted_text(text, sizeof(text), redacted));
	else if (evidence->first.found && evidence->first.frame == 0)
		snprintf(place->why, sizeof(place->why),
			 "the handler has returned: what lay on the stack may be overwritten");
	else if (frame->guessed)
		snprintf(place->why, sizeof(place->why),
			 "the frame was found by the frame pointer alone, and may be another");
	else if (!debug && *unread)
		snprintf(place->why, sizeof(place->why), "the debug information of %.100s %s",
			 place->function->module, unread);
	else if (!debug)
		snprintf(place->why, sizeof(place->why), "no debug information of %.100s",
			 place->function->module[0] ? place->function->module : "it");
	return !place->why[0];
}

/* ---- the whole ---- */

/* Below the folder where the files of another system lie, or as it is. */
static void find_own_source(struct ep_report_place *place, const struct ep_evidence *evidence,
			    const struct ep_names_debug *debug)
{
	const char *file = place->line.file, *mapped = NULL;

	if (debug->sysroot && file && file[0] == '/') {
		char *path = ep_asprintf("%s%s", debug->sysroot, file);

		ep_source_text_find(&place->source, path, debug->sysroot, place->line.line,
				    debug->written);
		free(path);
		if (place->source.count)
			return;
	}
	if (file && evidence->names)
		mapped = ep_names_mapped_folder(evidence->names, file);
	if (file && !mapped && evidence->others)
		mapped = ep_names_mapped_folder(evidence->others, file);
	ep_source_text_find(&place->source, file, mapped, place->line.line, debug->written);
}

/* What is not here is asked of servers, where the user named some. */
static void find_source(struct ep_report_place *place, const struct ep_evidence *evidence,
			const struct ep_names_debug *debug)
{
	const char *file = place->line.file, *why = "";
	char path[PATH_MAX];

	find_own_source(place, evidence, debug);
	if (place->source.count || !place->line.line || !ep_source_text_is_name(file))
		return;
	if ((evidence->names && ep_names_source(evidence->names, place->pc, file, path, &why)) ||
	    (!*why && evidence->others &&
	     ep_names_source(evidence->others, place->pc, file, path, &why)))
		ep_source_text_copy(&place->source, file, path, place->line.line);
	else if (*why)
		snprintf(place->source.why, sizeof(place->source.why), "%s", why);
}

void ep_report_place_init(struct ep_report_place *place, const struct ep_evidence *evidence,
			  uint32_t tid, const struct ep_stack *stack,
			  const struct ep_alignment *alignment)
{
	struct ep_names_debug debug = {0};
	const struct ep_frame *frame;
	const char *split;
	bool has_debug;
	unsigned skip;

	*place = (struct ep_report_place){0};
	if (!stack->count || !choose(place, evidence, stack, believed(stack, alignment)))
		return;
	frame = &stack->frames[place->frame];
	skip = choose_inlined(place, evidence, frame);
	has_debug = ep_evidence_debug(evidence, ep_frame_address(frame), &debug);
	find_source(place, evidence, &debug);
	if (may_show(place, evidence, frame, has_debug))
		snprintf(place->why, sizeof(place->why), "%s",
			 ep_report_place_values(
				 &place->variables, evidence,
				 &(struct ep_report_place_of){.tid = tid,
							      .stack = stack,
							      .frame = place->frame,
							      .symbol = place->function->symbol,
							      .debug = &debug,
							      .skip = skip}));
	split = debug.inlines && !place->variables.found
			? ep_inlines_split(debug.inlines, ep_frame_address(frame) - debug.bias)
			: NULL;
	if (split && place->why[0])
		snprintf(place->why, sizeof(place->why),
			 "its debug information is in %.300s, which cannot be read", split);
}

void ep_report_place_deinit(struct ep_report_place *place)
{
	ep_source_text_deinit(&place->source);
	ep_variables_deinit(&place->variables);
	*place = (struct ep_report_place){0};
}

bool ep_report_place_is_below(const struct ep_report_place *place,
			      const struct ep_variable *variable)
{
	return !variable->argument && place->line.line && variable->line > place->line.line;
}
