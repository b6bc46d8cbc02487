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
#include "coredump/find/root_check.h"
#include "coredump/memory/source_impl.h"
#include "coredump/util/alloc.h"

#define THREADS_MAX 65536u /* entries of the table that are looked at */

/* ---- reading ---- */

static int arena_fault(const struct ep_source *source, const struct ep_segment *segment,
		       uint64_t at, struct ep_err *err)
{
	if (!segment)
		return ep_fail(err, EP_E_UNMAPPED, at,
			       "%s: 0x%" PRIx64 " is not in it: it holds the trace only",
			       source->name, at);
	return ep_fail(err, EP_E_TRUNCATED, at,
		       "%s: 0x%" PRIx64 " should lie at offset 0x%" PRIx64
		       ", but the file ends at 0x%" PRIx64,
		       source->name, at, at - segment->address, source->file_size);
}

static int arena_read(struct ep_source *source, const struct ep_segment *segment, uint64_t at,
		      void *out, size_t size, size_t *got, struct ep_err *err)
{
	return ep_file_read(source->fd, source->path, at - segment->address, out, size, got, err);
}

static void arena_close(struct ep_source *source)
{
	free(source->arena_file);
}

static const struct ep_source_ops arena_ops = {
	.read = arena_read,
	.fault = arena_fault,
	.close = arena_close,
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

static void thread_add(struct ep_source *source, const struct ep_thread *entry)
{
	struct ep_source_thread *thread;

	if (entry->state != EP_THREAD_LIVE || !entry->tid)
		return;
	thread = ep_array_add(&source->threads);
	thread->tid = entry->tid;
	memcpy(thread->name, entry->name, sizeof(thread->name) - 1);
}

/* Those that had not ended, as far as the table knows. */
static void threads_read(struct ep_source *source, const struct ep_arena *arena)
{
	size_t each = entry_size(arena, EP_SECTION_THREADS), got;
	size_t room = each * THREADS_MAX;
	uint8_t *bytes;

	if (each < sizeof(struct ep_thread) || each > EP_PAGE)
		return;
	if (room > source->file_size)
		room = source->file_size;
	bytes = ep_malloc(room);
	got = section_read(source, arena, EP_SECTION_THREADS, bytes, room);
	for (size_t at = 0; at + each <= got; at += each) {
		struct ep_thread entry;

		memcpy(&entry, bytes + at, sizeof(entry));
		thread_add(source, &entry);
	}
	free(bytes);
}

static void life_look(struct ep_source *source, const struct ep_arena *arena)
{
	struct {
		struct ep_process process;
		char rest[60 << 10]; /* where strings lie */
	} *facts = ep_calloc(1, sizeof(*facts));
	char path[4096] = "";
	struct ep_string text;
	size_t got = section_read(source, arena, EP_SECTION_PROCESS, facts, sizeof(*facts));

	text = facts->process.oom_file;
	if (text.length < sizeof(path) && text.offset <= got && text.length <= got - text.offset)
		memcpy(path, (const char *)facts + text.offset, text.length);
	source->arena_file = ep_calloc(1, sizeof(*source->arena_file));
	ep_arena_life(source->arena_file, source->fd, &facts->process, arena->root.self, path);
	source->changing = source->arena_file->life != EP_LIFE_ENDED;
	free(facts);
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

static void segment_make(struct ep_source *source, const struct ep_arena *arena)
{
	uint64_t size = arena->committed;

	if (size < sizeof(*arena) || size % EP_PAGE || size > arena->root.arena_size)
		size = arena->root.arena_size;
	*ep_array_add(&source->segments) = (struct ep_segment){
		.address = arena->root.self,
		.memory_size = size,
		.saved_size = size,
		.present_size = size < source->file_size ? size : source->file_size,
		.flags = PF_R | PF_W,
	};
	if (source->file_size < size)
		ep_source_warn(source, "%s: cut off: %" PRIu64 " of %" PRIu64 " bytes are left",
			       source->path, source->file_size, size);
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
	if (rc)
		return rc;
	segment_make(source, &arena);
	source->pid = (pid_t)arena.root.pid;
	life_look(source, &arena);
	threads_read(source, &arena);
	return EP_OK;
}

int ep_source_open_arena(struct ep_source **out, const char *path, struct ep_err *err)
{
	struct ep_source *source = ep_source_new(EP_SOURCE_ARENA, &arena_ops, path, path);
	int rc = arena_load(source, err);

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
