/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * store.h: the folder in which `epitaph catch` keeps snapshots: whole files with names that tell
 * program, user, pid and time. All is root's: the user that crashed may read what is his, by an
 * access control list, and can neither change nor replace what root will read and count later. Of
 * too many, or too much, the oldest of whoever has most go.
 */
#ifndef EPITAPH_STORE_H
#define EPITAPH_STORE_H

#include <stddef.h>

#include "coredump/handler/crash.h"

#define EP_STORE_DEFAULT "/var/lib/epitaph"

/* Crashes that are handled at once; a user has half of these places. */
#define EP_HANDLED_AT_ONCE 64u

struct ep_store {
	char path[PATH_MAX];
	char socket[108];    /* that core_pattern names; "": a pipe */
	char previous[256];  /* core_pattern's value before; "" none */
	bool uses_pid;       /* kernel.core_uses_pid */
	uint64_t pipe_limit; /* kernel.core_pipe_limit before */
	uint64_t most_files; /* snapshots that are kept */
	uint64_t most_bytes; /* of all of them together, on the disk */
	uint64_t spare;      /* bytes that stay free on the file system */
	unsigned seconds;    /* without any progress, until it is given up */
	uint32_t redact;     /* EP_REDACTED_: what snapshots leave out */
};
#define EP_STORE_INIT                                       \
	((struct ep_store){.path = EP_STORE_DEFAULT,        \
			   .most_files = 100,               \
			   .most_bytes = UINT64_C(2) << 30, \
			   .spare = UINT64_C(1) << 30,      \
			   .seconds = 30})

/*
 * The settings in the folder's file "settings". EP_END: there is none. EP_E_PERMISSION: others than
 * root and we may write there; what stands in it is not believed, as it names a program that root
 * starts.
 */
int ep_store_load(struct ep_store *store, const char *path, struct ep_err *err);
/* Makes the folder where it is missing. The file is whole or the old one. EP_E_PERMISSION: others
 * may write there, or to a folder above it. */
int ep_store_save(const struct ep_store *store, struct ep_err *err);

/* A file in the folder. EP_E_LIMIT: too long. */
int ep_store_path(char out[PATH_MAX], const char *folder, const char *name, struct ep_err *err);

/*
 * Is core_pattern's value epitaph catch, as a program, or by the socket that the settings in
 * `folder` name? Then `folder`, of PATH_MAX bytes, is the one that it uses: that of the program's
 * own words, if it has any.
 */
bool ep_store_is_named(const char *pattern, char folder[PATH_MAX]);

/* The name that the snapshot of that crash is to have; without the program's where paths or the
 * command line are to be left out. */
int ep_store_name(const struct ep_store *store, const struct ep_crash *crash, char out[PATH_MAX],
		  struct ep_err *err);

/*
 * One crash more of that user is being handled. Of EP_HANDLED_AT_ONCE places, or of as many as the
 * kernel lets crash at once where those are fewer, a user has half. The
 * place is held until all processes that have the descriptor *place, which is closed on exec, have
 * closed it. EP_E_LIMIT: there is no place, and *place is -1, as it is where the folder cannot be
 * written to: there nobody is counted. Waits for nobody.
 */
int ep_store_enter(const struct ep_store *store, uid_t account, int *place, struct ep_err *err);

/*
 * kernel.core_pipe_limit (core(5)). Above 0 the kernel holds a crashed process until nobody has
 * the stream open any more, and starts that many handlers at once; at 0 it holds it only while
 * there is more to write.
 */
unsigned long ep_store_pipe_limit(void);

/* Lets the oldest go while less is free than is to stay so. EP_E_LIMIT: there is no room in spite
 * of it. */
int ep_store_make_room(const struct ep_store *store, struct ep_err *err);

/*
 * Lets the crashed user read the file if it is his (ep_crash_is_users_own), then lets others go
 * until the limits hold; it stays itself. EP_E_PERMISSION: it is kept, but the file system has no
 * access control lists, so only root may read it.
 */
int ep_store_keep(const struct ep_store *store, const struct ep_crash *crash, const char *path,
		  struct ep_err *err);

/* One line to the folder's file "log", bounded in size. Never fails. */
void ep_store_log(const struct ep_store *store, const struct ep_crash *crash, const char *words);

/* A snapshot of the folder. */
struct ep_stored {
	char name[NAME_MAX + 1];
	uint64_t size; /* bytes on the disk */
	uint64_t time; /* of its last change, which no user can set (ctime), ns since 1970 */
	uid_t account; /* whose it is, by its name; 0 also where that has none */
};

/* Oldest first; the caller frees *out. EP_END: there is no such folder; EP_E_IO: also where memory
 * runs out, as the relay comes here. */
int ep_store_list(const char *path, struct ep_stored **out, size_t *count, struct ep_err *err);

#endif
