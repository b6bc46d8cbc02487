/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_elf.c: any bytes as the ELF file of a module. What must hold: functions are not empty, the
 * function of its own first byte is found or cut by another, and a name ends inside the file.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "decoder/symbols/symbols.h"

static void check(const struct ep_symbols *symbols)
{
	const struct ep_symbol *list, *found;
	size_t count;

	list = ep_symbols_all(symbols, &count);
	for (size_t i = 0; i < count; i++) {
		if (list[i].start >= list[i].end)
			abort();
		if (list[i].name && strlen(list[i].name) > 1 << 20)
			abort();
		/* In a function, or in its part: never nowhere. */
		found = ep_symbols_find(symbols, list[i].start);
		if (!found)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ep_symbols *symbols;
	char *copy = malloc(size + 1);
	Elf *elf;

	elf_version(EV_CURRENT);
	memcpy(copy, data, size);
	elf = elf_memory(copy, size);
	if (elf && elf_kind(elf) == ELF_K_ELF) {
		symbols = ep_symbols_create(elf, NULL, NULL);
		check(symbols);
		ep_symbols_destroy(symbols);
	}
	elf_end(elf);
	free(copy);
	return 0;
}
