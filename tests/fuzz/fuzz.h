/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz.h: what fuzz targets share. A broken invariant aborts, so that any driver sees it. */
#ifndef EPITAPH_TESTS_FUZZ_H
#define EPITAPH_TESTS_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/util/error.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* A target may define it: libFuzzer and replay.c change inputs by it then. */
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t max_size, unsigned seed);
/* The driver's own change of plain bytes. */
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t max_size);

#define MUST(holds)                                                                         \
	do {                                                                                \
		if (!(holds)) {                                                             \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #holds); \
			abort();                                                            \
		}                                                                           \
	} while (0)

/* `rc` is one of ours, and its words are one line. */
void fuzz_check_failure(int rc, const struct ep_err *err);

/* Well-formed UTF-8 without control characters but those of `allowed`. */
void fuzz_check_text(const char *text, size_t size, const char *allowed);

/* One JSON value (RFC 8259) and nothing behind it but white space; or, `lines`, one on each
 * line. */
void fuzz_check_json(const char *text, size_t size, bool lines);

/*
 * Changes `bytes` as files of records want it: whole aligned words (to edges, to other words of the
 * input, by a little), mostly where something is written, and else as the driver does. `repair`
 * (may be NULL) then makes checksums right. Returns the new size.
 */
size_t fuzz_mutate(uint8_t *bytes, size_t size, size_t max_size, unsigned seed,
		   void (*repair)(uint8_t *bytes, size_t size));

/* Bytes taken from the front of an input; 0 when there are no more. */
struct fuzz_bytes {
	const uint8_t *at;
	size_t left;
};
uint8_t fuzz_take8(struct fuzz_bytes *bytes);
uint64_t fuzz_take64(struct fuzz_bytes *bytes);
/* A NUL-terminated text up to the next NUL or `most` bytes; free it. */
char *fuzz_take_text(struct fuzz_bytes *bytes, size_t most);

/* A file of these bytes without a name; the path is /proc/self/fd/N. Close. */
int fuzz_file(const uint8_t *bytes, size_t size, char path[64]);

#endif
