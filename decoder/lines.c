/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lines.c: units by address range, read once; rows of a unit when first asked
 * for, reduced to what an answer needs, so that libdwarf's own copy can go.
 */
#include "decoder/lines.h"

#include <dwarf.h>
#include <libdwarf/libdwarf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "decoder/utf8.h"

#define UNITS_MAX  ((size_t)1 << 22)
#define RANGES_MAX ((size_t)1 << 24)
#define FILES_MAX  65536 /* of one unit */
#define TRIES      32    /* units that claim the same address */
#define NO_FILE    UINT32_MAX

struct row {
	uint64_t address;
	uint32_t line;
	uint32_t file;       /* index into the unit's files, or NO_FILE */
	uint32_t order : 31; /* in the table */
	uint32_t ends : 1;   /* first address after a sequence: no code */
};

struct unit {
	Dwarf_Off offset; /* of its DIE */
	struct row *rows; /* ascending address */
	size_t row_count;
	char **files;
	size_t file_count;
	bool read;
};

struct range {
	uint64_t start, end;
	uint64_t reach; /* the highest end of this and all before it */
	uint32_t unit;
};

struct ep_lines {
	Dwarf_Debug dwarf;
	int fd;
	struct unit *units;
	size_t unit_count, unit_room;
	struct range *ranges; /* ascending start */
	size_t range_count, range_room;
};

/* libdwarf's answer, its error object freed: true for DW_DLV_OK. */
static bool fine(struct ep_lines *lines, int answer, Dwarf_Error *error)
{
	if (answer == DW_DLV_ERROR && *error) {
		dwarf_dealloc_error(lines->dwarf, *error);
		*error = NULL;
	}
	return answer == DW_DLV_OK;
}

/* ---- ranges ---- */

/* Code that the linker threw away lies at 0 or 1, or wraps around. */
static void add_range(struct ep_lines *lines, uint64_t start, uint64_t end)
{
	struct range *grown;

	if (start <= 1 || end <= start || lines->range_count >= RANGES_MAX)
		return;
	if (lines->range_count == lines->range_room) {
		size_t room = lines->range_room ? 2 * lines->range_room : 256;

		grown = realloc(lines->ranges, room * sizeof(*grown));
		if (!grown)
			return;
		lines->ranges = grown;
		lines->range_room = room;
	}
	lines->ranges[lines->range_count++] = (struct range){
		.start = start,
		.end = end,
		.unit = (uint32_t)(lines->unit_count - 1),
	};
}

/* DWARF 2-4: .debug_ranges, counted from `base`. */
static void add_ranges(struct ep_lines *lines, Dwarf_Die die, Dwarf_Off offset,
		       uint64_t base)
{
	Dwarf_Error error = NULL;
	Dwarf_Ranges *list;
	Dwarf_Signed count;
	Dwarf_Unsigned bytes;
	Dwarf_Off real;

	if (!fine(lines,
		  dwarf_get_ranges_b(lines->dwarf, offset, die, &real, &list,
				     &count, &bytes, &error),
		  &error))
		return;
	for (Dwarf_Signed i = 0; i < count; i++) {
		if (list[i].dwr_type == DW_RANGES_ADDRESS_SELECTION)
			base = list[i].dwr_addr2;
		else if (list[i].dwr_type == DW_RANGES_ENTRY)
			add_range(lines, base + list[i].dwr_addr1,
				  base + list[i].dwr_addr2);
	}
	dwarf_ranges_dealloc(lines->dwarf, list, count);
}

static void add_rnglists_entry(struct ep_lines *lines, Dwarf_Rnglists_Head head,
			       Dwarf_Unsigned index)
{
	Dwarf_Unsigned raw1, raw2, start, end;
	Dwarf_Error error = NULL;
	Dwarf_Bool unavailable;
	unsigned length, kind;

	if (!fine(lines,
		  dwarf_get_rnglists_entry_fields_a(head, index, &length, &kind,
						    &raw1, &raw2, &unavailable,
						    &start, &end, &error),
		  &error))
		return;
	if (!unavailable && kind != DW_RLE_end_of_list &&
	    kind != DW_RLE_base_address && kind != DW_RLE_base_addressx)
		add_range(lines, start, end);
}

/* DWARF 5: .debug_rnglists. */
static void add_rnglists(struct ep_lines *lines, Dwarf_Attribute attribute,
			 Dwarf_Half form, Dwarf_Unsigned value)
{
	Dwarf_Rnglists_Head head;
	Dwarf_Unsigned count, offset;
	Dwarf_Error error = NULL;

	if (!fine(lines,
		  dwarf_rnglists_get_rle_head(attribute, form, value, &head,
					      &count, &offset, &error),
		  &error))
		return;
	for (Dwarf_Unsigned i = 0; i < count; i++)
		add_rnglists_entry(lines, head, i);
	dwarf_dealloc_rnglists_head(head);
}

static void add_attribute_ranges(struct ep_lines *lines, Dwarf_Die die,
				 Dwarf_Half version, uint64_t base)
{
	Dwarf_Attribute attribute;
	Dwarf_Error error = NULL;
	Dwarf_Unsigned value;
	Dwarf_Off offset;
	Dwarf_Half form;

	if (!fine(lines, dwarf_attr(die, DW_AT_ranges, &attribute, &error),
		  &error))
		return;
	if (fine(lines, dwarf_whatform(attribute, &form, &error), &error)) {
		if (form == DW_FORM_rnglistx) {
			if (fine(lines,
				 dwarf_formudata(attribute, &value, &error),
				 &error))
				add_rnglists(lines, attribute, form, value);
		} else if (fine(lines,
				dwarf_global_formref(attribute, &offset,
						     &error),
				&error)) {
			if (version >= 5)
				add_rnglists(lines, attribute, form, offset);
			else
				add_ranges(lines, die, offset, base);
		}
	}
	dwarf_dealloc_attribute(attribute);
}

static void add_unit_ranges(struct ep_lines *lines, Dwarf_Die die,
			    Dwarf_Half version)
{
	Dwarf_Addr low = 0, high = 0;
	enum Dwarf_Form_Class class = DW_FORM_CLASS_UNKNOWN;
	Dwarf_Error error = NULL;
	Dwarf_Half form;

	if (fine(lines, dwarf_lowpc(die, &low, &error), &error) &&
	    fine(lines, dwarf_highpc_b(die, &high, &form, &class, &error),
		 &error)) {
		if (class == DW_FORM_CLASS_CONSTANT)
			high += low;
		add_range(lines, low, high);
		return;
	}
	add_attribute_ranges(lines, die, version, low);
}

/* ---- units ---- */

static bool add_unit(struct ep_lines *lines, Dwarf_Off offset)
{
	struct unit *grown;

	if (lines->unit_count >= UNITS_MAX)
		return false;
	if (lines->unit_count == lines->unit_room) {
		size_t room = lines->unit_room ? 2 * lines->unit_room : 64;

		grown = realloc(lines->units, room * sizeof(*grown));
		if (!grown)
			return false;
		lines->units = grown;
		lines->unit_room = room;
	}
	lines->units[lines->unit_count++] = (struct unit){.offset = offset};
	return true;
}

static bool take_unit(struct ep_lines *lines, Dwarf_Half version)
{
	Dwarf_Error error = NULL;
	Dwarf_Off offset;
	Dwarf_Half tag;
	Dwarf_Die die;
	bool room = true;

	if (!fine(lines, dwarf_siblingof_b(lines->dwarf, NULL, 1, &die, &error),
		  &error))
		return true;
	if (fine(lines, dwarf_tag(die, &tag, &error), &error) &&
	    (tag == DW_TAG_compile_unit || tag == DW_TAG_skeleton_unit) &&
	    fine(lines, dwarf_dieoffset(die, &offset, &error), &error)) {
		room = add_unit(lines, offset);
		if (room)
			add_unit_ranges(lines, die, version);
	}
	dwarf_dealloc_die(die);
	return room;
}

static void read_units(struct ep_lines *lines)
{
	Dwarf_Unsigned length, type_offset, next;
	Dwarf_Half version, address, word, extension, kind;
	Dwarf_Error error = NULL;
	Dwarf_Off abbreviations;
	Dwarf_Sig8 signature;

	while (fine(lines,
		    dwarf_next_cu_header_d(lines->dwarf, 1, &length, &version,
					   &abbreviations, &address, &word,
					   &extension, &signature, &type_offset,
					   &next, &kind, &error),
		    &error))
		if (!take_unit(lines, version))
			return;
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

/* ---- the rows of a unit ---- */

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

/* Every file number of a unit's table, asked for once. */
struct numbers {
	uint32_t *file; /* number → index of its file, plus 1; 0: not seen */
	size_t room;
};

static uint32_t add_file(struct ep_lines *lines, struct unit *unit,
			 Dwarf_Line line)
{
	char **grown =
		realloc(unit->files, (unit->file_count + 1) * sizeof(*grown));
	Dwarf_Error error = NULL;
	char *source, *name;

	if (!grown)
		return NO_FILE;
	unit->files = grown;
	if (!fine(lines, dwarf_linesrc(line, &source, &error), &error))
		return NO_FILE;
	name = ep_utf8_escape(source, strlen(source));
	dwarf_dealloc(lines->dwarf, source, DW_DLA_STRING);
	if (!name)
		return NO_FILE;
	normalise(name);
	unit->files[unit->file_count] = name;
	return (uint32_t)unit->file_count++;
}

static uint32_t file_of(struct ep_lines *lines, struct unit *unit,
			Dwarf_Line line, struct numbers *numbers)
{
	Dwarf_Error error = NULL;
	Dwarf_Unsigned number;
	uint32_t file;

	if (!fine(lines, dwarf_line_srcfileno(line, &number, &error), &error) ||
	    number >= FILES_MAX)
		return NO_FILE;
	if (number >= numbers->room) {
		size_t room = (size_t)number + 64;
		uint32_t *grown = realloc(numbers->file, room * sizeof(*grown));

		if (!grown)
			return NO_FILE;
		memset(grown + numbers->room, 0,
		       (room - numbers->room) * sizeof(*grown));
		numbers->file = grown;
		numbers->room = room;
	}
	if (numbers->file[number])
		return numbers->file[number] - 1;
	file = add_file(lines, unit, line);
	numbers->file[number] = file + 1; /* NO_FILE becomes 0: asked again */
	return file;
}

static bool take_row(struct ep_lines *lines, struct unit *unit, Dwarf_Line line,
		     struct numbers *numbers, struct row *out)
{
	Dwarf_Error error = NULL;
	Dwarf_Unsigned number;
	Dwarf_Addr address;
	Dwarf_Bool ends;

	if (!fine(lines, dwarf_lineaddr(line, &address, &error), &error) ||
	    !fine(lines, dwarf_lineno(line, &number, &error), &error) ||
	    !fine(lines, dwarf_lineendsequence(line, &ends, &error), &error))
		return false;
	out->address = address;
	out->line = number <= UINT32_MAX ? (uint32_t)number : 0;
	out->ends = ends != 0;
	out->file = ends ? NO_FILE : file_of(lines, unit, line, numbers);
	return true;
}

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	/* A sequence may begin where another one ends. */
	if (x->ends != y->ends)
		return x->ends ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

static void take_rows(struct ep_lines *lines, struct unit *unit,
		      Dwarf_Line_Context context)
{
	struct numbers numbers = {0};
	Dwarf_Error error = NULL;
	Dwarf_Signed count = 0;
	Dwarf_Line *list;

	if (!fine(lines,
		  dwarf_srclines_from_linecontext(context, &list, &count,
						  &error),
		  &error) ||
	    count <= 0)
		return;
	unit->rows = calloc((size_t)count, sizeof(*unit->rows));
	for (Dwarf_Signed i = 0; unit->rows && i < count; i++) {
		struct row *row = &unit->rows[unit->row_count];

		row->order = (uint32_t)i & INT32_MAX;
		if (take_row(lines, unit, list[i], &numbers, row))
			unit->row_count++;
	}
	if (unit->row_count)
		qsort(unit->rows, unit->row_count, sizeof(*unit->rows),
		      compare_rows);
	free(numbers.file);
}

static void read_rows(struct ep_lines *lines, struct unit *unit)
{
	Dwarf_Line_Context context;
	Dwarf_Error error = NULL;
	Dwarf_Unsigned version;
	Dwarf_Small tables;
	Dwarf_Die die;

	unit->read = true;
	if (!fine(lines,
		  dwarf_offdie_b(lines->dwarf, unit->offset, 1, &die, &error),
		  &error))
		return;
	if (fine(lines,
		 dwarf_srclines_b(die, &version, &tables, &context, &error),
		 &error)) {
		take_rows(lines, unit, context);
		dwarf_srclines_dealloc_b(context);
	}
	dwarf_dealloc_die(die);
}

/* ---- answers ---- */

/* The row of `address`, or NULL. */
static const struct row *find_row(const struct unit *unit, uint64_t address,
				  bool entry)
{
	size_t low = 0, high = unit->row_count, first;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (unit->rows[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || unit->rows[low - 1].ends)
		return NULL;
	if (!entry || unit->rows[low - 1].address != address)
		return &unit->rows[low - 1];
	for (first = low; first > 0; first--) {
		const struct row *row = &unit->rows[first - 1];

		if (row->address != address || row->ends)
			break;
	}
	while (first < low - 1 && unit->rows[first].line == 0)
		first++;
	return &unit->rows[first];
}

struct ep_line ep_lines_find(struct ep_lines *lines, uint64_t address,
			     bool entry)
{
	size_t low = 0, high = lines->range_count;
	const struct row *row;

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
			read_rows(lines, unit);
		row = find_row(unit, address, entry);
		if (row)
			return (struct ep_line){
				row->file == NO_FILE ? NULL
						     : unit->files[row->file],
				row->line};
	}
	return (struct ep_line){0};
}

/* ---- the whole ---- */

int ep_lines_create(struct ep_lines **out, int fd, struct ep_err *err)
{
	struct ep_lines *lines = calloc(1, sizeof(*lines));
	Dwarf_Error error = NULL;
	int answer;

	if (!lines)
		return ep_fail(err, EP_E_MEMORY, 0, "lines: out of memory");
	lines->fd = dup(fd);
	answer = lines->fd < 0 ? DW_DLV_NO_ENTRY
			       : dwarf_init_b(lines->fd, DW_DLC_READ,
					      DW_GROUPNUMBER_ANY, NULL, NULL,
					      &lines->dwarf, &error);
	if (answer != DW_DLV_OK) {
		if (answer == DW_DLV_ERROR)
			dwarf_dealloc_error(NULL, error);
		lines->dwarf = NULL;
		ep_lines_destroy(lines);
		return EP_END;
	}
	read_units(lines);
	sort_ranges(lines);
	*out = lines;
	return EP_OK;
}

static void free_unit(struct unit *unit)
{
	for (size_t i = 0; i < unit->file_count; i++)
		free(unit->files[i]);
	free(unit->files);
	free(unit->rows);
}

void ep_lines_destroy(struct ep_lines *lines)
{
	Dwarf_Error error = NULL;

	if (!lines)
		return;
	if (lines->dwarf)
		dwarf_finish(lines->dwarf, &error);
	for (size_t i = 0; i < lines->unit_count; i++)
		free_unit(&lines->units[i]);
	if (lines->fd >= 0)
		close(lines->fd);
	free(lines->units);
	free(lines->ranges);
	free(lines);
}
