/* SPDX-License-Identifier: BSD-2-Clause */
/* json_place.c: where the thread died, as JSON. */
#include "decoder/report/print/json.h"

static void write_source(struct ep_json *json, const struct ep_source_text *source)
{
	ep_json_member_object(json, "source");
	ep_json_member_array(json, "lines");
	for (size_t i = 0; i < source->count; i++) {
		ep_json_object(json);
		ep_json_member_uint(json, "line", source->lines[i].number);
		ep_json_member_text(json, "text", source->lines[i].text);
		ep_json_object_end(json);
	}
	ep_json_array_end(json);
	ep_json_member_bool(json, "newer_than_program", source->newer);
	ep_report_json_text(json, "missing", source->why);
	ep_json_object_end(json);
}

static void write_variable(struct ep_json *json, const struct ep_report_place *place,
			   const struct ep_variable *variable)
{
	ep_json_object(json);
	ep_json_member_text(json, "name", variable->name);
	ep_json_member_text(json, "kind", variable->argument ? "argument" : "local");
	ep_json_member_text(json, "type", variable->type);
	ep_json_member_text(json, "value", variable->value);
	ep_json_member_bool(json, "known", variable->known);
	ep_json_member_bool(json, "artificial", variable->artificial);
	ep_json_member_bool(json, "by_caller", variable->by_caller);
	ep_json_key(json, "line");
	if (variable->line)
		ep_json_uint(json, variable->line);
	else
		ep_json_null(json);
	ep_json_member_bool(json, "declared_below", ep_report_place_is_below(place, variable));
	ep_json_object_end(json);
}

static void write_variables(struct ep_json *json, const struct ep_report_place *place)
{
	const struct ep_variables *variables = &place->variables;

	ep_json_member_array(json, "variables");
	for (size_t i = 0; i < variables->all.count; i++)
		write_variable(json, place, &variables->all.list[i]);
	ep_json_array_end(json);
	ep_json_member_uint(json, "variables_left_out", variables->left);
	ep_report_json_text(json, "no_variables", place->why);
}

void ep_report_json_place(struct ep_json *json, const struct ep_report_place *place)
{
	if (!place->known)
		return;
	ep_json_member_object(json, "place");
	ep_json_member_uint(json, "frame", place->frame);
	ep_report_json_address(json, "pc", place->pc);
	ep_report_json_function(json, place->function);
	if (place->inlined)
		ep_json_member_text(json, "inlined", place->inlined);
	if (place->line.file && place->line.line) {
		ep_json_member_text(json, "file", place->line.file);
		ep_json_member_uint(json, "line", place->line.line);
	}
	write_source(json, &place->source);
	write_variables(json, place);
	ep_json_object_end(json);
}
