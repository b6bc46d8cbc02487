/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * build_elf.h: small ELF files made by a test, so that every malformed one exists. Nothing is
 * checked: a test may write nonsense.
 */
#ifndef EPITAPH_TESTS_BUILD_ELF_H
#define EPITAPH_TESTS_BUILD_ELF_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#define BUILD_SECTIONS 16

struct build_section {
	const char *name;
	Elf64_Shdr header; /* sh_name, sh_offset, sh_size are filled */
	uint8_t *bytes;    /* owned */
	size_t size;
};

struct build_elf {
	struct build_section sections[BUILD_SECTIONS];
	unsigned count; /* section 0 is the null one */
	/* symbols, for build_elf_symbol() */
	Elf64_Sym *symbols;
	size_t symbol_count;
	char *strings;
	size_t strings_size;
};

void build_elf_init(struct build_elf *elf);
void build_elf_deinit(struct build_elf *elf);

/* Copies the bytes (NULL: zeroes). Returns the section's index. */
unsigned build_elf_section(struct build_elf *elf, const char *name, uint32_t type, uint64_t flags,
			   uint64_t address, const void *bytes, size_t size);
/* Adds to the .symtab that build_elf_finish() makes. `info`: ELF64_ST_INFO. */
void build_elf_symbol(struct build_elf *elf, const char *name, uint64_t value, uint64_t size,
		      unsigned char info, uint16_t section);
/* The file's bytes, which the caller frees. */
uint8_t *build_elf_finish(struct build_elf *elf, size_t *size);

/* A CIE and one FDE (pcrel, sdata4) each for [start, start + length). Returns the size of .eh_frame
 * bytes at `address` in `out`. */
size_t build_eh_frame(uint8_t *out, uint64_t address, const uint64_t (*ranges)[2], size_t count);

#endif
