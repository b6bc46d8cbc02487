/* SPDX-License-Identifier: BSD-2-Clause */
/* filter.c: assembly without the hooks of some of its functions. */
#include "funcount/filter/filter.h"

#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"
#include "funcount/filter/arguments.h"
#include "funcount/filter/convention.h"

#define ARGUMENT_LINES 32
#define NAMES          64 /* of one function: its own and its aliases */

static struct ep_statement statement_at(const struct ep_filter *filter, uint32_t line)
{
	return ep_statement_read(ep_assembly_line(&filter->assembly, line));
}

static bool line_is(const struct ep_filter *filter, uint32_t line, const char *op, const char *args)
{
	struct ep_statement statement;

	if (line >= filter->assembly.lines.count || filter->assembly.lines.list[line].user)
		return false;
	statement = statement_at(filter, line);
	return ep_piece_is(statement.op, op) && ep_piece_starts(statement.args, args) &&
	       !statement.more;
}

/* ---- what goes with a hook ---- */

static void drop(struct ep_filter *filter, uint32_t line, uint32_t *dropped)
{
	filter->edits[line] = EP_EDIT_EMPTY;
	*dropped += 1;
}

/* gcc's list of entry hooks; returns the line behind it. */
static uint32_t plan_mcount(struct ep_filter *filter, uint32_t line)
{
	if (!line_is(filter, line, ".section", "__mcount_loc") ||
	    !line_is(filter, line + 1, ".quad", "1b") ||
	    !line_is(filter, line + 2, ".previous", ""))
		return line;
	for (int i = 0; i < 3; i++)
		filter->edits[line++] = EP_EDIT_EMPTY;
	return line;
}

/* gcc saves a nested function's static chain around its entry hook, and puts the landing pad of
 * -fcf-protection behind the push. */
static void plan_pair(struct ep_filter *filter, uint32_t line, uint32_t behind, uint32_t *dropped)
{
	if (line && line_is(filter, line - 1, "endbr64", ""))
		line--;
	if (!line || !line_is(filter, line - 1, "pushq", "%r10") ||
	    !line_is(filter, behind, "popq", "%r10"))
		return;
	drop(filter, line - 1, dropped);
	drop(filter, behind, dropped);
}

static void plan_arguments(struct ep_filter *filter, uint32_t line, uint32_t *dropped)
{
	uint32_t lines[ARGUMENT_LINES];
	uint32_t count = ep_arguments_find(&filter->assembly, line, lines, ARGUMENT_LINES);

	for (uint32_t i = 0; i < count; i++)
		drop(filter, lines[i], dropped);
}

/* Returns how many instructions go with the site. */
static uint32_t plan_site(struct ep_filter *filter, const struct ep_site *site)
{
	const struct ep_assembly *assembly = &filter->assembly;
	uint32_t dropped = 0;

	drop(filter, site->line, &dropped);
	if (site->hook.form == EP_HOOK_JUMP)
		filter->edits[site->line] = EP_EDIT_RETURN;
	if (site->load)
		drop(filter, site->load, &dropped);
	if (!site->hook.arguments)
		plan_pair(filter, site->line, plan_mcount(filter, site->line + 1), &dropped);
	else if (!assembly->functions.list[site->function].intel && !assembly->defines_hooks &&
		 !site->load)
		plan_arguments(filter, site->line, &dropped);
	return dropped;
}

/* The edits of all functions, whatever will be said of them. */
static void plan(struct ep_filter *filter)
{
	const struct ep_assembly *assembly = &filter->assembly;

	for (uint32_t i = 0; i < assembly->functions.count; i++)
		filter->outcomes[i].instructions = assembly->functions.list[i].instructions;
	for (uint32_t i = 0; i < assembly->sites.count; i++) {
		const struct ep_site *site = &assembly->sites.list[i];

		filter->outcomes[site->function].instructions -= plan_site(filter, site);
	}
}

/* Of a naked function only the program's lines stay, and what ends it or is a landing pad. */
static void plan_naked(struct ep_filter *filter, const char *const *why)
{
	static const char *const stay[] = {"ud2", "nop", "endbr64"};

	for (uint32_t i = 0; i < filter->assembly.lines.count; i++) {
		const struct ep_assembly_line *line = &filter->assembly.lines.list[i];
		struct ep_statement statement;
		bool stays = false;

		if (line->user || line->function == EP_NO_FUNCTION ||
		    !ep_convention_is_naked(why[line->function]))
			continue;
		statement = statement_at(filter, i);
		for (size_t j = 0; j < sizeof stay / sizeof *stay; j++)
			stays |= ep_piece_is(statement.op, stay[j]);
		if (ep_statement_is_code(&statement) && !stays)
			filter->edits[i] = EP_EDIT_EMPTY;
	}
}

/* ---- what is said of each function ---- */

static void judge(struct ep_filter *filter, struct ep_rules *rules, uint32_t at,
		  const char *const *names, size_t name_count, const char *why)
{
	const struct ep_assembly_function *function = &filter->assembly.functions.list[at];
	struct ep_outcome *outcome = &filter->outcomes[at];
	const struct ep_subject subject = {
		.names = names,
		.name_count = name_count,
		.instructions = outcome->instructions,
		.loop = function->loop,
		.measured = true,
	};

	outcome->verdict = ep_rules_judge(rules, &subject);
	if (why)
		outcome->verdict = (struct ep_rule_verdict){
			.reason = EP_RULE_CONVENTION, .strip = true, .why = why};
	if (!outcome->verdict.strip || (!function->sites && !function->strange))
		return;
	outcome->refused = function->strange;
	outcome->refused_line = function->strange_line;
	if (!outcome->refused && !function->compiled) {
		outcome->refused = "no compiler wrote it";
		outcome->refused_line = function->line;
	}
	outcome->stripped = !outcome->refused;
	filter->stripped += outcome->stripped;
	filter->refused += !outcome->stripped;
}

static int compare_aliases(const void *a, const void *b)
{
	const struct ep_alias *one = a, *other = b;

	return (one->function > other->function) - (one->function < other->function);
}

static void judge_all(struct ep_filter *filter, struct ep_rules *rules, const char *const *why)
{
	struct ep_assembly *assembly = &filter->assembly;
	uint32_t alias = 0;

	if (assembly->aliases.count)
		qsort(assembly->aliases.list, assembly->aliases.count,
		      sizeof *assembly->aliases.list, compare_aliases);
	for (uint32_t i = 0; i < assembly->functions.count; i++) {
		const char *names[NAMES] = {assembly->functions.list[i].name};
		size_t count = 1;

		for (;
		     alias < assembly->aliases.count && assembly->aliases.list[alias].function == i;
		     alias++)
			if (count < NAMES)
				names[count++] = assembly->aliases.list[alias].name;
		judge(filter, rules, i, names, count, why[i]);
	}
}

/* `ret` would not be what the program was built to return by. An attribute of a function may say so
 * too: then others of the text show it. */
static void refuse_thunks(struct ep_assembly *assembly, bool thunks)
{
	static const char thunk[] = "__x86_return_thunk";
	bool looked = thunks, found = thunks;

	for (uint32_t i = 0; i < assembly->sites.count; i++) {
		const struct ep_site *site = &assembly->sites.list[i];
		struct ep_assembly_function *function = &assembly->functions.list[site->function];

		if (site->hook.form != EP_HOOK_JUMP)
			continue;
		if (!looked)
			found = memmem(assembly->text, assembly->size, thunk, sizeof thunk - 1);
		looked = true;
		if (!found || function->strange)
			continue;
		function->strange = "it would return by a thunk";
		function->strange_line = site->line;
	}
}

int ep_filter_decide(struct ep_filter *filter, struct ep_rules *rules, const char *text,
		     size_t size, struct ep_err *err)
{
	struct ep_filter out = {0};
	int rc = ep_assembly_read(&out.assembly, text, size, err);
	const char **why;

	if (rc)
		return rc;
	out.edits = ep_calloc(out.assembly.lines.count, 1);
	out.outcomes = ep_calloc(out.assembly.functions.count, sizeof *out.outcomes);
	refuse_thunks(&out.assembly, rules->thunks);
	plan(&out);
	why = ep_conventions_find(&out.assembly, rules->conventions);
	plan_naked(&out, why);
	judge_all(&out, rules, why);
	free(why);
	*filter = out;
	return EP_OK;
}

void ep_filter_deinit(struct ep_filter *filter)
{
	ep_assembly_deinit(&filter->assembly);
	free(filter->edits);
	free(filter->outcomes);
	*filter = (struct ep_filter){0};
}

/* ---- what comes of it ---- */

/* The line's label stays: something may jump there. */
static void write_edited(struct ep_piece line, enum ep_edit edit, FILE *out)
{
	struct ep_statement statement = ep_statement_read(line);

	if (statement.label.size)
		fwrite(line.at, 1, (size_t)(statement.op.at - line.at), out);
	if (edit == EP_EDIT_RETURN)
		fputs("\tret", out);
}

static enum ep_edit edit_of(const struct ep_filter *filter, uint32_t line)
{
	uint32_t function = filter->assembly.lines.list[line].function;

	if (function == EP_NO_FUNCTION || !filter->outcomes[function].stripped)
		return EP_EDIT_KEEP;
	return filter->edits[line];
}

void ep_filter_write(const struct ep_filter *filter, FILE *out)
{
	const struct ep_assembly *assembly = &filter->assembly;

	for (uint32_t i = 0; i < assembly->lines.count; i++) {
		struct ep_piece line = ep_assembly_line(assembly, i);
		enum ep_edit edit = edit_of(filter, i);

		if (edit == EP_EDIT_KEEP)
			fwrite(line.at, 1, line.size, out);
		else
			write_edited(line, edit, out);
		if (line.at + line.size < assembly->text + assembly->size)
			putc_unlocked('\n', out);
	}
}

void ep_filter_report(const struct ep_filter *filter, const struct ep_rules *rules, const char *who,
		      const char *file, bool all, FILE *out)
{
	const struct ep_assembly *assembly = &filter->assembly;
	char why[1024];

	for (uint32_t i = 0; i < assembly->functions.count; i++) {
		const struct ep_assembly_function *function = &assembly->functions.list[i];
		const struct ep_outcome *outcome = &filter->outcomes[i];
		const struct ep_subject subject = {.instructions = outcome->instructions};

		if (outcome->refused) {
			fprintf(out,
				"%s: warning: %s: %s keeps its hooks: %s (line %u of the "
				"assembly)\n",
				who, file, function->name, outcome->refused,
				outcome->refused_line + 1);
			continue;
		}
		if (!all)
			continue;
		ep_rule_verdict_text(&outcome->verdict, rules, &subject, why, sizeof why);
		fprintf(out, "%s: note: %s: %s: %s: %s\n", who, file, function->name,
			!function->sites    ? "no hooks"
			: outcome->stripped ? "not traced"
					    : "traced",
			why);
	}
}
