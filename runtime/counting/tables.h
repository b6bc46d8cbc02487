/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tables.h: code address → cell, without hashing: each byte of code has a cell of its own. Memory
 * is taken where code was called: 4 KiB for a KiB of code. It lies outside of the arena, is left
 * out of cores, and is empty in a forked child. Lock free, signal safe.
 */
#ifndef EPITAPH_TABLES_H
#define EPITAPH_TABLES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Three steps from an address to its number: by bits 32-46, 16-31 and 0-15. The first two tables
 * hold addresses of the next, 0 none; the last holds numbers plus one, 0 none. The hooks walk them
 * too. NULL before the start.
 */
extern void **ep_counting_root __attribute__((visibility("hidden")));

/* Empties everything, and makes the first table. False: no memory. */
bool ep_tables_start(void);

/* The cell of a code address below 2^47, made when `make`; NULL: none. */
uint32_t *ep_tables_cell(uint64_t address, bool make);

/* Whether the memory that the cell lies in would be taken by writing to it. */
bool ep_tables_fresh(const uint32_t *cell);
#define EP_TABLES_STEP 4096 /* bytes that are taken at once */

/* Empties the cells of [start, end), whole pages; returns how many bytes of memory that gave
 * back. */
uint64_t ep_tables_clear(uint64_t start, uint64_t end);

#endif
