/* SPDX-License-Identifier: BSD-2-Clause */
/* spool_impl.h: the file of spool.c, for what decides which bytes go there. */
#ifndef EPITAPH_SPOOL_IMPL_H
#define EPITAPH_SPOOL_IMPL_H

#include "coredump/stream/bytestream.h"
#include "coredump/stream/spool.h"

#define EP_SPOOL_CHUNK (1u << 20) /* bytes of `buffer` */

/*
 * How far a stream is followed that expands as memory in use does not: all of a core that has large
 * mappings with little in them; but not what says nothing of a process, or promises more than would
 * be read. A GiB of zeroes takes 0.25 s with zstd, 0.7 with lz4, 2 to 3 with gzip, xz and bzip2.
 */
#define EP_SPARSE_MAX  (UINT64_C(16) << 30)
#define EP_DOUBTED_MAX (UINT64_C(512) << 20)

struct ep_spool {
	struct ep_bytestream *stream;
	int input;         /* what it reads; owned; -1: left */
	uint64_t position; /* bytes of the core that came so far */
	uint64_t promised; /* bytes that its headers promise; 0 not read yet */
	bool ended;
	bool whole; /* all that comes is kept */
	bool head;  /* nothing behind the notes is */
	const char *directory;
	uint8_t *buffer;
};

/* Up to EP_SPOOL_CHUNK more bytes into the buffer: *got of `size`; fewer at the end. What is wrong
 * with the stream is a warning, and its end. EP_E_IO only. */
int ep_spool_read(struct ep_source *source, size_t size, size_t *got, struct ep_err *err);

/* Goes on to `offset`, keeping nothing. */
int ep_spool_skip_to(struct ep_source *source, uint64_t offset, struct ep_err *err);

/* `size` bytes at `offset` of the core; whole pages of zeroes become holes. */
int ep_spool_write(struct ep_source *source, const uint8_t *bytes, size_t size, uint64_t offset,
		   struct ep_err *err);

#endif
