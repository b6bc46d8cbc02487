/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * constant_strings.h: text that the program's files hold: the formats of notes. By the file's own
 * addresses, each read once.
 */
#ifndef EPITAPH_CONSTANT_STRINGS_H
#define EPITAPH_CONSTANT_STRINGS_H

#include <stddef.h>
#include <stdint.h>

#include "coredump/memory/source.h"
#include "coredump/util/hash.h"
#include "decoder/names/module_file.h"

#define EP_CONSTANT_STRING_MAX 4095u /* bytes; one that is longer is cut off */

struct ep_constant_strings {
	struct ep_constant_string *list;
	size_t count, capacity;
	struct ep_hash by_address;
};

/*
 * The text at `address` (of the file), where no segment that the program could write to holds it;
 * or in the process's memory, as far as `source` (NULL: none) has it. `owner`: a number of the
 * file's, not SIZE_MAX. At most EP_CONSTANT_STRING_MAX bytes. NULL: there is none, or 65,536 are
 * kept already. Borrowed until deinit.
 */
const char *ep_constant_strings_of_file(struct ep_constant_strings *strings, size_t owner,
					const struct ep_module_file *file, uint64_t address);
const char *ep_constant_strings_of_memory(struct ep_constant_strings *strings,
					  struct ep_source *source, uint64_t address);
void ep_constant_strings_deinit(struct ep_constant_strings *strings);

/* `size` bytes at `address` (in the file), where the program could not write to it: how many of
 * them there are. */
size_t ep_constant_bytes_of_file(const struct ep_module_file *file, uint64_t address, void *out,
				 size_t size);

#endif
