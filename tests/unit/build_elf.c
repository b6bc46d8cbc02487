/* SPDX-License-Identifier: BSD-2-Clause */
/* build_elf.c: header, section bytes one after another, section headers. */
#include "tests/unit/build_elf.h"

#include <stdlib.h>
#include <string.h>

void build_elf_init(struct build_elf *elf)
{
	memset(elf, 0, sizeof(*elf));
	elf->count = 1;
	elf->strings = calloc(1, 1);
	elf->strings_size = 1;
	elf->symbols = calloc(1, sizeof(*elf->symbols));
	elf->symbol_count = 1;
}

void build_elf_deinit(struct build_elf *elf)
{
	for (unsigned i = 0; i < elf->count; i++)
		free(elf->sections[i].bytes);
	free(elf->symbols);
	free(elf->strings);
}

unsigned build_elf_section(struct build_elf *elf, const char *name, uint32_t type, uint64_t flags,
			   uint64_t address, const void *bytes, size_t size)
{
	struct build_section *section = &elf->sections[elf->count];

	section->name = name;
	section->header = (Elf64_Shdr){
		.sh_type = type, .sh_flags = flags, .sh_addr = address, .sh_addralign = 1};
	section->bytes = calloc(1, size + 1);
	section->size = size;
	if (bytes)
		memcpy(section->bytes, bytes, size);
	return elf->count++;
}

static uint32_t add_string(struct build_elf *elf, const char *text)
{
	size_t at = elf->strings_size, size = strlen(text) + 1;

	elf->strings = realloc(elf->strings, at + size);
	memcpy(elf->strings + at, text, size);
	elf->strings_size += size;
	return (uint32_t)at;
}

void build_elf_symbol(struct build_elf *elf, const char *name, uint64_t value, uint64_t size,
		      unsigned char info, uint16_t section)
{
	elf->symbols = realloc(elf->symbols, (elf->symbol_count + 1) * sizeof(*elf->symbols));
	elf->symbols[elf->symbol_count++] = (Elf64_Sym){
		.st_name = add_string(elf, name),
		.st_value = value,
		.st_size = size,
		.st_info = info,
		.st_shndx = section,
	};
}

/* .symtab, .strtab and .shstrtab. */
static void add_tables(struct build_elf *elf)
{
	unsigned symbols, strings, names;
	size_t size = 1;
	char *text;

	symbols = build_elf_section(elf, ".symtab", SHT_SYMTAB, 0, 0, elf->symbols,
				    elf->symbol_count * sizeof(Elf64_Sym));
	strings = build_elf_section(elf, ".strtab", SHT_STRTAB, 0, 0, elf->strings,
				    elf->strings_size);
	elf->sections[symbols].header.sh_link = strings;
	elf->sections[symbols].header.sh_entsize = sizeof(Elf64_Sym);
	elf->sections[symbols].header.sh_addralign = 8;
	names = build_elf_section(elf, ".shstrtab", SHT_STRTAB, 0, 0, NULL, 1024);
	text = (char *)elf->sections[names].bytes;
	for (unsigned i = 1; i < elf->count; i++) {
		elf->sections[i].header.sh_name = (uint32_t)size;
		strcpy(text + size, elf->sections[i].name);
		size += strlen(elf->sections[i].name) + 1;
	}
	elf->sections[names].size = size;
}

uint8_t *build_elf_finish(struct build_elf *elf, size_t *size)
{
	Elf64_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(header),
		.e_shentsize = sizeof(Elf64_Shdr),
	};
	size_t at = sizeof(header);
	uint8_t *bytes;

	add_tables(elf);
	for (unsigned i = 1; i < elf->count; i++) {
		struct build_section *section = &elf->sections[i];

		at = (at + 7) & ~(size_t)7;
		section->header.sh_offset = at;
		section->header.sh_size = section->size;
		if (section->header.sh_type != SHT_NOBITS)
			at += section->size;
	}
	at = (at + 7) & ~(size_t)7;
	header.e_shoff = at;
	header.e_shnum = (uint16_t)elf->count;
	header.e_shstrndx = (uint16_t)(elf->count - 1);
	*size = at + elf->count * sizeof(Elf64_Shdr);
	bytes = calloc(1, *size);
	memcpy(bytes, &header, sizeof(header));
	for (unsigned i = 0; i < elf->count; i++) {
		const struct build_section *section = &elf->sections[i];

		memcpy(bytes + at + i * sizeof(Elf64_Shdr), &section->header, sizeof(Elf64_Shdr));
		if (section->size && section->header.sh_type != SHT_NOBITS)
			memcpy(bytes + section->header.sh_offset, section->bytes, section->size);
	}
	return bytes;
}

static size_t put32(uint8_t *out, size_t at, uint32_t value)
{
	memcpy(out + at, &value, 4);
	return at + 4;
}

size_t build_eh_frame(uint8_t *out, uint64_t address, const uint64_t (*ranges)[2], size_t count)
{
	/* version 1, "zR", code 1, data -8, RA 16, 1 byte: pcrel sdata4 */
	static const uint8_t cie[] = {1, 'z', 'R', 0, 1, 0x78, 0x10, 1, 0x1b, 0x0c, 7, 8};
	size_t at = put32(out, 0, 4 + sizeof(cie));

	at = put32(out, at, 0);
	memcpy(out + at, cie, sizeof(cie));
	at += sizeof(cie);
	for (size_t i = 0; i < count; i++) {
		at = put32(out, at, 16);
		at = put32(out, at, (uint32_t)at);
		at = put32(out, at, (uint32_t)(ranges[i][0] - (address + at)));
		at = put32(out, at, (uint32_t)ranges[i][1]);
		at = put32(out, at, 0);
	}
	return put32(out, at, 0);
}
