/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bytestream.h: bytes that come once and in order: a pipe, or a file compressed with gzip, bzip2,
 * xz, lzma, lz4 or zstd. libarchive decompresses; memory is its window, whatever the size of what
 * comes. Checksums of zstd, xz, lz4 and bzip2 are verified; gzip's is not.
 */
#ifndef EPITAPH_BYTESTREAM_H
#define EPITAPH_BYTESTREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coredump/util/error.h"

struct ep_bytestream;

/* The first bytes of the regular file `fd` are those of a compressed one. */
bool ep_bytestream_compressed(int fd);

/*
 * Reads `fd`, which stays the caller's, from where it stands; `path` names it in messages and must
 * outlive the stream. EP_E_CORRUPT; EP_E_IO, also without libarchive, which is loaded then.
 */
int ep_bytestream_open(struct ep_bytestream **out, int fd, const char *path, struct ep_err *err);
/* The same without looking for compression: nothing is read ahead of what is asked for. */
struct ep_bytestream *ep_bytestream_open_plain(int fd, const char *path);
void ep_bytestream_close(struct ep_bytestream *stream); /* NULL is allowed */

/*
 * The next `size` bytes; *got of them came. EP_OK with fewer: it ends there. Otherwise what is
 * wrong with it, after *got good bytes; it ends there too.
 */
int ep_bytestream_read(struct ep_bytestream *stream, void *out, size_t size, size_t *got,
		       struct ep_err *err);

/*
 * What expands more than 200 times is read up to `bytes` of the core; then it ends with EP_E_LIMIT.
 * Any number of them, unless it is told.
 */
void ep_bytestream_expect(struct ep_bytestream *stream, uint64_t bytes);

/* "zstd", …; "none" for a plain pipe. Borrowed. */
const char *ep_bytestream_filter(const struct ep_bytestream *stream);

#endif
