/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * patch.h: much code that changes at once, where nobody else changes code: stretches of up to 16
 * KiB are read, changed and written back. By /proc/self/mem, else through pages that are made
 * writable for the moment (flip.h), but not under a filter of system calls, which may take that
 * for an attack. One user at a time.
 */
#ifndef EPITAPH_PATCH_H
#define EPITAPH_PATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ep_patch {
	long fd;             /* of /proc/self/mem; negative: by mprotect */
	uint64_t start, end; /* the stretch that is in hand; empty: none */
	uint64_t pages;      /* written to so far */
	bool refused;        /* the kernel did: what was in hand was not written */
};

/* `fd`: of /proc/self/mem, the caller's to close; negative: there is none. */
void ep_patch_begin(struct ep_patch *patch, long fd);

/* `size` bytes at `place`, to be changed: valid until the next call. `place` .. + size lies in code
 * that can be read, and so does all between it and the place before when less than 2 KiB are
 * between them. */
uint8_t *ep_patch_at(struct ep_patch *patch, uint64_t place, size_t size);

/* What is in hand is written. False: some of it was refused. */
bool ep_patch_end(struct ep_patch *patch);

#endif
