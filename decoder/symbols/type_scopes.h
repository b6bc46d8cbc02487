/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * type_scopes.h: the namespaces and classes that a type lies in: "ns::Class::" of its name. Entries
 * do not tell what they lie in, so a unit's are listed when the first of its types is asked for.
 */
#ifndef EPITAPH_TYPE_SCOPES_H
#define EPITAPH_TYPE_SCOPES_H

#include <elfutils/libdw.h>
#include <stddef.h>

struct ep_type_scopes;

struct ep_type_scopes *ep_type_scopes_create(void);
void ep_type_scopes_destroy(struct ep_type_scopes *scopes); /* NULL is allowed */

/* What stands before the entry's own name, at most `size` - 1 bytes of it, any bytes; "" where
 * there is nothing, or it is not known: in C, in functions, in what has no name. Returns `out`. */
char *ep_type_scopes_prefix(struct ep_type_scopes *scopes, Dwarf_Die *die, char *out, size_t size);

#endif
