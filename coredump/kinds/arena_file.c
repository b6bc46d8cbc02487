/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * arena_file.c: the file of EPITAPH_FILE: offset 0 is the arena's first byte. What it says of
 * itself is checked as a core's is: its root by magic, CRC and version, its tables by bounds.
 */
#include "coredump/kinds/arena_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coredump/kinds/arena_impl.h"
#include "coredump/files/regularfile.h"
#include "coredump/find/root_impl.h"
#include "coredump/memory/source_impl.h"

#define THREADS_MAX 65536u /* entries of the table that are looked at */

bool ep_arena_file_is(const char *path)
{
	char magic[EP_MAGIC_SIZE];
	int fd = ep_regular_file_open(path);
	bool is = fd >= 0 && pread(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
		  memcmp(magic, EP_ARENA_MAGIC, sizeof(magic)) == 0;

	if (fd >= 0)
		close(fd);
	return is;
}

/* ---- reading ---- */

static int fault(const struct ep_source *source, uint64_t at, struct ep_err *err)
{
	const struct ep_segment *segment = ep_source_segment_at(source, at);

	if (!segment)
		return ep_fail(err, EP_E_UNMAPPED, at,
			       "%s: 0x%" PRIx64 " is not in it: it holds the trace only",
			       source->name, at);
	return ep_fail(err, EP_E_TRUNCATED, at,
		       "%s: 0x%" PRIx64 " should lie at offset 0x%" PRIx64
		       ", but the file ends at 0x%" PRIx64,
		       source->name, at, at - segment->address, source->file_size);
}

static int arena_read(struct ep_source *source, uint64_t address, void *out, size_t size,
		      size_t *done, struct ep_err *err)
{
	const struct ep_segment *segment = ep_source_segment_at(source, address);
	uint64_t within = segment ? address - segment->address : 0, n;
	int rc;

	if (!segment || within >= segment->present_size)
		return fault(source, address, err);
	n = segment->present_size - within;
	n = n < size ? n : size;
	rc = ep_file_read(source->fd, source->path, within, out, n, done, err);
	return rc ? rc : n < size ? fault(source, address + n, err) : EP_OK;
}

static uint64_t arena_next_data(struct ep_source *source, uint64_t address, uint64_t limit)
{
	(void)source;
	return address < limit ? address : limit;
}

static const struct ep_source_ops arena_ops = {
	.read = arena_read,
	.next_data = arena_next_data,
};

/* ---- what it says of itself ---- */

/* Reads up to `size` bytes of the section of that type; how many there were. */
static size_t section_read(const struct ep_source *source, const struct ep_arena *arena,
			   uint32_t type, void *out, size_t size)
{
	size_t got = 0;

	for (uint32_t i = 0; i < EP_SECTION_MAX; i++) {
		const struct ep_section *section = &arena->sections[i];

		if (section->type != type)
			continue;
		if (section->size < size)
			size = section->size;
		ep_file_read(source->fd, source->path, section->offset, out, size, &got, NULL);
		return got;
	}
	return 0;
}

static uint32_t entry_size(const struct ep_arena *arena, uint32_t type)
{
	for (uint32_t i = 0; i < EP_SECTION_MAX; i++)
		if (arena->sections[i].type == type)
			return arena->sections[i].entry_size;
	return 0;
}

static int thread_add(struct ep_source *source, const struct ep_thread *entry, struct ep_err *err)
{
	struct ep_source_thread *thread;

	if (entry->state != EP_THREAD_LIVE || !entry->tid)
		return EP_OK;
	if (!ep_list_grow(&source->threads, source->thread_count, &source->thread_capacity,
			  sizeof(*thread)))
		return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
	thread = &source->threads[source->thread_count++];
	memset(thread, 0, sizeof(*thread));
	thread->tid = entry->tid;
	memcpy(thread->name, entry->name, sizeof(thread->name) - 1);
	return EP_OK;
}

/* Those that had not ended, as far as the table knows. */
static int threads_read(struct ep_source *source, const struct ep_arena *arena, struct ep_err *err)
{
	size_t each = entry_size(arena, EP_SECTION_THREADS), got;
	size_t room = each * THREADS_MAX;
	int rc = EP_OK;
	uint8_t *bytes;

	if (each < sizeof(struct ep_thread) || each > EP_PAGE)
		return EP_OK;
	if (room > source->file_size)
		room = source->file_size;
	bytes = malloc(room + 1);
	if (!bytes)
		return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
	got = section_read(source, arena, EP_SECTION_THREADS, bytes, room);
	for (size_t at = 0; at + each <= got && rc == EP_OK; at += each) {
		struct ep_thread entry;

		memcpy(&entry, bytes + at, sizeof(entry));
		rc = thread_add(source, &entry, err);
	}
	free(bytes);
	return rc;
}

static int life_look(struct ep_source *source, const struct ep_arena *arena, struct ep_err *err)
{
	struct {
		struct ep_process process;
		char rest[60 << 10]; /* where strings lie */
	} *facts = calloc(1, sizeof(*facts));
	char path[4096] = "";
	struct ep_string text;
	size_t got;

	if (!facts)
		return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
	got = section_read(source, arena, EP_SECTION_PROCESS, facts, sizeof(*facts));
	text = facts->process.oom_file;
	if (text.length < sizeof(path) && text.offset <= got && text.length <= got - text.offset)
		memcpy(path, (const char *)facts + text.offset, text.length);
	ep_arena_life(source->arena_file, source->fd, &facts->process, arena->root.self, path);
	source->changing = source->arena_file->life != EP_LIFE_ENDED;
	free(facts);
	return EP_OK;
}

/* ---- opening ---- */

static int root_check(const struct ep_source *source, const struct ep_arena *arena,
		      struct ep_err *err)
{
	int rc = ep_root_check(&arena->root, EP_ARENA_MAGIC, arena->root.self, err);

	if (rc == EP_END)
		return ep_fail(err, EP_E_FORMAT, 0, "%s: not an arena: it does not begin with %s",
			       source->name, EP_ARENA_MAGIC);
	if (rc)
		ep_err_prefix(err, "%s", source->name);
	/* A root of a process that has no arena. */
	else if (!arena->root.arena_size)
		rc = ep_fail(err, EP_E_CORRUPT, 0, "%s: not an arena: it has no size",
			     source->name);
	return rc;
}

static uint64_t at_most(uint64_t value, uint64_t limit)
{
	return value < limit ? value : limit;
}

static int segment_make(struct ep_source *source, const struct ep_arena *arena, struct ep_err *err)
{
	uint64_t size = arena->committed;

	if (size < sizeof(*arena) || size % EP_PAGE || size > arena->root.arena_size)
		size = arena->root.arena_size;
	source->segments = calloc(1, sizeof(*source->segments));
	if (!source->segments)
		return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
	source->segments[0] = (struct ep_segment){
		.address = arena->root.self,
		.memory_size = size,
		.saved_size = size,
		.present_size = at_most(size, source->file_size),
		.flags = PF_R | PF_W,
	};
	source->segment_count = 1;
	if (source->file_size < size)
		ep_source_warn(source, "%s: cut off: %" PRIu64 " of %" PRIu64 " bytes are left",
			       source->path, source->file_size, size);
	return EP_OK;
}

static int arena_load(struct ep_source *source, struct ep_err *err)
{
	struct ep_arena arena;
	struct stat st;
	int rc;

	source->fd = ep_regular_file_open(source->path);
	if (source->fd < 0 || fstat(source->fd, &st) != 0)
		return ep_fail(err, errno == EACCES ? EP_E_PERMISSION : EP_E_IO, 0, "%s: %m",
			       source->path);
	source->file_size = (uint64_t)st.st_size;
	rc = ep_file_read(source->fd, source->path, 0, &arena, sizeof(arena), NULL, err);
	rc = rc ? rc : root_check(source, &arena, err);
	rc = rc ? rc : segment_make(source, &arena, err);
	if (rc)
		return rc;
	source->pid = (pid_t)arena.root.pid;
	source->arena_file = calloc(1, sizeof(*source->arena_file));
	if (!source->arena_file)
		return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
	rc = life_look(source, &arena, err);
	return rc ? rc : threads_read(source, &arena, err);
}

int ep_source_open_arena(struct ep_source **out, const char *path, struct ep_err *err)
{
	struct ep_source *source = ep_source_new(EP_SOURCE_ARENA, &arena_ops, path);
	int rc;

	if (source)
		source->path = strdup(path);
	if (!source || !source->path) {
		ep_source_close(source);
		return ep_fail(err, EP_E_MEMORY, 0, "out of memory");
	}
	rc = arena_load(source, err);
	if (rc)
		ep_source_close(source);
	else
		*out = source;
	return rc;
}

const struct ep_arena_file *ep_source_arena_file(const struct ep_source *source)
{
	return source->arena_file;
}
