/* SPDX-License-Identifier: BSD-2-Clause */
/* notes.h: the notes of a core, and the facts in them. */
#ifndef EPITAPH_NOTES_H
#define EPITAPH_NOTES_H

#include "coredump/memory/source.h"

/* Adds the notes in `elf`'s bytes [offset, offset + size), which lie in the file, to source->notes.
 * Damage is a warning. */
void ep_notes_read(struct ep_source *source, uint64_t offset, uint64_t size, uint64_t align);

/* Threads, mappings, auxv and death from source->notes. */
void ep_notes_digest(struct ep_source *source);

#endif
