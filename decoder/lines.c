/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lines.c: units by address range, read once; then libdw's sorted rows of the
 * unit. By libdw and not libdwarf: the two export the same names and cannot
 * live in one process, and libdwarf 20210528 begins a DWARF 5 line table with
 * file 0 where the standard says 1 (table 6.4), so that it names wrong files.
 */
#include "decoder/lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decoder/utf8.h"

#define UNITS_MAX  ((size_t)1 << 22)
#define RANGES_MAX ((size_t)1 << 24)
#define TRIES      32 /* units that claim the same address */

/* A file's name as libdw has it, and as we tell it. */
struct name {
	const char *source; /* borrowed from libdw; the key */
	char *text;
};

struct unit {
	Dwarf_Die die;
	Dwarf_Lines *rows; /* sorted by libdw; NULL: none, or not read */
	size_t row_count;
	struct name *names;
	size_t name_count;
	bool read;
};

struct range {
	uint64_t start, end;
	uint64_t reach; /* the highest end of this and all before it */
	uint32_t unit;
};

struct ep_lines {
	Dwarf *dwarf;
	struct unit *units;
	size_t unit_count, unit_room;
	struct range *ranges; /* ascending start */
	size_t range_count, range_room;
	bool starved;
};

/* ---- units and their ranges ---- */

/* Code that the linker threw away lies at 0 or 1, or wraps around. */
static void add_range(struct ep_lines *lines, uint64_t start, uint64_t end)
{
	struct range *grown;

	if (start <= 1 || end <= start || lines->range_count >= RANGES_MAX)
		return;
	if (lines->range_count == lines->range_room) {
		size_t room = lines->range_room ? 2 * lines->range_room : 256;

		grown = realloc(lines->ranges, room * sizeof(*grown));
		if (!grown) {
			lines->starved = true;
			return;
		}
		lines->ranges = grown;
		lines->range_room = room;
	}
	lines->ranges[lines->range_count++] = (struct range){
		.start = start,
		.end = end,
		.unit = (uint32_t)(lines->unit_count - 1),
	};
}

static bool add_unit(struct ep_lines *lines, const Dwarf_Die *die)
{
	struct unit *grown;

	if (lines->unit_count >= UNITS_MAX)
		return false;
	if (lines->unit_count == lines->unit_room) {
		size_t room = lines->unit_room ? 2 * lines->unit_room : 64;

		grown = realloc(lines->units, room * sizeof(*grown));
		if (!grown) {
			lines->starved = true;
			return false;
		}
		lines->units = grown;
		lines->unit_room = room;
	}
	lines->units[lines->unit_count++] = (struct unit){.die = *die};
	return true;
}

static void read_units(struct ep_lines *lines)
{
	Dwarf_Addr base = 0, start, end;
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	uint8_t kind;
	ptrdiff_t at;

	while (dwarf_get_units(lines->dwarf, unit, &unit, NULL, &kind, &die,
			       NULL) == 0) {
		if (kind != DW_UT_compile && kind != DW_UT_skeleton)
			continue;
		if (!add_unit(lines, &die))
			return;
		at = 0;
		while ((at = dwarf_ranges(&die, at, &base, &start, &end)) > 0 &&
		       lines->range_count < RANGES_MAX)
			add_range(lines, start, end);
	}
}

static int compare_ranges(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->end < y->end) - (x->end > y->end);
}

static void sort_ranges(struct ep_lines *lines)
{
	uint64_t reach = 0;

	if (lines->range_count)
		qsort(lines->ranges, lines->range_count, sizeof(struct range),
		      compare_ranges);
	for (size_t i = 0; i < lines->range_count; i++) {
		if (lines->ranges[i].end > reach)
			reach = lines->ranges[i].end;
		lines->ranges[i].reach = reach;
	}
}

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
		bool stay = size == 0 || (size == 1 && *from == '.') ||
			    (up && absolute && to == floor);

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
		directory = dwarf_formstring(
			dwarf_attr(&unit->die, DW_AT_comp_dir, &attribute));
	if (asprintf(&path, "%s%s%s", directory ? directory : "",
		     directory ? "/" : "", source) < 0)
		return NULL;
	text = ep_utf8_escape(path, strlen(path));
	free(path);
	if (text)
		normalise(text);
	return text;
}

static const char *tell(struct ep_lines *lines, struct unit *unit,
			const char *source)
{
	struct name *grown;
	char *text;

	for (size_t i = 0; i < unit->name_count; i++)
		if (unit->names[i].source == source)
			return unit->names[i].text;
	text = source ? whole_path(unit, source) : NULL;
	grown = realloc(unit->names, (unit->name_count + 1) * sizeof(*grown));
	if (grown)
		unit->names = grown;
	if (!grown || !text) {
		lines->starved |= source != NULL;
		free(text);
		return NULL;
	}
	unit->names[unit->name_count++] = (struct name){source, text};
	return text;
}

/* ---- rows ---- */

/* libdw keeps them; where a sequence ends and another begins at the same
 * address, the end comes first. */
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
	if (dwarf_getsrclines(&unit->die, &unit->rows, &unit->row_count) != 0)
		unit->row_count = 0;
}

/* *row: the row of `address`. False: none. */
static bool find_row(const struct unit *unit, uint64_t address, bool entry,
		     size_t *row)
{
	size_t low = 0, high = unit->row_count, first;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (row_address(unit, middle) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || row_ends(unit, low - 1))
		return false;
	*row = low - 1;
	if (!entry || row_address(unit, low - 1) != address)
		return true;
	for (first = low - 1;
	     first > 0 && row_address(unit, first - 1) == address &&
	     !row_ends(unit, first - 1);
	     first--)
		;
	while (first < low - 1 && row_line(unit, first) == 0)
		first++;
	*row = first;
	return true;
}

static struct ep_line answer(struct ep_lines *lines, struct unit *unit,
			     size_t row)
{
	Dwarf_Line *line = dwarf_onesrcline(unit->rows, row);
	int number = row_line(unit, row);

	return (struct ep_line){
		.file = tell(lines, unit, dwarf_linesrc(line, NULL, NULL)),
		.line = number > 0 ? (uint32_t)number : 0,
	};
}

bool ep_lines_starved(const struct ep_lines *lines)
{
	return lines->starved;
}

struct ep_line ep_lines_find(struct ep_lines *lines, uint64_t address,
			     bool entry)
{
	size_t low = 0, high = lines->range_count, row;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (lines->ranges[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (unsigned tries = 0; low > 0 && tries < TRIES; low--, tries++) {
		const struct range *range = &lines->ranges[low - 1];
		struct unit *unit = &lines->units[range->unit];

		if (range->reach <= address)
			break;
		if (range->end <= address)
			continue;
		if (!unit->read)
			read_rows(unit);
		if (find_row(unit, address, entry, &row))
			return answer(lines, unit, row);
	}
	return (struct ep_line){0};
}

/* ---- the whole ---- */

/* libdw 0.188 looks for the end of a string past the end of its section: a
 * table that does not end in NUL is refused. After dwarf_begin_elf, which
 * unpacks. */
static bool strings_end(Elf *elf)
{
	static const char *const tables[] = {".debug_str", ".debug_line_str"};
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	Elf_Data *data;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return false;
	while ((section = elf_nextscn(elf, section))) {
		const char *name;

		if (!gelf_getshdr(section, &header) ||
		    header.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		if (!name || (strcmp(name, tables[0]) != 0 &&
			      strcmp(name, tables[1]) != 0))
			continue;
		data = elf_rawdata(section, NULL);
		if (data && data->d_size > 0 &&
		    (!data->d_buf ||
		     ((const char *)data->d_buf)[data->d_size - 1] != '\0'))
			return false;
	}
	return true;
}

int ep_lines_create(struct ep_lines **out, Elf *elf, struct ep_err *err)
{
	struct ep_lines *lines = calloc(1, sizeof(*lines));

	if (!lines)
		return ep_fail(err, EP_E_MEMORY, 0, "lines: out of memory");
	lines->dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	if (!lines->dwarf || !strings_end(elf)) {
		ep_lines_destroy(lines);
		return EP_END;
	}
	read_units(lines);
	sort_ranges(lines);
	*out = lines;
	return EP_OK;
}

void ep_lines_destroy(struct ep_lines *lines)
{
	if (!lines)
		return;
	for (size_t i = 0; i < lines->unit_count; i++) {
		struct unit *unit = &lines->units[i];

		for (size_t k = 0; k < unit->name_count; k++)
			free(unit->names[k].text);
		free(unit->names);
	}
	dwarf_end(lines->dwarf);
	free(lines->units);
	free(lines->ranges);
	free(lines);
}
