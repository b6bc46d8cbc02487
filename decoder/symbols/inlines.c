/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inlines.c: down from the unit to the function, from there to the innermost entry with the
 * address. All walks are loops: forward only, of bounded depth, and out of one purse of steps, for
 * entries may point anywhere.
 */
#include "decoder/symbols/inlines.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/util/search.h"
#include "coredump/util/alloc.h"
#include "coredump/util/array.h"
#include "coredump/util/hash.h"
#include "coredump/util/utf8.h"
#include "decoder/symbols/demangle.h"
#include "decoder/symbols/units.h"

#define CONTAINERS_MAX 64 /* namespaces and classes around a function */
#define BLOCKS_MAX     512
#define HOPS_MAX       16                /* from a call to its function's name */
#define NAME_BYTES_MAX ((size_t)1 << 16) /* of a name of one scope; what is longer is none */

struct function {
	uint64_t start, end;
	uint64_t reach; /* the highest end of this and all before it */
	Dwarf_Die die;
};

struct unit {
	struct function *list; /* ascending start */
	size_t count, capacity;
	bool read;
};

/* Of a function that was inlined. */
struct name {
	const void *key; /* its entry, in libdw's memory */
	char *text;
};

struct ep_inlines {
	struct ep_units *units; /* borrowed */
	struct ep_lines *lines; /* borrowed */
	struct unit *list;      /* beside the units */
	EP_ARRAY(struct name) names;
	struct ep_hash by_key; /* of the names */
	uint64_t steps_left;   /* entries and ranges */
	uint64_t ranges_left;  /* of functions: each is kept */
	uint64_t text_left;    /* bytes of names: each is kept */
	bool raw, incomplete;
};

static bool step(struct ep_inlines *inlines)
{
	if (inlines->steps_left == 0)
		inlines->incomplete = true;
	else
		inlines->steps_left--;
	return !inlines->incomplete;
}

/* The next entry beside `die`: only one that lies behind it. */
static bool next_sibling(struct ep_inlines *inlines, Dwarf_Die *die)
{
	Dwarf_Die next;

	if (!step(inlines) || dwarf_siblingof(die, &next) != 0 ||
	    dwarf_dieoffset(&next) <= dwarf_dieoffset(die))
		return false;
	*die = next;
	return true;
}

/* ---- the functions of a unit ---- */

static void add_function(struct unit *unit, const Dwarf_Die *die, uint64_t start, uint64_t end)
{
	if (start <= 1 || end <= start)
		return;
	ep_array_push(unit, ((struct function){.start = start, .end = end, .die = *die}));
}

static void add_ranges(struct ep_inlines *inlines, struct unit *unit, Dwarf_Die *die)
{
	Dwarf_Addr base = 0, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0 && step(inlines)) {
		inlines->incomplete |= inlines->ranges_left == 0;
		if (inlines->ranges_left == 0)
			return;
		inlines->ranges_left--;
		add_function(unit, die, start, end);
	}
}

/* May functions lie below? Rust's lie in its types, too. */
static bool is_container(int tag)
{
	switch (tag) {
	case DW_TAG_subprogram: /* GNU C's nested ones */
	case DW_TAG_lexical_block:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
		return true;
	default:
		return false;
	}
}

static void read_functions(struct ep_inlines *inlines, struct unit *unit, Dwarf_Die *top)
{
	Dwarf_Die path[CONTAINERS_MAX];
	size_t depth = 0;

	if (dwarf_child(top, &path[0]) != 0)
		return;
	for (;;) {
		Dwarf_Die *die = &path[depth];
		int tag = dwarf_tag(die);

		if (tag == DW_TAG_subprogram)
			add_ranges(inlines, unit, die);
		if (is_container(tag) && depth + 1 < CONTAINERS_MAX && step(inlines) &&
		    dwarf_child(die, die + 1) == 0) {
			depth++;
			continue;
		}
		while (!next_sibling(inlines, &path[depth]))
			if (depth-- == 0)
				return;
	}
}

static int compare_functions(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->end < y->end) - (x->end > y->end);
}

static struct unit *functions_of(struct ep_inlines *inlines, size_t index)
{
	struct unit *unit = &inlines->list[index];
	uint64_t reach = 0;
	Dwarf_Die *top;

	if (unit->read)
		return unit;
	unit->read = true;
	top = ep_units_code(inlines->units, index);
	if (top)
		read_functions(inlines, unit, top);
	ep_array_sort(unit, compare_functions);
	for (size_t i = 0; i < unit->count; i++) {
		if (unit->list[i].end > reach)
			reach = unit->list[i].end;
		unit->list[i].reach = reach;
	}
	return unit;
}

static struct function *function_at(struct ep_inlines *inlines, const struct unit *unit,
				    uint64_t address)
{
	size_t low = ep_partition_point(unit->count, i, unit->list[i].start <= address);

	while (low-- > 0 && unit->list[low].reach > address && step(inlines))
		if (unit->list[low].end > address)
			return &unit->list[low];
	return NULL;
}

/* ---- from the function inwards ---- */

static bool covers(struct ep_inlines *inlines, Dwarf_Die *die, uint64_t address)
{
	Dwarf_Addr base = 0, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0 && step(inlines))
		if (address >= start && address < end)
			return true;
	return false;
}

static bool is_block(int tag)
{
	return tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
	       tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
}

/* Moves `die` on, until it or one beside it has the address. */
static bool find_beside(struct ep_inlines *inlines, Dwarf_Die *die, uint64_t address)
{
	do
		if (is_block(dwarf_tag(die)) && covers(inlines, die, address))
			return true;
	while (next_sibling(inlines, die));
	return false;
}

static bool find_below(struct ep_inlines *inlines, Dwarf_Die *die, Dwarf_Die *out, uint64_t address)
{
	return dwarf_child(die, out) == 0 && find_beside(inlines, out, address);
}

/* The calls among the entries of a path, innermost first; of more than EP_INLINED_MAX the
 * innermost. */
static size_t collect_calls(const Dwarf_Die *path, size_t depth, Dwarf_Die calls[EP_INLINED_MAX])
{
	size_t count = 0;

	while (depth-- > 0 && count < EP_INLINED_MAX) {
		Dwarf_Die die = path[depth];

		if (dwarf_tag(&die) == DW_TAG_inlined_subroutine)
			calls[count++] = die;
	}
	return count;
}

static size_t count_calls(Dwarf_Die *path, size_t depth)
{
	size_t count = 0;

	while (depth-- > 0)
		count += dwarf_tag(&path[depth]) == DW_TAG_inlined_subroutine;
	return count;
}

/* The blocks around `address`, outermost first, without the function itself; how many. Blocks
 * beside each other may both have the address: the way on which most calls lie is taken, the last
 * of several. */
static size_t find_path(struct ep_inlines *inlines, Dwarf_Die *function, uint64_t address,
			Dwarf_Die best[BLOCKS_MAX])
{
	Dwarf_Die path[BLOCKS_MAX];
	size_t depth = 1, count = 0, most = 0, found;

	if (!find_below(inlines, function, path, address))
		return 0;
	for (;;) {
		if (depth < BLOCKS_MAX &&
		    find_below(inlines, &path[depth - 1], &path[depth], address)) {
			depth++;
			continue;
		}
		found = count_calls(path, depth);
		if (found >= most) {
			memcpy(best, path, depth * sizeof(*path));
			count = depth;
			most = found;
		}
		while (!next_sibling(inlines, &path[depth - 1]) ||
		       !find_beside(inlines, &path[depth - 1], address))
			if (--depth == 0)
				return count;
	}
}

/* ---- names ---- */

/* Strings may overlap: one that is too long for a name is none. */
static const char *string_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	const char *text = dwarf_formstring(dwarf_attr(die, name, &attribute));

	return text && strnlen(text, NAME_BYTES_MAX + 1) <= NAME_BYTES_MAX ? text : NULL;
}

/* What the entry stands for; false: nothing else. */
static bool follow(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Die other;

	if (!dwarf_formref_die(dwarf_attr(die, DW_AT_abstract_origin, &attribute), &other) &&
	    !dwarf_formref_die(dwarf_attr(die, DW_AT_specification, &attribute), &other))
		return false;
	*die = other;
	return true;
}

/* The entry among `child` and those beside it that has `offset` in or below it: the last that
 * doesn't begin behind it. */
static void approach(struct ep_inlines *inlines, Dwarf_Die *child, Dwarf_Off offset)
{
	Dwarf_Die next = *child;

	while (dwarf_dieoffset(child) < offset && next_sibling(inlines, &next) &&
	       dwarf_dieoffset(&next) <= offset)
		*child = next;
}

static char *with_scope(char *text, Dwarf_Die *die)
{
	const char *name = string_of(die, DW_AT_name);
	char *whole;

	switch (dwarf_tag(die)) {
	case DW_TAG_namespace:
		name = name ? name : "(anonymous namespace)";
		break;
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		break;
	default:
		return text;
	}
	if (!name)
		return text;
	whole = ep_asprintf("%s%s::", text, name);
	free(text);
	return whole;
}

/* "shop::(anonymous namespace)::" of a declaration: gcc gives no linkage names to what other files
 * cannot see. From malloc. */
static char *scopes_of(struct ep_inlines *inlines, Dwarf_Die *die)
{
	Dwarf_Off offset = dwarf_dieoffset(die);
	char *text = ep_strdup("");
	Dwarf_Die at, child;

	if (!dwarf_diecu(die, &at, NULL, NULL))
		return text;
	for (size_t depth = 0; depth < CONTAINERS_MAX; depth++) {
		if (dwarf_child(&at, &child) != 0)
			break;
		approach(inlines, &child, offset);
		if (dwarf_dieoffset(&child) >= offset)
			break;
		text = with_scope(text, &child);
		at = child;
	}
	return text;
}

static char *scoped(struct ep_inlines *inlines, Dwarf_Die *die, const char *name)
{
	char *scopes = scopes_of(inlines, die), *whole = ep_asprintf("%s%s", scopes, name);
	char *text = ep_utf8_escape(whole, strlen(whole));

	free(scopes);
	free(whole);
	return text;
}

/* From malloc. */
static char *name_of(struct ep_inlines *inlines, Dwarf_Die *call)
{
	const char *linkage = NULL, *name = NULL;
	Dwarf_Die at = *call, named = *call;

	for (size_t i = 0; i < HOPS_MAX && !linkage; i++) {
		linkage = string_of(&at, DW_AT_linkage_name);
		if (!linkage)
			linkage = string_of(&at, DW_AT_MIPS_linkage_name);
		if (!name)
			name = string_of(&at, DW_AT_name);
		named = at;
		if (!follow(&at))
			break;
	}
	if (!linkage)
		return name ? scoped(inlines, &named, name) : ep_strdup("?");
	return ep_demangle_shown(linkage, inlines->raw);
}

static const char *interned(struct ep_inlines *inlines, Dwarf_Die *call)
{
	Dwarf_Die function = *call;
	uint32_t hash, at = 0, number;
	size_t size;
	char *text;

	follow(&function);
	hash = ep_hash_number((uintptr_t)function.addr);
	while ((number = ep_hash_next(&inlines->by_key, hash, &at)) != EP_HASH_NONE)
		if (inlines->names.list[number].key == function.addr)
			return inlines->names.list[number].text;
	text = inlines->text_left ? name_of(inlines, call) : ep_strdup("?");
	size = strlen(text);
	inlines->incomplete |= inlines->text_left < size;
	inlines->text_left -= size < inlines->text_left ? size : inlines->text_left;
	number = (uint32_t)inlines->names.count;
	ep_hash_add(&inlines->by_key, hash, number);
	ep_array_push(&inlines->names, ((struct name){function.addr, text}));
	return text;
}

/* ---- lines ---- */

static uint64_t number_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	return dwarf_formudata(dwarf_attr(die, name, &attribute), &value) == 0 ? value : 0;
}

/* A file's name in the table of the entry's unit; of split DWARF the skeleton may have it. */
static const char *source_of(struct ep_inlines *inlines, size_t unit, Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	Dwarf_Files *files;
	Dwarf_Die top;
	size_t count;

	if (!dwarf_attr(die, name, &attribute) || !dwarf_diecu(die, &top, NULL, NULL) ||
	    !ep_unit_files_fit(&top) || !ep_unit_files_fit(ep_units_die(inlines->units, unit)))
		return NULL;
	if (dwarf_getsrcfiles(&top, &files, &count) != 0 &&
	    dwarf_getsrcfiles(ep_units_die(inlines->units, unit), &files, &count) != 0)
		return NULL;
	return dwarf_filesrc(files, number_of(die, name), NULL, NULL);
}

static const char *file_of(struct ep_inlines *inlines, size_t unit, Dwarf_Die *call)
{
	return ep_lines_file(inlines->lines, unit, source_of(inlines, unit, call, DW_AT_call_file));
}

static struct ep_inlined answer(struct ep_inlines *inlines, size_t unit, Dwarf_Die *call)
{
	uint64_t line = number_of(call, DW_AT_call_line);

	return (struct ep_inlined){
		.name = interned(inlines, call),
		.call = {.file = file_of(inlines, unit, call),
			 .line = line <= INT32_MAX ? (uint32_t)line : 0},
	};
}

/* The function with the address, and its unit; NULL: none. */
static struct function *find_function(struct ep_inlines *inlines, uint64_t address, size_t *unit)
{
	struct ep_units_walk walk = ep_units_walk(inlines->units, address);
	struct function *function;

	while (ep_units_next(inlines->units, &walk, unit)) {
		function = function_at(inlines, functions_of(inlines, *unit), address);
		if (function)
			return function;
	}
	return NULL;
}

size_t ep_inlines_find(struct ep_inlines *inlines, uint64_t address,
		       struct ep_inlined out[EP_INLINED_MAX])
{
	Dwarf_Die calls[EP_INLINED_MAX], path[BLOCKS_MAX];
	size_t unit, count;
	struct function *function = find_function(inlines, address, &unit);

	if (!function)
		return 0;
	count = collect_calls(path, find_path(inlines, &function->die, address, path), calls);
	for (size_t i = 0; i < count; i++)
		out[i] = answer(inlines, unit, &calls[i]);
	return count;
}

/* How many of the path's entries are left when `skip` calls are left out of it. */
static size_t without_calls(Dwarf_Die *path, size_t depth, unsigned skip)
{
	while (depth > 0 && skip > 0)
		skip -= dwarf_tag(&path[--depth]) == DW_TAG_inlined_subroutine;
	return depth;
}

size_t ep_inlines_scopes(struct ep_inlines *inlines, uint64_t address, unsigned skip,
			 Dwarf_Die out[EP_SCOPES_MAX], Dwarf_Die *function_out)
{
	Dwarf_Die path[BLOCKS_MAX];
	size_t unit, depth, from, count = 0;
	struct function *function = find_function(inlines, address, &unit);

	if (!function)
		return 0;
	*function_out = function->die;
	depth = without_calls(path, find_path(inlines, &function->die, address, path), skip);
	from = depth;
	while (from > 0 && dwarf_tag(&path[from - 1]) != DW_TAG_inlined_subroutine)
		from--;
	if (depth - from > EP_SCOPES_MAX - 1)
		depth = from + EP_SCOPES_MAX - 1;
	while (depth > from)
		out[count++] = path[--depth];
	out[count++] = from > 0 ? path[from - 1] : function->die;
	return count;
}

struct ep_declared ep_inlines_declared(struct ep_inlines *inlines, uint64_t address)
{
	struct ep_declared out = {0};
	size_t unit;
	struct function *function = find_function(inlines, address, &unit);
	Dwarf_Die at;

	if (!function)
		return out;
	at = function->die;
	for (size_t i = 0; i < HOPS_MAX && (!out.line || !out.source); i++) {
		if (!out.line)
			out.line = number_of(&at, DW_AT_decl_line);
		if (!out.source)
			out.source = source_of(inlines, unit, &at, DW_AT_decl_file);
		if (!follow(&at))
			break;
	}
	return out;
}

bool ep_inlines_incomplete(const struct ep_inlines *inlines)
{
	return inlines->incomplete;
}

/* ---- the whole ---- */

struct ep_inlines *ep_inlines_create(struct ep_units *units, struct ep_lines *lines, bool raw)
{
	struct ep_inlines *inlines = ep_calloc(1, sizeof(*inlines));

	inlines->list = ep_calloc(ep_units_count(units), sizeof(*inlines->list));
	inlines->units = units;
	inlines->lines = lines;
	inlines->raw = raw;
	inlines->steps_left = ep_units_step_limit(units);
	/* A function takes three bytes at least, and its name is rarely ten times as long as what
	 * stands for it. */
	inlines->ranges_left = inlines->steps_left / 24;
	inlines->text_left = inlines->steps_left;
	return inlines;
}

void ep_inlines_destroy(struct ep_inlines *inlines)
{
	if (!inlines)
		return;
	for (size_t i = 0; i < ep_units_count(inlines->units); i++)
		free(inlines->list[i].list);
	for (size_t i = 0; i < inlines->names.count; i++)
		free(inlines->names.list[i].text);
	ep_array_deinit(&inlines->names);
	ep_hash_deinit(&inlines->by_key);
	free(inlines->list);
	free(inlines);
}

const char *ep_inlines_split(struct ep_inlines *inlines, uint64_t address)
{
	return ep_units_split(inlines->units, address);
}
