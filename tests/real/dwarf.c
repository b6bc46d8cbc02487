/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dwarf.c: what libdwarf says of addresses, for comparison with what we say by libdw (addresses.c;
 * the two libraries have functions of the same names): dwarf FILE, addresses in hexadecimal on
 * stdin, ascending, one a line. Tab-separated: function ("?unit": only a unit has the address, "?":
 * nothing has), its first address, line of the address, then for each inlined call, innermost
 * first, name and place of call. A name is the linkage name behind '=', or where there is none, its
 * scopes and itself behind '~'. Nothing of how our reader works is here: all of the file is read
 * once, and each entry and row is put on the addresses that it covers.
 */
#include <inttypes.h>
#include <libdwarf/dwarf.h>
#include <libdwarf/libdwarf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 256
#define HOPS_MAX  16
#define NONE      SIZE_MAX

/* An entry that matters for names: a unit, scope, function or inlined call. */
struct entry {
	Dwarf_Off offset; /* ascending in the list; their key */
	size_t parent;    /* NONE: a unit */
	size_t depth;
	Dwarf_Half tag;
	char *name, *linkage;
	Dwarf_Off origin; /* what it is one of; 0: itself */
	Dwarf_Unsigned call_file, call_line;
	size_t unit;
	Dwarf_Addr start; /* of its first range */
};

struct unit {
	Dwarf_Half version;
	char *directory;
	Dwarf_Line_Context lines; /* NULL: none */
	Dwarf_Signed files, files_end;
};

/* What is known of an asked address. */
struct place {
	Dwarf_Addr address;
	size_t entry; /* the innermost function or inlined call; NONE */
	size_t line_unit;
	Dwarf_Unsigned file, line;
};

static Dwarf_Debug debug;
static Dwarf_Error error;
static struct entry *entries;
static struct unit *units;
static struct place *places;
static size_t entry_count, unit_count, place_count;

static void *must(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

/* Room for one more; sizes are powers of two. */
static void *grow(void *list, size_t count, size_t size)
{
	if (count & (count - 1))
		return list;
	return must(realloc(list, (count ? 2 * count : 1) * size));
}

/* ---- the addresses ---- */

static void read_places(void)
{
	char line[64];

	while (fgets(line, sizeof(line), stdin)) {
		places = grow(places, place_count, sizeof(*places));
		places[place_count++] = (struct place){
			.address = strtoull(line, NULL, 16),
			.entry = NONE,
			.line_unit = NONE,
		};
	}
}

/* The first that is not below `address`. */
static size_t first_place(Dwarf_Addr address)
{
	size_t low = 0, high = place_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (places[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* ---- attributes ---- */

static Dwarf_Attribute attribute(Dwarf_Die die, Dwarf_Half name)
{
	Dwarf_Attribute found;

	return dwarf_attr(die, name, &found, &error) == DW_DLV_OK ? found : NULL;
}

static char *text_of(Dwarf_Die die, Dwarf_Half name)
{
	Dwarf_Attribute found = attribute(die, name);
	char *text;

	return found && dwarf_formstring(found, &text, &error) == DW_DLV_OK ? text : NULL;
}

static Dwarf_Unsigned number_of(Dwarf_Die die, Dwarf_Half name)
{
	Dwarf_Attribute found = attribute(die, name);
	Dwarf_Unsigned number;
	Dwarf_Signed small;

	if (!found)
		return 0;
	if (dwarf_formudata(found, &number, &error) == DW_DLV_OK)
		return number;
	return dwarf_formsdata(found, &small, &error) == DW_DLV_OK ? (Dwarf_Unsigned)small : 0;
}

static Dwarf_Off origin_of(Dwarf_Die die)
{
	Dwarf_Attribute found = attribute(die, DW_AT_abstract_origin);
	Dwarf_Off offset;

	if (!found)
		found = attribute(die, DW_AT_specification);
	return found && dwarf_global_formref(found, &offset, &error) == DW_DLV_OK ? offset : 0;
}

/* ---- ranges of entries ---- */

/* The deepest entry stays; of several as deep the last. */
static void cover(size_t entry, Dwarf_Addr start, Dwarf_Addr end)
{
	if (start == 0 || end <= start)
		return; /* what the linker threw away */
	if (entries[entry].start == 0)
		entries[entry].start = start;
	for (size_t i = first_place(start); i < place_count && places[i].address < end; i++)
		if (places[i].entry == NONE ||
		    entries[places[i].entry].depth <= entries[entry].depth)
			places[i].entry = entry;
}

static void cover_old(size_t entry, Dwarf_Die die, Dwarf_Off offset, Dwarf_Addr base)
{
	Dwarf_Ranges *list;
	Dwarf_Signed count;

	if (dwarf_get_ranges_b(debug, offset, die, NULL, &list, &count, NULL, &error) != DW_DLV_OK)
		return;
	for (Dwarf_Signed i = 0; i < count; i++) {
		if (list[i].dwr_type == DW_RANGES_END)
			break;
		if (list[i].dwr_type == DW_RANGES_ADDRESS_SELECTION)
			base = list[i].dwr_addr2;
		else
			cover(entry, base + list[i].dwr_addr1, base + list[i].dwr_addr2);
	}
	dwarf_ranges_dealloc(debug, list, count);
}

static void cover_list(size_t entry, Dwarf_Attribute ranges, Dwarf_Half form, Dwarf_Unsigned value)
{
	Dwarf_Unsigned count, offset, raw1, raw2, start, end;
	Dwarf_Rnglists_Head head;
	Dwarf_Bool unavailable;
	unsigned size, kind;

	if (dwarf_rnglists_get_rle_head(ranges, form, value, &head, &count, &offset, &error) !=
	    DW_DLV_OK)
		return;
	for (Dwarf_Unsigned i = 0; i < count; i++) {
		if (dwarf_get_rnglists_entry_fields_a(head, i, &size, &kind, &raw1, &raw2,
						      &unavailable, &start, &end,
						      &error) != DW_DLV_OK)
			break;
		if (kind != DW_RLE_end_of_list && kind != DW_RLE_base_address &&
		    kind != DW_RLE_base_addressx)
			cover(entry, start, end);
	}
	dwarf_dealloc_rnglists_head(head);
}

static void cover_bounds(size_t entry, Dwarf_Die die)
{
	enum Dwarf_Form_Class class;
	Dwarf_Addr low, high;
	Dwarf_Half form;

	if (dwarf_lowpc(die, &low, &error) != DW_DLV_OK ||
	    dwarf_highpc_b(die, &high, &form, &class, &error) != DW_DLV_OK)
		return;
	cover(entry, low, class == DW_FORM_CLASS_CONSTANT ? low + high : high);
}

static void cover_entry(size_t entry, Dwarf_Die die, Dwarf_Addr base)
{
	Dwarf_Attribute ranges = attribute(die, DW_AT_ranges);
	Dwarf_Unsigned value;
	Dwarf_Off offset;
	Dwarf_Half form;

	if (!ranges) {
		cover_bounds(entry, die);
		return;
	}
	if (dwarf_whatform(ranges, &form, &error) != DW_DLV_OK)
		return;
	if (form == DW_FORM_rnglistx) {
		if (dwarf_formudata(ranges, &value, &error) == DW_DLV_OK)
			cover_list(entry, ranges, form, value);
	} else if (dwarf_global_formref(ranges, &offset, &error) == DW_DLV_OK) {
		if (units[entries[entry].unit].version >= 5)
			cover_list(entry, ranges, form, offset);
		else
			cover_old(entry, die, offset, base);
	}
}

/* ---- entries ---- */

static bool matters(Dwarf_Half tag)
{
	switch (tag) {
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_namespace:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		return true;
	default:
		return false;
	}
}

/* Returns what its children have for a parent. */
static size_t add_entry(Dwarf_Die die, size_t parent, size_t depth, Dwarf_Addr base)
{
	struct entry entry = {.parent = parent, .unit = unit_count - 1};

	entry.depth = depth;
	if (dwarf_tag(die, &entry.tag, &error) != DW_DLV_OK ||
	    (parent != NONE && !matters(entry.tag)) ||
	    dwarf_dieoffset(die, &entry.offset, &error) != DW_DLV_OK)
		return parent;
	entry.name = text_of(die, DW_AT_name);
	entry.linkage = text_of(die, DW_AT_linkage_name);
	entry.origin = origin_of(die);
	entry.call_file = number_of(die, DW_AT_call_file);
	entry.call_line = number_of(die, DW_AT_call_line);
	entries = grow(entries, entry_count, sizeof(*entries));
	entries[entry_count++] = entry;
	if (parent == NONE || entry.tag == DW_TAG_subprogram ||
	    entry.tag == DW_TAG_inlined_subroutine)
		cover_entry(entry_count - 1, die, base);
	return entry_count - 1;
}

static void read_entries(Dwarf_Die top, Dwarf_Addr base)
{
	Dwarf_Die path[DEPTH_MAX] = {top}, next;
	size_t parents[DEPTH_MAX + 1] = {NONE}, depth = 0;

	for (;;) {
		parents[depth + 1] = add_entry(path[depth], parents[depth], depth, base);
		if (depth + 1 < DEPTH_MAX && dwarf_child(path[depth], &next, &error) == DW_DLV_OK) {
			path[++depth] = next;
			continue;
		}
		while (depth > 0 &&
		       dwarf_siblingof_b(debug, path[depth], true, &next, &error) != DW_DLV_OK)
			dwarf_dealloc(debug, path[depth--], DW_DLA_DIE);
		if (depth == 0)
			return;
		dwarf_dealloc(debug, path[depth], DW_DLA_DIE);
		path[depth] = next;
	}
}

/* ---- lines ---- */

/* Rows from `first` to the end of the sequence at `last`: each holds until the next. A sequence
 * begins with file 1 (DWARF 5, 6.2.2); libdwarf 20210528 has 0 there, until the table's program
 * says otherwise. */
static void put_sequence(Dwarf_Line *rows, size_t first, size_t last)
{
	bool begins = units[unit_count - 1].version >= 5;
	Dwarf_Addr start, end;

	for (size_t i = first; i < last; i++) {
		Dwarf_Unsigned line = 0, file = 0;

		if (dwarf_lineaddr(rows[i], &start, &error) != DW_DLV_OK ||
		    dwarf_lineaddr(rows[i + 1], &end, &error) != DW_DLV_OK ||
		    (i == first && start == 0))
			return;
		dwarf_lineno(rows[i], &line, &error);
		dwarf_line_srcfileno(rows[i], &file, &error);
		begins = begins && file == 0;
		if (begins)
			file = 1;
		for (size_t k = first_place(start); k < place_count && places[k].address < end;
		     k++) {
			places[k].line_unit = unit_count - 1;
			places[k].file = file;
			places[k].line = line;
		}
	}
}

static void read_lines(Dwarf_Die die, struct unit *unit)
{
	Dwarf_Unsigned version;
	Dwarf_Signed count, files;
	Dwarf_Small tables;
	Dwarf_Line *rows;
	size_t first = 0;
	Dwarf_Bool ends;

	if (dwarf_srclines_b(die, &version, &tables, &unit->lines, &error) != DW_DLV_OK) {
		unit->lines = NULL;
		return;
	}
	if (dwarf_srclines_files_indexes(unit->lines, &unit->files, &files, &unit->files_end,
					 &error) != DW_DLV_OK)
		unit->files_end = 0;
	if (dwarf_srclines_from_linecontext(unit->lines, &rows, &count, &error) != DW_DLV_OK)
		return;
	for (size_t i = 0; i < (size_t)count; i++) {
		if (dwarf_lineendsequence(rows[i], &ends, &error) != DW_DLV_OK || !ends)
			continue;
		put_sequence(rows, first, i);
		first = i + 1;
	}
}

/* ---- the file ---- */

static void read_unit(Dwarf_Half version, Dwarf_Die die)
{
	Dwarf_Addr base = 0;
	struct unit *unit;

	units = grow(units, unit_count, sizeof(*units));
	unit = &units[unit_count++];
	*unit = (struct unit){
		.version = version,
		.directory = text_of(die, DW_AT_comp_dir),
	};
	if (dwarf_lowpc(die, &base, &error) != DW_DLV_OK)
		base = 0;
	if (attribute(die, DW_AT_stmt_list))
		read_lines(die, unit);
	read_entries(die, base);
}

static int read_units(void)
{
	Dwarf_Unsigned size, next, type_offset;
	Dwarf_Half version, address_size, length_size, extension_size, type;
	Dwarf_Off abbreviations;
	Dwarf_Sig8 signature;
	Dwarf_Die die;
	int status;

	for (;;) {
		status = dwarf_next_cu_header_d(debug, true, &size, &version, &abbreviations,
						&address_size, &length_size, &extension_size,
						&signature, &type_offset, &next, &type, &error);
		if (status != DW_DLV_OK)
			return status == DW_DLV_NO_ENTRY ? 0 : 1;
		if (dwarf_siblingof_b(debug, NULL, true, &die, &error) != DW_DLV_OK)
			return 1;
		read_unit(version, die);
	}
}

/* ---- what is printed ---- */

static void put_file(const struct unit *unit, Dwarf_Unsigned number)
{
	const char *name = NULL, *directory = NULL;
	Dwarf_Unsigned index = 0, ignored;
	Dwarf_Form_Data16 *sum;

	if (!unit->lines || (Dwarf_Signed)number < unit->files ||
	    (Dwarf_Signed)number >= unit->files_end ||
	    dwarf_srclines_files_data_b(unit->lines, (Dwarf_Signed)number, &name, &index, &ignored,
					&ignored, &sum, &error) != DW_DLV_OK) {
		printf("??");
		return;
	}
	if (name[0] != '/' && (index > 0 || unit->version >= 5) &&
	    dwarf_srclines_include_dir_data(unit->lines, (Dwarf_Signed)index, &directory, &error) !=
		    DW_DLV_OK)
		directory = NULL;
	if (name[0] != '/' && (!directory || directory[0] != '/') && unit->directory)
		printf("%s/", unit->directory);
	printf("%s%s%s", directory ? directory : "", directory ? "/" : "", name);
}

static size_t entry_at(Dwarf_Off offset)
{
	size_t low = 0, high = entry_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (entries[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low < entry_count && entries[low].offset == offset ? low : NONE;
}

static void put_scopes(size_t entry)
{
	size_t path[DEPTH_MAX], depth = 0;

	for (size_t at = entries[entry].parent; at != NONE && depth < DEPTH_MAX;
	     at = entries[at].parent)
		path[depth++] = at;
	while (depth-- > 0) {
		const struct entry *scope = &entries[path[depth]];

		if (scope->parent == NONE || scope->tag == DW_TAG_subprogram ||
		    scope->tag == DW_TAG_inlined_subroutine)
			continue;
		if (scope->name || scope->tag == DW_TAG_namespace)
			printf("%s::", scope->name ? scope->name : "(anonymous namespace)");
	}
}

static void put_name(size_t entry)
{
	const char *name = NULL;
	size_t named = entry;

	for (size_t i = 0; i < HOPS_MAX && entry != NONE; i++) {
		if (entries[entry].linkage) {
			printf("=%s", entries[entry].linkage);
			return;
		}
		if (!name)
			name = entries[entry].name;
		named = entry;
		if (!entries[entry].origin)
			break;
		entry = entry_at(entries[entry].origin);
	}
	putchar('~');
	put_scopes(named);
	printf("%s", name ? name : "?");
}

static void put_place(const struct place *place)
{
	size_t at = place->entry;

	while (at != NONE && entries[at].tag != DW_TAG_subprogram)
		at = entries[at].parent;
	if (at == NONE)
		printf(place->entry == NONE ? "?" : "?unit");
	else
		put_name(at);
	printf("\t%" DW_PR_DUx "\t", at == NONE ? 0 : entries[at].start);
	if (place->line_unit == NONE)
		printf("??");
	else
		put_file(&units[place->line_unit], place->file);
	printf(":%" DW_PR_DUu, place->line);
	for (at = place->entry; at != NONE && entries[at].tag != DW_TAG_subprogram;
	     at = entries[at].parent) {
		if (entries[at].tag != DW_TAG_inlined_subroutine)
			continue;
		putchar('\t');
		put_name(at);
		putchar('\t');
		put_file(&units[entries[at].unit], entries[at].call_file);
		printf(":%" DW_PR_DUu, entries[at].call_line);
	}
	putchar('\n');
}

int main(int argc, char *argv[])
{
	if (argc != 2)
		return 64;
	dwarf_set_de_alloc_flag(0); /* it ends soon */
	if (dwarf_init_path(argv[1], NULL, 0, DW_DLC_READ, DW_GROUPNUMBER_ANY, NULL, NULL, &debug,
			    NULL, 0, NULL, &error) != DW_DLV_OK) {
		fprintf(stderr, "%s: libdwarf cannot read it\n", argv[1]);
		return 1;
	}
	read_places();
	if (read_units() != 0) {
		fprintf(stderr, "%s: %s\n", argv[1], dwarf_errmsg(error));
		return 1;
	}
	for (size_t i = 0; i < place_count; i++)
		put_place(&places[i]);
	return 0;
}
