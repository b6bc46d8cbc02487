/* SPDX-License-Identifier: BSD-2-Clause */
/* copy_memory.h: a copy of the arena in memory of its own, made so that what is slow, as a disk,
 * has time. Signal safe. */
#ifndef EPITAPH_COPY_MEMORY_H
#define EPITAPH_COPY_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

struct ep_copy_memory {
	uint64_t address, mapped; /* bytes; 0: none */
	uint64_t size;            /* of the arena that lies there */
	uint64_t until;           /* TSC of the moment that it shows */
};

/* An arena as one that lies where the process's own does, of all that is in use there. Where memory
 * is short it has the newest blocks of each thread. False: there is not even memory for these. */
bool ep_copy_memory_take(struct ep_copy_memory *memory);
void ep_copy_memory_free(struct ep_copy_memory *memory);

#endif
