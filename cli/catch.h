/* SPDX-License-Identifier: BSD-2-Clause */
/* catch.h: the parts of epitaph catch, for each other. */
#ifndef EPITAPH_CATCH_H
#define EPITAPH_CATCH_H

#include <sys/un.h>

#include "cli/option.h"
#include "coredump/store.h"

/* Takes a snapshot and passes the stream on. `stream` is taken over. What is
 * missing of crash (ep_crash_settle) is filled in. */
void ep_catch_crash(const struct ep_store *store, struct ep_crash *crash,
		    int stream);
/* Descriptors, signals and umask of a handler. */
void ep_catch_settle(void);

/* `path` of --listen as an address; an exit status, told. */
int ep_catch_address(const char *path, struct sockaddr_un *out);
/*
 * Is core_pattern's value epitaph catch, as a program, or by the socket that
 * the settings in `store` name? Then `store`, of PATH_MAX bytes, is the folder
 * that it uses: that of the program's own words, if it has any.
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
