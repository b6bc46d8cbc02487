/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unwind_code.h: what the unwinder wants of code itself, by the files that libdwfl has of the
 * modules.
 */
#ifndef EPITAPH_UNWIND_CODE_H
#define EPITAPH_UNWIND_CODE_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `size` bytes at a process virtual address; false: no file has them. */
bool ep_unwind_code(Dwfl *dwfl, uint64_t address, uint8_t *code, size_t size);

/* The stack pointer before the function with the code at `address` was called, by its unwind
 * information and the registers (DWARF's numbers; a bit of `known` each) that are there. */
bool ep_unwind_cfa(Dwfl *dwfl, uint64_t address, const uint64_t *registers, uint32_t known,
		   uint64_t *cfa);

/* Where a file has the hook of the return; empty: nowhere, or it was not looked for yet. */
struct ep_unwind_hook {
	uint64_t start, end; /* in the file */
};

/* Looks for it in one more file, which may be NULL. Not by libdwfl's symbols: it would unpack a
 * .gnu_debugdata, however large that becomes. */
void ep_unwind_hook_find(struct ep_unwind_hook *hook, Elf *elf);

/* Is pc in the hook? The stack pointer before that was called, by its unwind information. */
bool ep_unwind_hook_cfa(Dwfl *dwfl, const struct ep_unwind_hook *hook, uint64_t pc, uint64_t sp,
			uint64_t *cfa);

#endif
