/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * peer.h: who is at the other end of a socket that kernel.core_pattern names: the process that the
 * kernel is dumping (Linux 6.16: "@/path"; since 6.17 also "@@/path", with a question first), or
 * somebody who only connected.
 */
#ifndef EPITAPH_PEER_H
#define EPITAPH_PEER_H

#include <sys/un.h>

#include "coredump/handler/crash.h"

/* EP_OK: this kernel tells servers who crashes. EP_E_VERSION: it does not. */
int ep_peer_possible(struct ep_err *err);

/*
 * Asks the kernel which process is at the other end of the socket, without waiting for anybody:
 * sets crash->pid, uid, gid, dumpable and account. *pidfd, to be closed where it is not -1, keeps
 * the pid from being given to others. EP_END: the process at crash->pid does not crash.
 */
int ep_peer_who(struct ep_crash *crash, int socket, int *pidfd, struct ep_err *err);
/* The rest of it; as ep_crash_read. */
int ep_peer_crash(struct ep_crash *crash, int pidfd, struct ep_err *err);

/*
 * Waits `seconds` for the peer to begin, and answers the kernel's question if it asks: the core
 * comes, and the process is held until the socket is closed. What can be read then is the core.
 * EP_E_IO: nothing came; EP_E_FORMAT: it is neither a question nor a core.
 */
int ep_peer_begin(int socket, unsigned seconds, struct ep_err *err);

/* `path` as the address of such a socket. EP_E_USAGE: it cannot be one. */
int ep_peer_address(const char *path, struct sockaddr_un *out, struct ep_err *err);
/* Does somebody listen there? Also true where that cannot be known. */
bool ep_peer_is_served(const struct sockaddr_un *address);

#endif
