/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * leftover.c: pages of the instance that the arena names, and whose name has the arena's own
 * identity in it: no other machine, and no other process, has that.
 */
#include "coredump/find/leftover.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "coredump/files/held.h"
#include "coredump/memory/source_impl.h"
#include "coredump/util/alloc.h"

#define CPUS_MAX    1024u
#define PAGES_MAX   4096u
#define SECTION_MAX (UINT64_C(64) << 20)
#define PAGE_HEAD   16u
#define COMMIT_MASK 0x0fffffffu

/* TSC cycles, 50 ms at least: a drain that lives reads the buffers more often. */
#define DRAINED (UINT64_C(1) << 28)

static const char *const mounts[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

/* Linux 6.10, include/uapi/linux/trace_mmap.h: the first page of a mapped buffer; its pages
 * follow. */
struct buffer_meta {
	uint32_t meta_page_size;
	uint32_t meta_struct_len;
	uint32_t subbuf_size;
	uint32_t nr_subbufs;
	uint64_t reader_lost;
	uint32_t reader_id, reader_read;
	uint64_t flags;
	uint64_t entries, overrun, read;
};

struct page {
	uint8_t *bytes; /* EP_PAGE of them; owned */
	uint64_t tsc;
	uint32_t used;
	uint16_t cpu;
};

struct leftover {
	EP_ARRAY(struct page) pages;
	uint64_t address; /* of the section, process virtual */
	uint64_t size;
	uint8_t *section; /* a copy */
	uint64_t identity;
};

/* ---- pages ---- */

static uint32_t used_of(const uint8_t *bytes)
{
	uint64_t commit;

	memcpy(&commit, bytes + 8, sizeof(commit));
	commit &= COMMIT_MASK;
	return commit && commit <= EP_PAGE - PAGE_HEAD ? PAGE_HEAD + (uint32_t)commit : 0;
}

/* False: there are too many. */
static bool add_page(struct leftover *r, const uint8_t *bytes, unsigned cpu)
{
	uint8_t *copy;
	struct page *page;

	if (!used_of(bytes))
		return true;
	if (r->pages.count == PAGES_MAX)
		return false;
	/* The kernel may write to what is mapped. */
	copy = ep_malloc(EP_PAGE);
	memcpy(copy, bytes, EP_PAGE);
	page = ep_array_add(&r->pages);
	*page = (struct page){.bytes = copy, .used = used_of(copy), .cpu = (uint16_t)cpu};
	memcpy(&page->tsc, copy, sizeof(page->tsc));
	return true;
}

/* Without taking anything away. */
static bool map_pages(struct leftover *r, int fd, unsigned cpu)
{
	struct buffer_meta meta;
	uint8_t *head = mmap(NULL, EP_PAGE, PROT_READ, MAP_SHARED, fd, 0);
	uint8_t *data = MAP_FAILED;
	size_t size = 0;

	if (head == MAP_FAILED)
		return false;
	memcpy(&meta, head, sizeof(meta));
	if (meta.subbuf_size == EP_PAGE && meta.nr_subbufs <= PAGES_MAX) {
		size = (size_t)meta.nr_subbufs * EP_PAGE;
		data = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, meta.meta_page_size);
	}
	for (size_t at = 0; data != MAP_FAILED && at < size; at += EP_PAGE)
		if (!add_page(r, data + at, cpu))
			break;
	if (data != MAP_FAILED)
		munmap(data, size);
	munmap(head, EP_PAGE);
	return data != MAP_FAILED;
}

static void read_pages(struct leftover *r, int fd, unsigned cpu)
{
	uint8_t bytes[EP_PAGE];

	while (read(fd, bytes, sizeof(bytes)) == (ssize_t)sizeof(bytes) && add_page(r, bytes, cpu))
		;
}

static void read_buffer(struct leftover *r, int fd, unsigned cpu)
{
	if (!map_pages(r, fd, cpu))
		read_pages(r, fd, cpu);
}

/* False: there is no such CPU. */
static bool read_cpu(struct leftover *r, int folder, unsigned cpu)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "per_cpu/cpu%u/trace_pipe_raw", cpu);
	fd = openat(folder, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return false;
	read_buffer(r, fd, cpu);
	close(fd);
	return true;
}

static int compare_pages(const void *a, const void *b)
{
	const struct page *x = a, *y = b;

	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return (x->tsc > y->tsc) - (x->tsc < y->tsc);
}

static void read_held(struct leftover *r, const struct ep_held *held, const char *name)
{
	for (size_t i = 0; i < held->buffers.count; i++) {
		const struct ep_held_buffer *buffer = &held->buffers.list[i];

		if (strcmp(buffer->instance, name) == 0)
			read_buffer(r, buffer->fd, buffer->cpu);
	}
}

static void read_named(struct leftover *r, const char *name)
{
	char path[128];
	int folder = -1;

	for (unsigned i = 0; i < 2 && folder < 0; i++) {
		snprintf(path, sizeof(path), "%s/instances/%s", mounts[i], name);
		folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	if (folder < 0)
		return;
	for (unsigned cpu = 0; cpu < CPUS_MAX; cpu++)
		if (!read_cpu(r, folder, cpu))
			break;
	close(folder);
}

static void read_instance(struct leftover *r, const struct ep_source *source, const char *name)
{
	if (source->held)
		read_held(r, source->held, name);
	else
		read_named(r, name);
	ep_array_sort(&r->pages, compare_pages);
}

/* ---- the section ---- */

/* Where chunks go on: behind the one with the greatest number. */
struct pen {
	uint64_t segment, at, sequence;
};

static uint64_t padded(uint64_t size)
{
	return (size + 7) & ~UINT64_C(7);
}

static struct ep_sched_chunk *chunk_at(const struct leftover *r, const struct ep_sched *head,
				       uint64_t segment, uint64_t at)
{
	return (void *)(r->section + head->pool_offset + segment * EP_SCHED_SEGMENT + at);
}

static uint64_t offset_of(const struct leftover *r, const void *place)
{
	return (uint64_t)((const uint8_t *)place - r->section);
}

static void find_end(const struct leftover *r, const struct ep_sched *head, struct pen *pen)
{
	for (uint64_t s = 0; s < head->pool_size / EP_SCHED_SEGMENT; s++)
		for (uint64_t at = 0; at + sizeof(struct ep_sched_chunk) <= EP_SCHED_SEGMENT;) {
			const struct ep_sched_chunk *chunk = chunk_at(r, head, s, at);
			uint64_t end = at + sizeof(*chunk) + padded(chunk->size);

			if (!chunk->check || end > EP_SCHED_SEGMENT ||
			    chunk->check != ep_sched_check(chunk, offset_of(r, chunk), r->identity))
				break;
			at = end;
			if (chunk->sequence > pen->sequence)
				*pen = (struct pen){s, at, chunk->sequence};
		}
}

static void append(const struct leftover *r, const struct ep_sched *head, struct pen *pen,
		   const struct page *page)
{
	uint64_t need = sizeof(struct ep_sched_chunk) + padded(page->used);
	struct ep_sched_chunk *chunk;

	if (pen->at + need > EP_SCHED_SEGMENT) {
		pen->segment = (pen->segment + 1) % (head->pool_size / EP_SCHED_SEGMENT);
		pen->at = 0;
	}
	chunk = chunk_at(r, head, pen->segment, pen->at);
	memset(chunk, 0, need);
	memcpy(chunk + 1, page->bytes, page->used);
	chunk->sequence = ++pen->sequence;
	chunk->size = page->used;
	chunk->cpu = page->cpu;
	chunk->source = EP_SCHED_FTRACE;
	chunk->tsc = page->tsc;
	chunk->check = ep_sched_check(chunk, offset_of(r, chunk), r->identity);
	pen->at += need;
	if (pen->at + sizeof(*chunk) <= EP_SCHED_SEGMENT)
		chunk_at(r, head, pen->segment, pen->at)->check = 0;
}

/* Who records the whole machine leaves an instance that goes on with it. What was recorded long
 * after the last drain is of others alone, and would be written over what is of the process. */
static bool is_late(const struct ep_sched *head, const struct page *page)
{
	return head->machine && page->tsc > head->drained_tsc + DRAINED;
}

static bool is_for_us(const struct leftover *r, struct ep_sched *head)
{
	char identity[20];
	size_t length;

	head->instance[sizeof(head->instance) - 1] = '\0';
	length = strlen(head->instance);
	snprintf(identity, sizeof(identity), ".%016" PRIx64, r->identity);
	return head->state == EP_SCHED_ON && head->source == EP_SCHED_FTRACE &&
	       strncmp(head->instance, "epitaph.", 8) == 0 && length > 25 &&
	       !strchr(head->instance, '/') &&
	       strcmp(head->instance + length - 17, identity) == 0 &&
	       head->segment_size == EP_SCHED_SEGMENT && head->pool_size >= EP_SCHED_SEGMENT &&
	       head->pool_offset % 8 == 0 && head->pool_offset <= r->size &&
	       head->pool_size <= r->size - head->pool_offset;
}

/* The section's place and bytes; false: there is none. */
static bool find_section(struct leftover *r, struct ep_source *source,
			 const struct ep_root_found *found)
{
	struct ep_arena arena;

	if (ep_source_read(source, found->arena_address, &arena, sizeof(arena), NULL, NULL) !=
		    EP_OK ||
	    arena.root.identity != found->root.identity)
		return false;
	for (unsigned i = 0; i < EP_SECTION_MAX; i++) {
		const struct ep_section *section = &arena.sections[i];

		if (section->type != EP_SECTION_SCHED || section->size < sizeof(struct ep_sched) ||
		    section->size > SECTION_MAX || section->offset > found->root.arena_size ||
		    section->size > found->root.arena_size - section->offset)
			continue;
		r->address = found->arena_address + section->offset;
		r->size = section->size;
		return true;
	}
	return false;
}

static void copy_section(struct leftover *r, struct ep_source *source)
{
	r->section = ep_calloc(r->size, 1);
	/* Untouched pages of it may not be in a core. */
	for (uint64_t at = 0; at < r->size; at += EP_PAGE)
		ep_source_read(source, r->address + at, r->section + at,
			       r->size - at < EP_PAGE ? r->size - at : EP_PAGE, NULL, NULL);
}

unsigned ep_leftover_add(struct ep_source *source, const struct ep_root_found *found)
{
	struct leftover r = {.identity = found->root.identity};
	struct pen pen = {0, 0, 0};
	struct ep_sched head;
	unsigned added = 0;

	if (source->kind == EP_SOURCE_LIVE || source->kind == EP_SOURCE_FUNTRACE ||
	    !find_section(&r, source, found) ||
	    ep_source_read(source, r.address, &head, sizeof(head), NULL, NULL) != EP_OK ||
	    !is_for_us(&r, &head))
		return 0;
	read_instance(&r, source, head.instance);
	if (r.pages.count == 0)
		return 0;
	copy_section(&r, source);
	find_end(&r, &head, &pen);
	for (size_t i = 0; i < r.pages.count; i++) {
		if (!is_late(&head, &r.pages.list[i])) {
			append(&r, &head, &pen, &r.pages.list[i]);
			added++;
		}
		free(r.pages.list[i].bytes);
	}
	ep_source_lay_over(source, r.address, r.section, r.size);
	ep_array_deinit(&r.pages);
	return added;
}
