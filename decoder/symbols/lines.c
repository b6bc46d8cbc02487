/* SPDX-License-Identifier: BSD-2-Clause */
/* lines.c: the unit, then libdw's sorted rows of it, read when they are first asked for. */
#include "decoder/symbols/lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/util/search.h"
#include "coredump/util/alloc.h"
#include "coredump/util/array.h"
#include "coredump/util/hash.h"
#include "coredump/util/utf8.h"
#include "decoder/symbols/units.h"

#define TABLES_TIMES 4 /* bytes of tables that are read, of those of their section */
#define TABLES_LEAST ((uint64_t)1 << 20)

/* A file's name as libdw has it, and as it is shown. */
struct name {
	const char *source; /* borrowed from libdw; the key, with the unit */
	const struct unit *unit;
	char *text;
};

struct unit {
	Dwarf_Die *die;    /* borrowed from the units */
	Dwarf_Lines *rows; /* sorted by libdw; NULL: none, or not read */
	size_t row_count;
	bool read;
};

struct ep_lines {
	struct ep_units *units; /* borrowed */
	struct unit *list;      /* beside the units */
	EP_ARRAY(struct name) names;
	struct ep_hash by_source; /* of the names */
	uint64_t text_left;       /* bytes of names: each is kept, and strings may overlap */
	const Elf_Data *tables;   /* .debug_line; borrowed; NULL none */
	struct ep_hash read;      /* where tables begin that were read */
	uint64_t rows_left;       /* bytes of line tables: they may overlap, too */
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

/* No file has a longer name: such a string is none. */
static bool is_path(const char *text)
{
	return text && strnlen(text, PATH_MAX) < PATH_MAX;
}

/* With the directory of the compilation in front, when it is relative. */
static char *whole_path(struct unit *unit, const char *source)
{
	const char *directory = source[0] != '/' ? ep_unit_folder(unit->die) : NULL;
	char *path, *text;

	path = ep_asprintf("%s%s%s", directory ? directory : "", directory ? "/" : "", source);
	text = ep_utf8_escape(path, strlen(path));
	free(path);
	normalise(text);
	return text;
}

static const char *shown(struct ep_lines *lines, struct unit *unit, const char *source)
{
	uint32_t hash, at = 0, number;
	size_t size;
	char *text;

	if (!is_path(source))
		return NULL;
	/* A relative name stands below the folder of its unit. */
	hash = ep_hash_number((uintptr_t)source ^ ep_hash_number((uintptr_t)unit));
	while ((number = ep_hash_next(&lines->by_source, hash, &at)) != EP_HASH_NONE)
		if (lines->names.list[number].source == source &&
		    lines->names.list[number].unit == unit)
			return lines->names.list[number].text;
	text = whole_path(unit, source);
	size = strlen(text);
	if (size > lines->text_left) {
		free(text);
		return NULL;
	}
	lines->text_left -= size;
	ep_hash_add(&lines->by_source, hash, (uint32_t)lines->names.count);
	ep_array_push(&lines->names, ((struct name){source, unit, text}));
	return text;
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

/* Bytes of the unit's line table, and where it begins; 0: there is none. */
static uint64_t table_size(const struct unit *unit, const Elf_Data *tables, Dwarf_Word *offset)
{
	Dwarf_Attribute attribute;
	uint32_t size;

	if (!tables ||
	    dwarf_formudata(dwarf_attr(unit->die, DW_AT_stmt_list, &attribute), offset) != 0 ||
	    *offset > tables->d_size || tables->d_size - *offset < sizeof(size))
		return 0;
	/* DWARF 5, section 7.4: 0xffffffff begins a table of 64 bits, which is taken for all of the
	 * section. */
	memcpy(&size, (const char *)tables->d_buf + *offset, sizeof(size));
	return size < tables->d_size - *offset ? size : tables->d_size - *offset;
}

static void read_rows(struct ep_lines *lines, struct unit *unit)
{
	Dwarf_Word offset = 0;
	uint64_t size = table_size(unit, lines->tables, &offset);
	uint32_t hash = ep_hash_number(offset), at = 0;

	unit->read = true;
	if (!ep_unit_files_fit(unit->die))
		return;
	/* libdw reads a table that units share once. */
	if (ep_hash_next(&lines->read, hash, &at) == EP_HASH_NONE) {
		if (size > lines->rows_left)
			return;
		lines->rows_left -= size;
		ep_hash_add(&lines->read, hash, 0);
	}
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

	if (!source || line < declared->line || strncmp(source, declared->source, PATH_MAX) != 0)
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
static const char *directory_of(struct ep_lines *lines, struct unit *unit)
{
	const char *directory = ep_unit_folder(unit->die);

	return directory && *directory == '/' ? shown(lines, unit, directory) : NULL;
}

static struct ep_line answer(struct ep_lines *lines, struct unit *unit, size_t row)
{
	int number = row_line(unit, row);

	return (struct ep_line){
		.file = shown(lines, unit, row_source(unit, row)),
		.line = number > 0 ? (uint32_t)number : 0,
		.directory = directory_of(lines, unit),
	};
}

const char *ep_lines_file(struct ep_lines *lines, size_t unit, const char *source)
{
	return shown(lines, &lines->list[unit], source);
}

/* NULL: no unit has rows there. */
static struct unit *find_unit(struct ep_lines *lines, uint64_t address, size_t *row)
{
	struct ep_units_walk walk = ep_units_walk(lines->units, address);
	size_t index;

	while (ep_units_next(lines->units, &walk, &index)) {
		struct unit *unit = &lines->list[index];

		if (!unit->read)
			read_rows(lines, unit);
		if (find_row(unit, address, row))
			return unit;
	}
	return NULL;
}

struct ep_line ep_lines_find(struct ep_lines *lines, uint64_t address)
{
	size_t row;
	struct unit *unit = find_unit(lines, address, &row);

	return unit ? answer(lines, unit, row) : (struct ep_line){0};
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
	return answer(lines, unit, row);
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

static const Elf_Data *find_tables(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		const char *name = gelf_getshdr(section, &header) && header.sh_type != SHT_NOBITS
					   ? elf_strptr(elf, names, header.sh_name)
					   : NULL;

		if (name && strcmp(name, ".debug_line") == 0)
			return elf_rawdata(section, NULL);
	}
	return NULL;
}

struct ep_lines *ep_lines_create(struct ep_units *units)
{
	struct ep_lines *lines = ep_calloc(1, sizeof(*lines));
	size_t count = ep_units_count(units);

	lines->list = ep_calloc(count, sizeof(*lines->list));
	lines->units = units;
	for (size_t i = 0; i < count; i++)
		lines->list[i].die = ep_units_die(units, i);
	lines->tables =
		count ? find_tables(dwarf_getelf(dwarf_cu_getdwarf(lines->list[0].die->cu))) : NULL;
	lines->rows_left =
		TABLES_LEAST + (lines->tables ? TABLES_TIMES * lines->tables->d_size : 0);
	lines->text_left = ep_units_step_limit(units);
	return lines;
}

void ep_lines_destroy(struct ep_lines *lines)
{
	if (!lines)
		return;
	for (size_t i = 0; i < lines->names.count; i++)
		free(lines->names.list[i].text);
	ep_array_deinit(&lines->names);
	ep_hash_deinit(&lines->by_source);
	ep_hash_deinit(&lines->read);
	free(lines->list);
	free(lines);
}
