/* SPDX-License-Identifier: BSD-2-Clause */
/* kit.c: where the wrapper's own files are. */
#include "cli/wrapper/kit.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/wrapper/say.h"
#include "coredump/util/alloc.h"

/* The directory above the one that holds this program. */
static void find_root(char root[PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", root, PATH_MAX - 1);
	char *slash;

	if (length <= 0)
		ep_die("/proc/self/exe cannot be read: %m");
	root[length] = 0;
	for (int i = 0; i < 2; i++) {
		slash = strrchr(root, '/');
		if (slash)
			*slash = 0;
	}
}

static char *under(const char *root, const char *name)
{
	char *path = ep_asprintf("%s/%s", root, name);

	if (access(path, R_OK))
		ep_die("%s: %m (the wrapper finds its files beside itself)", path);
	return path;
}

void ep_kit_find(struct ep_kit *kit)
{
	char root[PATH_MAX];

	find_root(root);
	kit->lib = under(root, "lib");
	kit->runtime = under(root, "lib/epitaph/runtime.o");
	kit->shared = under(root, "lib/libepitaph.so");
	kit->registrar = under(root, "lib/epitaph/dso.o");
	kit->keeps = under(root, "lib/epitaph/keeps.o");
	kit->sleds = under(root, "lib/epitaph/sleds.o");
	kit->stub = under(root, "lib/epitaph/stub.o");
	kit->early = under(root, "lib/epitaph/early.o");
	kit->hooks = under(root, "lib/epitaph/hooks.o");
	kit->jumps = under(root, "lib/epitaph/jumps.a");
	kit->own = under(root, "lib/epitaph/own.a");
	kit->own_header = under(root, "lib/epitaph/own.h");
	kit->interpose = under(root, "lib/epitaph/interpose.o");
	kit->wrapped = under(root, "lib/epitaph/wrapped.o");
	kit->pg_specs = under(root, "lib/epitaph/pg.specs");
	kit->epitaph = ep_asprintf("%s/bin/epitaph", root);
	under(root, "lib/epitaph/filter/as");
	kit->assembler = under(root, "lib/epitaph/filter");
	kit->include = under(root, "include/epitaph");
}
