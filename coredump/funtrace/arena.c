/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arena.c: an arena by runtime/format.h, made of what a funtrace.raw tells. All records are timed.
 * What such a file does not tell stays empty or 0: nothing is made up.
 */
#include <string.h>

#include "coredump/funtrace/funtrace_impl.h"
#include "coredump/find/root.h"

/* Where it is said to lie: as in a process, low and page aligned. */
#define ADDRESS UINT64_C(0x200000000)

/* The file gives a rate without a bound for its error. At worst it was measured over 100 ms of
 * sleep (funtrace.cpp, cpu_cycles_per_second), which a loaded machine stretches between two looks
 * at a clock: 3.4 % were seen. */
#define RATE_ERROR_PPB 50000000u

/* Blocks may take 64 MiB and 8 times the bytes of the entries: 5 are needed at worst when few
 * entries lie hours apart. */
#define LIMIT_LEAST (UINT64_C(64) << 20)
#define LIMIT_SHARE 8u

#define WRITER "funtrace" /* in place of the runtime's version */

static uint64_t round_up(uint64_t value, uint64_t unit)
{
	return (value + unit - 1) / unit * unit;
}

/* ---- room ---- */

/* Zeroed bytes at the end, from a multiple of `unit` on; their offset. */
static uint64_t room(struct ep_funtrace_arena *arena, uint64_t size, uint64_t unit)
{
	uint64_t at = round_up(arena->bytes.count, unit), end = at + size;

	ep_array_reserve(&arena->bytes, end);
	memset(arena->bytes.list + arena->bytes.count, 0, end - arena->bytes.count);
	arena->bytes.count = end;
	return at;
}

static struct ep_arena *header(struct ep_funtrace_arena *arena)
{
	return (struct ep_arena *)(void *)arena->bytes.list;
}

/* A section of zeroes; its offset. */
static uint64_t section(struct ep_funtrace_arena *arena, uint32_t type, uint32_t entry_size,
			uint64_t size, uint64_t unit)
{
	uint64_t at = room(arena, size, unit);
	struct ep_arena *head = header(arena);

	head->sections[head->section_count++] = (struct ep_section){type, entry_size, at, size};
	return at;
}

/* ---- the process ---- */

static struct ep_string string_put(uint8_t *start, uint32_t *used, const void *text, size_t size)
{
	struct ep_string string = {*used, (uint32_t)size};

	memcpy(start + *used, text, size);
	*used += string.length;
	return string;
}

/* The program: the module that the command line names, else the first, which dl_iterate_phdr and
 * the kernel's map both begin with. */
static size_t program_of(const struct ep_funtrace_content *content)
{
	const struct ep_funtrace_module *modules = content->modules.list;
	const uint8_t *word = content->command;
	size_t size = 0;

	for (; size < content->command_size && word[size] != ' '; size++)
		;
	for (size_t n = size; n > 0; n--)
		if (word[n - 1] == '/') {
			word += n;
			size -= n;
			break;
		}
	for (size_t i = 0; size && i < content->modules.count; i++)
		if (modules[i].path_size > size &&
		    modules[i].path[modules[i].path_size - size - 1] == '/' &&
		    memcmp(modules[i].path + modules[i].path_size - size, word, size) == 0)
			return i;
	return 0;
}

#define COMMAND_MAX (64u << 10)

static void put_process(struct ep_funtrace_arena *arena, const struct ep_funtrace_module *program)
{
	const struct ep_funtrace_content *content = arena->content;
	size_t words = content->command_size < COMMAND_MAX ? content->command_size : COMMAND_MAX;
	size_t path = program ? program->path_size : 0;
	uint32_t used = sizeof(struct ep_process);
	struct ep_process *process;
	uint64_t at = section(arena, EP_SECTION_PROCESS, sizeof(*process),
			      used + words + path + sizeof(WRITER), 64);
	uint8_t *start = arena->bytes.list + at;

	process = (struct ep_process *)(void *)start;
	for (size_t i = 0; i < content->buffers.count && !process->pid; i++)
		process->pid = (uint32_t)content->buffers.list[i].id.pid;
	header(arena)->root.pid = process->pid;
	process->page_size = EP_PAGE;
	if (path)
		process->executable = string_put(start, &used, program->path, path);
	if (words)
		process->command_line = string_put(start, &used, content->command, words);
	process->runtime = string_put(start, &used, WRITER, sizeof(WRITER) - 1);
}

static void put_clock(struct ep_funtrace_arena *arena)
{
	uint64_t at = section(arena, EP_SECTION_CLOCK, sizeof(struct ep_clock),
			      sizeof(struct ep_clock), 64);
	struct ep_clock *clock = (struct ep_clock *)(void *)(arena->bytes.list + at);

	clock->tsc_hz = arena->content->hz;
	clock->error_ppb = RATE_ERROR_PPB;
}

/* ---- the load map ---- */

static void put_module(struct ep_module *to, uint8_t *start, uint32_t *used,
		       const struct ep_funtrace_module *from)
{
	to->state = EP_MODULE_VALID;
	to->flags = EP_MODULE_NO_HEADER;
	to->start = from->start;
	to->end = from->end;
	to->bias = from->start - from->offset;
	to->path = string_put(start, used, from->path, from->path_size);
	to->build_id_size = from->build_id_size;
	memcpy(to->build_id, from->build_id, from->build_id_size);
}

static void put_modules(struct ep_funtrace_arena *arena, size_t program)
{
	const struct ep_funtrace_module *modules = arena->content->modules.list;
	size_t count = arena->content->modules.count;
	uint64_t strings = sizeof(struct ep_modules) + count * sizeof(struct ep_module);
	uint32_t used = (uint32_t)strings;
	uint64_t texts = 0, at;
	struct ep_modules *head;
	struct ep_module *list;

	for (size_t i = 0; i < count; i++)
		texts += modules[i].path_size;
	at = section(arena, EP_SECTION_MODULES, sizeof(struct ep_module), strings + texts, 64);
	head = (struct ep_modules *)(void *)(arena->bytes.list + at);
	list = (struct ep_module *)(head + 1);
	head->count = head->capacity = (uint32_t)count;
	head->strings = used;
	for (size_t i = 0; i < count; i++)
		put_module(&list[i], (uint8_t *)head, &used, &modules[i]);
	if (count)
		list[program].flags |= EP_MODULE_EXECUTABLE;
	head->strings_end = used;
}

/* ---- the whole ---- */

void ep_funtrace_arena_begin(struct ep_funtrace_arena *arena,
			     const struct ep_funtrace_content *content)
{
	size_t program = program_of(content);
	uint64_t entries = 0;
	struct ep_arena *head;

	for (size_t i = 0; i < content->buffers.count; i++)
		entries += ep_cursor_left(&content->buffers.list[i].entries);

	*arena = (struct ep_funtrace_arena){
		.content = content,
		.identity = EP_ANCHOR_KEY ^ content->hz,
	};
	room(arena, EP_PAGE, 1);
	put_process(arena, content->modules.count ? &content->modules.list[program] : NULL);
	put_clock(arena);
	arena->threads = section(arena, EP_SECTION_THREADS, sizeof(struct ep_thread),
				 (content->buffers.count + 1) * sizeof(struct ep_thread), 64);
	put_modules(arena, program);
	section(arena, EP_SECTION_RINGS, EP_BLOCK_SIZE, 0, EP_PAGE);
	arena->limit = arena->bytes.count + LIMIT_LEAST + LIMIT_SHARE * entries;
	head = header(arena);
	head->block_size = EP_BLOCK_SIZE;
	head->timestamp_every = 1;
}

void ep_funtrace_arena_end(struct ep_funtrace_arena *arena)
{
	struct ep_arena *head = header(arena);
	struct ep_root *root = &head->root;
	struct ep_section *rings = &head->sections[head->section_count - 1];

	rings->size = arena->bytes.count - rings->offset;
	head->committed = head->memory_size = arena->bytes.count;
	memcpy(root->magic, EP_ARENA_MAGIC, EP_MAGIC_SIZE);
	root->major = EP_FORMAT_MAJOR;
	root->minor = EP_FORMAT_MINOR;
	root->size = sizeof(*root);
	root->self = root->arena_address = ADDRESS;
	root->arena_size = arena->bytes.count;
	root->identity = arena->identity;
	root->arch = EP_ARCH_X86_64;
	root->crc = ep_crc32(root, offsetof(struct ep_root, crc));
}

/* ---- records ---- */

void ep_funtrace_writer_init(struct ep_funtrace_writer *writer, struct ep_funtrace_arena *arena,
			     uint32_t serial, bool whole)
{
	*writer = (struct ep_funtrace_writer){
		.arena = arena, .serial = serial, .sequence = whole ? 0 : 1};
}

static struct ep_block *block_of(const struct ep_funtrace_writer *writer)
{
	return (struct ep_block *)(void *)(writer->arena->bytes.list + writer->at);
}

static void block_begin(struct ep_funtrace_writer *writer, uint64_t tsc, uint8_t flags)
{
	struct ep_funtrace_arena *arena = writer->arena;
	struct ep_block *block;

	writer->at = room(arena, EP_BLOCK_SIZE, EP_PAGE);
	writer->next = 0;
	writer->last = tsc;
	writer->blocks++;
	block = block_of(writer);
	block->tsc = tsc;
	block->sequence = ++writer->sequence;
	block->owner = writer->serial;
	block->every = 1;
	block->flags = (uint8_t)(flags | (writer->sequence == 1 ? EP_BLOCK_FIRST : 0));
	block->check = ep_block_check(block, writer->at, arena->identity);
}

/* Room for `words` at `tsc`, with the escape that they need. False: the arena is full. */
static bool reserve(struct ep_funtrace_writer *writer, unsigned words, uint64_t tsc)
{
	uint64_t gap = writer->blocks ? tsc - writer->last : 0;
	/* In ticks it may be one more: an escape has room for less. */
	bool is_long = gap >= EP_LONG_GAP_CYCLES - (2u << EP_TICK_SHIFT);

	words += gap > EP_GAP_CYCLES;
	if (!writer->blocks || is_long || writer->next + words > EP_BLOCK_RECORDS) {
		if (writer->arena->bytes.count > writer->arena->limit)
			return false;
		block_begin(writer, tsc, is_long ? EP_BLOCK_LONG_GAP : 0);
	}
	if (tsc - writer->last > EP_GAP_CYCLES)
		block_of(writer)->records[writer->next++] = ep_escape_make(
			EP_ESCAPE_TIME, (uint32_t)(tsc >> EP_TICK_SHIFT >> 16 & 0x3ffffff));
	writer->last = tsc;
	return true;
}

static uint64_t stamp_of(uint64_t tsc)
{
	uint64_t stamp = tsc >> EP_TICK_SHIFT & 0xffff;

	return stamp ? stamp : 1;
}

bool ep_funtrace_put(struct ep_funtrace_writer *writer, uint64_t address, bool is_return,
		     uint64_t tsc)
{
	if (!reserve(writer, 1, tsc))
		return false;
	block_of(writer)->records[writer->next++] =
		stamp_of(tsc) << EP_STAMP_SHIFT | (is_return ? EP_RETURN_BIT : 0) | address;
	return true;
}

bool ep_funtrace_put_mark(struct ep_funtrace_writer *writer, unsigned mark, uint64_t address,
			  uint64_t tsc)
{
	const uint32_t half = 26, mask = (1u << half) - 1;
	uint64_t *words;

	if (!reserve(writer, 3, tsc))
		return false;
	words = block_of(writer)->records + writer->next;
	words[0] = ep_escape_make(EP_ESCAPE_MARK, (uint32_t)(mark | 2u << 5 | stamp_of(tsc) << 10));
	words[1] = ep_escape_make(EP_ESCAPE_DATA, (uint32_t)address & mask);
	words[2] = ep_escape_make(EP_ESCAPE_DATA, (uint32_t)(address >> half) & mask);
	writer->next += 3;
	return true;
}

void ep_funtrace_writer_end(struct ep_funtrace_writer *writer, const struct ep_funtrace_id *id)
{
	struct ep_thread *thread =
		(struct ep_thread *)(void *)(writer->arena->bytes.list + writer->arena->threads) +
		writer->serial - 1;

	thread->flags = id->tid && id->pid == id->tid ? EP_THREAD_MAIN : 0;
	thread->serial = writer->serial;
	thread->tid = (uint32_t)id->tid;
	thread->blocks = writer->blocks ? writer->sequence : 0;
	thread->ring_size = writer->blocks * EP_BLOCK_SIZE;
	if (writer->blocks)
		thread->ring_offset = writer->at - (writer->blocks - 1) * EP_BLOCK_SIZE;
	memcpy(thread->name, id->name, sizeof(id->name));
	thread->state = EP_THREAD_LIVE;
}
