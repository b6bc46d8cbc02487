/* SPDX-License-Identifier: BSD-2-Clause */
/* build_arena.c: writes format.h's layout by hand; it must not share code with the runtime, or a
 * mistake there would agree with itself here. */
#include "tests/unit/build_arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "coredump/find/root.h"

#define PAGE                  4096u
#define PROCESS_SECTION       16384u
#define MODULE_STRINGS        256u /* bytes a module on average */
#define ALIGN_UP(value, unit) (((value) + (unit)-1) / (unit) * (unit))

static void must(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "build_arena: %s\n", what);
	abort();
}

/* ---- the whole ---- */

static uint64_t section_add(struct build_arena *b, uint32_t type, uint32_t entry_size,
			    uint64_t offset, uint64_t size)
{
	struct ep_section *section = &b->arena->sections[b->arena->section_count++];

	must(offset + size <= b->size, "arena too small for its sections");
	*section = (struct ep_section){type, entry_size, offset, size};
	return offset + size;
}

static void sections_fill(struct build_arena *b, const struct build_arena_options *o)
{
	uint64_t at = PAGE, modules_size;
	uint32_t entries = o->module_capacity * sizeof(struct ep_module);

	b->process = (void *)(b->bytes + at);
	b->process_strings = sizeof(struct ep_process);
	at = section_add(b, EP_SECTION_PROCESS, sizeof(struct ep_process), at, PROCESS_SECTION);
	b->clock = (void *)(b->bytes + at);
	at = section_add(b, EP_SECTION_CLOCK, sizeof(struct ep_clock), at, sizeof(struct ep_clock));
	b->threads = (void *)(b->bytes + at);
	at = section_add(b, EP_SECTION_THREADS, sizeof(struct ep_thread), at,
			 o->thread_capacity * sizeof(struct ep_thread));
	b->modules = (void *)(b->bytes + at);
	modules_size = sizeof(struct ep_modules) + entries + o->module_capacity * MODULE_STRINGS;
	at = section_add(b, EP_SECTION_MODULES, sizeof(struct ep_module), at,
			 ALIGN_UP(modules_size, 64));
	b->modules->capacity = o->module_capacity;
	b->modules->strings = sizeof(struct ep_modules) + entries;
	b->modules->strings_end = b->modules->strings;
	at = ALIGN_UP(at, PAGE);
	section_add(b, EP_SECTION_RINGS, EP_BLOCK_SIZE, at, b->size - at);
	b->committed = at;
}

static void root_fill(struct build_arena *b, const struct build_arena_options *o)
{
	struct ep_root *root = &b->arena->root;

	memcpy(root->magic, EP_ARENA_MAGIC, EP_MAGIC_SIZE);
	root->major = EP_FORMAT_MAJOR;
	root->minor = EP_FORMAT_MINOR;
	root->size = sizeof(*root);
	root->self = root->arena_address = o->address;
	root->arena_size = b->size;
	root->pid = o->pid;
	root->identity = o->identity;
	root->arch = EP_ARCH_X86_64;
	b->arena->block_size = EP_BLOCK_SIZE;
	b->arena->ring_size = 1u << 20;
	b->arena->memory_size = b->size;
	b->arena->clock_budget = 50000;
}

static struct ep_string string_of(struct build_arena *b, const char *text)
{
	return build_arena_string(b, text, strlen(text));
}

static void process_fill(struct build_arena *b, const struct build_arena_options *o)
{
	static const char words[] = "/usr/bin/server\0--port\0"
				    "80";
	struct ep_process *process = b->process;

	process->pid = o->pid;
	process->parent_pid = 1;
	process->uid = process->gid = 1000;
	process->start_tsc = o->start_tsc;
	process->start_realtime = UINT64_C(1700000000000000000);
	process->page_size = PAGE;
	process->cpus = 2;
	process->executable = string_of(b, "/usr/bin/server");
	process->command_line = build_arena_string(b, words, sizeof(words));
	process->directory = string_of(b, "/srv");
	process->host = string_of(b, "host");
	process->kernel = string_of(b, "6.1.0");
	process->cgroup = string_of(b, "0::/");
	process->runtime = string_of(b, "0.1.0");
}

static void clock_fill(struct build_arena *b, const struct build_arena_options *o)
{
	uint64_t raw = UINT64_C(5000000000);

	b->clock->tsc_hz = o->tsc_hz;
	b->clock->error_ppb = 1000;
	b->clock->read_cost = 20;
	build_arena_anchor(b, 0, o->start_tsc, raw, b->process->start_realtime, 100);
	build_arena_anchor(b, 1, o->start_tsc + 10 * o->tsc_hz, raw + UINT64_C(10000000000),
			   b->process->start_realtime + UINT64_C(10000000000), 100);
}

struct build_arena *build_arena_create(const struct build_arena_options *options)
{
	struct build_arena_options o = options ? *options : BUILD_ARENA_DEFAULTS;
	struct build_arena *b = calloc(1, sizeof(*b));

	must(b != NULL, "out of memory");
	must(o.thread_capacity <= BUILD_ARENA_THREADS, "too many threads");
	b->size = ALIGN_UP(o.size, PAGE);
	/* Most tests use a few pages of it: of the kernel's zeroes the others cost nothing. */
	b->bytes = mmap(NULL, b->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	must(b->bytes != MAP_FAILED, "out of memory");
	b->arena = (void *)b->bytes;
	root_fill(b, &o);
	sections_fill(b, &o);
	process_fill(b, &o);
	clock_fill(b, &o);
	build_arena_seal(b);
	return b;
}

void build_arena_destroy(struct build_arena *b)
{
	if (b)
		munmap(b->bytes, b->size);
	free(b);
}

void build_root_seal(struct ep_root *root)
{
	root->crc = ep_crc32(root, offsetof(struct ep_root, crc));
}

struct ep_section *build_section_of(struct build_arena *b, uint32_t type)
{
	struct ep_section *section = b->arena->sections;

	while (section->type != type)
		section++;
	return section;
}

void build_arena_seal(struct build_arena *b)
{
	b->arena->committed = b->committed;
	build_root_seal(&b->arena->root);
}

void *build_arena_section(struct build_arena *b, uint32_t type, uint32_t entry_size, uint64_t size)
{
	struct ep_section *rings = b->arena->sections;
	uint64_t at = b->committed, whole = ALIGN_UP(size, PAGE);

	while (rings->type != EP_SECTION_RINGS)
		rings++;
	must(rings->offset == at && whole <= b->size - at, "no room for a section");
	rings->offset += whole;
	rings->size -= whole;
	section_add(b, type, entry_size, at, size);
	b->committed += whole;
	return b->bytes + at;
}

struct ep_root build_arena_root(const struct build_arena *b, uint64_t self)
{
	struct ep_root root = b->arena->root;

	memcpy(root.magic, EP_ROOT_MAGIC, EP_MAGIC_SIZE);
	root.self = self;
	build_root_seal(&root);
	return root;
}

/* ---- process facts and clock ---- */

struct ep_string build_arena_string(struct build_arena *b, const void *text, size_t length)
{
	struct ep_string string = {b->process_strings, (uint32_t)length};

	must(length <= PROCESS_SECTION - b->process_strings, "process section full");
	memcpy((uint8_t *)b->process + string.offset, text, length);
	b->process_strings += length;
	return string;
}

void build_arena_anchor(struct build_arena *b, unsigned slot, uint64_t tsc, uint64_t monotonic_raw,
			uint64_t realtime, uint64_t width)
{
	must(slot < EP_ANCHORS, "no such anchor");
	b->clock->anchors[slot] = (struct ep_anchor){
		.tsc = tsc,
		.monotonic_raw = monotonic_raw,
		.realtime = realtime,
		.width = width,
		.check = tsc ^ monotonic_raw ^ realtime ^ width ^ EP_ANCHOR_KEY,
	};
	if (b->clock->taken < slot + 1)
		b->clock->taken = slot + 1;
}

/* ---- threads and modules ---- */

struct ep_thread *build_arena_thread(struct build_arena *b, uint32_t tid, const char *name,
				     uint32_t ring_blocks)
{
	uint64_t capacity = b->arena->sections[2].size / sizeof(struct ep_thread);
	struct ep_thread *thread = &b->threads[b->thread_count];
	uint64_t ring = (uint64_t)ring_blocks * EP_BLOCK_SIZE;

	must(b->thread_count < capacity, "thread table full");
	must((ring_blocks & (ring_blocks - 1)) == 0, "not a power of two");
	must(ring <= b->size - b->committed, "arena full");
	thread->serial = ++b->thread_count;
	thread->tid = tid;
	thread->state = EP_THREAD_LIVE;
	thread->start_tsc = b->process->start_tsc;
	strncpy(thread->name, name, sizeof(thread->name) - 1);
	if (ring_blocks == 0)
		thread->flags |= EP_THREAD_WITHOUT_RING;
	else
		thread->ring_offset = b->committed;
	thread->ring_size = ring;
	b->committed += ring;
	build_arena_seal(b);
	return thread;
}

struct ep_module *build_arena_module_at(struct build_arena *b, uint32_t index)
{
	must(index < b->modules->capacity, "load map full");
	return (struct ep_module *)(b->modules + 1) + index;
}

struct ep_module *build_arena_module(struct build_arena *b, const char *path, uint64_t start,
				     uint64_t end, uint64_t bias, const void *build_id,
				     uint32_t build_id_size)
{
	struct ep_modules *head = b->modules;
	struct ep_module *module = build_arena_module_at(b, head->count);
	uint32_t length = (uint32_t)strlen(path);

	must(head->strings_end + length <= b->arena->sections[3].size, "load map's strings full");
	must(build_id_size <= EP_BUILD_ID_MAX, "build-id too long");
	head->count++;
	memcpy((uint8_t *)head + head->strings_end, path, length);
	module->path = (struct ep_string){head->strings_end, length};
	head->strings_end += length;
	module->start = start;
	module->end = end;
	module->bias = bias;
	module->load_tsc = b->process->start_tsc;
	if (build_id) {
		memcpy(module->build_id, build_id, build_id_size);
		module->build_id_size = build_id_size;
	}
	module->state = EP_MODULE_VALID;
	return module;
}

/* ---- blocks and records ---- */

struct ep_block *build_block_at(struct build_arena *b, struct ep_thread *thread, uint32_t index)
{
	uint64_t offset = thread->ring_offset + (uint64_t)index * EP_BLOCK_SIZE;

	must(thread->ring_size != 0, "thread without ring");
	must(offset + EP_BLOCK_SIZE <= thread->ring_offset + thread->ring_size, "no such block");
	return (struct ep_block *)(b->bytes + offset);
}

void build_block_seal(struct build_arena *b, struct ep_block *block)
{
	block->check = ep_block_check(block, (uint64_t)((uint8_t *)block - b->bytes),
				      b->arena->root.identity);
}

struct ep_block *build_block(struct build_arena *b, struct ep_thread *thread, uint64_t tsc)
{
	uint32_t blocks = (uint32_t)(thread->ring_size / EP_BLOCK_SIZE);
	struct build_cursor *cursor = &b->cursors[thread->serial - 1];
	struct ep_block *block;

	must(blocks != 0, "thread without ring");
	block = build_block_at(b, thread, (uint32_t)(thread->blocks % blocks));
	memset(block, 0, sizeof(*block));
	block->tsc = tsc;
	block->sequence = ++thread->blocks;
	block->owner = thread->serial;
	block->every = 1;
	block->flags = block->sequence == 1 ? EP_BLOCK_FIRST : 0;
	build_block_seal(b, block);
	*cursor = (struct build_cursor){block, 0, tsc};
	return block;
}

struct ep_block *build_block_of(struct build_arena *b, struct ep_thread *thread, uint64_t tsc,
				const uint64_t *records, size_t count)
{
	struct ep_block *block = build_block(b, thread, tsc);

	must(count <= EP_BLOCK_RECORDS, "too many records for a block");
	memcpy(block->records, records, count * sizeof(*records));
	b->cursors[thread->serial - 1].next = (uint32_t)count;
	return block;
}

uint64_t build_record(uint64_t address, bool is_return, uint64_t tsc)
{
	uint64_t stamp = tsc >> EP_TICK_SHIFT & 0xffff;

	must(address <= EP_ADDRESS_MASK, "address needs more than 47 bits");
	if (tsc != 0 && stamp == 0)
		stamp = 1;
	return (tsc ? stamp << EP_STAMP_SHIFT : 0) | (is_return ? EP_RETURN_BIT : 0) | address;
}

/* True when the event at `tsc` cannot go into the block that is open. */
static bool block_is_over(const struct build_cursor *cursor, uint64_t tsc)
{
	uint32_t words = 1;

	if (!cursor->block)
		return true;
	if (tsc && tsc - cursor->last_tsc > EP_LONG_GAP_CYCLES)
		return true;
	if (tsc && tsc - cursor->last_tsc > EP_GAP_CYCLES)
		words = 2;
	return cursor->next + words > EP_BLOCK_RECORDS;
}

void build_event(struct build_arena *b, struct ep_thread *thread, uint64_t address, bool is_return,
		 uint64_t tsc)
{
	struct build_cursor *cursor = &b->cursors[thread->serial - 1];

	if (block_is_over(cursor, tsc)) {
		bool gap = cursor->block && tsc && tsc - cursor->last_tsc > EP_LONG_GAP_CYCLES;
		struct ep_block *block = build_block(b, thread, tsc ? tsc : cursor->last_tsc);

		if (gap)
			block->flags |= EP_BLOCK_LONG_GAP;
		build_block_seal(b, block);
	}
	if (tsc && tsc - cursor->last_tsc > EP_GAP_CYCLES)
		cursor->block->records[cursor->next++] = ep_escape_make(
			EP_ESCAPE_TIME, (uint32_t)(tsc >> EP_TICK_SHIFT >> 16 & 0x3ffffff));
	cursor->block->records[cursor->next++] = build_record(address, is_return, tsc);
	if (tsc)
		cursor->last_tsc = tsc;
}
