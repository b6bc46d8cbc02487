/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pages.c: chooses the pages of a snapshot: the arena, what the process kept, the tops of the
 * stacks that an unwinder needs, and the pages by which gdb and libdwfl find out what was loaded
 * where (the first page of each ELF mapping, the vDSO, the dynamic linker's list as <link.h> lays
 * it out).
 */
#include "coredump/snapshot/pages.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/find/abortmessage.h"
#include "coredump/memory/elfimage.h"
#include "coredump/memory/source_impl.h"
#include "coredump/snapshot/image.h"
#include "coredump/snapshot/kept.h"
#include "coredump/util/alloc.h"

#define BELOW_SP 256u /* the red zone is 128 (psABI 3.2.2) */
/* The thread that died may have raised the signal in a handler, to take it when that had returned:
 * below is then the frame of the first signal, with the state of the floating point unit. */
#define BELOW_FIRST (20u << 10)
/* A stack that has overflowed ends above its pointer: how far to look. */
#define GUARD_MAX (1u << 20)

#define LINK_MAPS_MAX  65536u /* far more than any process has */
#define DYNAMIC_MAX    (64u << 10)
#define VDSO_MAX       (64u << 10)
#define NAME_MAX_BYTES 4096u

struct choice {
	struct ep_pages *pages;
	struct ep_source *source;
	const struct ep_root_found *found;
	const struct ep_page_options *options;
};

/* ---- the snapshot that we read, if it is one ---- */

static void before_find(struct ep_pages *pages, const struct ep_source *source)
{
	for (size_t i = 0; i < source->notes.count && !pages->before.size; i++) {
		const struct ep_note *note = &source->notes.list[i];
		size_t room;

		if (!ep_note_is_snapshot(note) || note->desc_size < sizeof(pages->before))
			continue;
		memcpy(&pages->before, note->desc, sizeof(pages->before));
		if (pages->before.size < sizeof(pages->before) ||
		    pages->before.size > note->desc_size) {
			pages->before.size = 0;
			continue;
		}
		room = (note->desc_size - pages->before.size) / sizeof(struct ep_snapshot_thread);
		if (pages->before.thread_count > room)
			pages->before.thread_count = (uint32_t)room;
		pages->before_threads = note->desc + pages->before.size;
	}
	if (!pages->before.size)
		memset(&pages->before, 0, sizeof(pages->before));
}

/* ---- stacks ---- */

/* The segment of the stack whose pointer is `sp`: it, or after an overflow the one above the
 * guard. */
static const struct ep_segment *stack_segment(const struct ep_source *source, uint64_t sp)
{
	const struct ep_segment *segment = ep_source_segment_at(source, sp);

	for (size_t i = 0; !segment && i < source->segments.count; i++)
		if (source->segments.list[i].address > sp)
			segment = &source->segments.list[i];
	while (segment && segment->present_size == 0 && !(segment->flags & PF_W)) {
		if (++segment == source->segments.list + source->segments.count)
			return NULL;
	}
	if (!segment || (segment->address > sp && segment->address - sp > GUARD_MAX))
		return NULL;
	return segment;
}

/* The pages from sp - below up, `bytes` of stack, within the segment. */
static struct ep_range stack_range(const struct ep_source *source, uint64_t sp, uint64_t bytes,
				   uint64_t below)
{
	const struct ep_segment *segment = stack_segment(source, sp);
	uint64_t low = sp > below ? sp - below : 0, high, end;

	if (!segment) {
		low &= ~(uint64_t)(EP_PAGE - 1);
		return (struct ep_range){low, low};
	}
	if (low < segment->address)
		low = segment->address;
	low &= ~(uint64_t)(EP_PAGE - 1);
	end = segment->address + segment->memory_size;
	bytes += EP_PAGE + (below & ~(uint64_t)(EP_PAGE - 1));
	high = end - low > bytes ? low + bytes : end;
	return (struct ep_range){low, high & ~(uint64_t)(EP_PAGE - 1)};
}

/*
 * A handler on an alternate stack: the interrupted stack is a second one. Its pointer stands in the
 * ucontext that the kernel pushed (Linux arch/x86/include/uapi/asm/ucontext.h, sigcontext.h); ours
 * is told by uc_stack, which holds the very place that we are reading, and by a user code segment.
 * 0: none.
 */
static uint64_t interrupted_sp(const uint8_t *bytes, size_t size, uint64_t address)
{
	enum { UC_LINK = 1, SS_SP = 2, SS_SIZE = 4, RSP = 20, CS = 23 };
	uint64_t words[CS + 1];

	for (size_t at = 0; at + sizeof(words) <= size; at += 8) {
		memcpy(words, bytes + at, sizeof(words));
		if (words[0] > 0xf || words[UC_LINK] != 0 || (words[CS] & 0xffff) != 0x33)
			continue;
		if (address + at >= words[SS_SP] && address + at - words[SS_SP] < words[SS_SIZE] &&
		    words[RSP] - words[SS_SP] >= words[SS_SIZE])
			return words[RSP];
	}
	return 0;
}

static uint64_t second_stack(struct ep_source *source, const struct ep_range *range)
{
	size_t size = range->end - range->start, got;
	uint8_t *bytes = ep_malloc(size);
	struct ep_err ignored;
	uint64_t sp;

	ep_source_read(source, range->start, bytes, size, &got, &ignored);
	sp = interrupted_sp(bytes, got, range->start);
	free(bytes);
	return sp;
}

/* How much of each stack: the first thread's whole share, the others' so that all fit into the
 * bound. */
static uint64_t share(const struct choice *c, size_t index)
{
	uint64_t each = c->options->stack_bytes_total /
			(c->pages->thread_count ? c->pages->thread_count : 1);

	each &= ~(uint64_t)(EP_PAGE - 1);
	if (index == 0 || each >= c->options->stack_bytes)
		return c->options->stack_bytes;
	return each < EP_PAGE ? EP_PAGE : each;
}

/* What a snapshot's own note says of that thread: the mapping's end is not known any more. */
static void wanted_before(const struct choice *c, uint32_t tid, uint64_t *wanted)
{
	for (uint32_t i = 0; i < c->pages->before.thread_count; i++) {
		struct ep_snapshot_thread thread;

		memcpy(&thread, c->pages->before_threads + i * sizeof(thread), sizeof(thread));
		if (thread.tid == tid) {
			*wanted = thread.stack_wanted;
			return;
		}
	}
}

static struct ep_range stack_add(struct choice *c, uint64_t sp, uint64_t bytes,
				 struct ep_snapshot_thread *thread)
{
	uint64_t below = thread == c->pages->threads ? BELOW_FIRST : BELOW_SP;
	struct ep_range whole = stack_range(c->source, sp, c->options->stack_bytes, below);
	struct ep_range range = stack_range(c->source, sp, bytes, below);

	thread->stack_wanted +=
		whole.end > whole.start ? whole.end - whole.start : c->options->stack_bytes;
	thread->stack_saved += ep_range_present(c->source, range.start, range.end);
	ep_ranges_add(&c->pages->all, range.start, range.end - range.start);
	return range;
}

static void thread_stack(struct choice *c, size_t index, uint64_t *left)
{
	const struct ep_source_thread *from = &c->source->threads.list[index];
	struct ep_snapshot_thread *thread = &c->pages->threads[index];
	uint64_t bytes = share(c, index), second;
	struct ep_range range;

	if (!from->has_registers || bytes > *left) {
		thread->stack_wanted = c->options->stack_bytes;
	} else {
		range = stack_add(c, from->registers.sp, bytes, thread);
		second = second_stack(c->source, &range);
		if (second)
			stack_add(c, second, bytes, thread);
		*left -= thread->stack_saved < *left ? thread->stack_saved : *left;
	}
	wanted_before(c, from->tid, &thread->stack_wanted);
}

static void choose_stacks(struct choice *c)
{
	uint64_t left = c->options->stack_bytes_total;

	if (c->options->stack_bytes == 0 || c->options->arena_only)
		return;
	for (size_t i = 0; i < c->pages->thread_count; i++)
		thread_stack(c, i, &left);
}

/* ---- modules ---- */

static bool is_elf(struct ep_source *source, uint64_t address)
{
	char magic[SELFMAG];
	struct ep_err ignored;

	return ep_source_read(source, address, magic, sizeof(magic), NULL, &ignored) == EP_OK &&
	       memcmp(magic, ELFMAG, SELFMAG) == 0;
}

static bool is_code(const struct ep_source *source, uint64_t address)
{
	const struct ep_segment *segment = ep_source_segment_at(source, address);

	return segment && segment->flags & PF_X;
}

/* These bytes stay when something is redacted. */
static void exact_add(struct choice *c, uint64_t start, uint64_t end)
{
	if (c->options->redact)
		ep_array_push(&c->pages->exact, ((struct ep_range){start, end}));
}

/* Pages with these bytes; of the rest of them nothing is wanted. */
static void pages_add(struct choice *c, uint64_t address, uint64_t size)
{
	exact_add(c, address, address + size);
	ep_ranges_add(&c->pages->modules, address, size);
}

/* An object's first page. Without paths, its headers and notes: behind them may be an interpreter,
 * RUNPATHs, names of libraries. */
static void first_page(struct choice *c, uint64_t start)
{
	uint64_t end = start + EP_PAGE;
	struct ep_elf_image image;

	if (!(c->options->redact & EP_REDACTED_PATHS)) {
		pages_add(c, start, EP_PAGE);
		return;
	}
	ep_ranges_add(&c->pages->modules, start, EP_PAGE);
	if (ep_elf_image_read(&image, c->source, start, NULL))
		return;
	pages_add(c, start, sizeof(Elf64_Ehdr) + image.count * sizeof(Elf64_Phdr));
	for (uint32_t i = 0; i < image.count; i++) {
		const Elf64_Phdr *one = &image.headers[i];
		uint64_t at = image.bias + one->p_vaddr;

		if (one->p_type == PT_NOTE && at >= start && at < end)
			pages_add(c, at, one->p_filesz < end - at ? one->p_filesz : end - at);
	}
}

/* An object whose first page was not saved is told by its code: by a mapping of the same file that
 * follows it. So they are looked at from the last on. */
static void first_pages(struct choice *c)
{
	struct ep_source *source = c->source;
	const char *path = "";
	bool code = false;

	for (size_t i = source->mappings.count; i--;) {
		const struct ep_mapping *mapping = &source->mappings.list[i];

		code = is_code(source, mapping->start) ||
		       (code && strcmp(mapping->path, path) == 0);
		path = mapping->path;
		if (mapping->file_offset == 0 && (code || is_elf(source, mapping->start)))
			first_page(c, mapping->start);
	}
	/* Without a list of files every segment may begin an object; else memory of no file that
	 * nobody writes to, which a program may have put its code into. */
	for (size_t i = 0; i < source->segments.count; i++) {
		const struct ep_segment *one = &source->segments.list[i];

		if ((!source->mappings.count || !(one->flags & PF_W)) &&
		    is_elf(source, one->address))
			first_page(c, one->address);
	}
}

static void vdso(struct choice *c)
{
	const struct ep_segment *segment;
	uint64_t address;

	if (ep_source_auxv(c->source, AT_SYSINFO_EHDR, &address))
		return;
	segment = ep_source_segment_at(c->source, address);
	if (segment && segment->memory_size <= VDSO_MAX)
		pages_add(c, segment->address, segment->memory_size);
}

/* ---- the dynamic linker's list ---- */

/* Value of the tag in .dynamic; 0: absent. */
static uint64_t dynamic_value(struct ep_source *source, uint64_t address, uint64_t size,
			      int64_t tag)
{
	struct ep_err ignored;
	Elf64_Dyn entry;

	for (uint64_t at = 0; at + sizeof(entry) <= size; at += sizeof(entry)) {
		if (ep_source_read(source, address + at, &entry, sizeof(entry), NULL, &ignored) ||
		    entry.d_tag == DT_NULL)
			return 0;
		if (entry.d_tag == tag)
			return entry.d_un.d_val;
	}
	return 0;
}

/* Tells a list that goes round (Brent): a node is compared with one that was passed before and is
 * moved up at each power of two. */
struct walk {
	uint64_t anchor, steps, until;
};

static bool walk_goes_on(struct walk *walk, uint64_t node)
{
	if (node == 0 || node == walk->anchor)
		return false;
	if (walk->steps++ == walk->until) {
		walk->anchor = node;
		walk->until = 2 * walk->until + 1;
	}
	return true;
}

static void link_maps(struct choice *c, uint64_t node, uint32_t *budget)
{
	struct walk walk = {0};

	while (walk_goes_on(&walk, node) && *budget) {
		char name[NAME_MAX_BYTES];
		struct ep_err ignored;
		struct link_map map;

		(*budget)--;
		pages_add(c, node, sizeof(map));
		if (ep_source_read(c->source, node, &map, sizeof(map), NULL, &ignored))
			return;
		ep_source_read_string(c->source, (uint64_t)(uintptr_t)map.l_name, name,
				      sizeof(name), &ignored);
		if (map.l_name && !(c->options->redact & EP_REDACTED_PATHS))
			pages_add(c, (uint64_t)(uintptr_t)map.l_name, strlen(name) + 1);
		node = (uint64_t)(uintptr_t)map.l_next;
	}
}

/* Every namespace's list (dlmopen): r_next, since r_version 2. */
static void linker_lists(struct choice *c, uint64_t address)
{
	uint32_t budget = LINK_MAPS_MAX;
	struct walk walk = {0};

	while (walk_goes_on(&walk, address) && budget) {
		struct r_debug_extended debug = {0};
		struct ep_err ignored;

		budget--;
		pages_add(c, address, sizeof(debug));
		if (ep_source_read(c->source, address, &debug.base, sizeof(debug.base), NULL,
				   &ignored))
			return;
		link_maps(c, (uint64_t)(uintptr_t)debug.base.r_map, &budget);
		if (debug.base.r_version < 2 ||
		    ep_source_read(c->source, address, &debug, sizeof(debug), NULL, &ignored))
			return;
		address = (uint64_t)(uintptr_t)debug.r_next;
	}
}

static void executable(struct choice *c)
{
	struct ep_elf_image image;
	struct ep_err ignored;
	const Elf64_Phdr *dynamic;
	uint64_t address, size;

	if (ep_source_auxv(c->source, AT_PHDR, &address) == EP_OK)
		pages_add(c, address, sizeof(image.headers[0]));
	if (ep_elf_image_executable(&image, c->source, &ignored))
		return;
	if (image.start)
		first_page(c, image.start);
	dynamic = ep_elf_image_header(&image, PT_DYNAMIC);
	if (!dynamic)
		return;
	address = image.bias + dynamic->p_vaddr;
	size = dynamic->p_memsz < DYNAMIC_MAX ? dynamic->p_memsz : DYNAMIC_MAX;
	pages_add(c, address, size);
	linker_lists(c, dynamic_value(c->source, address, size, DT_DEBUG));
}

/* A page or two. */
static void abort_message(struct choice *c)
{
	struct ep_abort_message message;

	if (!ep_abort_message_find(&message, c->source) || c->options->redact & EP_REDACTED_NOTES)
		return;
	pages_add(c, message.pointer, sizeof(message.pointer));
	pages_add(c, message.address, message.size);
}

/* The root, and behind it the path of the arena's file. */
static void root_page(struct choice *c)
{
	const struct ep_root *root = &c->found->root;
	uint64_t address = c->found->root_address;

	pages_add(c, address, sizeof(*root));
	if (!(c->options->redact & EP_REDACTED_PATHS) && root->file_path <= EP_PAGE &&
	    root->file_path_size <= EP_PAGE)
		exact_add(c, address + root->file_path,
			  address + root->file_path + root->file_path_size);
}

static void choose_modules(struct choice *c)
{
	struct ep_pages *pages = c->pages;

	if (c->options->arena_only)
		return;
	first_pages(c);
	vdso(c);
	executable(c);
	abort_message(c);
	if (c->found->root_address)
		root_page(c);
	/* What is wanted for other reasons may share a page. */
	for (size_t i = 0; i < pages->all.count; i++)
		exact_add(c, pages->all.list[i].start, pages->all.list[i].end);
	ep_ranges_join(&pages->modules);
	ep_ranges_add_all(&pages->all, &pages->modules);
}

/* ---- the trace ---- */

static void choose_arena(struct choice *c)
{
	struct ep_kept_list kept;

	c->pages->arena_size = ep_image_wanted(c->source, c->found);
	ep_ranges_add(&c->pages->all, c->found->arena_address, c->pages->arena_size);
	/* What the process kept is part of the trace; what is not there is left out. */
	ep_kept_list(&kept, c->source, c->found);
	for (size_t i = 0; i < kept.count; i++)
		if (kept.list[i].present)
			ep_ranges_add(&c->pages->all, kept.list[i].kept.address,
				      kept.list[i].kept.size);
	ep_kept_list_deinit(&kept);
}

/* ---- all of it ---- */

static void threads_fill(struct ep_pages *pages, struct ep_source *source)
{
	const struct ep_source_thread *list = ep_source_threads(source, &pages->thread_count);

	pages->threads = ep_calloc(pages->thread_count, sizeof(*pages->threads));
	for (size_t i = 0; i < pages->thread_count; i++) {
		pages->threads[i].tid = list[i].tid;
		pages->threads[i].stack_pointer = list[i].registers.sp;
	}
}

void ep_pages_choose(struct ep_pages *pages, struct ep_source *source,
		     const struct ep_root_found *found, const struct ep_page_options *options)
{
	struct choice c = {pages, source, found, options};

	memset(pages, 0, sizeof(*pages));
	before_find(pages, source);
	threads_fill(pages, source);
	choose_arena(&c);
	choose_stacks(&c);
	choose_modules(&c);
	ep_ranges_join(&pages->all);
}

void ep_pages_deinit(struct ep_pages *pages)
{
	ep_ranges_deinit(&pages->all);
	ep_ranges_deinit(&pages->modules);
	ep_array_deinit(&pages->exact);
	free(pages->threads);
}
