/* SPDX-License-Identifier: BSD-2-Clause */
/* names_options.h: where the files that names come from are looked for, and what is made of them.
 */
#ifndef EPITAPH_NAMES_OPTIONS_H
#define EPITAPH_NAMES_OPTIONS_H

#include "decoder/names/debuginfod.h"

struct ep_source;
struct ep_trace;

struct ep_names_options {
	const char *const *debug_paths; /* directories, tried in order; may be NULL; /usr/lib/debug
					   comes last */
	size_t debug_path_count;
	const char *const *path_maps; /* OLD=NEW, valid (path_map.h): beginnings of source files'
					 paths; may be NULL */
	size_t path_map_count;
	const char *executable; /* use this file for the program; NULL */
	const char *sysroot;    /* in front of every module's path, and of /usr/lib/debug; NULL */
	bool force;             /* use files whose build-id differs */
	bool no_demangle;
	bool debuginfod;                    /* ask the servers that DEBUGINFOD_URLS names */
	ep_debuginfod_progress_fn progress; /* of that; may be NULL */
	const struct ep_trace *trace; /* whose calls tell whether a file is the one; NULL; must
					 outlive the names */
	struct ep_source *memory; /* for texts that are in no file; NULL; must outlive the names */
};

#endif
