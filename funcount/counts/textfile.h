/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * textfile.h: a text file that is written whole or not at all: aside, then renamed. It keeps the
 * mode of the file that it replaces; a symbolic link stays one.
 */
#ifndef EPITAPH_TEXTFILE_H
#define EPITAPH_TEXTFILE_H

#include <limits.h>
#include <stdio.h>

#include "coredump/util/error.h"

struct ep_textfile {
	FILE *file; /* to write to */
	char path[PATH_MAX], aside[PATH_MAX];
};

/* "-" is stdout; a pipe or a device is written directly. */
int ep_textfile_open(struct ep_textfile *out, const char *path, struct ep_err *err);
/* Gives it its name. On failure nothing is left of it. */
int ep_textfile_commit(struct ep_textfile *out, struct ep_err *err);
void ep_textfile_abandon(struct ep_textfile *out);

/*
 * Waits until no one else who asks holds `path`, and holds it until *lock is closed: for those who
 * read a file, change it and write it again. The file need not exist; its directory must. Leaves
 * nothing behind.
 */
int ep_textfile_lock(int *lock, const char *path, struct ep_err *err);

#endif
