/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * embedded.h: the source files whose texts an export holds. Which files those are is the word of
 * the program's debug information, and of the core: both may be somebody else's, and an export is
 * passed on. So only what lies below directories that the user named is read: no link leads out of
 * them, and names that begin with a dot (.git/config, .env) are left out.
 */
#ifndef EPITAPH_EMBEDDED_H
#define EPITAPH_EMBEDDED_H

#include <stddef.h>

#include "coredump/util/array.h"
#include "coredump/util/error.h"

struct ep_embedded_folder {
	int fd;
	char *names[3]; /* as it was given, absolute, and without links; without the slashes at
			   their ends */
};

/* All zero: no directory, and no file. */
struct ep_embedded {
	EP_ARRAY(struct ep_embedded_folder) folders;
	EP_ARRAY(char *) files; /* whose texts were taken, in that order */
};

/* A directory below which sources may be read. */
int ep_embedded_add(struct ep_embedded *embedded, const char *directory, struct ep_err *err);
void ep_embedded_deinit(struct ep_embedded *embedded);

/*
 * The whole text of the source file `path`, as debug information has it, mapped (path_map.h):
 * absolute, or below one of the directories. EP_END: it is not to be embedded, or cannot be had.
 * The caller frees it.
 */
int ep_embedded_read(struct ep_embedded *embedded, const char *path, char **text, size_t *size);

/* The same file, open to be read, and not counted among those whose texts were taken; -1. */
int ep_embedded_open(const struct ep_embedded *embedded, const char *path);

#endif
