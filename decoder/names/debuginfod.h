/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * debuginfod.h: files of modules from debuginfod servers, by build-id, when the user has named some
 * (DEBUGINFOD_URLS). The library is loaded when it is first needed, and not asked any more once no
 * server answered.
 */
#ifndef EPITAPH_DEBUGINFOD_H
#define EPITAPH_DEBUGINFOD_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

enum ep_debuginfod_kind {
	EP_DEBUGINFOD_DEBUGINFO,
	EP_DEBUGINFOD_EXECUTABLE,
	EP_DEBUGINFOD_SOURCE, /* of which `module` is the name, as the debug information has it */
};

/*
 * What is going on, "1.2 of 3.4 MB": called now and then while a file comes, and once with `done`
 * below 0 when that is over. False: it shall not go on, and no server is asked any more.
 */
typedef bool (*ep_debuginfod_progress_fn)(const char *module, long done, long total);

/*
 * The path of the file in the client's cache, in `out`. False: there is none; `*why` is then ""
 * (nobody has it, or nobody was asked) or words, static. Waits for the network: up to
 * DEBUGINFOD_TIMEOUT seconds, 20 when that is not set, without a byte, and DEBUGINFOD_MAXTIME (600)
 * in all; takes at most DEBUGINFOD_MAXSIZE bytes (4 GiB). Not thread safe. `progress` may be NULL.
 */
bool ep_debuginfod_find(char out[PATH_MAX], enum ep_debuginfod_kind kind, const void *build_id,
			size_t build_id_size, const char *module,
			ep_debuginfod_progress_fn progress, const char **why);

#endif
