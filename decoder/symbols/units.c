/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * units.c: units by address range, read once. By libdw and not libdwarf: the two export the same
 * names and cannot live in one process, and libdwarf 20210528 begins a DWARF 5 line table with file
 * 0 where the standard says 1 (table 6.4), so that it names wrong files.
 */
#include "decoder/symbols/units.h"

#include <dwarf.h>
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/util/search.h"
#include "coredump/util/alloc.h"
#include "coredump/util/array.h"

#define UNITS_MAX   ((size_t)1 << 22)
#define STEPS_TIMES 8 /* steps, of the bytes of entries and ranges */
#define STEPS_LEAST ((uint64_t)1 << 24)
#define TRIES       32 /* units that claim the same address */

struct range {
	uint64_t start, end;
	uint64_t reach; /* the highest end of this and all before it */
	uint32_t unit;
};

struct unit {
	Dwarf_Die die;
	Dwarf_Die code; /* of a skeleton: in its .dwo file */
	bool split, asked, has_code;
};

struct ep_units {
	Dwarf *dwarf;
	const char *stopped; /* by what units could not be listed to their end; NULL */
	uint64_t size;       /* bytes of entries and ranges */
	EP_ARRAY(struct unit) units;
	EP_ARRAY(struct range) ranges; /* ascending start */
};

/* Code that the linker threw away lies at 0 or 1, or wraps around. */
static void add_range(struct ep_units *units, uint64_t start, uint64_t end)
{
	if (start <= 1 || end <= start)
		return;
	ep_array_push(&units->ranges, ((struct range){
					      .start = start,
					      .end = end,
					      .unit = (uint32_t)(units->units.count - 1),
				      }));
}

static void read_units(struct ep_units *units)
{
	Dwarf_Addr base = 0, start, end;
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	/* A range takes three bytes at least (DWARF 5, section 7.25: an opcode, two operands). */
	uint64_t left = STEPS_LEAST / 256 + units->size / 3;
	uint8_t kind;
	ptrdiff_t at;
	int more;

	while ((more = dwarf_get_units(units->dwarf, unit, &unit, NULL, &kind, &die, NULL)) == 0) {
		if (kind != DW_UT_compile && kind != DW_UT_skeleton)
			continue;
		if (units->units.count == UNITS_MAX)
			return;
		ep_array_push(&units->units,
			      ((struct unit){.die = die, .split = kind == DW_UT_skeleton}));
		at = 0;
		while (left > 0 && (at = dwarf_ranges(&die, at, &base, &start, &end)) > 0) {
			add_range(units, start, end);
			left--;
		}
	}
	if (more < 0)
		units->stopped = dwarf_errmsg(-1);
}

static int compare_ranges(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->end < y->end) - (x->end > y->end);
}

static void sort_ranges(struct ep_units *units)
{
	uint64_t reach = 0;

	ep_array_sort(&units->ranges, compare_ranges);
	for (size_t i = 0; i < units->ranges.count; i++) {
		if (units->ranges.list[i].end > reach)
			reach = units->ranges.list[i].end;
		units->ranges.list[i].reach = reach;
	}
}

/* ---- looking up ---- */

struct ep_units_walk ep_units_walk(const struct ep_units *units, uint64_t address)
{
	size_t low =
		ep_partition_point(units->ranges.count, i, units->ranges.list[i].start <= address);

	return (struct ep_units_walk){.address = address, .at = low};
}

bool ep_units_next(const struct ep_units *units, struct ep_units_walk *walk, size_t *unit)
{
	while (walk->at > 0 && walk->tries < TRIES) {
		const struct range *range = &units->ranges.list[--walk->at];

		walk->tries++;
		if (range->reach <= walk->address)
			return false;
		if (range->end <= walk->address)
			continue;
		*unit = range->unit;
		return true;
	}
	return false;
}

static const char *folder_of(Dwarf_Die *top)
{
	Dwarf_Attribute attribute;

	return dwarf_formstring(dwarf_attr(top, DW_AT_comp_dir, &attribute));
}

const char *ep_unit_folder(Dwarf_Die *top)
{
	return ep_unit_files_fit(top) ? folder_of(top) : NULL;
}

bool ep_unit_files_fit(Dwarf_Die *top)
{
	const char *folder = folder_of(top);

	return !folder || strnlen(folder, PATH_MAX) < PATH_MAX;
}

uint64_t ep_units_step_limit(const struct ep_units *units)
{
	return STEPS_LEAST + STEPS_TIMES * units->size;
}

size_t ep_units_count(const struct ep_units *units)
{
	return units->units.count;
}

Dwarf_Die *ep_units_die(struct ep_units *units, size_t unit)
{
	return &units->units.list[unit].die;
}

/* ---- split DWARF ---- */

/* libdw 0.188 looks for the end of a string past the end of its section: a table that does not end
 * in NUL is refused. After dwarf_begin_elf, which unpacks. */
static bool strings_end(Elf *elf)
{
	static const char *const tables[] = {"debug_str", "debug_line_str", "debug_str.dwo"};
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	Elf_Data *data;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return false;
	while ((section = elf_nextscn(elf, section))) {
		const char *name;

		if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		/* gold's .zdebug_str is unpacked by now, and is called that still. */
		if (name)
			name += strncmp(name, ".z", 2) == 0 ? 2 : 1;
		if (!name || (strcmp(name, tables[0]) != 0 && strcmp(name, tables[1]) != 0 &&
			      strcmp(name, tables[2]) != 0))
			continue;
		data = elf_rawdata(section, NULL);
		if (data && data->d_size > 0 &&
		    (!data->d_buf || ((const char *)data->d_buf)[data->d_size - 1] != '\0'))
			return false;
	}
	return true;
}

/* Of the sections with entries and ranges, as they are unpacked. */
static uint64_t size_of(Elf *elf)
{
	static const char *const tables[] = {".debug_info", ".debug_types", ".debug_ranges",
					     ".debug_rnglists"};
	Elf_Scn *section = NULL;
	uint64_t size = 0;
	GElf_Shdr header;
	Elf_Data *data;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return 0;
	while ((section = elf_nextscn(elf, section))) {
		const char *name;

		if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		for (size_t i = 0; name && i < sizeof(tables) / sizeof(tables[0]); i++)
			if (strcmp(name, tables[i]) == 0 && (data = elf_rawdata(section, NULL)))
				size += data->d_size;
	}
	return size;
}

static void find_code(struct unit *unit)
{
	Dwarf_Attribute attribute;

	if (!dwarf_attr(&unit->die, DW_AT_dwo_name, &attribute) &&
	    !dwarf_attr(&unit->die, DW_AT_GNU_dwo_name, &attribute))
		return;
	if (dwarf_cu_info(unit->die.cu, NULL, NULL, NULL, &unit->code, NULL, NULL, NULL) != 0 ||
	    !unit->code.cu)
		return;
	unit->has_code = strings_end(dwarf_getelf(dwarf_cu_getdwarf(unit->code.cu)));
}

Dwarf_Die *ep_units_code(struct ep_units *units, size_t index)
{
	struct unit *unit = &units->units.list[index];

	if (!unit->split)
		return &unit->die;
	if (!unit->asked)
		find_code(unit);
	unit->asked = true;
	return unit->has_code ? &unit->code : NULL;
}

/* ---- the whole ---- */

/* NULL: none that can be believed. */
static Dwarf *begin(Elf *elf)
{
	Dwarf *dwarf = elf ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;

	if (dwarf && strings_end(elf))
		return dwarf;
	dwarf_end(dwarf);
	return NULL;
}

struct ep_units *ep_units_create(Elf *elf)
{
	Dwarf *dwarf = begin(elf);
	struct ep_units *units;

	if (!dwarf)
		return NULL;
	units = ep_calloc(1, sizeof(*units));
	units->dwarf = dwarf;
	units->size = size_of(elf);
	read_units(units);
	sort_ranges(units);
	return units;
}

/* The file that dwz moved shared parts to, as a section of this one names it; NULL: none. */
static const char *alternate(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	Elf_Data *data;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		const char *name = gelf_getshdr(section, &header)
					   ? elf_strptr(elf, names, header.sh_name)
					   : NULL;

		if (!name || strcmp(name, ".gnu_debugaltlink") != 0)
			continue;
		data = elf_rawdata(section, NULL);
		if (data && data->d_buf && memchr(data->d_buf, '\0', data->d_size))
			return data->d_buf;
	}
	return NULL;
}

bool ep_units_unread(struct ep_units *units, Elf *elf, char *out, size_t size)
{
	const char *shared;
	Dwarf *dwarf;

	*out = '\0';
	if (!units) {
		dwarf = elf ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;
		snprintf(out, size, "cannot be read: %s",
			 dwarf ? "its strings do not end" : dwarf_errmsg(-1));
		dwarf_end(dwarf);
	} else if (units->stopped) {
		snprintf(out, size, "is read as far as DWARF 2 to 5 go: %s", units->stopped);
	} else if ((shared = alternate(elf)) && !dwarf_getalt(units->dwarf)) {
		snprintf(out, size, "shares parts with %.200s (dwz), which is not there", shared);
	}
	return *out;
}

const char *ep_units_split(struct ep_units *units, uint64_t address)
{
	struct ep_units_walk walk = ep_units_walk(units, address);
	Dwarf_Attribute attribute;
	size_t index;

	while (ep_units_next(units, &walk, &index)) {
		struct unit *unit = &units->units.list[index];

		if (ep_units_code(units, index))
			return NULL;
		if (dwarf_attr(&unit->die, DW_AT_dwo_name, &attribute) ||
		    dwarf_attr(&unit->die, DW_AT_GNU_dwo_name, &attribute))
			return dwarf_formstring(&attribute);
	}
	return NULL;
}

void ep_units_destroy(struct ep_units *units)
{
	if (!units)
		return;
	dwarf_end(units->dwarf);
	ep_array_deinit(&units->units);
	ep_array_deinit(&units->ranges);
	free(units);
}
