/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * frames_table.h: where functions begin and end, from .eh_frame alone: what is left in a stripped
 * file. (DWARF 5 section 6.4, and the Linux Standard Base, "Exception Frames".)
 */
#ifndef EPITAPH_FRAMES_TABLE_H
#define EPITAPH_FRAMES_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "coredump/util/error.h"

struct ep_frame_range {
	uint64_t start, end; /* addresses in the file; end exclusive; not empty */
};

/*
 * Reads the .eh_frame bytes of a section that lies at `address` in its file. The ranges come in the
 * order of the section; the caller frees *out. EP_E_CORRUPT: what was read before the damage is
 * kept in *out and *count all the same. Time and memory are bounded by `size`.
 */
int ep_frames_table_read(struct ep_frame_range **out, size_t *count, const void *bytes, size_t size,
			 uint64_t address, struct ep_err *err);

#endif
