/* SPDX-License-Identifier: BSD-2-Clause */
/* progress.c: one function pointer. */
#include "coredump/util/progress.h"

#include <stddef.h>

static ep_progress_fn *watcher;

void ep_progress_watch(ep_progress_fn *fn)
{
	watcher = fn;
}

void ep_progress(const char *what, uint64_t done, uint64_t total)
{
	if (watcher)
		watcher(what, done, total);
}

void ep_progress_end(void)
{
	if (watcher)
		watcher(NULL, 0, 0);
}
