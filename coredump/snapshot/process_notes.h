/* SPDX-License-Identifier: BSD-2-Clause */
/* process_notes.h: the notes that a snapshot has from the process, as a core has them. */
#ifndef EPITAPH_PROCESS_NOTES_H
#define EPITAPH_PROCESS_NOTES_H

#include "coredump/snapshot/gathered.h"

/* Those that the kernel would write of a running process, its registers zero. */
void ep_process_notes_live(struct ep_gathered *gathered);

/* Zero registers of a thread: readers take them for unknown. */
void ep_process_notes_thread(struct ep_gathered *gathered, uint32_t tid);

/* A NT_FILE note's bytes, of source->mappings.count mappings; *size of them. */
uint8_t *ep_process_notes_files(struct ep_gathered *gathered, const struct ep_mapping *mappings,
				size_t *size);

#endif
