/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * build_funtrace.h: makes a funtrace.raw in memory, by its format's description (README of
 * github.com/yosefk/funtrace) and nothing of the reader.
 *
 * 	struct build_funtrace *b = build_funtrace_create();
 *
 * 	build_funtrace_begin(b, "400000-500000 r-xp 0 0:0 0 /bin/a\n",
 * 1000000000); build_funtrace_thread(b, 7, 7, "main"); build_funtrace_entry(b,
 * 0x401000, 5000); build_funtrace_entry(b, 0x401000 | BUILD_RETURN, 6000);
 * 	build_funtrace_end(b);
 * 	ep_source_open(&source, build_funtrace_path(b), &err);
 * 	build_funtrace_destroy(b);
 */
#ifndef EPITAPH_TESTS_BUILD_FUNTRACE_H
#define EPITAPH_TESTS_BUILD_FUNTRACE_H

#include <stddef.h>
#include <stdint.h>

#define BUILD_RETURN      (UINT64_C(1) << 63)
#define BUILD_RETURN_INTO (UINT64_C(1) << 62)
#define BUILD_CATCH       (UINT64_C(3) << 62)
#define BUILD_UNWOUND     (UINT64_C(1) << 61)

struct build_funtrace {
	uint8_t *bytes;
	size_t size; /* change it to cut the file */
	size_t capacity;
	size_t thread; /* offset of the TRACEBUF's head that entries go to */
	int fd;
	char path[64];
};

struct build_funtrace *build_funtrace_create(void);
void build_funtrace_destroy(struct build_funtrace *b);

/* A chunk as it is given; `magic` has 8 characters. */
void build_funtrace_chunk(struct build_funtrace *b, const char *magic, const void *bytes,
			  size_t size);
/* PROCMAPS (NULL: none), FUNTRACE and CMD LINE "/bin/a one two". */
void build_funtrace_begin(struct build_funtrace *b, const char *maps, uint64_t hz);
/* THREADID and an empty TRACEBUF. */
void build_funtrace_thread(struct build_funtrace *b, uint64_t pid, uint64_t tid, const char *name);
/* One more entry of the last thread. */
void build_funtrace_entry(struct build_funtrace *b, uint64_t code, uint64_t tsc);
void build_funtrace_end(struct build_funtrace *b);

/* The first `size` bytes as a file; borrowed. */
const char *build_funtrace_path(struct build_funtrace *b);

#endif
