/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * symbol_file.h: functions that a module's file names: .symtab, else .dynsym, read by system calls
 * into memory of its own, for a file may be cut off while it is mapped. A file of another build-id
 * is refused. Not in signal handlers; no malloc.
 */
#ifndef EPITAPH_SYMBOL_FILE_H
#define EPITAPH_SYMBOL_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/format.h"

/* `name`: NUL-terminated, borrowed; `address` in the file. */
typedef void ep_symbol_fn(void *context, const char *name, uint64_t address);

/* Calls `fn` for each. False: the file is not there, is another one, or has no symbols. */
bool ep_symbol_file_read(const char *path, const struct ep_module *module, ep_symbol_fn *fn,
			 void *context);

#endif
