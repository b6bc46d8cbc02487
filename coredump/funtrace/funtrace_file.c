/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * funtrace_file.c: the chunks of a funtrace.raw. One pass over their heads finds the samples; only
 * one is then read. Nothing in the file is believed: a chunk ends at the file's end at the latest,
 * and what is there of it is kept.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/funtrace/funtrace_impl.h"

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
	struct ep_funtrace_sample *list;
	size_t count, capacity;
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

/* False: out of memory. A sample that holds nothing is none. */
static bool sample_close(struct scan *scan, uint64_t end, bool closed)
{
	if (!scan->is_open)
		return true;
	scan->is_open = false;
	if (!scan->open.buffers && !scan->open.texts)
		return true;
	if (!ep_list_grow(&scan->list, scan->count, &scan->capacity, sizeof(*scan->list)))
		return false;
	scan->open.end = end;
	scan->open.closed = closed;
	scan->list[scan->count++] = scan->open;
	return true;
}

/* The map comes before its samples; one inside of a sample that has no entries yet is that
 * sample's. */
static bool take_maps(struct scan *scan, uint64_t at, struct ep_funtrace_place place)
{
	if (scan->open.buffers && !sample_close(scan, at, false))
		return false;
	scan->maps = place;
	scan->ids = (struct ep_funtrace_place){0};
	scan->open.maps = scan->maps;
	scan->open.ids = scan->ids;
	return true;
}

static bool take_chunk(struct scan *scan, enum chunk chunk, uint64_t at,
		       struct ep_funtrace_place place)
{
	switch (chunk) {
	case CHUNK_MAPS:
		return take_maps(scan, at, place);
	case CHUNK_IDS:
		scan->ids = scan->open.ids = place;
		return true;
	case CHUNK_BEGIN:
		if (!sample_close(scan, at, false))
			return false;
		sample_open(scan, at);
		return true;
	case CHUNK_END:
		return sample_close(scan, place.offset + place.size, true);
	case CHUNK_COMMAND:
	case CHUNK_THREAD:
	case CHUNK_ENTRIES:
	case CHUNK_SCHEDULING:
		sample_open(scan, at);
		scan->open.buffers += chunk == CHUNK_ENTRIES;
		scan->open.texts += chunk == CHUNK_SCHEDULING;
		return true;
	default:
		scan->unknown++;
		return true;
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

int ep_funtrace_index(struct ep_source *source, struct ep_funtrace_sample **list, size_t *count,
		      struct ep_err *err)
{
	struct scan scan = {.source = source};
	struct ep_funtrace_place place;
	enum chunk chunk;
	uint64_t at = 0;
	bool room = true;
	int rc;

	while (room && !(rc = chunk_next(source, at, &chunk, &place, err))) {
		room = take_chunk(&scan, chunk, at, place);
		at = place.offset + place.size;
	}
	room = room && sample_close(&scan, at, false);
	if (room && rc == EP_END) {
		if (scan.unknown)
			ep_source_warn(source,
				       "%s: %" PRIu64 " chunks of unknown "
				       "kinds are left out",
				       source->path, scan.unknown);
		*list = scan.list;
		*count = scan.count;
		return EP_OK;
	}
	free(scan.list);
	return room ? rc : ep_fail(err, EP_E_MEMORY, 0, "out of memory");
}

/* ---- reading one ---- */

/* At least one byte is allocated. */
static int place_read(struct ep_source *source, struct ep_funtrace_place place, uint8_t **out,
		      struct ep_err *err)
{
	int rc;

	*out = malloc(place.size + 1);
	if (!*out)
		return ep_fail(err, EP_E_MEMORY, 0, "out of memory for %" PRIu64 " bytes of %s",
			       place.size, source->path);
	rc = ep_file_read(source->fd, source->path, place.offset, *out, place.size, NULL, err);
	return rc;
}

static void take_hz(struct ep_funtrace *sample, struct ep_source *source, struct ep_cursor *content)
{
	if (ep_cursor_left(content) != sizeof(sample->hz) ||
	    ep_cursor_take(content, &sample->hz, sizeof(sample->hz)))
		ep_source_warn(source,
			       "%s: FUNTRACE chunk of %zu bytes, not 8: the "
			       "clock's rate is unknown",
			       source->path, ep_cursor_left(content));
}

static void take_id(struct ep_funtrace_id *id, struct ep_source *source, struct ep_cursor *content)
{
	if (ep_cursor_left(content) == sizeof(*id) &&
	    ep_cursor_take(content, id, sizeof(*id)) == EP_OK)
		return;
	memset(id, 0, sizeof(*id));
	ep_source_warn(source,
		       "%s: THREADID chunk of %zu bytes, not %zu: a thread "
		       "without tid and name",
		       source->path, ep_cursor_left(content), sizeof(*id));
}

static bool take_entries(struct ep_funtrace *sample, struct ep_source *source,
			 struct ep_funtrace_id *id, const struct ep_cursor *content)
{
	size_t over = ep_cursor_left(content) % sizeof(struct ep_funtrace_entry);
	struct ep_funtrace_buffer *buffer;

	if (!ep_list_grow(&sample->buffers, sample->buffer_count, &sample->buffer_capacity,
			  sizeof(*buffer)))
		return false;
	buffer = &sample->buffers[sample->buffer_count++];
	buffer->id = *id;
	buffer->entries = *content;
	buffer->entries.end -= over;
	if (over)
		ep_source_warn(source,
			       "%s: TRACEBUF chunk of thread %" PRIu64 " ends inside an entry",
			       source->path, id->tid);
	memset(id, 0, sizeof(*id));
	return true;
}

/* False: out of memory. */
static bool take_text(struct ep_funtrace *sample, const struct ep_cursor *content)
{
	size_t size = ep_cursor_left(content);
	char *text = realloc(sample->text, sample->text_size + size + 1);

	if (!text)
		return false;
	if (size)
		memcpy(text + sample->text_size, content->at, size);
	sample->text = text;
	sample->text_size += size;
	return true;
}

/* False: out of memory. */
static bool load_chunk(struct ep_funtrace *sample, struct ep_source *source,
		       struct ep_funtrace_id *id, enum chunk chunk, struct ep_cursor *content)
{
	switch (chunk) {
	case CHUNK_BEGIN:
		take_hz(sample, source, content);
		return true;
	case CHUNK_COMMAND:
		sample->command = content->at;
		sample->command_size = ep_cursor_left(content);
		return true;
	case CHUNK_THREAD:
		take_id(id, source, content);
		return true;
	case CHUNK_ENTRIES:
		return take_entries(sample, source, id, content);
	case CHUNK_SCHEDULING:
		return take_text(sample, content);
	default:
		return true;
	}
}

static bool load_chunks(struct ep_funtrace *sample, struct ep_source *source,
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
			return true;
		ep_cursor_init(&content, bytes, size);
		if (!load_chunk(sample, source, &id, chunk_of(head.magic), &content))
			return false;
	}
	return true;
}

int ep_funtrace_load(struct ep_funtrace *out, struct ep_source *source,
		     const struct ep_funtrace_sample *sample, struct ep_err *err)
{
	struct ep_funtrace_place all = {sample->start, sample->end - sample->start};
	struct ep_cursor cursor;
	int rc;

	memset(out, 0, sizeof(*out));
	rc = place_read(source, all, &out->chunks, err);
	rc = rc ? rc : place_read(source, sample->maps, &out->maps, err);
	rc = rc ? rc : place_read(source, sample->ids, &out->ids, err);
	if (!rc) {
		out->maps_size = sample->maps.size;
		out->ids_size = sample->ids.size;
		ep_cursor_init(&cursor, out->chunks, all.size);
		if (!load_chunks(out, source, &cursor))
			rc = ep_fail(err, EP_E_MEMORY, 0, "out of memory");
	}
	if (rc)
		ep_funtrace_unload(out);
	return rc;
}

void ep_funtrace_unload(struct ep_funtrace *sample)
{
	free(sample->buffers);
	free(sample->chunks);
	free(sample->maps);
	free(sample->ids);
	free(sample->modules);
	free(sample->text);
	memset(sample, 0, sizeof(*sample));
}
