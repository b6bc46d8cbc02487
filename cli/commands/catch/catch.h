/* SPDX-License-Identifier: BSD-2-Clause */
/* catch.h: the parts of epitaph catch, for each other. */
#ifndef EPITAPH_CATCH_H
#define EPITAPH_CATCH_H

#include <sys/un.h>

#include "cli/common/option.h"
#include "coredump/files/output.h"
#include "coredump/handler/relay.h"
#include "coredump/handler/store.h"

/* Takes a snapshot and passes the stream on. `stream` is taken over. */
void ep_catch_crash(const struct ep_store *store, const struct ep_crash *crash, int stream);

/* Crashes that are handled at once; a user has half of these places. */
#define EP_CATCH_AT_ONCE 64u

/* It takes milliseconds. */
#define EP_SNAPSHOT_SECONDS 10u /* or the store's, if that is less */

/* A snapshot that is being taken, by a process of its own (relay.h). */
struct ep_catch_snapshot {
	pid_t process;    /* -1: none */
	int said;         /* a pipe that hangs up when it has ended */
	unsigned seconds; /* that it may take */
	uint64_t until;   /* CLOCK_MONOTONIC, ns: then it is late */
	char path[PATH_MAX];
	struct ep_output output;
};

/* Afterwards the caller closes relay->feed[0], and calls _end whatever happens; but not after a
 * failure: no file. */
int ep_catch_snapshot_begin(struct ep_catch_snapshot *snapshot, const struct ep_store *store,
			    const struct ep_crash *crash, struct ep_relay *relay,
			    struct ep_err *err);
/* It has ended (`said` hangs up), or is `late` and is ended: gives the file its name and owner, or
 * says why there is none; then nothing is left of it. */
int ep_catch_snapshot_end(struct ep_catch_snapshot *snapshot, bool late,
			  const struct ep_store *store, const struct ep_crash *crash,
			  struct ep_err *err);
/* Descriptors, signals and umask of a handler. */
void ep_catch_settle(void);

/* `path` of --listen as an address; an exit status, told. */
int ep_catch_address(const char *path, struct sockaddr_un *out);
/*
 * Is core_pattern's value epitaph catch, as a program, or by the socket that the settings in
 * `store` name? Then `store`, of PATH_MAX bytes, is the folder that it uses: that of the program's
 * own words, if it has any.
 */
bool ep_catch_owns(const char *pattern, char *store);
/* Does somebody listen there? */
bool ep_catch_is_served(const struct sockaddr_un *address);

/* Exit statuses. */
int ep_catch_install(const struct ep_arguments *arguments);
int ep_catch_uninstall(const struct ep_arguments *arguments);
int ep_catch_listen(const struct ep_arguments *arguments, const char *path);
int ep_catch_status(const struct ep_arguments *arguments);

#endif
