/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * symbols.h: address in a file → function, from .symtab, .dynsym, .eh_frame and the procedure
 * linkage table, laid out once as disjoint ranges in order.
 *
 * Which name wins, where several symbols name the same bytes: functions over plain labels; global
 * over weak over local (as eu-addr2line); then fewest leading underscores, then the shortest, then
 * the first of the alphabet. Where sized symbols nest, the innermost. A symbol without a size
 * (hand-written assembly) fills what sized ones leave, up to the next symbol or .eh_frame entry or
 * its section's end. `f.cold` and `f.__part.N` answer f of the same object file.
 */
#ifndef EPITAPH_SYMBOLS_H
#define EPITAPH_SYMBOLS_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

#include "coredump/util/error.h"

struct ep_symbol {
	uint64_t start, end; /* addresses in the file; end exclusive */
	const char *name; /* as in the file; borrowed from it; NULL: bounds from .eh_frame only */
	bool inexact;     /* not from .symtab: a neighbour without a symbol may be nearer */
	bool plt;         /* a stub that jumps to `name` */
};

struct ep_symbols;

/*
 * Reads the symbols of a file and of its debug file; either may be NULL. Both must outlive the
 * symbols. Damage is told in *err: err->code is 0 when there was none.
 */
struct ep_symbols *ep_symbols_create(Elf *elf, Elf *debug, struct ep_err *err);
void ep_symbols_destroy(struct ep_symbols *symbols); /* NULL is allowed */

/* The function at `address`, with its own bounds also when `address` lies in its cold part. NULL:
 * none. */
const struct ep_symbol *ep_symbols_find(const struct ep_symbols *symbols, uint64_t address);

/* None of the files has a .symtab: only what is exported has a name. */
bool ep_symbols_stripped(const struct ep_symbols *symbols);

/*
 * Range number `index` of the disjoint ones that all functions are laid out as, ascending: a
 * function may have several, its cold part among them. The function; NULL: no more.
 */
const struct ep_symbol *ep_symbols_range(const struct ep_symbols *symbols, size_t index,
					 uint64_t *start, uint64_t *end);

/* All functions, for tests and listings: ascending start. Borrowed. */
const struct ep_symbol *ep_symbols_all(const struct ep_symbols *symbols, size_t *count);

#endif
