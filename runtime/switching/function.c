/* SPDX-License-Identifier: BSD-2-Clause */
/* function.c: a binary search in memory that may go away: by system calls, the last step by a piece
 * of the table at once. */
#include "runtime/switching/function.h"

#include <elf.h>
#include <stddef.h>

#include "runtime/arena/arena.h"
#include "runtime/lib/files.h"

#define PIECE         64   /* entries of the table that are read at once */
#define HEADERS       8    /* program headers that are read at once */
#define ENC_UDATA4    0x03 /* DW_EH_PE_: LSB Core, "DWARF Extensions" */
#define ENC_SDATA4_AT 0x3b /* sdata4, relative to the table */

/* The binary-search table of one module. */
struct table {
	uint64_t header; /* that it is relative to */
	uint64_t first;  /* its first entry */
	uint32_t count;
	uint64_t code_start, code_end; /* of the segment that holds the address */
	bool has_header;               /* the module's, in that segment */
};

/* An entry: where a function begins, and its description, both relative to the header. */
struct entry {
	int32_t start, description;
};

static const struct ep_module *module_of(uint64_t address)
{
	const struct ep_modules *modules = ep_arena_section(EP_SECTION_MODULES, NULL);
	const struct ep_module *list = (const struct ep_module *)(modules + 1);

	for (uint32_t i = modules->count; i-- > 0;)
		if (address >= list[i].start && address < list[i].end && !list[i].unload_tsc &&
		    __atomic_load_n(&list[i].state, __ATOMIC_ACQUIRE) == EP_MODULE_VALID)
			return &list[i];
	return NULL;
}

bool ep_module_range(uint64_t address, uint64_t *start, uint64_t *end)
{
	const struct ep_module *module = module_of(address);

	if (!module)
		return false;
	*start = module->start;
	*end = module->end;
	return true;
}

static void look_at(const Elf64_Phdr *header, uint64_t bias, uint64_t address, struct table *out)
{
	uint64_t start = bias + header->p_vaddr;

	if (header->p_type == PT_GNU_EH_FRAME)
		out->header = start;
	else if (header->p_type == PT_LOAD && header->p_flags & PF_X && address >= start &&
		 address - start < header->p_memsz) {
		out->code_start = start;
		out->code_end = start + header->p_memsz;
		out->has_header = header->p_offset == 0;
	}
}

/* Its program headers say where the table is, and how far the code reaches. */
static bool read_headers(const struct ep_module *module, uint64_t address, struct table *out)
{
	Elf64_Phdr some[HEADERS];
	Elf64_Ehdr elf;

	*out = (struct table){0};
	if (module->flags & EP_MODULE_NO_HEADER ||
	    !ep_memory_read(module->start, &elf, sizeof(elf)) || elf.e_phentsize != sizeof(*some))
		return false;
	for (unsigned i = 0; i < elf.e_phnum; i++) {
		uint64_t left = (uint64_t)elf.e_phnum - i;

		if (i % HEADERS == 0 &&
		    !ep_memory_read(module->start + elf.e_phoff + i * sizeof(*some), some,
				    (left < HEADERS ? left : HEADERS) * sizeof(*some)))
			return false;
		look_at(&some[i % HEADERS], module->bias, address, out);
	}
	return out->code_end != 0;
}

static bool read_table(struct table *table)
{
	struct {
		uint8_t version, pointer, count_as, table_as;
		int32_t frame;
		uint32_t count;
	} head;

	if (!table->header || !ep_memory_read(table->header, &head, sizeof(head)) ||
	    head.version != 1 || (head.pointer & 0x0f) != 0x0b || head.count_as != ENC_UDATA4 ||
	    head.table_as != ENC_SDATA4_AT)
		return false;
	table->first = table->header + sizeof(head);
	table->count = head.count;
	return true;
}

static bool read_entries(const struct table *table, uint32_t from, uint32_t count,
			 struct entry *out)
{
	return ep_memory_read(table->first + (uint64_t)from * sizeof(*out), out,
			      count * sizeof(*out));
}

/* [*low, *high) of the table comes down to a piece that holds the last entry at or below `wanted`.
 */
static bool narrow(const struct table *table, int64_t wanted, uint32_t *low, uint32_t *high)
{
	struct entry entry;

	while (*high - *low >= PIECE) {
		uint32_t middle = *low + (*high - *low) / 2;

		if (!read_entries(table, middle, 1, &entry))
			return false;
		if (entry.start <= wanted)
			*low = middle;
		else
			*high = middle;
	}
	return *low < *high;
}

bool ep_function_range(uint64_t address, uint64_t *start, uint64_t *end)
{
	const struct ep_module *module = module_of(address);
	struct entry entries[PIECE + 1];
	struct table table;
	uint32_t low = 0, high, count, i = 0;
	int64_t wanted;

	if (!module || !read_headers(module, address, &table) || !read_table(&table))
		return false;
	wanted = (int64_t)(address - table.header);
	high = table.count;
	if (!narrow(&table, wanted, &low, &high))
		return false;
	count = high - low + (high < table.count);
	if (!read_entries(&table, low, count, entries) || entries[0].start > wanted)
		return false;
	while (i + 1 < count && entries[i + 1].start <= wanted)
		i++;
	*start = table.header + (uint64_t)(int64_t)entries[i].start;
	*end = i + 1 < count ? table.header + (uint64_t)(int64_t)entries[i + 1].start
			     : table.code_end;
	if (*end > table.code_end)
		*end = table.code_end;
	return true;
}

bool ep_code_segment(uint64_t address, uint64_t *start, uint64_t *end, bool *has_header)
{
	const struct ep_module *module = module_of(address);
	struct table table;

	if (!module || !read_headers(module, address, &table))
		return false;
	*start = table.code_start;
	*end = table.code_end;
	*has_header = table.has_header;
	return true;
}
