/* SPDX-License-Identifier: BSD-2-Clause */
/* lines.c: the unit, then libdw's sorted rows of it, read when they are first asked for. */
#include "decoder/symbols/lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/util/search.h"
#include "coredump/util/alloc.h"
#include "coredump/util/array.h"
#include "coredump/util/utf8.h"
#include "decoder/symbols/units.h"

/* A file's name as libdw has it, and as it is shown. */
struct name {
	const char *source; /* borrowed from libdw; the key */
	char *text;
};

struct unit {
	Dwarf_Die *die;    /* borrowed from the units */
	Dwarf_Lines *rows; /* sorted by libdw; NULL: none, or not read */
	size_t row_count;
	EP_ARRAY(struct name) names;
	bool read;
};

struct ep_lines {
	struct ep_units *units; /* borrowed */
	struct unit *list;      /* beside the units */
};

/* ---- file names ---- */

/* Drops `.`, empty and `name/..` components, in place. */
static void normalise(char *path)
{
	bool absolute = *path == '/';
	char *to = path + absolute, *floor = to, *last;
	const char *from = to, *next;

	for (; from; from = next) {
		size_t size = strcspn(from, "/");
		bool up = size == 2 && memcmp(from, "..", 2) == 0;
		bool stay =
			size == 0 || (size == 1 && *from == '.') || (up && absolute && to == floor);

		next = from[size] ? from + size + 1 : NULL;
		if (stay)
			continue;
		if (up && to > floor) {
			to[-1] = '\0';
			last = strrchr(floor, '/');
			to = last ? last + 1 : floor;
			continue;
		}
		memmove(to, from, size);
		to += size;
		*to++ = '/';
		if (up)
			floor = to;
	}
	if (to > path + 1)
		to--;
	*to = '\0';
}

/* With the directory of the compilation in front, when it is relative. */
static char *whole_path(struct unit *unit, const char *source)
{
	Dwarf_Attribute attribute;
	const char *directory = NULL;
	char *path, *text;

	if (source[0] != '/')
		directory = dwarf_formstring(dwarf_attr(unit->die, DW_AT_comp_dir, &attribute));
	path = ep_asprintf("%s%s%s", directory ? directory : "", directory ? "/" : "", source);
	text = ep_utf8_escape(path, strlen(path));
	free(path);
	normalise(text);
	return text;
}

static const char *shown(struct unit *unit, const char *source)
{
	if (!source)
		return NULL;
	for (size_t i = 0; i < unit->names.count; i++)
		if (unit->names.list[i].source == source)
			return unit->names.list[i].text;
	ep_array_push(&unit->names, ((struct name){source, whole_path(unit, source)}));
	return unit->names.list[unit->names.count - 1].text;
}

/* ---- rows ---- */

/* libdw keeps them; where a sequence ends and another begins at the same address, the end comes
 * first. */
static uint64_t row_address(const struct unit *unit, size_t index)
{
	Dwarf_Addr address = UINT64_MAX;

	dwarf_lineaddr(dwarf_onesrcline(unit->rows, index), &address);
	return address;
}

static bool row_ends(const struct unit *unit, size_t index)
{
	bool ends = true;

	dwarf_lineendsequence(dwarf_onesrcline(unit->rows, index), &ends);
	return ends;
}

static int row_line(const struct unit *unit, size_t index)
{
	int line = 0;

	dwarf_lineno(dwarf_onesrcline(unit->rows, index), &line);
	return line;
}

static void read_rows(struct unit *unit)
{
	unit->read = true;
	if (dwarf_getsrclines(unit->die, &unit->rows, &unit->row_count) != 0)
		unit->row_count = 0;
}

/* *row: the last at or before `address`. False: none. */
static bool find_row(const struct unit *unit, uint64_t address, size_t *row)
{
	size_t low = ep_partition_point(unit->row_count, i, row_address(unit, i) <= address);

	if (low == 0 || row_ends(unit, low - 1))
		return false;
	*row = low - 1;
	return true;
}

/* The first of the rows at the address of `last`, but for those of no line. */
static size_t first_row(const struct unit *unit, size_t last)
{
	uint64_t address = row_address(unit, last);
	size_t first = last;

	while (first > 0 && row_address(unit, first - 1) == address && !row_ends(unit, first - 1))
		first--;
	while (first < last && row_line(unit, first) == 0)
		first++;
	return first;
}

static const char *row_source(const struct unit *unit, size_t index)
{
	return dwarf_linesrc(dwarf_onesrcline(unit->rows, index), NULL, NULL);
}

/* How far behind the function's name; UINT64_MAX: not at all. */
static uint64_t lines_behind(const struct unit *unit, size_t index,
			     const struct ep_declared *declared)
{
	const char *source = row_source(unit, index);
	uint64_t line = (uint64_t)row_line(unit, index);

	if (!source || line < declared->line || strcmp(source, declared->source) != 0)
		return UINT64_MAX;
	return line - declared->line;
}

static size_t begin_row(const struct unit *unit, size_t last, const struct ep_declared *declared)
{
	size_t first = first_row(unit, last), best = first;
	uint64_t least = UINT64_MAX;

	if (!declared || !declared->source)
		return first;
	for (size_t i = first; i <= last; i++) {
		uint64_t behind = lines_behind(unit, i, declared);

		if (behind >= least)
			continue;
		least = behind;
		best = i;
	}
	return best;
}

/* Told when a line is. */
static const char *directory_of(struct unit *unit)
{
	Dwarf_Attribute attribute;
	const char *directory = dwarf_formstring(dwarf_attr(unit->die, DW_AT_comp_dir, &attribute));

	return directory && *directory == '/' ? shown(unit, directory) : NULL;
}

static struct ep_line answer(struct unit *unit, size_t row)
{
	int number = row_line(unit, row);

	return (struct ep_line){
		.file = shown(unit, row_source(unit, row)),
		.line = number > 0 ? (uint32_t)number : 0,
		.directory = directory_of(unit),
	};
}

const char *ep_lines_file(struct ep_lines *lines, size_t unit, const char *source)
{
	return shown(&lines->list[unit], source);
}

/* NULL: no unit has rows there. */
static struct unit *find_unit(struct ep_lines *lines, uint64_t address, size_t *row)
{
	struct ep_units_walk walk = ep_units_walk(lines->units, address);
	size_t index;

	while (ep_units_next(lines->units, &walk, &index)) {
		struct unit *unit = &lines->list[index];

		if (!unit->read)
			read_rows(unit);
		if (find_row(unit, address, row))
			return unit;
	}
	return NULL;
}

struct ep_line ep_lines_find(struct ep_lines *lines, uint64_t address)
{
	size_t row;
	struct unit *unit = find_unit(lines, address, &row);

	return unit ? answer(unit, row) : (struct ep_line){0};
}

struct ep_line ep_lines_begin(struct ep_lines *lines, uint64_t address,
			      const struct ep_declared *declared)
{
	size_t row;
	struct unit *unit = find_unit(lines, address, &row);

	if (!unit)
		return (struct ep_line){0};
	if (row_address(unit, row) == address)
		row = begin_row(unit, row, declared);
	return answer(unit, row);
}

bool ep_lines_vary(struct ep_lines *lines, uint64_t address)
{
	size_t row, first;
	struct unit *unit = find_unit(lines, address, &row);

	if (!unit || row_address(unit, row) != address)
		return false;
	first = first_row(unit, row);
	while (first < row && row_line(unit, first) == row_line(unit, row))
		first++;
	return first < row;
}

/* ---- the whole ---- */

struct ep_lines *ep_lines_create(struct ep_units *units)
{
	struct ep_lines *lines = ep_calloc(1, sizeof(*lines));
	size_t count = ep_units_count(units);

	lines->list = ep_calloc(count, sizeof(*lines->list));
	lines->units = units;
	for (size_t i = 0; i < count; i++)
		lines->list[i].die = ep_units_die(units, i);
	return lines;
}

void ep_lines_destroy(struct ep_lines *lines)
{
	if (!lines)
		return;
	for (size_t i = 0; i < ep_units_count(lines->units); i++) {
		struct unit *unit = &lines->list[i];

		for (size_t k = 0; k < unit->names.count; k++)
			free(unit->names.list[k].text);
		ep_array_deinit(&unit->names);
	}
	free(lines->list);
	free(lines);
}
