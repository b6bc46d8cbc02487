/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * image.h: a private copy of the arena's bytes, with a map of which pages could be read. Everything
 * after this works on the image alone: no source, no process. A page that could not be read is zero
 * and not present.
 */
#ifndef EPITAPH_IMAGE_H
#define EPITAPH_IMAGE_H

#include "coredump/find/root.h"

/* Bytes that an arena may take on its own word: the default EPITAPH_MEMORY. More is believed as far
 * as the source holds bytes: a few lying ones in a small file must not cost gigabytes. */
#define EP_IMAGE_BELIEVED (UINT64_C(64) << 20)

struct ep_image {
	uint8_t *bytes; /* `size` bytes, page aligned; owned */
	size_t size; /* bytes: arena.committed, or what the segment holds when that is not readable;
			less when most of an arena of over 64 MiB is not there */
	uint8_t *present;     /* one byte a page: 1 read, 0 not; owned */
	size_t pages_missing; /* of what should be there, also behind `size` */
	uint64_t address;     /* process virtual address of bytes[0] */
	struct ep_root root;  /* validated */
	uint32_t how;         /* EP_FOUND_ */
	uint32_t off_reason;  /* EP_OFF_, by the root; 0 also when not seen */
	uint32_t redacted;    /* EP_REDACTED_: what was left out on purpose */
};

/* Copies the arena that was found. Keeps what can be read; EP_OK also when pages are missing. */
int ep_image_read(struct ep_image *image, struct ep_source *source,
		  const struct ep_root_found *found, struct ep_err *err);
/* What lies before the rings only, for those who want no records: all of it where the first page
 * does not say where that is, and of what does not run. */
int ep_image_read_head(struct ep_image *image, struct ep_source *source,
		       const struct ep_root_found *found, struct ep_err *err);
/* Bytes that ep_image_read would take: arena.committed where it can be believed, else what is
 * mapped of the arena (live) or held by the core; 0: nothing. */
uint64_t ep_image_wanted(struct ep_source *source, const struct ep_root_found *found);
/* What a running process really has: bytes of memory and swap; or where the arena at `address` lies
 * in a file, that one's on the disk, if those are more: its pages are in no process's count when
 * the kernel has written them back. */
uint64_t ep_image_held(const struct ep_source *source, uint64_t address);
/* From bytes in memory, for tests and fuzzing: copies them, all present. Validates the root (magic,
 * crc, version). */
int ep_image_from_bytes(struct ep_image *image, const void *bytes, size_t size, struct ep_err *err);
void ep_image_deinit(struct ep_image *image); /* a zeroed image is allowed */

static inline bool ep_image_has(const struct ep_image *image, uint64_t offset, uint64_t size)
{
	if (size == 0 || offset > image->size || size > image->size - offset)
		return false;
	for (uint64_t page = offset / 4096; page <= (offset + size - 1) / 4096; page++)
		if (!image->present[page])
			return false;
	return true;
}

#endif
