/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * output.h: a file that appears whole or not at all: written without a name, or aside, then given
 * its own. Pipes and devices are written directly. Also where memory runs out meanwhile (alloc.h)
 * nothing of it stays.
 */
#ifndef EPITAPH_OUTPUT_H
#define EPITAPH_OUTPUT_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "coredump/util/error.h"

/* Stays where it is until it is committed or abandoned. */
struct ep_output {
	int fd;
	FILE *file;  /* of text: to write to; else NULL */
	bool direct; /* stdout, a pipe, a device */
	bool force;
	char path[PATH_MAX];    /* as it will be called, symbolic links resolved */
	char aside[PATH_MAX];   /* "": has no name yet */
	struct ep_output *next; /* that has a name aside */
};

/*
 * `path` "-" is stdout. EP_E_USAGE: it exists and `force` is false; stdout is a terminal.
 * EP_E_PERMISSION also: somebody else put there what is there (target.h). The file will be readable
 * by its owner only, as a core is.
 */
int ep_output_open(struct ep_output *output, const char *path, bool force, struct ep_err *err);
/* The same of text: a file is replaced, and keeps its mode; a terminal is welcome. */
int ep_output_open_text(struct ep_output *output, const char *path, struct ep_err *err);
/* Gives it its name; after a failure nothing is left of it. */
int ep_output_commit(struct ep_output *output, struct ep_err *err);
/* Throws it away. */
void ep_output_abandon(struct ep_output *output);

/* What has a name aside, of all outputs of this process, goes: for who ends it by a signal. Safe in
 * a signal handler. */
void ep_output_remove_asides(void);

/*
 * Waits until no one else who asks holds `path`, and holds it until *lock is closed: for those who
 * read a file, change it and write it again. The file need not exist; its directory must. Leaves
 * nothing behind.
 */
int ep_output_lock(int *lock, const char *path, struct ep_err *err);

#endif
