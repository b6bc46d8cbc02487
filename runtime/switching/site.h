/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * site.h: a place in the code where a hook is called. One of its bytes decides whether it is:
 *
 *   call hook            e8 rel32       a9 rel32: test $rel32, %eax; flags are free at hooks
 *   addr32 call hook     67 e8 rel32    67 a9 rel32 (what ld makes of `call *hook@GOTPCREL(%rip)`)
 *   jmp hook             e9 rel32       c3: the hook would only return
 *
 * What leads to a hook: the address of one of this runtime's, or of a stub (the wrapper's
 * kit/hooks.S, kit/early.S) that jumps to one. So bytes are taken for a site only if their rel32
 * leads exactly there. Reads memory by system call, for it may be gone; signal safe.
 */
#ifndef EPITAPH_SITE_H
#define EPITAPH_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ep_place {
	uint64_t place; /* the address of the byte */
	uint8_t kind;   /* EP_SITE_ (format_switches.h) */
	bool is_return;
};

/* The byte that such a site has when it is on, and off. */
uint8_t ep_site_byte(unsigned kind, bool off);

/* All sites of the code at [start, end), on or off, entries first; at most `most`. How many. */
size_t ep_sites_in(uint64_t start, uint64_t end, struct ep_place *out, size_t most);

#endif
