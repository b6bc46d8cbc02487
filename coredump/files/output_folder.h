/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * output_folder.h: a folder of files that appears whole or not at all. Its files have no name until
 * all are written, where the file system has such (O_TMPFILE): then nothing stays behind, however
 * the process ends. Else they lie in a folder aside, which goes when the process exits. Not safe
 * among threads; one at a time.
 */
#ifndef EPITAPH_OUTPUT_FOLDER_H
#define EPITAPH_OUTPUT_FOLDER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "coredump/util/error.h"

#define EP_OUTPUT_FOLDER_FILES 16

struct ep_output_folder_file {
	char name[64];
	int fd; /* owned */
};

/* Stays where it is until it is committed or abandoned. */
struct ep_output_folder {
	char path[PATH_MAX];  /* as it will be called, symbolic links resolved */
	char aside[PATH_MAX]; /* "": has no name yet */
	bool nameless;        /* the files have none */
	bool replace;
	bool (*ours)(const char *name);
	size_t file_count;
	struct ep_output_folder_file files[EP_OUTPUT_FOLDER_FILES];
};

/*
 * A folder that is there must be empty, or hold files that are `ours` only; these need `replace`.
 * Anything else is never touched. EP_E_USAGE: it is, or `path` is no folder; EP_E_PERMISSION also:
 * somebody else put it there (target.h). The folder, and all in it, will be its owner's only.
 */
int ep_output_folder_open(struct ep_output_folder *folder, const char *path, bool replace,
			  bool (*ours)(const char *name), struct ep_err *err);
/* A new file in it, of a name below 64 bytes that is `ours`; *fd stays the folder's. EP_E_LIMIT:
 * they are EP_OUTPUT_FOLDER_FILES already. */
int ep_output_folder_add(struct ep_output_folder *folder, const char *name, int *fd,
			 struct ep_err *err);
/* Gives it its name; what was there before goes then, and not sooner. After a failure nothing is
 * left of the new one. */
int ep_output_folder_commit(struct ep_output_folder *folder, struct ep_err *err);
/* Throws it away. */
void ep_output_folder_abandon(struct ep_output_folder *folder);

/* The folder aside goes, if there is one: for who ends the process by a signal. Safe in a signal
 * handler. */
void ep_output_folder_remove_aside(void);

#endif
