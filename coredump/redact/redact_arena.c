/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * redact_arena.c: an arena, section by section. What lies in no section that is known here, or
 * behind what is known of one, is wiped: a later runtime may have put text there.
 */
#include <stdlib.h>
#include <string.h>

#include "coredump/redact/redact_impl.h"
#include "coredump/util/alloc.h"
#include "coredump/memory/source_impl.h"
#include "runtime/format_watchdogs.h"

#define NAMES (EP_REDACTED_CMDLINE | EP_REDACTED_PATHS | EP_REDACTED_NOTES)

struct arena {
	struct ep_redaction *r;
	uint64_t address, size;
	struct ep_section sections[EP_SECTION_MAX];
	uint32_t count;
};

/* ---- where sections are ---- */

/* NULL: not all of them are there. */
static uint8_t *bytes_at(struct arena *arena, uint64_t offset, uint64_t size)
{
	return ep_gathered_at(arena->r->gathered, arena->address + offset, size);
}

/* What begins with a head: that. False: it is not there. */
static bool head_read(struct arena *arena, const struct ep_section *section, void *head,
		      uint64_t size)
{
	const uint8_t *bytes = bytes_at(arena, section->offset, size);

	if (!bytes || section->size < size)
		return false;
	memcpy(head, bytes, size);
	return true;
}

/* What lies inside of the arena. False: its first page is not there, or no table. */
static bool sections_read(struct arena *arena)
{
	const struct ep_section first = {.size = sizeof(struct ep_arena)};
	struct ep_arena head;

	arena->count = 0;
	if (!head_read(arena, &first, &head, sizeof(head)))
		return false;
	for (uint32_t i = 0; i < head.section_count && i < EP_SECTION_MAX; i++) {
		struct ep_section one = head.sections[i];

		if (one.offset < EP_PAGE || one.offset >= arena->size || one.offset % 64)
			continue;
		if (one.size > arena->size - one.offset)
			one.size = arena->size - one.offset;
		arena->sections[arena->count++] = one;
	}
	return arena->count != 0;
}

static void wipe(struct arena *arena, uint64_t offset, uint64_t size)
{
	if (offset >= arena->size)
		return;
	if (size > arena->size - offset)
		size = arena->size - offset;
	ep_gathered_wipe(arena->r->gathered, arena->address + offset, size);
}

void ep_redact_find_modules(struct ep_redaction *r)
{
	struct arena arena = {.r = r, .address = r->arena, .size = UINT32_MAX};
	struct ep_modules head;

	if (!sections_read(&arena))
		return;
	for (uint32_t i = 0; i < arena.count; i++) {
		struct ep_section *one = &arena.sections[i];

		if (one->type != EP_SECTION_MODULES || one->entry_size < sizeof(struct ep_module) ||
		    one->size < sizeof(head))
			continue;
		if (head_read(&arena, one, &head, sizeof(head))) {
			r->modules = *one;
			r->module_count = head.count < head.capacity ? head.count : head.capacity;
		}
		return;
	}
}

/* ---- the process ---- */

#define STRINGS 8

/* Those that stay, in the order of `out`; the others get length 0. */
static void choose_strings(const struct ep_redaction *r, struct ep_process *process,
			   struct ep_string *out[STRINGS])
{
	struct {
		struct ep_string *string;
		uint32_t word;
	} all[STRINGS] = {
		{&process->executable, EP_REDACTED_PATHS},
		{&process->command_line, EP_REDACTED_CMDLINE},
		{&process->directory, EP_REDACTED_PATHS},
		{&process->host, 0},
		{&process->kernel, 0},
		{&process->cgroup, EP_REDACTED_PATHS},
		{&process->runtime, 0},
		{&process->oom_file, EP_REDACTED_PATHS},
	};

	for (unsigned i = 0; i < STRINGS; i++) {
		if (r->words & all[i].word)
			*all[i].string = (struct ep_string){0, 0};
		out[i] = all[i].string;
	}
}

/* The strings that stay are laid down anew, without what was between them. */
static void redact_process(struct arena *arena, const struct ep_section *at)
{
	enum { MOST = 65536 };
	uint64_t size = at->size < MOST ? at->size : MOST;
	uint8_t *bytes = bytes_at(arena, at->offset, size);
	struct ep_string *strings[STRINGS];
	struct ep_process process;
	uint32_t used = sizeof(process);
	uint8_t *made;

	if (!bytes || size < sizeof(process)) {
		wipe(arena, at->offset, at->size);
		return;
	}
	made = ep_calloc(1, MOST);
	memcpy(&process, bytes, sizeof(process));
	choose_strings(arena->r, &process, strings);
	for (unsigned i = 0; i < STRINGS; i++) {
		struct ep_string *one = strings[i];

		if (one->length == 0 || one->offset > size || one->length > size - one->offset ||
		    one->length > size - used) {
			*one = (struct ep_string){0, 0};
			continue;
		}
		memcpy(made + used, bytes + one->offset, one->length);
		one->offset = used;
		used += one->length;
	}
	memcpy(made, &process, sizeof(process));
	memcpy(bytes, made, size);
	free(made);
	wipe(arena, at->offset + size, at->size - size);
}

/* ---- tables with names ---- */

typedef void name_fn(const struct ep_redaction *r, uint8_t *name, size_t size);

static void redact_names(struct arena *arena, const struct ep_section *at, uint64_t offset,
			 size_t size, name_fn *redact)
{
	uint64_t end = at->offset + at->size;

	for (uint64_t one = at->offset; end - one >= at->entry_size; one += at->entry_size) {
		uint8_t *name = bytes_at(arena, one + offset, size);

		if (name)
			redact(arena->r, name, size);
	}
}

static void redact_thread_name(const struct ep_redaction *r, uint8_t *name, size_t size)
{
	if (ep_redact_hides_name(r, name, size))
		memset(name, 0, size);
}

static void redact_threads(struct arena *arena, const struct ep_section *at)
{
	if (at->entry_size >= sizeof(struct ep_thread))
		redact_names(arena, at, offsetof(struct ep_thread, name),
			     sizeof(((struct ep_thread *)NULL)->name), redact_thread_name);
}

/* One byte stays NUL. */
static void redact_watchdog_name(const struct ep_redaction *r, uint8_t *name, size_t size)
{
	ep_redact_token(r, name, size - 1);
	name[size - 1] = 0;
}

static void redact_watchdogs(struct arena *arena, const struct ep_section *at)
{
	if (arena->r->words & EP_REDACTED_NOTES && at->entry_size >= sizeof(struct ep_watchdog))
		redact_names(arena, at, offsetof(struct ep_watchdog, name),
			     sizeof(((struct ep_watchdog *)NULL)->name), redact_watchdog_name);
}

/* No path, and no bytes of one; who reads it goes by the build-id. */
static void redact_modules(struct arena *arena, const struct ep_section *at)
{
	uint64_t entry = at->offset + sizeof(struct ep_modules);
	uint64_t end = at->offset + at->size;
	struct ep_modules head;

	if (!(arena->r->words & EP_REDACTED_PATHS))
		return;
	if (at->entry_size < sizeof(struct ep_module) ||
	    !head_read(arena, at, &head, sizeof(head))) {
		wipe(arena, at->offset, at->size);
		return;
	}
	for (uint64_t i = 0; i < head.capacity && end - entry >= at->entry_size;
	     i++, entry += at->entry_size)
		wipe(arena, entry + offsetof(struct ep_module, path), sizeof(struct ep_string));
	wipe(arena, entry, end - entry);
}

/* ---- stacks that were taken at a miss ---- */

/* The same bytes that go from the stack itself. */
static void redact_arguments(struct arena *arena, uint64_t section,
			     const struct ep_stack_taken *taken)
{
	const struct ep_range *all = &arena->r->arguments;
	uint64_t low = taken->address, high;

	if (__builtin_add_overflow(low, taken->size, &high))
		return;
	low = low > all->start ? low : all->start;
	high = high < all->end ? high : all->end;
	if (low < high)
		wipe(arena, section + taken->offset + (low - taken->address), high - low);
}

static void redact_stack(struct arena *arena, uint64_t section, uint64_t offset)
{
	enum { ORIG_RAX = 15, RIP = 16, RSP = 19 }; /* <sys/reg.h> */
	uint8_t *bytes = bytes_at(arena, offset, sizeof(struct ep_stack_taken));
	struct ep_stack_taken taken;

	if (!bytes)
		return;
	memcpy(&taken, bytes, sizeof(taken));
	redact_arguments(arena, section, &taken);
	if (arena->r->words & EP_REDACTED_STACKS)
		taken.size = 0;
	for (unsigned i = 0; i < 27; i++)
		if (arena->r->words & EP_REDACTED_REGISTERS && i != RIP && i != RSP &&
		    i != ORIG_RAX)
			taken.registers[i] = 0;
	memcpy(bytes, &taken, sizeof(taken));
}

static void redact_stacks(struct arena *arena, const struct ep_section *at)
{
	uint64_t entry = at->offset + sizeof(struct ep_stacks);
	uint64_t end = at->offset + at->size;
	struct ep_stacks head;

	if (!head_read(arena, at, &head, sizeof(head))) {
		wipe(arena, at->offset, at->size);
		return;
	}
	for (uint32_t i = 0; i < head.capacity && end - entry >= sizeof(struct ep_stack_taken);
	     i++, entry += sizeof(struct ep_stack_taken))
		redact_stack(arena, at->offset, entry);
	if (arena->r->words & EP_REDACTED_STACKS)
		wipe(arena, entry, end - entry);
}

/* ---- rings ---- */

static void redact_rings(struct arena *arena, const struct ep_section *at)
{
	uint64_t end = at->offset + at->size;

	if (!(arena->r->words & EP_REDACTED_NOTES))
		return;
	for (uint64_t one = at->offset; end - one >= EP_BLOCK_SIZE; one += EP_BLOCK_SIZE) {
		uint8_t *bytes = bytes_at(arena, one, EP_BLOCK_SIZE);

		if (bytes)
			ep_redact_block(arena->r, (struct ep_block *)bytes, one);
	}
}

/* ---- the whole ---- */

static void redact_sched(struct arena *arena, const struct ep_section *at)
{
	if (arena->r->words & NAMES)
		ep_redact_sched(arena->r, arena->address + at->offset, at->size);
}

static void leave(struct arena *arena, const struct ep_section *at)
{
	(void)arena;
	(void)at;
}

static void redact_section(struct arena *arena, const struct ep_section *at)
{
	static const struct {
		uint32_t type;
		void (*redact)(struct arena *arena, const struct ep_section *at);
	} known[] = {
		{EP_SECTION_PROCESS, redact_process},
		{EP_SECTION_THREADS, redact_threads},
		{EP_SECTION_MODULES, redact_modules},
		{EP_SECTION_RINGS, redact_rings},
		{EP_SECTION_SCHED, redact_sched},
		{EP_SECTION_WATCHDOGS, redact_watchdogs},
		{EP_SECTION_STACKS, redact_stacks},
		{EP_SECTION_CLOCK, leave},
		{EP_SECTION_KEPT, leave},
		{EP_SECTION_COUNTS, leave},
		{EP_SECTION_SWITCHES, leave},
		{EP_SECTION_LOOKS, leave},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (known[i].type == at->type) {
			known[i].redact(arena, at);
			return;
		}
	wipe(arena, at->offset, at->size);
}

static void wipe_between(struct arena *arena)
{
	uint64_t from = EP_PAGE;

	wipe(arena, sizeof(struct ep_arena), EP_PAGE - sizeof(struct ep_arena));
	/* The next section that begins at or behind `from`, until none does. */
	while (from < arena->size) {
		uint64_t next = arena->size, end = arena->size;

		for (uint32_t i = 0; i < arena->count; i++) {
			const struct ep_section *one = &arena->sections[i];
			uint64_t behind = one->offset + one->size;

			if (behind <= from || one->offset > next)
				continue;
			next = one->offset > from ? one->offset : from;
			end = behind;
		}
		wipe(arena, from, next - from);
		from = end;
	}
}

/* Whole pages of the arena that a piece has. */
static void redact_piece(struct arena *arena, const struct ep_elfcore_piece *piece)
{
	uint64_t first = piece->address > arena->address ? piece->address - arena->address : 0;
	uint64_t end = piece->address + piece->size - arena->address;
	uint64_t skip = (EP_PAGE - first % EP_PAGE) % EP_PAGE;

	if (end > arena->size)
		end = arena->size;
	if (end <= first + skip || first + skip < first)
		return;
	for (uint64_t at = first + skip; end - at >= EP_PAGE; at += EP_PAGE) {
		uint8_t *page = ep_gathered_at(arena->r->gathered, arena->address + at, EP_PAGE);

		if (page)
			ep_redact_block(arena->r, (struct ep_block *)page, at);
	}
}

/* Any page may be anything: blocks are known by themselves. Of a damaged arena its size may be
 * anything, too: what is looked at is what was gathered of it. */
static void redact_pages(struct arena *arena)
{
	const struct ep_gathered *gathered = arena->r->gathered;
	size_t i = ep_gathered_behind(gathered, arena->address);

	for (; i < gathered->pieces.count; i++)
		redact_piece(arena, &gathered->pieces.list[i]);
}

void ep_redact_arena(struct ep_redaction *r, uint64_t address, uint64_t size)
{
	struct arena arena = {.r = r, .address = address, .size = size};

	if (!sections_read(&arena)) {
		redact_pages(&arena);
		return;
	}
	for (uint32_t i = 0; i < arena.count; i++)
		redact_section(&arena, &arena.sections[i]);
	wipe_between(&arena);
}
