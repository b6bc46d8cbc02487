/* SPDX-License-Identifier: BSD-2-Clause */
/* readfile.h: bytes of files: all of one, or those at an offset. */
#ifndef EPITAPH_READFILE_H
#define EPITAPH_READFILE_H

#include <stddef.h>
#include <stdint.h>

#include "coredump/util/error.h"

struct stat;

/*
 * All of `path` (NULL: standard input) in *bytes, which the caller frees; a NUL follows, which
 * *size does not count. `facts` (may be NULL): what is known of the very file that was read.
 * EP_E_PERMISSION; EP_E_IO; EP_E_LIMIT: more than `most` bytes.
 */
int ep_file_read_all(char **bytes, size_t *size, struct stat *facts, const char *path, size_t most,
		     struct ep_err *err);

/* The same of a descriptor, from where it stands; it stays open. `path` is for messages. */
int ep_file_read_rest(char **bytes, size_t *size, int fd, const char *path, size_t most,
		      struct ep_err *err);

/* Exactly `size` bytes at `offset`. EP_E_TRUNCATED: the file ends before; EP_E_IO. *got (may be
 * NULL) is how many came. */
int ep_file_read(int fd, const char *path, uint64_t offset, void *out, size_t size, size_t *got,
		 struct ep_err *err);

#endif
