/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * store.h: the folder in which `epitaph catch` keeps snapshots: whole files
 * with names that tell program, pid and time, owned by the user that crashed;
 * of too many, or too much, the oldest go.
 */
#ifndef EPITAPH_STORE_H
#define EPITAPH_STORE_H

#include <stddef.h>

#include "coredump/crash.h"

#define EP_STORE_DEFAULT "/var/lib/epitaph"

struct ep_store {
	char path[PATH_MAX];
	char socket[108];    /* that core_pattern names; "": a pipe */
	char previous[256];  /* core_pattern's value before; "" none */
	bool uses_pid;       /* kernel.core_uses_pid */
	uint64_t pipe_limit; /* kernel.core_pipe_limit before */
	uint64_t most_files; /* snapshots that are kept */
	uint64_t most_bytes; /* of all of them together */
	unsigned seconds;    /* without any progress, until it is given up */
	uint32_t redact;     /* EP_REDACTED_: what snapshots leave out */
};
#define EP_STORE_INIT                                       \
	((struct ep_store){.path = EP_STORE_DEFAULT,        \
			   .most_files = 100,               \
			   .most_bytes = UINT64_C(2) << 30, \
			   .seconds = 30})

/* The settings in the folder's file "settings". EP_END: there is none. */
int ep_store_load(struct ep_store *store, const char *path, struct ep_err *err);
/* Makes the folder where it is missing. The file is whole or the old one. */
int ep_store_save(const struct ep_store *store, struct ep_err *err);

/* The name that the snapshot of that crash is to have; without the program's
 * where paths or the command line are to be left out. */
int ep_store_name(const struct ep_store *store, const struct ep_crash *crash,
		  char out[PATH_MAX], struct ep_err *err);

/* Gives the file to the crashed user (root's stay root's), then lets the oldest
 * go until the limits hold; it stays itself. */
int ep_store_keep(const struct ep_store *store, const struct ep_crash *crash,
		  const char *path, struct ep_err *err);

/* One line to the folder's file "log", bounded in size. Never fails. */
void ep_store_log(const struct ep_store *store, const struct ep_crash *crash,
		  const char *words);

/* A snapshot of the folder. */
struct ep_stored {
	char name[NAME_MAX + 1];
	uint64_t size; /* bytes */
	uint64_t time; /* of its writing, ns since 1970 */
};

/* Oldest first; the caller frees *out. */
int ep_store_list(const char *path, struct ep_stored **out, size_t *count,
		  struct ep_err *err);

#endif
