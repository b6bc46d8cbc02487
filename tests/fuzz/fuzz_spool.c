/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_spool.c: any bytes as a stream. Those of a compressed file are taken as they are; others are
 * a core's, and come packed: what of it is kept must be what the file has, and all of core.c must
 * hold.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "coredump/stream/bytestream.h"
#include "coredump/kinds/open.h"
#include "tests/fuzz/core.h"
#include "tests/fuzz/fuzz.h"

static int file_of(const uint8_t *bytes, size_t size, char path[64])
{
	int fd = memfd_create("fuzz", 0);

	MUST(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

/* In the blocks of gzip that are stored as they are. */
static uint8_t *packed(const uint8_t *bytes, size_t size, size_t *out_size)
{
	z_stream stream = {0};
	size_t room = size + size / 1000 + 1000;
	uint8_t *out = malloc(room);

	MUST(out && deflateInit2(&stream, 0, Z_DEFLATED, 15 + 16, 8, 0) == Z_OK);
	stream.next_in = (uint8_t *)(uintptr_t)bytes;
	stream.avail_in = (unsigned)size;
	stream.next_out = out;
	stream.avail_out = (unsigned)room;
	MUST(deflate(&stream, Z_FINISH) == Z_STREAM_END);
	*out_size = stream.total_out;
	deflateEnd(&stream);
	return out;
}

static void compare_at(struct ep_source *file, struct ep_source *stream, uint64_t address)
{
	uint8_t one[64], other[64];
	int rc = ep_source_read(stream, address, other, 64, NULL, NULL);

	if (rc == EP_OK) {
		MUST(ep_source_read(file, address, one, 64, NULL, NULL) == EP_OK);
		MUST(memcmp(one, other, 64) == 0);
	}
}

static void compare(const uint8_t *bytes, size_t size, const uint8_t *pack, size_t pack_size)
{
	struct ep_source *file, *stream;
	const struct ep_segment *list;
	char path[64], other[64];
	int fd = file_of(bytes, size, path);
	int packed_fd = file_of(pack, pack_size, other);
	size_t count;

	if (ep_source_open_core(&file, path, NULL) == EP_OK) {
		if (ep_source_open_core(&stream, other, NULL) == EP_OK) {
			list = ep_source_segments(file, &count);
			for (size_t i = 0; i < count && i < 64; i++)
				for (uint64_t at = 0; at < list[i].memory_size && at < 65536;
				     at += 4096)
					compare_at(file, stream, list[i].address + at);
			ep_source_close(stream);
		}
		ep_source_close(file);
	}
	close(fd);
	close(packed_fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char path[64];
	int fd = file_of(bytes, size, path);
	bool compressed = ep_bytestream_compressed(fd);
	size_t pack_size;
	uint8_t *pack;

	close(fd);
	if (compressed) {
		fuzz_check_core(bytes, size);
		return 0;
	}
	pack = packed(bytes, size, &pack_size);
	fuzz_check_core(pack, pack_size);
	compare(bytes, size, pack, pack_size);
	free(pack);
	return 0;
}
