/* SPDX-License-Identifier: BSD-2-Clause */
/* text_place.c: where the thread died, on a page: the line with its neighbours, then a variable a
 * line. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "decoder/report/print/page.h"
#include "decoder/util/fit.h"

static void print_name(struct ep_page *page, const struct ep_report_place *place)
{
	char *name = ep_page_name(page, place->inlined ? place->inlined : place->function->name);

	fprintf(page->out, "%sin        %s #%zu %s%s%s%s", page->style->dim, page->style->plain,
		place->frame, page->style->name, name, page->style->plain,
		place->inlined ? " (inlined)" : "");
	free(name);
	if (place->line.file && place->line.line)
		fprintf(page->out, " %s:%" PRIu32, ep_page_path(page, place->line.file),
			place->line.line);
	fputc('\n', page->out);
}

/* How many bytes of the text are shown on a page of one screen, where `used` columns are taken: it
 * is cut between words, so that no number is. */
static int shown_size(const struct ep_page *page, const char *text, size_t used)
{
	size_t room = page->columns > used + 40 ? page->columns - used : 40, size;

	if (!page->brief || ep_fit_columns(text) <= room)
		return (int)strlen(text);
	for (size = ep_fit_bytes(text, room - 3); size > 0 && text[size] != ' '; size--)
		;
	/* One word, such as a text: all of it. */
	return (int)(size ? size : strlen(text));
}

static const char *dots(const char *text, int shown)
{
	return text[shown] ? "..." : "";
}

static void print_source(struct ep_page *page, const struct ep_report_place *place)
{
	const struct ep_source_text *source = &place->source;

	for (size_t i = 0; i < source->count; i++) {
		const struct ep_source_line *line = &source->lines[i];
		bool here = line->number == place->line.line;
		int size = shown_size(page, line->text, 12);

		fprintf(page->out, "  %s%s %6" PRIu32 "  %.*s%s%s\n", here ? page->bold : "",
			here ? ">" : " ", line->number, size, line->text, dots(line->text, size),
			here ? page->style->plain : "");
	}
	if (source->newer)
		fprintf(page->out,
			"  %s(this file is newer than the program: it may not be what ran)%s\n",
			page->style->warn, page->style->plain);
	if (source->why[0] && place->line.line)
		fprintf(page->out, "  %s(no source: %s)%s\n", page->style->dim, source->why,
			page->style->plain);
}

/* What has no value is named in one line at the end. */
static bool is_gone(const struct ep_variable *variable)
{
	return !variable->known && strcmp(variable->value, "<optimized out>") == 0;
}

#define GONE_LEFT 16u /* columns of ", … 100 more" */

static void print_gone(struct ep_page *page, const struct ep_variables *variables)
{
	const char *between = "  optimized out: ";
	size_t used = ep_fit_columns(between), left = 0;

	for (size_t i = 0; i < variables->all.count; i++) {
		const char *name = variables->all.list[i].name;

		if (!is_gone(&variables->all.list[i]))
			continue;
		used += ep_fit_columns(name) + 2;
		if (page->shares.tight && page->columns && used + GONE_LEFT > page->columns) {
			left++;
			continue;
		}
		fprintf(page->out, "%s%s", between, name);
		between = ", ";
	}
	if (left)
		fprintf(page->out, "%s… %zu more", between, left);
	if (*between == ',' || left)
		fputc('\n', page->out);
}

static void print_variable(struct ep_page *page, const struct ep_report_place *place,
			   const struct ep_variable *variable)
{
	int size = shown_size(page, variable->value, ep_fit_columns(variable->name) + 9);

	fprintf(page->out, "  %s%s%s%s = %.*s%s", page->style->dim,
		variable->argument ? "arg " : "    ", page->style->plain, variable->name, size,
		variable->value, dots(variable->value, size));
	if (variable->by_caller)
		fprintf(page->out, "  %s[as its caller gave it]%s", page->style->dim,
			page->style->plain);
	if (ep_report_place_is_below(place, variable))
		fprintf(page->out, "  %s[declared below, line %" PRIu32 "]%s", page->style->dim,
			variable->line, page->style->plain);
	fputc('\n', page->out);
}

static void print_variables(struct ep_page *page, const struct ep_report_place *place)
{
	const struct ep_variables *variables = &place->variables;
	size_t left = variables->left, *shown = &page->shares.printed[EP_SHARE_VARIABLES];

	for (size_t i = 0; i < variables->all.count; i++) {
		const struct ep_variable *one = &variables->all.list[i];

		if (is_gone(one) || (page->brief && one->artificial && !one->argument))
			continue;
		if (*shown == page->shares.most[EP_SHARE_VARIABLES]) {
			left++;
			continue;
		}
		print_variable(page, place, one);
		++*shown;
	}
	print_gone(page, variables);
	if (left)
		fprintf(page->out, "  … %zu more variables%s\n", left,
			page->brief ? " (--all shows them)" : "");
	if (place->why[0]) {
		char *why = ep_page_escape(place->why);

		fprintf(page->out, "  %s(no variables: %s)%s\n", page->style->dim, why,
			page->style->plain);
		free(why);
	}
}

void ep_page_place(struct ep_page *page, const struct ep_report_place *place)
{
	if (!place->known)
		return;
	print_name(page, place);
	print_source(page, place);
	print_variables(page, place);
}
