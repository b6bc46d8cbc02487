/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * symbol_table.c: one pass over each symbol table. Nothing of it is believed before it is checked:
 * a name ends inside its string table, an address lies in a section with code. Names may share
 * their ends, as linkers lay them out, but all of them together are a few times their table at
 * most: whoever goes through all names does work that is linear in the file's size.
 */
#include "decoder/symbols/symbol_table.h"

#include <gelf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/util/search.h"
#include "coredump/util/alloc.h"
#include "coredump/util/array.h"
#include "coredump/util/progress.h"

/* Bytes of a section that are loaded, at most. */
#define SECTION_MAX ((uint64_t)1 << 31)

#define NAME_BYTES_MAX ((size_t)1 << 16) /* of a name; what is longer is none */
#define NAMES_TIMES    4                 /* bytes of all names, of those of their table */
#define NAMES_LEAST    ((size_t)1 << 20) /* that every file may have */

#define PROGRESS_SYMBOLS 65536 /* after which it is told that there are more */

static int compare_sections(const void *a, const void *b)
{
	const struct ep_code_section *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* The debug file has the same sections, without their bytes. */
static void read_sections(struct ep_raw_symbols *raw, Elf *elf)
{
	Elf_Scn *section = NULL;
	struct ep_code_section *list;
	size_t count = 0, total;
	GElf_Shdr header;

	if (raw->section_count > 0 || elf_getshdrnum(elf, &total) != 0)
		return;
	list = ep_calloc(total, sizeof(*list));
	while (count < total && (section = elf_nextscn(elf, section))) {
		uint64_t end;

		if (!gelf_getshdr(section, &header) || header.sh_size == 0 ||
		    (~header.sh_flags & (SHF_ALLOC | SHF_EXECINSTR)) ||
		    __builtin_add_overflow(header.sh_addr, header.sh_size, &end))
			continue;
		list[count++] = (struct ep_code_section){header.sh_addr, end};
	}
	qsort(list, count, sizeof(*list), compare_sections);
	free(raw->sections);
	raw->sections = list;
	raw->section_count = count;
}

const struct ep_code_section *ep_raw_symbols_section(const struct ep_raw_symbols *raw,
						     uint64_t address)
{
	size_t low = ep_partition_point(raw->section_count, i, raw->sections[i].start <= address);

	if (low == 0 || address >= raw->sections[low - 1].end)
		return NULL;
	return &raw->sections[low - 1];
}

/* A symbol table's symbols and strings. */
struct table {
	Elf_Data *symbols, *strings;
	size_t count;
	size_t ends;       /* a NUL is the last byte before it: names begin before it */
	size_t names_left; /* bytes that names may still have */
	bool dynamic;
	const struct ep_code_section *section; /* of the last symbol; NULL none */
};

static Elf_Data *load(Elf_Scn *section, const GElf_Shdr *header)
{
	if (!section || header->sh_type == SHT_NOBITS || header->sh_size > SECTION_MAX)
		return NULL;
	return elf_getdata(section, NULL);
}

static int open_table(struct table *table, Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
		      struct ep_err *err)
{
	GElf_Shdr strings;
	Elf_Scn *linked = elf_getscn(elf, header->sh_link);

	table->section = NULL;
	table->dynamic = header->sh_type == SHT_DYNSYM;
	table->symbols = load(section, header);
	table->strings = linked && gelf_getshdr(linked, &strings) && strings.sh_type == SHT_STRTAB
				 ? load(linked, &strings)
				 : NULL;
	if (!table->symbols || !table->strings || !table->strings->d_buf)
		return ep_fail(err, EP_E_CORRUPT, header->sh_offset,
			       "symbol table at 0x%" PRIx64 " or its strings cannot be read",
			       header->sh_offset);
	table->count = table->symbols->d_size / sizeof(Elf64_Sym);
	table->ends = table->strings->d_size;
	while (table->ends > 0 && ((const char *)table->strings->d_buf)[table->ends - 1])
		table->ends--;
	table->names_left = NAMES_LEAST + NAMES_TIMES * table->strings->d_size;
	return EP_OK;
}

/* The name, when it ends within the table; else NULL, as when it is too long, or all of them. */
static const char *name_of(struct table *table, const GElf_Sym *symbol)
{
	const char *name = (const char *)table->strings->d_buf + symbol->st_name;
	size_t most = table->names_left < NAME_BYTES_MAX ? table->names_left : NAME_BYTES_MAX,
	       length;

	if (symbol->st_name >= table->ends)
		return NULL;
	length = strnlen(name, most);
	table->names_left -= length;
	return length < most ? name : NULL;
}

static uint8_t rank_of(const GElf_Sym *symbol)
{
	unsigned type = GELF_ST_TYPE(symbol->st_info);
	uint8_t rank = type == STT_NOTYPE ? 0 : 10;

	switch (GELF_ST_BIND(symbol->st_info)) {
	case STB_GLOBAL:
	case STB_GNU_UNIQUE:
		return rank + 3;
	case STB_WEAK:
		return rank + 2;
	default:
		return rank + 1;
	}
}

/* Functions, and labels of assembly that could be one. */
static bool is_code(const GElf_Sym *symbol, const char *name)
{
	unsigned type = GELF_ST_TYPE(symbol->st_info);

	if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS ||
	    symbol->st_shndx == SHN_COMMON || name[0] == '\0')
		return false;
	if (type == STT_NOTYPE)
		return name[0] != '$' && strncmp(name, ".L", 2) != 0;
	return type == STT_FUNC || type == STT_GNU_IFUNC;
}

/* Most lie in the section of the one before. */
static const struct ep_code_section *section_of(const struct ep_raw_symbols *raw,
						struct table *table, uint64_t address)
{
	const struct ep_code_section *last = table->section;

	if (!last || address < last->start || address >= last->end)
		table->section = ep_raw_symbols_section(raw, address);
	return table->section;
}

static void add_symbol(struct ep_raw_symbols *raw, struct table *table, const GElf_Sym *symbol,
		       const char *name)
{
	const struct ep_code_section *section = section_of(raw, table, symbol->st_value);
	bool local = GELF_ST_BIND(symbol->st_info) == STB_LOCAL;
	struct ep_raw_symbol one = {
		.start = symbol->st_value,
		.name = name,
		.object = local ? raw->objects : 0,
		.rank = rank_of(symbol),
		.dynamic = table->dynamic,
	};

	if (!section)
		return;
	one.end = symbol->st_size < section->end - one.start ? one.start + symbol->st_size
							     : section->end;
	ep_array_push(raw, one);
}

static void add_table(struct ep_raw_symbols *raw, struct table *table, struct ep_err *err)
{
	size_t unnamed = 0;
	GElf_Sym symbol;

	raw->objects++;
	for (size_t i = 0; i < table->count; i++) {
		const char *name;

		if (i % PROGRESS_SYMBOLS == 0)
			ep_progress_inner_goes_on();
		if (!gelf_getsym(table->symbols, (int)i, &symbol))
			break;
		if (GELF_ST_TYPE(symbol.st_info) == STT_FILE) {
			raw->objects++;
			continue;
		}
		name = name_of(table, &symbol);
		if (!name) {
			unnamed++;
			continue;
		}
		if (!is_code(&symbol, name))
			continue;
		if (raw->count >= EP_SYMBOLS_MAX) {
			ep_err_set(err, EP_E_LIMIT, 0, "more than %zu functions", EP_SYMBOLS_MAX);
			return;
		}
		add_symbol(raw, table, &symbol, name);
	}
	if (unnamed > 0)
		ep_err_set(err, EP_E_CORRUPT, 0,
			   "%zu symbols have no name that ends inside the string table, is at most "
			   "%zu bytes long and shares few of them with others",
			   unnamed, NAME_BYTES_MAX);
}

void ep_raw_symbols_add(struct ep_raw_symbols *raw, Elf *elf, struct ep_err *err)
{
	Elf_Scn *section = NULL;
	struct table table;
	GElf_Shdr header;

	read_sections(raw, elf);
	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header) ||
		    (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM))
			continue;
		if (open_table(&table, elf, section, &header, err) != EP_OK)
			continue;
		if (!table.dynamic)
			raw->has_symtab = true;
		add_table(raw, &table, err);
	}
}

void ep_raw_symbols_deinit(struct ep_raw_symbols *raw)
{
	free(raw->list);
	free(raw->sections);
	*raw = (struct ep_raw_symbols){0};
}
