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

#include "coredump/util/error.h"

struct ep_plt_stub {
	uint64_t start, end; /* addresses in the file; end exclusive */
	const char *name;    /* of the function; borrowed from the file */
};

/* *count stubs in *out, which the caller frees. What is damaged has none;
 * EP_E_MEMORY is the only failure. */
int ep_plt_read(struct ep_plt_stub **out, size_t *count, Elf *elf);

#endif
