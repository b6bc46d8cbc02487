/* SPDX-License-Identifier: BSD-2-Clause */
/* build_funtrace.c: a funtrace.raw, chunk by chunk. */
#include "tests/unit/build_funtrace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void must(int holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "build_funtrace: %s\n", what);
	abort();
}

static void put(struct build_funtrace *b, const void *bytes, size_t size)
{
	if (b->size + size > b->capacity) {
		b->capacity = 2 * (b->size + size);
		b->bytes = realloc(b->bytes, b->capacity);
		must(b->bytes != NULL, "out of memory");
	}
	if (size)
		memcpy(b->bytes + b->size, bytes, size);
	b->size += size;
}

struct build_funtrace *build_funtrace_create(void)
{
	struct build_funtrace *b = calloc(1, sizeof(*b));

	must(b != NULL, "out of memory");
	b->fd = memfd_create("funtrace.raw", 0);
	must(b->fd >= 0, "no file");
	snprintf(b->path, sizeof(b->path), "/proc/self/fd/%d", b->fd);
	return b;
}

void build_funtrace_destroy(struct build_funtrace *b)
{
	close(b->fd);
	free(b->bytes);
	free(b);
}

void build_funtrace_chunk(struct build_funtrace *b, const char *magic, const void *bytes,
			  size_t size)
{
	uint64_t length = size;

	must(strlen(magic) == 8, "a magic has 8 characters");
	put(b, magic, 8);
	put(b, &length, sizeof(length));
	put(b, bytes, size);
}

void build_funtrace_begin(struct build_funtrace *b, const char *maps, uint64_t hz)
{
	static const char words[] = "/bin/a one two";

	if (maps)
		build_funtrace_chunk(b, "PROCMAPS", maps, strlen(maps));
	build_funtrace_chunk(b, "FUNTRACE", &hz, sizeof(hz));
	build_funtrace_chunk(b, "CMD LINE", words, sizeof(words) - 1);
}

void build_funtrace_thread(struct build_funtrace *b, uint64_t pid, uint64_t tid, const char *name)
{
	uint8_t id[32] = {0};

	memcpy(id, &pid, 8);
	memcpy(id + 8, &tid, 8);
	strncpy((char *)id + 16, name, 15);
	build_funtrace_chunk(b, "THREADID", id, sizeof(id));
	b->thread = b->size;
	build_funtrace_chunk(b, "TRACEBUF", NULL, 0);
}

void build_funtrace_entry(struct build_funtrace *b, uint64_t code, uint64_t tsc)
{
	uint64_t size;

	put(b, &code, sizeof(code));
	put(b, &tsc, sizeof(tsc));
	size = b->size - b->thread - 16;
	memcpy(b->bytes + b->thread + 8, &size, sizeof(size));
}

void build_funtrace_end(struct build_funtrace *b)
{
	build_funtrace_chunk(b, "ENDTRACE", NULL, 0);
}

const char *build_funtrace_path(struct build_funtrace *b)
{
	must(ftruncate(b->fd, 0) == 0 && pwrite(b->fd, b->bytes, b->size, 0) == (ssize_t)b->size,
	     "cannot write");
	return b->path;
}
