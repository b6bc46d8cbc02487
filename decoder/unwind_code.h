/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unwind_code.h: what the unwinder wants of code itself, by the files that
 * libdwfl has of the modules.
 */
#ifndef EPITAPH_UNWIND_CODE_H
#define EPITAPH_UNWIND_CODE_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `size` bytes at a process virtual address; false: no file has them. */
bool ep_unwind_code(Dwfl *dwfl, uint64_t address, uint8_t *code, size_t size);

/* Is pc in the hook of the return? The stack pointer before that was called, by
 * its unwind information. */
bool ep_unwind_hook_cfa(Dwfl *dwfl, uint64_t pc, uint64_t sp, uint64_t *cfa);

#endif
