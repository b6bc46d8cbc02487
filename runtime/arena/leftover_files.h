/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * leftover_files.h: files of dead processes. Only regular files of the caller's own user that begin
 * with a valid arena are ever renamed or removed. Static memory: one caller at a time.
 */
#ifndef EPITAPH_LEFTOVER_FILES_H
#define EPITAPH_LEFTOVER_FILES_H

#include <stdbool.h>

/*
 * Renames what a dead process left at `path` to path.N, N above all others. 0: the name is free
 * now; -EEXIST: look again; another negative errno. *why is set where the name is not to be had:
 * words.
 */
long ep_backing_put_aside(const char *path, const char **why);

/* Removes the oldest files of the dead that have a name by `pattern`, in the directory of `path`,
 * until EPITAPH_FILE_KEEP and _KEEP_SIZE hold; and what processes left there that were killed while
 * they made a file. */
void ep_backing_prune(const char *pattern, const char *path);

#endif
