/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * procfile.h: small text files of the kernel's (proc(5)). All but ep_proc_read read without
 * allocating, for those that go on when memory runs out (handler/relay.h).
 */
#ifndef EPITAPH_PROCFILE_H
#define EPITAPH_PROCFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The first line, without its end, cut to `size`. False: it cannot be read (errno); `out` is empty
 * then. */
bool ep_procfile_line(const char *path, char *out, size_t size);
/* The same below the descriptor `folder`, as openat(2) has it. */
bool ep_procfile_line_at(int folder, const char *path, char *out, size_t size);

/* All of it, without its last end of line, cut to `size`: of files that have names in them which
 * may hold one (stat, comm). */
bool ep_procfile_text_at(int folder, const char *path, char *out, size_t size);

/* All of NAME in the folder /proc/PID, or of a path where that is AT_FDCWD; *out is NUL-terminated
 * beyond *size, to be freed. 0, or a negative errno. */
int ep_proc_read(int folder, const char *name, char **out, size_t *size);

/* All lines, one after the other. Those longer than the buffer are cut. */
struct ep_procfile {
	int fd;
	size_t begin, end; /* of what is read and not given yet */
	bool skipping;     /* the rest of a line that was cut */
	char bytes[4096];
};

/* False: it cannot be read (errno). */
bool ep_procfile_open(struct ep_procfile *file, const char *path);
bool ep_procfile_open_at(struct ep_procfile *file, int folder, const char *path);
/* The next line, which ends with `delimiter` ('\n', or '\0' as in environ), without it; borrowed
 * until the next call. NULL: there is none. */
char *ep_procfile_next(struct ep_procfile *file, char delimiter);
void ep_procfile_close(struct ep_procfile *file);

#endif
