/* SPDX-License-Identifier: BSD-2-Clause */
/* image.c: copies the arena out of a source, page by page where it must, and remembers which pages
 * it has. */
#include "coredump/snapshot/image.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coredump/memory/ranges.h"
#include "coredump/snapshot/redacted.h"
#include "coredump/find/objectfile.h"
#include "coredump/find/root_check.h"
#include "coredump/memory/source_impl.h"
#include "coredump/live/live.h"
#include "coredump/live/live_read.h"
#include "coredump/util/alloc.h"

#define LARGE_PAGE (UINT64_C(2) << 20) /* of x86-64 */

static uint64_t page_up(uint64_t size)
{
	return (size + EP_PAGE - 1) & ~(uint64_t)(EP_PAGE - 1);
}

/* A page fault of 4 KiB takes as long as what is copied there, so that the kernel is asked for
 * large pages; where it has none the others do. */
static uint8_t *bytes_create(uint64_t size)
{
	uint64_t page = size >= LARGE_PAGE ? LARGE_PAGE : EP_PAGE;
	uint8_t *bytes = aligned_alloc(page, (size + page - 1) & ~(page - 1));

	if (!bytes)
		ep_out_of_memory();
	if (page == LARGE_PAGE)
		madvise(bytes, size, MADV_HUGEPAGE);
	return bytes;
}

static void image_init(struct ep_image *image, uint64_t size)
{
	*image = (struct ep_image){.size = size};
	image->bytes = bytes_create(page_up(size));
	image->present = ep_calloc(page_up(size) / EP_PAGE, 1);
}

void ep_image_deinit(struct ep_image *image)
{
	free(image->bytes);
	free(image->present);
	memset(image, 0, sizeof(*image));
}

/* ---- how much ---- */

/* End of the mapped range that begins at `address`, at most `limit`. `data`: of what the source has
 * bytes for. */
static uint64_t range_end(struct ep_source *source, uint64_t address, uint64_t limit, bool data)
{
	uint64_t at = address, end = address;

	while (at < limit) {
		const struct ep_segment *segment = ep_source_segment_at(source, at);
		uint64_t present;

		if (!segment)
			break;
		present = segment->address + segment->present_size;
		at = segment->address + segment->memory_size;
		if (!data)
			end = at;
		else if (present > end)
			end = present;
	}
	return end < limit ? end : limit;
}

/* End of the last byte that the source holds of [address, limit). */
static uint64_t last_byte_end(struct ep_source *source, uint64_t address, uint64_t limit)
{
	uint64_t end = address;

	for (size_t i = 0; i < source->segments.count; i++) {
		const struct ep_segment *segment = &source->segments.list[i];
		uint64_t here = segment->address + segment->present_size;

		if (segment->address < limit && here > end)
			end = here < limit ? here : limit;
	}
	return end;
}

static uint64_t committed_of(struct ep_source *source, const struct ep_root_found *found)
{
	struct ep_err ignored;
	uint64_t committed = 0;

	ep_source_read(source, found->arena_address + offsetof(struct ep_arena, committed),
		       &committed, sizeof(committed), NULL, &ignored);
	if (committed < sizeof(struct ep_arena) || committed % EP_PAGE ||
	    committed > found->root.arena_size)
		return 0;
	return committed;
}

uint64_t ep_image_wanted(struct ep_source *source, const struct ep_root_found *found)
{
	uint64_t start = found->arena_address;
	uint64_t committed = committed_of(source, found);

	if (committed)
		return committed;
	return range_end(source, start, start + found->root.arena_size,
			 source->kind != EP_SOURCE_LIVE) -
	       start;
}

uint64_t ep_image_held(const struct ep_source *source, uint64_t start)
{
	uint64_t held = ep_source_live_resident(source);
	char path[PATH_MAX];
	struct stat st;

	for (size_t i = 0; i < source->mappings.count; i++) {
		const struct ep_mapping *mapping = &source->mappings.list[i];
		int fd = mapping->start == start
				 ? ep_object_file_mapped(source, mapping, path, sizeof(path))
				 : -1;

		if (fd < 0)
			continue;
		if (fstat(fd, &st) == 0 && (uint64_t)st.st_blocks * 512 > held)
			held = (uint64_t)st.st_blocks * 512;
		close(fd);
	}
	return held;
}

/* Of the bytes that are wanted, those worth making room for. */
static uint64_t believed(struct ep_source *source, uint64_t start, uint64_t wanted)
{
	uint64_t end;

	if (wanted <= EP_IMAGE_BELIEVED)
		return wanted;
	/* What a running process maps costs it nothing. */
	if (source->kind == EP_SOURCE_LIVE) {
		end = ep_image_held(source, start);
		end = end > EP_IMAGE_BELIEVED ? end : EP_IMAGE_BELIEVED;
		return wanted < end ? wanted : page_up(end);
	}
	end = last_byte_end(source, start, start + wanted);
	if (end - start > EP_IMAGE_BELIEVED &&
	    ep_range_present(source, start, end) < (end - start) / 2)
		end = range_end(source, start, end, true);
	/* Segments that hold next to nothing of what they span. */
	if (ep_range_present(source, start, end) < (end - start) / 2)
		end = start;
	return end - start > EP_IMAGE_BELIEVED ? end - start : EP_IMAGE_BELIEVED;
}

/* ---- reading ---- */

/* Reads what can be read of [at, end), which lies in the image; a page that cannot be read whole is
 * zero. */
static int pages_read_by(struct ep_live_read *steady, struct ep_image *image,
			 struct ep_source *source, const struct ep_root_found *found, uint64_t at,
			 uint64_t end, struct ep_err *err)
{
	while (at < end) {
		uint64_t next;
		size_t got;
		int rc = ep_live_read_read(steady, source, found, image->address + at,
					   image->bytes + at, end - at, &got, err);

		next = rc ? (at + got) & ~(uint64_t)(EP_PAGE - 1) : end;
		memset(image->present + at / EP_PAGE, 1, page_up(next - at) / EP_PAGE);
		if (rc == EP_OK)
			return EP_OK;
		if (rc == EP_E_IO || rc == EP_E_FORMAT)
			return rc;
		memset(image->bytes + next, 0,
		       (next + EP_PAGE < end ? next + EP_PAGE : end) - next);
		image->pages_missing++;
		at = next + EP_PAGE;
	}
	return EP_OK;
}

static int pages_read(struct ep_image *image, struct ep_source *source,
		      const struct ep_root_found *found, uint64_t at, uint64_t end,
		      struct ep_err *err)
{
	struct ep_live_read steady = {0};
	int rc = pages_read_by(&steady, image, source, found, at, end, err);

	ep_live_read_deinit(&steady);
	return rc;
}

static int image_read(struct ep_image *image, struct ep_source *source,
		      const struct ep_root_found *found, uint64_t wanted, struct ep_err *err)
{
	uint64_t size = believed(source, found->arena_address, wanted);
	struct ep_image new;
	int rc;

	if (size == 0)
		return ep_fail(err, EP_E_UNSAVED, found->arena_address,
			       "%s: nothing of the arena at 0x%" PRIx64 " can be read",
			       source->name, found->arena_address);
	image_init(&new, size);
	new.address = found->arena_address;
	new.root = found->root;
	new.how = found->how;
	new.off_reason = found->off_reason;
	new.redacted = ep_source_redacted(source);
	rc = pages_read(&new, source, found, 0, size, err);
	if (rc == EP_OK && new.pages_missing * EP_PAGE >= page_up(size))
		rc = ep_fail(err, EP_E_UNSAVED, found->arena_address,
			     "%s: nothing of the arena at 0x%" PRIx64 " can be read", source->name,
			     found->arena_address);
	if (rc) {
		ep_image_deinit(&new);
		return rc;
	}
	new.pages_missing += (wanted - size) / EP_PAGE;
	*image = new;
	return EP_OK;
}

int ep_image_read(struct ep_image *image, struct ep_source *source,
		  const struct ep_root_found *found, struct ep_err *err)
{
	return image_read(image, source, found, ep_image_wanted(source, found), err);
}

int ep_image_read_head(struct ep_image *image, struct ep_source *source,
		       const struct ep_root_found *found, struct ep_err *err)
{
	uint64_t wanted = ep_image_wanted(source, found);
	struct ep_arena arena;

	if (source->kind == EP_SOURCE_LIVE && ep_source_read(source, found->arena_address, &arena,
							     sizeof(arena), NULL, NULL) == EP_OK)
		for (unsigned i = 0; i < EP_SECTION_MAX; i++)
			if (arena.sections[i].type == EP_SECTION_RINGS &&
			    arena.sections[i].offset >= EP_PAGE &&
			    arena.sections[i].offset % EP_PAGE == 0 &&
			    arena.sections[i].offset < wanted)
				wanted = arena.sections[i].offset;
	return image_read(image, source, found, wanted, err);
}

int ep_image_from_bytes(struct ep_image *image, const void *bytes, size_t size, struct ep_err *err)
{
	struct ep_image new;
	struct ep_root root;
	int rc;

	if (size < sizeof(root))
		return ep_fail(err, EP_E_TRUNCATED, size, "an arena of %zu bytes holds no root",
			       size);
	memcpy(&root, bytes, sizeof(root));
	rc = ep_root_check(&root, EP_ARENA_MAGIC, root.self, err);
	if (rc == EP_END)
		return ep_fail(err, EP_E_FORMAT, 0, "not an arena: it does not begin with %s",
			       EP_ARENA_MAGIC);
	if (rc)
		return rc;
	image_init(&new, size);
	memset(new.bytes, 0, page_up(size));
	memcpy(new.bytes, bytes, size);
	memset(new.present, 1, page_up(size) / EP_PAGE);
	new.address = root.self;
	new.root = root;
	new.how = EP_FOUND_SEGMENT;
	*image = new;
	return EP_OK;
}
