/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chunks.c: the chunks of a funtrace.raw. One pass over their heads finds the samples; only one is
 * then read. Nothing in the file is believed: a chunk ends at the file's end at the latest, and
 * what is there of it is kept.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/funtrace/funtrace_impl.h"
#include "coredump/util/alloc.h"

#define HEAD sizeof(struct ep_funtrace_chunk)

enum chunk {
	CHUNK_MAPS,
	CHUNK_IDS,
	CHUNK_BEGIN,
	CHUNK_COMMAND,
	CHUNK_THREAD,
	CHUNK_ENTRIES,
	CHUNK_SCHEDULING,
	CHUNK_END,
	CHUNK_UNKNOWN, /* of a later version */
	CHUNK_NONE,    /* no chunk at all */
};

static const char magics[CHUNK_UNKNOWN][EP_FUNTRACE_MAGIC_SIZE + 1] = {
	"PROCMAPS", "BUILDIDS", "FUNTRACE", "CMD LINE",
	"THREADID", "TRACEBUF", "FTRACETX", "ENDTRACE",
};

static enum chunk chunk_of(const char *magic)
{
	for (unsigned i = 0; i < CHUNK_UNKNOWN; i++)
		if (memcmp(magic, magics[i], EP_FUNTRACE_MAGIC_SIZE) == 0)
			return (enum chunk)i;
	for (unsigned i = 0; i < EP_FUNTRACE_MAGIC_SIZE; i++)
		if (magic[i] < ' ' || magic[i] > '~')
			return CHUNK_NONE;
	return CHUNK_UNKNOWN;
}

bool ep_funtrace_is(const void *head, size_t size)
{
	return size >= EP_FUNTRACE_MAGIC_SIZE && chunk_of(head) < CHUNK_UNKNOWN;
}

/* ---- finding the samples ---- */

struct scan {
	struct ep_source *source;
	struct ep_funtrace_samples *samples;
	struct ep_funtrace_sample open; /* start 0 and no chunks: none */
	bool is_open;
	struct ep_funtrace_place maps, ids; /* the latest */
	uint64_t unknown;                   /* chunks */
};

static void sample_open(struct scan *scan, uint64_t at)
{
	if (scan->is_open)
		return;
	scan->is_open = true;
	scan->open = (struct ep_funtrace_sample){.start = at, .maps = scan->maps, .ids = scan->ids};
}

/* A sample that holds nothing is none. */
static void sample_close(struct scan *scan, uint64_t end, bool closed)
{
	if (scan->is_open && (scan->open.buffers || scan->open.texts)) {
		scan->open.end = end;
		scan->open.closed = closed;
		ep_array_push(scan->samples, scan->open);
	}
	scan->is_open = false;
}

/* The map comes before its samples; one inside of a sample that has no entries yet is that
 * sample's. */
static void maps_found(struct scan *scan, uint64_t at, struct ep_funtrace_place place)
{
	if (scan->open.buffers)
		sample_close(scan, at, false);
	scan->maps = place;
	scan->ids = (struct ep_funtrace_place){0};
	scan->open.maps = scan->maps;
	scan->open.ids = scan->ids;
}

static void chunk_found(struct scan *scan, enum chunk chunk, uint64_t at,
			struct ep_funtrace_place place)
{
	switch (chunk) {
	case CHUNK_MAPS:
		maps_found(scan, at, place);
		break;
	case CHUNK_IDS:
		scan->ids = scan->open.ids = place;
		break;
	case CHUNK_BEGIN:
		sample_close(scan, at, false);
		sample_open(scan, at);
		break;
	case CHUNK_END:
		sample_close(scan, place.offset + place.size, true);
		break;
	case CHUNK_COMMAND:
	case CHUNK_THREAD:
	case CHUNK_ENTRIES:
	case CHUNK_SCHEDULING:
		sample_open(scan, at);
		scan->open.buffers += chunk == CHUNK_ENTRIES;
		scan->open.texts += chunk == CHUNK_SCHEDULING;
		break;
	default:
		scan->unknown++;
	}
}

/* EP_OK and the chunk at `at`, cut to the file; EP_END: no more, or nothing that could be one. */
static int chunk_next(struct ep_source *source, uint64_t at, enum chunk *chunk,
		      struct ep_funtrace_place *place, struct ep_err *err)
{
	struct ep_funtrace_chunk head;
	uint64_t left = source->file_size - at;
	int rc;

	if (left == 0)
		return EP_END;
	if (left < HEAD) {
		ep_source_warn(source,
			       "%s: cut off at offset 0x%" PRIx64 ", inside the head of a chunk",
			       source->path, source->file_size);
		return EP_END;
	}
	rc = ep_file_read(source->fd, source->path, at, &head, HEAD, NULL, err);
	if (rc)
		return rc;
	*chunk = chunk_of(head.magic);
	if (*chunk == CHUNK_NONE) {
		ep_source_warn(source,
			       "%s: no chunk at offset 0x%" PRIx64 ": the %" PRIu64
			       " bytes from there are ignored",
			       source->path, at, left);
		return EP_END;
	}
	left -= HEAD;
	*place = (struct ep_funtrace_place){at + HEAD, head.size < left ? head.size : left};
	if (head.size > left)
		ep_source_warn(source,
			       "%s: %.8s chunk at offset 0x%" PRIx64 " has %" PRIu64
			       " bytes, the file only %" PRIu64 " of them",
			       source->path, head.magic, at, head.size, left);
	return EP_OK;
}

int ep_funtrace_index(struct ep_source *source, struct ep_funtrace_samples *out, struct ep_err *err)
{
	struct scan scan = {.source = source, .samples = out};
	struct ep_funtrace_place place;
	enum chunk chunk;
	uint64_t at = 0;
	int rc;

	while (!(rc = chunk_next(source, at, &chunk, &place, err))) {
		chunk_found(&scan, chunk, at, place);
		at = place.offset + place.size;
	}
	if (rc != EP_END)
		return rc;
	sample_close(&scan, at, false);
	if (scan.unknown)
		ep_source_warn(source, "%s: %" PRIu64 " chunks of unknown kinds are left out",
			       source->path, scan.unknown);
	return EP_OK;
}

/* ---- reading one ---- */

/* At least one byte is allocated; at most what the file has. */
static int place_read(struct ep_source *source, struct ep_funtrace_place place, uint8_t **out,
		      struct ep_err *err)
{
	*out = ep_malloc(place.size);
	return ep_file_read(source->fd, source->path, place.offset, *out, place.size, NULL, err);
}

static void read_hz(struct ep_funtrace_content *out, struct ep_source *source,
		    struct ep_cursor *content)
{
	if (ep_cursor_left(content) != sizeof(out->hz) ||
	    ep_cursor_take(content, &out->hz, sizeof(out->hz)))
		ep_source_warn(
			source,
			"%s: FUNTRACE chunk of %zu bytes, not 8: the clock's rate is unknown",
			source->path, ep_cursor_left(content));
}

static void read_id(struct ep_funtrace_id *id, struct ep_source *source, struct ep_cursor *content)
{
	if (ep_cursor_left(content) == sizeof(*id) &&
	    ep_cursor_take(content, id, sizeof(*id)) == EP_OK)
		return;
	memset(id, 0, sizeof(*id));
	ep_source_warn(source,
		       "%s: THREADID chunk of %zu bytes, not %zu: a thread without tid and name",
		       source->path, ep_cursor_left(content), sizeof(*id));
}

static void add_buffer(struct ep_funtrace_content *out, struct ep_source *source,
		       struct ep_funtrace_id *id, const struct ep_cursor *content)
{
	size_t over = ep_cursor_left(content) % sizeof(struct ep_funtrace_entry);
	struct ep_funtrace_buffer *buffer = ep_array_add(&out->buffers);

	buffer->id = *id;
	buffer->entries = *content;
	buffer->entries.end -= over;
	if (over)
		ep_source_warn(source,
			       "%s: TRACEBUF chunk of thread %" PRIu64 " ends inside an entry",
			       source->path, id->tid);
	memset(id, 0, sizeof(*id));
}

static void add_text(struct ep_funtrace_content *out, const struct ep_cursor *content)
{
	size_t size = ep_cursor_left(content);

	ep_array_reserve(&out->text, out->text.count + size);
	if (size)
		memcpy(out->text.list + out->text.count, content->at, size);
	out->text.count += size;
}

static void read_chunk(struct ep_funtrace_content *out, struct ep_source *source,
		       struct ep_funtrace_id *id, enum chunk chunk, struct ep_cursor *content)
{
	switch (chunk) {
	case CHUNK_BEGIN:
		read_hz(out, source, content);
		break;
	case CHUNK_COMMAND:
		out->command = content->at;
		out->command_size = ep_cursor_left(content);
		break;
	case CHUNK_THREAD:
		read_id(id, source, content);
		break;
	case CHUNK_ENTRIES:
		add_buffer(out, source, id, content);
		break;
	case CHUNK_SCHEDULING:
		add_text(out, content);
		break;
	default:
		break;
	}
}

static void read_chunks(struct ep_funtrace_content *out, struct ep_source *source,
			struct ep_cursor *cursor)
{
	struct ep_funtrace_id id = {0};
	struct ep_funtrace_chunk head;

	while (ep_cursor_take(cursor, &head, HEAD) == EP_OK) {
		size_t left = ep_cursor_left(cursor);
		size_t size = head.size < left ? head.size : left;
		struct ep_cursor content;
		const uint8_t *bytes;

		if (ep_cursor_view(cursor, &bytes, size))
			return;
		ep_cursor_init(&content, bytes, size);
		read_chunk(out, source, &id, chunk_of(head.magic), &content);
	}
}

int ep_funtrace_load(struct ep_funtrace_content *out, struct ep_source *source,
		     const struct ep_funtrace_sample *sample, struct ep_err *err)
{
	struct ep_funtrace_place all = {sample->start, sample->end - sample->start};
	struct ep_cursor cursor;
	int rc;

	memset(out, 0, sizeof(*out));
	rc = place_read(source, all, &out->chunks, err);
	rc = rc ? rc : place_read(source, sample->maps, &out->maps, err);
	rc = rc ? rc : place_read(source, sample->ids, &out->ids, err);
	if (rc) {
		ep_funtrace_unload(out);
		return rc;
	}
	out->maps_size = sample->maps.size;
	out->ids_size = sample->ids.size;
	ep_cursor_init(&cursor, out->chunks, all.size);
	read_chunks(out, source, &cursor);
	return EP_OK;
}

void ep_funtrace_unload(struct ep_funtrace_content *content)
{
	ep_array_deinit(&content->buffers);
	ep_array_deinit(&content->modules);
	ep_array_deinit(&content->text);
	free(content->chunks);
	free(content->maps);
	free(content->ids);
}
