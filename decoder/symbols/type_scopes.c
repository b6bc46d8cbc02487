/* SPDX-License-Identifier: BSD-2-Clause */
/* type_scopes.c: ranges of entries' offsets, nested, ascending. One purse of steps for all units.
 */
#include "decoder/symbols/type_scopes.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"
#include "coredump/util/array.h"
#include "coredump/util/search.h"
#include "decoder/symbols/type.h"

#define DEPTH_MAX 32u
#define HOPS_MAX  4u
#define STEPS_MAX ((uint64_t)1 << 22)
#define NOWHERE   UINT32_MAX

struct scope {
	uint64_t start, end; /* offsets of entries */
	uint32_t outer;      /* NOWHERE: the unit */
	Dwarf_Die die;
};

struct unit {
	const void *key;
	EP_ARRAY(struct scope) scopes; /* ascending start */
};

struct ep_type_scopes {
	EP_ARRAY(struct unit) units;
	uint64_t steps;
};

struct ep_type_scopes *ep_type_scopes_create(void)
{
	return ep_calloc(1, sizeof(struct ep_type_scopes));
}

void ep_type_scopes_destroy(struct ep_type_scopes *scopes)
{
	if (!scopes)
		return;
	for (size_t i = 0; i < scopes->units.count; i++)
		ep_array_deinit(&scopes->units.list[i].scopes);
	ep_array_deinit(&scopes->units);
	free(scopes);
}

/* ---- a unit's ---- */

static bool is_container(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_class_type ||
	       tag == DW_TAG_structure_type || tag == DW_TAG_union_type ||
	       tag == DW_TAG_interface_type;
}

/* The entry after `die` and all that lies below it. */
static bool next_sibling(struct ep_type_scopes *scopes, Dwarf_Die *die)
{
	Dwarf_Die next;

	if (scopes->steps++ >= STEPS_MAX || dwarf_siblingof(die, &next) != 0 ||
	    dwarf_dieoffset(&next) <= dwarf_dieoffset(die))
		return false;
	*die = next;
	return true;
}

/* All scopes from `from` on that were open end before `end`. */
static void close_scopes(struct unit *unit, uint32_t *open, uint32_t outer, uint64_t end)
{
	for (; *open != outer; *open = unit->scopes.list[*open].outer)
		unit->scopes.list[*open].end = end;
}

static uint32_t add_scope(struct unit *unit, Dwarf_Die *die, uint32_t outer)
{
	ep_array_push(&unit->scopes, ((struct scope){.start = dwarf_dieoffset(die),
						     .end = UINT64_MAX,
						     .outer = outer,
						     .die = *die}));
	return (uint32_t)(unit->scopes.count - 1);
}

/* Functions are scopes too, of which no more is looked at. */
static void read_scopes(struct ep_type_scopes *scopes, struct unit *unit, Dwarf_Die *top)
{
	Dwarf_Die path[DEPTH_MAX];
	uint32_t outer[DEPTH_MAX] = {NOWHERE}, open = NOWHERE;
	size_t depth = 0;

	if (dwarf_child(top, &path[0]) != 0)
		return;
	for (;;) {
		Dwarf_Die *die = &path[depth];
		int tag = dwarf_tag(die);

		close_scopes(unit, &open, outer[depth], dwarf_dieoffset(die));
		if (is_container(tag) || tag == DW_TAG_subprogram)
			open = add_scope(unit, die, outer[depth]);
		if (is_container(tag) && depth + 1 < DEPTH_MAX &&
		    dwarf_child(die, &path[depth + 1]) == 0) {
			outer[++depth] = open;
			continue;
		}
		while (!next_sibling(scopes, &path[depth]))
			if (depth-- == 0)
				return;
	}
}

static struct unit *unit_of(struct ep_type_scopes *scopes, Dwarf_Die *die)
{
	struct unit *unit;
	Dwarf_Die top;

	for (size_t i = 0; i < scopes->units.count; i++)
		if (scopes->units.list[i].key == die->cu)
			return &scopes->units.list[i];
	unit = ep_array_add(&scopes->units);
	unit->key = die->cu;
	if (dwarf_diecu(die, &top, NULL, NULL) && !ep_type_is_c(die))
		read_scopes(scopes, unit, &top);
	return unit;
}

/* ---- names ---- */

static const char *name_of(Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);

	return name || dwarf_tag(die) != DW_TAG_namespace ? name : "(anonymous namespace)";
}

/* What is defined apart from its declaration lies where that is. */
static Dwarf_Die declared(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Die at = *die, next;

	for (unsigned i = 0; i < HOPS_MAX && dwarf_attr(&at, DW_AT_specification, &attribute) &&
			     dwarf_formref_die(&attribute, &next);
	     i++)
		at = next;
	return at;
}

char *ep_type_scopes_prefix(struct ep_type_scopes *scopes, Dwarf_Die *die, char *out, size_t size)
{
	Dwarf_Die at = declared(die);
	uint64_t offset = dwarf_dieoffset(&at);
	struct unit *unit = unit_of(scopes, &at);
	const struct scope *list = unit->scopes.list;
	size_t found = ep_partition_point(unit->scopes.count, i, list[i].start < offset), used = 0;
	uint32_t path[DEPTH_MAX], depth = 0;

	*out = '\0';
	for (uint32_t i = found ? (uint32_t)(found - 1) : NOWHERE; i != NOWHERE;
	     i = list[i].outer) {
		Dwarf_Die scope = list[i].die;

		if (list[i].end <= offset)
			continue;
		if (depth == DEPTH_MAX || dwarf_tag(&scope) == DW_TAG_subprogram ||
		    !name_of(&scope))
			return out;
		path[depth++] = i;
	}
	while (depth-- && used < size - 1) {
		Dwarf_Die scope = list[path[depth]].die;
		int put = snprintf(out + used, size - used, "%s::", name_of(&scope));

		used = put < 0 || (size_t)put >= size - used ? size - 1 : used + (size_t)put;
	}
	return out;
}
