/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * symbol_table.h: the function symbols of ELF symbol tables, taken out one by one and checked;
 * symbols.c makes ranges of them. Internal to the decoder.
 */
#ifndef EPITAPH_SYMBOL_TABLE_H
#define EPITAPH_SYMBOL_TABLE_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coredump/util/error.h"

/* Function symbols of one module, at most: 8 times those of a web browser. */
#define EP_SYMBOLS_MAX ((size_t)1 << 24)

struct ep_raw_symbol {
	uint64_t start, end; /* equal: no size in the table */
	const char *name;    /* borrowed from the ELF file's data */
	uint32_t object;     /* which STT_FILE it stands under; 0: global */
	uint8_t rank;        /* higher wins */
	bool dynamic;
};

/* A section with code: [start, end) in the file's addresses. */
struct ep_code_section {
	uint64_t start, end;
};

struct ep_raw_symbols {
	struct ep_raw_symbol *list;
	size_t count, capacity;
	struct ep_code_section *sections; /* ascending, of the first file */
	size_t section_count;
	uint32_t objects;
	bool has_symtab;
};

/* Adds the symbols of `elf`. Damage goes to *err, what was readable is kept. */
void ep_raw_symbols_add(struct ep_raw_symbols *raw, Elf *elf, struct ep_err *err);
void ep_raw_symbols_deinit(struct ep_raw_symbols *raw);

/* The code section around `address`, or NULL. */
const struct ep_code_section *ep_raw_symbols_section(const struct ep_raw_symbols *raw,
						     uint64_t address);

#endif
