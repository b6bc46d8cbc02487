/* SPDX-License-Identifier: BSD-2-Clause */
/* open.c: from the kind that a name means to its source. */
#include "coredump/kinds/open.h"

#include "coredump/funtrace/funtrace.h"
#include "coredump/kinds/arena_file.h"
#include "coredump/kinds/identify.h"

int ep_source_open(struct ep_source **out, const char *name, struct ep_err *err)
{
	pid_t pid = 0;

	switch (ep_identify(name, &pid)) {
	case EP_SOURCE_LIVE:
		if (pid)
			return ep_source_open_live(out, pid, err);
		return ep_fail(err, EP_E_USAGE, 0, "%s: a pid is a number from 1 on", name);
	case EP_SOURCE_FUNTRACE:
		return ep_source_open_funtrace(out, name, EP_FUNTRACE_NEWEST, err);
	case EP_SOURCE_ARENA:
		return ep_source_open_arena(out, name, err);
	default:
		return ep_source_open_core(out, name, err);
	}
}

int ep_source_open_sample(struct ep_source **out, const char *name, size_t sample,
			  struct ep_err *err)
{
	pid_t pid;

	if (ep_identify(name, &pid) == EP_SOURCE_FUNTRACE)
		return ep_source_open_funtrace(out, name, sample, err);
	return ep_fail(err, EP_E_USAGE, 0, "%s: not a funtrace.raw, which alone has samples", name);
}
