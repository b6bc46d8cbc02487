/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inlines.h: address in a file → the calls that the compiler inlined there, by the entries of DWARF
 * 2-5. A unit's functions are listed when the first address of it is asked for.
 */
#ifndef EPITAPH_INLINES_H
#define EPITAPH_INLINES_H

#include <elfutils/libdw.h>

#include "decoder/symbols/lines.h"

struct ep_inlines;

/* A call that the compiler inlined. */
struct ep_inlined {
	const char *name;    /* of the function: as c++filt has it; valid UTF-8; what has no linkage
				name is without parameters */
	struct ep_line call; /* where it was called */
};

#define EP_INLINED_MAX 128 /* at one address */

/* `units` and `lines` must outlive the inlines. `raw`: names as they are. */
struct ep_inlines *ep_inlines_create(struct ep_units *units, struct ep_lines *lines, bool raw);
void ep_inlines_destroy(struct ep_inlines *inlines); /* NULL is allowed */

/*
 * The calls at `address`, innermost first; of more than EP_INLINED_MAX the innermost. Returns how
 * many. Their texts are borrowed until destroy.
 */
size_t ep_inlines_find(struct ep_inlines *inlines, uint64_t address,
		       struct ep_inlined out[EP_INLINED_MAX]);

#define EP_SCOPES_MAX 64

/*
 * The entries of the blocks around `address`, innermost first, up to that of the innermost function
 * of it, `skip` inlined ones left out: its own is the last. Of more than EP_SCOPES_MAX the
 * outermost. *function: the one that is not inlined. How many; 0: there is none.
 */
size_t ep_inlines_scopes(struct ep_inlines *inlines, uint64_t address, unsigned skip,
			 Dwarf_Die out[EP_SCOPES_MAX], Dwarf_Die *function);

/* As ep_units_split. */
const char *ep_inlines_split(struct ep_inlines *inlines, uint64_t address);

/* Where the function with `address` is defined; borrowed like the units. */
struct ep_declared ep_inlines_declared(struct ep_inlines *inlines, uint64_t address);

/* The debug information is so large or so odd that not all of it was read: some answers may be
 * missing. */
bool ep_inlines_incomplete(const struct ep_inlines *inlines);

#endif
