/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * new_file.h: a file that appears whole under its name, or not at all. By raw system calls;
 * async-signal-safe; what memory cannot be read is an error, never a fault.
 */
#ifndef EPITAPH_NEW_FILE_H
#define EPITAPH_NEW_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EP_PATH_MAX 4096 /* bytes with the NUL, as the kernel has it */

struct ep_new_file {
	long fd;
	char aside[EP_PATH_MAX]; /* where it is written */
	uint64_t signals;        /* the caller's mask */
	bool had_sigxfsz;        /* one was pending already */
};

/* Begins a file in the directory of `path`, mode 0600. 0 or a negative errno;
 * -EINVAL: what is there is neither a regular file nor a directory, and stays.
 * Until ep_new_file_end, SIGXFSZ (a file larger than RLIMIT_FSIZE) is held off.
 */
int ep_new_file_begin(struct ep_new_file *output, const char *path);

/*
 * Writes `size` bytes of own memory at `offset`. Returns how many could be written: fewer when the
 * memory after them is not readable. Negative errno when the file takes no more.
 */
int64_t ep_new_file_write(struct ep_new_file *output, uint64_t offset, const void *bytes,
			  uint64_t size);

/* Gives it the name `path`. With `fresh`, -EEXIST when there is such a file; then another name may
 * be tried. */
int ep_new_file_name(struct ep_new_file *output, const char *path, bool fresh);

/* Makes a file in the directory of `path`, .epitaph.ID.N.part, whose name it puts into `aside`.
 * `access`: O_WRONLY or O_RDWR. A descriptor or a negative errno. */
long ep_aside_open(char aside[EP_PATH_MAX], const char *path, long id, int access);

/* Renames, but never replaces: -EEXIST then. 0 or a negative errno. */
long ep_rename_fresh(const char *from, const char *to);

/* Says on stderr why there is no file by EPITAPH_OUTPUT: "no snapshot". */
void ep_new_file_complain(const char *what, int error);

/* Ends it; removes what has not been named. */
void ep_new_file_end(struct ep_new_file *output);

#endif
