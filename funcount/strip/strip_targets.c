/* SPDX-License-Identifier: BSD-2-Clause */
/* strip_targets.c: symbols, stubs and relocations that lead to a hook. */
#include "funcount/strip/strip_targets.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "decoder/symbols/plt.h"
#include "funcount/filter/hooks.h"

bool ep_strip_hook_named(const char *name)
{
	struct ep_piece piece = {name, strlen(name)};

	if (ep_piece_starts(piece, "__wrap_")) {
		piece.at += 7;
		piece.size -= 7;
	}
	return ep_hook_named(piece);
}

static int compare(const void *a, const void *b)
{
	uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;

	return (one > other) - (one < other);
}

static void sort(struct ep_addresses *addresses)
{
	ep_array_sort(addresses, compare);
}

/* Index of the first that is not below `address`. */
static size_t lower(const struct ep_addresses *addresses, uint64_t address)
{
	size_t low = 0, high = addresses->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (addresses->list[middle] < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool ep_addresses_between(const struct ep_addresses *addresses, uint64_t start, uint64_t end)
{
	size_t at = lower(addresses, start);

	return at < addresses->count && addresses->list[at] < end;
}

bool ep_addresses_have(const struct ep_addresses *addresses, uint64_t address)
{
	return ep_addresses_between(addresses, address, address + 1);
}

/* Of ours, too (the wrapper's kit/hooks.S). */
static bool is_stub_named(const char *name)
{
	static const char ours[] = "epitaph_";
	bool is_ours = !strncmp(name, ours, sizeof ours - 1);

	return ep_strip_hook_named(name + (is_ours ? sizeof ours - 1 : 0));
}

static void add_code(struct ep_strip_targets *targets, Elf *elf,
		     const struct ep_raw_symbols *symbols)
{
	struct ep_plt_stub *stubs = NULL;
	size_t count = ep_plt_read(&stubs, elf);

	for (size_t i = 0; i < symbols->count; i++)
		if (ep_strip_hook_named(symbols->list[i].name))
			ep_array_push(&targets->code, symbols->list[i].start);
	for (size_t i = 0; i < count; i++)
		if (is_stub_named(stubs[i].name))
			ep_array_push(&targets->code, stubs[i].start);
	free(stubs);
	sort(&targets->code);
}

/* ---- slots ---- */

static const char *symbol_of(Elf *elf, const GElf_Shdr *header, uint64_t index)
{
	Elf_Scn *table = elf_getscn(elf, header->sh_link);
	Elf_Data *data = table ? elf_getdata(table, NULL) : NULL;
	GElf_Shdr linked;
	GElf_Sym symbol;

	if (!data || index > INT32_MAX || !gelf_getshdr(table, &linked) ||
	    !gelf_getsym(data, (int)index, &symbol))
		return NULL;
	return elf_strptr(elf, linked.sh_link, symbol.st_name);
}

static void add_relocation(struct ep_strip_targets *targets, Elf *elf, const GElf_Shdr *header,
			   const GElf_Rela *entry)
{
	uint64_t index = GELF_R_SYM(entry->r_info);
	const char *name = index ? symbol_of(elf, header, index) : NULL;
	bool to_hook = GELF_R_TYPE(entry->r_info) == R_X86_64_RELATIVE &&
		       ep_addresses_have(&targets->code, (uint64_t)entry->r_addend);

	ep_array_push(&targets->writes, entry->r_offset);
	if (to_hook || (name && ep_strip_hook_named(name)))
		ep_array_push(&targets->slots, entry->r_offset);
}

/* Relocations that the dynamic linker does. */
static void add_relocations(struct ep_strip_targets *targets, Elf *elf, Elf_Scn *section,
			    const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Rela entry;

	for (int i = 0; data && gelf_getrela(data, i, &entry); i++)
		add_relocation(targets, elf, header, &entry);
}

/* A table of addresses that is in the file already: without PIE, or with RELR relocations, which
 * keep the address in place. */
static void add_contents(struct ep_strip_targets *targets, Elf_Scn *section,
			 const GElf_Shdr *header)
{
	Elf_Data *data = elf_rawdata(section, NULL);
	uint64_t value;

	if (!data || !data->d_buf)
		return;
	for (size_t at = 0; data->d_size - at >= sizeof value; at += sizeof value) {
		memcpy(&value, (const char *)data->d_buf + at, sizeof value);
		if (value && ep_addresses_have(&targets->code, value))
			ep_array_push(&targets->slots, header->sh_addr + at);
	}
}

static void add_slots(struct ep_strip_targets *targets, Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return;
	while ((section = elf_nextscn(elf, section))) {
		const char *name;

		if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_ALLOC))
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		if (header.sh_type == SHT_RELA)
			add_relocations(targets, elf, section, &header);
		else if (name && header.sh_type == SHT_PROGBITS &&
			 (!strcmp(name, ".got") || !strcmp(name, ".got.plt")))
			add_contents(targets, section, &header);
	}
	sort(&targets->slots);
	sort(&targets->writes);
}

void ep_strip_targets_read(struct ep_strip_targets *targets, Elf *elf,
			   const struct ep_raw_symbols *symbols)
{
	*targets = (struct ep_strip_targets){0};
	add_code(targets, elf, symbols);
	add_slots(targets, elf);
}

void ep_strip_targets_deinit(struct ep_strip_targets *targets)
{
	ep_array_deinit(&targets->code);
	ep_array_deinit(&targets->slots);
	ep_array_deinit(&targets->writes);
}
