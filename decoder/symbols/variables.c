/* SPDX-License-Identifier: BSD-2-Clause */
/* variables.c: the blocks from the innermost outwards, up to their function. */
#include "decoder/symbols/variables.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"
#include "coredump/util/utf8.h"
#include "decoder/symbols/type.h"

#define TYPE_NAME_MAX 200u

struct collector {
	struct ep_variables *out;
	struct ep_location_frame *frame;
	const struct ep_value_style *style;
	bool arguments; /* these are collected, else the locals */
};

static char *escaped(const char *text)
{
	return ep_utf8_escape(text, strlen(text));
}

static char *type_text(const struct collector *c, Dwarf_Die *type)
{
	char text[TYPE_NAME_MAX];

	return escaped(ep_type_name(type, c->style->scopes, text, sizeof(text)));
}

static void add(struct collector *c, Dwarf_Die *die, const char *name)
{
	struct ep_variable *one;
	struct ep_location location;
	uint64_t line = 0;
	Dwarf_Die type;

	if (c->out->all.count == EP_VARIABLES_MAX) {
		c->out->left++;
		return;
	}
	one = ep_array_add(&c->out->all);
	one->name = escaped(name);
	one->argument = c->arguments;
	one->artificial = ep_type_flag(die, DW_AT_artificial);
	if (ep_type_number(die, DW_AT_decl_line, &line) && line <= INT32_MAX)
		one->line = (uint32_t)line;
	if (!ep_type_of(die, &type)) {
		one->type = ep_strdup("?");
		one->value = ep_strdup("<unknown type>");
		return;
	}
	one->type = type_text(c, &type);
	ep_location_find(&location, c->frame, die);
	one->by_caller = location.by_caller;
	one->value = ep_value_text(c->style, c->frame, &type, &location, &one->known);
}

/* What is only declared here lives in another place. */
static bool is_wanted(const struct collector *c, Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	return tag == (c->arguments ? DW_TAG_formal_parameter : DW_TAG_variable) &&
	       !ep_type_flag(die, DW_AT_declaration);
}

static void collect(struct collector *c, Dwarf_Die *block)
{
	struct ep_type_walk walk = {0};

	while (ep_type_child(&walk, block)) {
		const char *name = is_wanted(c, &walk.die) ? dwarf_diename(&walk.die) : NULL;

		if (name)
			add(c, &walk.die, name);
	}
}

void ep_variables_init(struct ep_variables *out, struct ep_inlines *inlines, unsigned skip,
		       struct ep_location_frame *frame, const struct ep_value_style *style)
{
	struct ep_value_style scoped = *style;
	struct collector c = {.out = out, .frame = frame, .style = &scoped, .arguments = true};
	Dwarf_Die scopes[EP_SCOPES_MAX];
	size_t count;

	*out = (struct ep_variables){0};
	count = ep_inlines_scopes(inlines, frame->address, skip, scopes, &frame->base);
	out->found = count > 0;
	if (!count)
		return;
	scoped.scopes = ep_type_scopes_create();
	collect(&c, &scopes[count - 1]);
	c.arguments = false;
	for (size_t i = 0; i < count; i++)
		collect(&c, &scopes[i]);
	ep_type_scopes_destroy(scoped.scopes);
}

void ep_variables_deinit(struct ep_variables *variables)
{
	for (size_t i = 0; i < variables->all.count; i++) {
		free(variables->all.list[i].name);
		free(variables->all.list[i].type);
		free(variables->all.list[i].value);
	}
	ep_array_deinit(&variables->all);
}
