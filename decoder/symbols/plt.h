/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plt.h: which function a stub of the procedure linkage table jumps to (x86-64 psABI, section 5.2):
 * found by the slot that its jump reads and the relocation of that slot, so that every linker's
 * layout works.
 */
#ifndef EPITAPH_PLT_H
#define EPITAPH_PLT_H

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

struct ep_plt_stub {
	uint64_t start, end; /* addresses in the file; end exclusive */
	const char *name;    /* of the function; borrowed from the file */
};

/* The stubs in *out, which the caller frees: how many. What is damaged has none. */
size_t ep_plt_read(struct ep_plt_stub **out, Elf *elf);

#endif
