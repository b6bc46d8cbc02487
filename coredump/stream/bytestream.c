/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bytestream.c: libarchive's raw format over its filters. Those that would start another program
 * are not asked for. The library is loaded when a stream comes: with what it needs itself (an XML
 * parser, Unicode's tables) it took
 * 2.5 of the 5.5 ms in which `epitaph` starts.
 */
#include "coredump/stream/bytestream.h"

#include <archive.h>
#include <archive_entry.h>
#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coredump/util/alloc.h"
#include "coredump/util/readfile.h"

#define INPUT_BLOCK (256u << 10) /* bytes asked for at once */

/*
 * Memory that was in use does not compress this many times; pages that never were, do: 1,000 times
 * with gzip, 30,000 with zstd, 45,000 with bzip2. So a stream that expands so is believed as far as
 * its reader says that it should go, and then taken for a bomb.
 */
#define RATIO 200

struct ep_bytestream {
	struct archive *archive; /* NULL: plain */
	int fd;                  /* plain; borrowed */
	const char *path;        /* borrowed */
	uint64_t position;
	uint64_t patience;
	bool ended;
};

/* ---- the library ---- */

#define LIBRARY "libarchive.so.13"
static_assert(ARCHIVE_VERSION_NUMBER / 1000000 == 3, LIBRARY);

#define FUNCTIONS(X)                         \
	X(archive_read_new)                  \
	X(archive_read_free)                 \
	X(archive_read_open_fd)              \
	X(archive_read_next_header)          \
	X(archive_read_data)                 \
	X(archive_read_support_filter_gzip)  \
	X(archive_read_support_filter_bzip2) \
	X(archive_read_support_filter_xz)    \
	X(archive_read_support_filter_lzma)  \
	X(archive_read_support_filter_lz4)   \
	X(archive_read_support_filter_zstd)  \
	X(archive_read_support_format_raw)   \
	X(archive_read_support_format_empty) \
	X(archive_error_string)              \
	X(archive_errno)                     \
	X(archive_filter_name)               \
	X(archive_filter_bytes)

static struct {
	bool ready;
#define MEMBER(name) __typeof__(&name) name;
	FUNCTIONS(MEMBER)
#undef MEMBER
} library;

static int library_load(const char *path, struct ep_err *err)
{
	void *handle;
	bool all = true;

	if (library.ready)
		return EP_OK;
	handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		return ep_fail(err, EP_E_IO, 0,
			       "%s: compressed files and pipes are read with libarchive (package "
			       "libarchive13): %s",
			       path, dlerror());
#define TAKE(name)                           \
	library.name = dlsym(handle, #name); \
	all = all && library.name;
	FUNCTIONS(TAKE)
#undef TAKE
	if (!all)
		return ep_fail(err, EP_E_VERSION, 0, "%s: " LIBRARY " lacks a function", path);
	library.ready = true;
	return EP_OK;
}

/* ---- what is compressed ---- */

static const struct {
	uint8_t size;
	const char *magic;
} magics[] = {
	{4, "\x28\xb5\x2f\xfd"}, /* zstd */
	{2, "\x1f\x8b"},         /* gzip */
	{6, "\xfd"
	    "7zXZ\0"},           /* xz */
	{4, "\x04\x22\x4d\x18"}, /* lz4 */
	{3, "BZh"},
	{5, "\x5d\0\0\x80\0"}, /* lzma, with its usual dictionary */
};

bool ep_bytestream_compressed(int fd)
{
	uint8_t head[8] = {0};
	size_t got = 0;

	ep_file_read(fd, "", 0, head, sizeof(head), &got, NULL);
	for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
		if (got >= magics[i].size && memcmp(head, magics[i].magic, magics[i].size) == 0)
			return true;
	return false;
}

/* ---- life ---- */

static int archive_failure(struct ep_bytestream *stream, struct ep_err *err)
{
	const char *words = library.archive_error_string(stream->archive);
	const char *filter = library.archive_filter_name(stream->archive, 0);
	int number = library.archive_errno(stream->archive);

	stream->ended = true;
	/* As much as the stream asks for: its dictionary may be of any size. */
	if (number == ENOMEM)
		return ep_fail(err, EP_E_IO, stream->position,
			       "%s: to decompress it takes more memory than there is",
			       stream->path);
	if (number > 0 && number != EILSEQ && number != EINVAL)
		return ep_fail(err, EP_E_IO, stream->position, "%s: %s", stream->path,
			       words ? words : strerror(number));
	return ep_fail(err, EP_E_CORRUPT, stream->position,
		       "%s: damaged or cut off after %" PRIu64 " bytes of the core (%s: %s)",
		       stream->path, stream->position, filter ? filter : "compressed",
		       words ? words : "no reason told");
}

static struct archive *reader_new(void)
{
	struct archive *reader = library.archive_read_new();

	if (!reader)
		ep_out_of_memory();
	library.archive_read_support_filter_gzip(reader);
	library.archive_read_support_filter_bzip2(reader);
	library.archive_read_support_filter_xz(reader);
	library.archive_read_support_filter_lzma(reader);
	library.archive_read_support_filter_lz4(reader);
	library.archive_read_support_filter_zstd(reader);
	library.archive_read_support_format_raw(reader);
	library.archive_read_support_format_empty(reader);
	return reader;
}

int ep_bytestream_open(struct ep_bytestream **out, int fd, const char *path, struct ep_err *err)
{
	struct ep_bytestream *stream;
	struct archive_entry *entry;
	int rc = library_load(path, err), answer = ARCHIVE_FATAL;

	if (rc)
		return rc;
	stream = ep_bytestream_open_plain(fd, path);
	stream->archive = reader_new();
	stream->patience = UINT64_MAX;
	if (library.archive_read_open_fd(stream->archive, fd, INPUT_BLOCK) == ARCHIVE_OK)
		answer = library.archive_read_next_header(stream->archive, &entry);
	if (answer == ARCHIVE_EOF)
		stream->ended = true;
	else if (answer < ARCHIVE_WARN)
		rc = archive_failure(stream, err);
	if (rc)
		ep_bytestream_close(stream);
	else
		*out = stream;
	return rc;
}

struct ep_bytestream *ep_bytestream_open_plain(int fd, const char *path)
{
	struct ep_bytestream *stream = ep_calloc(1, sizeof(*stream));

	stream->fd = fd;
	stream->path = path;
	return stream;
}

void ep_bytestream_close(struct ep_bytestream *stream)
{
	if (!stream)
		return;
	if (stream->archive)
		library.archive_read_free(stream->archive);
	free(stream);
}

const char *ep_bytestream_filter(const struct ep_bytestream *stream)
{
	return stream->archive ? library.archive_filter_name(stream->archive, 0) : "none";
}

/* ---- reading ---- */

void ep_bytestream_expect(struct ep_bytestream *stream, uint64_t bytes)
{
	stream->patience = bytes;
}

static bool is_bomb(const struct ep_bytestream *stream)
{
	int64_t input;

	if (!stream->archive || stream->position < stream->patience)
		return false;
	input = library.archive_filter_bytes(stream->archive, -1);
	return input > 0 && stream->position / (uint64_t)input > RATIO;
}

static int plain_read(struct ep_bytestream *stream, void *out, size_t size, size_t *got,
		      struct ep_err *err)
{
	while (*got < size && !stream->ended) {
		ssize_t n = read(stream->fd, (char *)out + *got, size - *got);

		if (n < 0 && errno == EINTR)
			continue;
		stream->ended = n <= 0;
		if (n < 0)
			return ep_fail(err, EP_E_IO, stream->position, "%s: %m", stream->path);
		*got += (size_t)n;
		stream->position += (uint64_t)n;
	}
	return EP_OK;
}

int ep_bytestream_read(struct ep_bytestream *stream, void *out, size_t size, size_t *got,
		       struct ep_err *err)
{
	*got = 0;
	if (!stream->archive)
		return plain_read(stream, out, size, got, err);
	while (*got < size && !stream->ended) {
		la_ssize_t n =
			library.archive_read_data(stream->archive, (char *)out + *got, size - *got);

		if (n == 0)
			stream->ended = true;
		if (n < 0)
			return archive_failure(stream, err);
		*got += (size_t)n;
		stream->position += (uint64_t)n;
	}
	if (!is_bomb(stream))
		return EP_OK;
	stream->ended = true;
	return ep_fail(err, EP_E_LIMIT, stream->position,
		       "%s: expands more than %u times: ended after %" PRIu64
		       " bytes; if it is a core, decompress it first",
		       stream->path, RATIO, stream->position);
}
