/* SPDX-License-Identifier: BSD-2-Clause */
/* spool.c: the sparse file, and the part of a core before its memory. What is kept of the memory is
 * spool_gather.c's. */
#include "coredump/stream/spool_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coredump/stream/corehead.h"
#include "coredump/util/progress.h"
#include "coredump/util/alloc.h"

#define HEAD_SIZE   EP_PAGE               /* memory begins on a later page */
#define WHOLE_MAX   (UINT64_C(64) << 20)  /* bytes; more is picked from */
#define HEADERS_MAX (1u << 20)            /* as in core.c */
#define NOTES_MAX   (UINT64_C(256) << 20) /* bytes; as in core.c */

/* ---- the file ---- */

static int no_room(const struct ep_source *source, uint64_t offset, struct ep_err *err)
{
	return ep_fail(err, EP_E_IO, offset,
		       "%s: a stream is kept in a file in %s: %m; TMPDIR names another place",
		       source->name, source->spool->directory);
}

static int file_create(struct ep_source *source, struct ep_err *err)
{
	struct ep_spool *spool = source->spool;
	const char *directory = secure_getenv("TMPDIR");
	char path[4096];

	spool->directory = directory && *directory ? directory : "/var/tmp";
	source->fd = open(spool->directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (source->fd >= 0)
		return EP_OK;
	if (snprintf(path, sizeof(path), "%s/epitaph.XXXXXX", spool->directory) >=
	    (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return no_room(source, 0, err);
	}
	source->fd = mkostemp(path, O_CLOEXEC);
	if (source->fd < 0)
		return no_room(source, 0, err);
	unlink(path);
	return EP_OK;
}

static bool is_zero(const uint8_t *bytes, size_t size)
{
	return size == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0);
}

static int write_all(struct ep_source *source, const uint8_t *bytes, size_t size, uint64_t offset,
		     struct ep_err *err)
{
	while (size) {
		ssize_t n = pwrite(source->fd, bytes, size, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return no_room(source, offset, err);
		bytes += n;
		offset += (uint64_t)n;
		size -= (size_t)n;
	}
	return EP_OK;
}

int ep_spool_write(struct ep_source *source, const uint8_t *bytes, size_t size, uint64_t offset,
		   struct ep_err *err)
{
	size_t from = 0, at = 0;
	int rc = EP_OK;

	while (at < size && rc == EP_OK) {
		size_t page = size - at < EP_PAGE ? size - at : EP_PAGE;

		if (is_zero(bytes + at, page)) {
			rc = write_all(source, bytes + from, at - from, offset + from, err);
			from = at + page;
		}
		at += page;
	}
	return rc ? rc : write_all(source, bytes + from, size - from, offset + from, err);
}

/* ---- the stream ---- */

int ep_spool_read(struct ep_source *source, size_t size, size_t *got, struct ep_err *err)
{
	struct ep_spool *spool = source->spool;
	struct ep_err damage;
	int rc = EP_OK;

	*got = 0;
	if (spool->ended)
		return EP_OK;
	rc = ep_bytestream_read(spool->stream, spool->buffer, size, got, &damage);
	spool->position += *got;
	ep_progress("reading the core", spool->position, spool->promised);
	spool->ended = rc || *got < size;
	if (rc == EP_E_IO) {
		if (err)
			*err = damage;
		return rc;
	}
	if (rc)
		ep_source_warn(source, "%s", damage.text);
	return EP_OK;
}

int ep_spool_skip_to(struct ep_source *source, uint64_t offset, struct ep_err *err)
{
	struct ep_spool *spool = source->spool;
	int rc = EP_OK;

	while (spool->position < offset && !spool->ended && rc == EP_OK) {
		uint64_t left = offset - spool->position;
		size_t got;

		rc = ep_spool_read(source, left < EP_SPOOL_CHUNK ? left : EP_SPOOL_CHUNK, &got,
				   err);
	}
	return rc;
}

/* Keeps everything up to `offset`. */
static int keep_to(struct ep_source *source, uint64_t offset, struct ep_err *err)
{
	struct ep_spool *spool = source->spool;
	int rc = EP_OK;

	while (spool->position < offset && !spool->ended && rc == EP_OK) {
		uint64_t at = spool->position, left = offset - at;
		size_t got;

		rc = ep_spool_read(source, left < EP_SPOOL_CHUNK ? left : EP_SPOOL_CHUNK, &got,
				   err);
		if (rc == EP_OK)
			rc = ep_spool_write(source, spool->buffer, got, at, err);
	}
	/* Zeroes at the end are part of it. What cannot grow again is cut when all is there. */
	if (rc == EP_OK && !spool->head && ftruncate(source->fd, (off_t)spool->position) != 0)
		return no_room(source, spool->position, err);
	return rc;
}

/* ---- the head ---- */

struct layout {
	uint64_t memory;   /* offset of the first byte of memory */
	uint64_t headers;  /* end of the program headers */
	uint64_t notes;    /* end of the last note */
	uint64_t promised; /* end of everything */
};

static void layout_add(struct layout *layout, const Elf64_Phdr *header)
{
	uint64_t end;

	if (__builtin_add_overflow(header->p_offset, header->p_filesz, &end) || end > INT64_MAX ||
	    header->p_filesz == 0)
		return;
	if (end > layout->promised)
		layout->promised = end;
	if (header->p_type == PT_LOAD && header->p_offset < layout->memory)
		layout->memory = header->p_offset;
	if (header->p_type == PT_NOTE && end > layout->notes)
		layout->notes = end;
}

/* Where what is kept for its own sake ends: more notes are not read. */
static uint64_t layout_head(const struct layout *layout)
{
	uint64_t end = layout->notes;

	if (end > layout->headers && end - layout->headers > NOTES_MAX)
		end = layout->headers + NOTES_MAX;
	return end < layout->memory ? end : layout->memory;
}

/* With 65,535 segments or more, their number comes with the stream's end; but the notes begin where
 * the program headers end. */
static uint64_t header_count(struct ep_source *source, const Elf64_Ehdr *header)
{
	Elf64_Phdr first;

	if (header->e_phnum != PN_XNUM)
		return header->e_phnum;
	if (ep_file_read(source->fd, source->path, header->e_phoff, &first, sizeof(first), NULL,
			 NULL) ||
	    first.p_offset <= header->e_phoff)
		return 0;
	return (first.p_offset - header->e_phoff) / sizeof(first);
}

static int layout_read(struct ep_source *source, const Elf64_Ehdr *header, struct layout *out,
		       struct ep_err *err)
{
	uint64_t count = header_count(source, header), end;
	int rc = EP_OK;

	*out = (struct layout){.memory = UINT64_MAX};
	if (count > HEADERS_MAX)
		count = HEADERS_MAX;
	if (__builtin_add_overflow(header->e_phoff, count * sizeof(Elf64_Phdr), &end))
		return EP_OK;
	/* The number of headers may lie behind all else. */
	out->headers = end;
	out->promised = end;
	if (header->e_shoff < INT64_MAX - sizeof(Elf64_Shdr) && header->e_phnum == PN_XNUM)
		out->promised = header->e_shoff + sizeof(Elf64_Shdr);
	rc = keep_to(source, end, err);
	for (uint64_t i = 0; i < count && rc == EP_OK; i++) {
		Elf64_Phdr one;

		if (ep_file_read(source->fd, source->path, header->e_phoff + i * sizeof(one), &one,
				 sizeof(one), NULL, NULL))
			break;
		layout_add(out, &one);
	}
	return rc;
}

static int head_read(struct ep_source *source, struct ep_err *err)
{
	struct ep_spool *spool = source->spool;
	struct layout layout;
	Elf64_Ehdr header;
	uint64_t end;
	int rc = keep_to(source, HEAD_SIZE, err);

	/* What is no core is told by who looks at its first bytes. */
	source->file_size = spool->position;
	if (rc || spool->ended ||
	    ep_core_head_check(source->fd, source->path, spool->position, NULL) ||
	    ep_file_read(source->fd, source->path, 0, &header, sizeof(header), NULL, NULL))
		return rc;
	rc = layout_read(source, &header, &layout, err);
	if (rc)
		return rc;
	spool->promised = layout.promised;
	spool->whole =
		!spool->head && (layout.promised <= WHOLE_MAX || layout.notes > layout.memory);
	if (spool->whole)
		end = layout.promised < WHOLE_MAX ? WHOLE_MAX : layout.promised;
	else
		end = layout_head(&layout);
	rc = keep_to(source, end, err);
	ep_progress_end();
	source->file_size = spool->whole || spool->ended ? spool->position : layout.promised;
	return rc;
}

/* ---- life ---- */

/* `head`: -1, or the file of it. */
static int spool_open(struct ep_source *source, int input, int head, struct ep_err *err)
{
	struct ep_spool *spool = ep_calloc(1, sizeof(*spool));
	int rc;

	spool->buffer = ep_malloc(EP_SPOOL_CHUNK);
	spool->input = input;
	spool->head = head >= 0;
	spool->directory = "memory";
	source->spool = spool;
	source->fd = head;
	rc = spool->head ? EP_OK : file_create(source, err);
	if (rc == EP_OK && spool->head)
		spool->stream = ep_bytestream_open_plain(input, source->path);
	else if (rc == EP_OK)
		rc = ep_bytestream_open(&spool->stream, input, source->path, err);
	if (rc)
		return rc;
	ep_bytestream_expect(spool->stream, EP_DOUBTED_MAX);
	rc = head_read(source, err);
	if (rc == EP_OK && spool->head && ftruncate(source->fd, (off_t)spool->position) != 0)
		return no_room(source, spool->position, err);
	return rc;
}

int ep_spool_open(struct ep_source *source, int input, struct ep_err *err)
{
	return spool_open(source, input, -1, err);
}

int ep_spool_open_head(struct ep_source *source, int input, int file, struct ep_err *err)
{
	return spool_open(source, input, file, err);
}

void ep_spool_leave(struct ep_spool *spool)
{
	if (spool->input >= 0)
		close(spool->input);
	spool->input = -1;
}

void ep_spool_close(struct ep_spool *spool)
{
	if (!spool)
		return;
	ep_bytestream_close(spool->stream);
	ep_spool_leave(spool);
	free(spool->buffer);
	free(spool);
}

const char *ep_spool_filter(const struct ep_spool *spool)
{
	return ep_bytestream_filter(spool->stream);
}
