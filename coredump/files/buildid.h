/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * buildid.h: the build-id of an ELF file or of an object in memory. elfutils 0.188 finds none whose
 * length is no multiple of 4: linkers do not pad the last note, and it wants that.
 */
#ifndef EPITAPH_BUILDID_H
#define EPITAPH_BUILDID_H

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

/* In notes as they lie in a PT_NOTE or SHT_NOTE of that alignment: its bytes, of which the first
 * `most` are in `out`; 0: there is none. */
size_t ep_build_id_in_notes(const void *notes, size_t size, uint64_t align, uint8_t *out,
			    size_t most);
/* The same of a file, by its sections, or by its segments where it has no sections. */
size_t ep_build_id_of_elf(Elf *elf, uint8_t *out, size_t most);

#endif
