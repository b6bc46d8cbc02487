/* SPDX-License-Identifier: BSD-2-Clause */
/* progress.c: one function pointer, and whether something waits for the inner work. */
#include "coredump/util/progress.h"

#include <stddef.h>

static ep_progress_fn *watcher;
static bool within;
static const char *inner; /* NULL: there is none */

void ep_progress_watch(ep_progress_fn *fn)
{
	watcher = fn;
}

bool ep_progress(const char *what, uint64_t done, uint64_t total)
{
	within = true;
	return !watcher || watcher(what, done, total);
}

void ep_progress_end(void)
{
	within = false;
	if (watcher)
		watcher(NULL, 0, 0);
}

void ep_progress_inner_goes_on(void)
{
	if (watcher && inner)
		watcher(inner, 0, 0);
}

void ep_progress_inner(const char *what)
{
	inner = what;
	ep_progress_inner_goes_on();
}

void ep_progress_inner_end(void)
{
	inner = NULL;
	if (watcher && !within)
		watcher(NULL, 0, 0);
}
