/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * strip_record.h: which bytes of a file were patched, and the section that says so. It is the last
 * thing in the file but for new section headers, which are the old ones and its own: to put a file
 * back is to put the old bytes back and to cut it where it ended.
 *
 *     original file │ record │ names of sections │ section headers
 */
#ifndef EPITAPH_STRIP_RECORD_H
#define EPITAPH_STRIP_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coredump/util/array.h"
#include "coredump/util/error.h"

#define EP_STRIP_SECTION ".epitaph.stripped"
#define EP_PATCH_MAX     8 /* bytes of one instruction that calls a hook */

struct ep_strip_patch {
	uint64_t offset; /* in the file */
	uint8_t size;    /* 2 to EP_PATCH_MAX */
	uint8_t jump;    /* 1: becomes a return, 0: nothing */
	uint8_t before[EP_PATCH_MAX];
};

struct ep_strip_patches {
	struct ep_strip_patch *list;
	size_t count, capacity;
};

/* The file with the patches, which are sorted, and their record, from malloc. EP_E_FORMAT: it has
 * no section headers, or too many; EP_E_CORRUPT: patches overlap, or its headers lie outside. */
int ep_strip_write(uint8_t **out, size_t *out_size, const uint8_t *bytes, size_t size,
		   struct ep_strip_patches *patches, struct ep_err *err);

/* The file as it was, from malloc. EP_END: it has no record. EP_E_CORRUPT: the record makes no
 * sense; EP_E_MISMATCH: the file was changed since. */
int ep_strip_restore(uint8_t **out, size_t *out_size, const uint8_t *bytes, size_t size,
		     struct ep_err *err);

#endif
