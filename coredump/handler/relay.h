/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * relay.h: the core that the kernel writes, on its way through `epitaph catch`: to the parser,
 * which takes the snapshot, as far as that asks; and whole to the forwarder, for the previous
 * handler. Bytes are copied here, never looked at.
 *
 *   kernel ═stream═> relay (root) ─feed─> parser     as the crashed user, in
 *                      │    │                        confinement (confine.h)
 *                      │    └──memory──> forwarder ──> previous handler
 *                      └─ when the parser has enough: the stream itself ──┘
 *
 *             holds                        may
 *   relay     stream, memory, feed and     all that root may: it opens what
 *             wake (to write)              the others get, and copies
 *   parser    feed (to read), /proc/PID/   no system call that opens,
 *             mem, the mapped files, the   connects, starts or signals
 *             output; never the stream
 *   forwarder stream, memory, wake (to     what the previous handler needs;
 *             read), its output            what writes a file is its child,
 *                                          with a pipe and the user's ids
 *
 * The relay waits for nobody but the kernel: what the parser or the forwarder have not taken yet
 * stays in memory (a memfd, so no disk can be full), up to EP_RELAY_MOST bytes; then the forwarder
 * goes on with the stream itself, and the parser has what there is.
 */
#ifndef EPITAPH_RELAY_H
#define EPITAPH_RELAY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "coredump/util/error.h"

/* Bytes of headers and notes: 18,000 threads with AVX-512. */
#define EP_RELAY_MOST (UINT64_C(64) << 20)

struct ep_relay {
	int stream;    /* the kernel's pipe or socket */
	int memory;    /* what came of it; its size says how much */
	int feed[2];   /* pipe to the parser: [0] its end; -1: closed */
	int wake[2];   /* pipe to the forwarder: [0] its end; -1: closed */
	uint64_t fed;  /* bytes that the parser has, or its pipe */
	uint64_t most; /* bytes of memory; less when there is no more */
	bool ended;    /* the stream */
};

/* Takes over the stream. EP_E_IO; to be closed all the same. */
int ep_relay_init(struct ep_relay *relay, int stream, struct ep_err *err);
void ep_relay_deinit(struct ep_relay *relay);

/*
 * Copies until the parser has closed its end, or has all there is, or `until` (CLOCK_MONOTONIC,
 * ns). `ahead`: also what the parser has not asked for yet, as the forwarder waits for it.
 * Afterwards the stream is the forwarder's.
 */
void ep_relay_run(struct ep_relay *relay, bool ahead, uint64_t until);

/*
 * In the forwarder: all of the stream to `out`, holes as holes where it is a file. *bytes, which
 * another process may look at, grows as they go. EP_E_IO: `out` takes no more (errno).
 */
int ep_relay_forward(struct ep_relay *relay, int out, uint64_t *bytes, struct ep_err *err);

/* In the process that is to be that: closes what the others have. */
enum ep_relay_end { EP_RELAY_PARSER, EP_RELAY_FORWARDER };
void ep_relay_keep(struct ep_relay *relay, enum ep_relay_end end);

/*
 * Waits for a child that has ended, or, if `end`, ends it first: a second at most, as one that
 * waits for a file system that does not answer is not ended by SIGKILL either; it is left to init,
 * and *status as it was.
 */
void ep_relay_reap(pid_t child, bool end, int *status);

/* CLOCK_MONOTONIC, ns. */
uint64_t ep_relay_now(void);

#endif
