/* SPDX-License-Identifier: BSD-2-Clause */
/* plt.c: relocations sorted by slot, then each stub's `jmp *slot(%rip)`. */
#include "decoder/symbols/plt.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/util/array.h"

#define STUBS_MAX ((size_t)1 << 20)

/* Stubs that the wrapper links (cli/wrapper/kit/hooks.S). */
#define OURS      ".epitaph.plt"
#define OURS_SIZE 32

struct slot {
	uint64_t address;
	const char *name;
};

struct slots {
	struct slot *list;
	size_t count, capacity;
};

struct stubs {
	struct ep_plt_stub *list;
	size_t count, capacity;
};

static int compare_slots(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

/* The name of symbol `index` of the table in section `link`. */
static const char *symbol_name(Elf *elf, size_t link, Elf_Data *symbols, size_t index)
{
	GElf_Sym symbol;
	GElf_Shdr header;
	Elf_Scn *section = elf_getscn(elf, link);

	if (!symbols || !gelf_getshdr(section, &header) ||
	    !gelf_getsym(symbols, (int)index, &symbol))
		return NULL;
	return elf_strptr(elf, header.sh_link, symbol.st_name);
}

static void add_slots(struct slots *slots, Elf *elf, Elf_Data *data, size_t link)
{
	Elf_Scn *section = elf_getscn(elf, link);
	Elf_Data *symbols = section ? elf_getdata(section, NULL) : NULL;
	size_t count = data->d_size / sizeof(Elf64_Rela);
	GElf_Rela entry;

	for (size_t i = 0; i < count && i < STUBS_MAX; i++) {
		unsigned type;
		const char *name;

		if (!gelf_getrela(data, (int)i, &entry))
			break;
		type = GELF_R_TYPE(entry.r_info);
		if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT)
			continue;
		name = symbol_name(elf, link, symbols, GELF_R_SYM(entry.r_info));
		if (name && name[0])
			ep_array_push(slots, ((struct slot){entry.r_offset, name}));
	}
}

static const char *slot_name(const struct slots *slots, uint64_t address)
{
	struct slot key = {.address = address};
	const struct slot *found = slots->count == 0 ? NULL
						     : bsearch(&key, slots->list, slots->count,
							       sizeof(key), compare_slots);

	return found ? found->name : NULL;
}

/* The slot that a stub jumps through: ff 25, then a distance from its end. */
static uint64_t stub_slot(const uint8_t *bytes, size_t size, uint64_t address)
{
	int32_t distance;

	for (size_t i = 0; i + 6 <= size; i++)
		if (bytes[i] == 0xff && bytes[i + 1] == 0x25) {
			memcpy(&distance, bytes + i + 2, sizeof(distance));
			return address + i + 6 + (uint64_t)(int64_t)distance;
		}
	return 0;
}

static void read_stubs(struct stubs *stubs, const struct slots *slots, Elf_Data *data,
		       const GElf_Shdr *header, size_t size)
{
	for (size_t i = 0; i < data->d_size / size && i < STUBS_MAX; i++) {
		uint64_t start = header->sh_addr + i * size;
		const uint8_t *bytes = (const uint8_t *)data->d_buf + i * size;
		const char *name = slot_name(slots, stub_slot(bytes, size, start));

		if (name)
			ep_array_push(stubs, ((struct ep_plt_stub){start, start + size, name}));
	}
}

static size_t stub_size(const char *section, const GElf_Shdr *header)
{
	if (strcmp(section, OURS) == 0)
		return OURS_SIZE;
	return header->sh_entsize == 8 ? 8 : 16;
}

static Elf_Data *section_data(Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data;

	if (header->sh_type == SHT_NOBITS || header->sh_size > UINT32_MAX)
		return NULL;
	data = elf_getdata(section, NULL);
	return data && data->d_buf ? data : NULL;
}

static void read_slots(struct slots *slots, Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	Elf_Data *data;
	unsigned tables = 0;

	while ((section = elf_nextscn(elf, section)) && tables < 16) {
		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_RELA ||
		    !(header.sh_flags & SHF_ALLOC))
			continue;
		data = section_data(section, &header);
		if (data)
			add_slots(slots, elf, data, header.sh_link);
		tables++;
	}
	ep_array_sort(slots, compare_slots);
}

static void read_all_stubs(struct stubs *stubs, Elf *elf, const struct slots *slots, size_t names)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	Elf_Data *data;
	unsigned tables = 0;

	while ((section = elf_nextscn(elf, section)) && tables < 16) {
		const char *name;

		if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_EXECINSTR))
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		if (!name || (strncmp(name, ".plt", 4) != 0 && strcmp(name, OURS) != 0))
			continue;
		data = section_data(section, &header);
		if (data)
			read_stubs(stubs, slots, data, &header, stub_size(name, &header));
		tables++;
	}
}

size_t ep_plt_read(struct ep_plt_stub **out, Elf *elf)
{
	struct stubs stubs = {0};
	struct slots slots = {0};
	size_t names;

	if (elf_getshdrstrndx(elf, &names) == 0) {
		read_slots(&slots, elf);
		read_all_stubs(&stubs, elf, &slots, names);
	}
	ep_array_deinit(&slots);
	*out = stubs.list;
	return stubs.count;
}
