/* SPDX-License-Identifier: BSD-2-Clause */
/* arena.h: repairs for inputs that are an arena, or hold one. */
#ifndef EPITAPH_TESTS_FUZZ_ARENA_H
#define EPITAPH_TESTS_FUZZ_ARENA_H

#include <stddef.h>
#include <stdint.h>

/* The CRC of a struct ep_root. */
void fuzz_repair_root(uint8_t *bytes);

/* Magic, version, CRC, anchors' and blocks' check words of an arena that begins with bytes[0]. */
void fuzz_repair_arena(uint8_t *bytes, size_t size);

/* Puts marks (exceptions, jumps, fibers) over some records of its rings, their addresses being
 * those of other records. */
void fuzz_put_marks(uint8_t *bytes, size_t size, unsigned seed);

#endif
