/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * output.h: a file that appears whole or not at all: written without a name, or aside, then given
 * its own. Pipes and devices are written directly.
 */
#ifndef EPITAPH_OUTPUT_H
#define EPITAPH_OUTPUT_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "coredump/util/error.h"

struct ep_output {
	int fd;
	bool direct; /* stdout, a pipe, a device */
	bool force;
	char path[PATH_MAX];  /* as it will be called, symbolic links
				 resolved */
	char aside[PATH_MAX]; /* "": has no name yet */
};

/*
 * `path` "-" is stdout. EP_E_USAGE: it exists and `force` is false; stdout is a terminal.
 * EP_E_PERMISSION also: see target.h. The file will be readable by its owner only, as a core is.
 */
int ep_output_open(struct ep_output *output, const char *path, bool force, struct ep_err *err);
/* Gives it its name; after a failure nothing is left of it. */
int ep_output_commit(struct ep_output *output, struct ep_err *err);
/* Throws it away. */
void ep_output_abandon(struct ep_output *output);

#endif
