/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * forward.h: the kernel's stream goes on to what core_pattern named before: a program, a socket, or
 * a file, as the kernel itself would have written it, with the crashed user's permissions and
 * limit. By a process of its own, the forwarder, whom its starter watches: a handler may take
 * nothing, and the user may stop what writes his file, which has his ids.
 */
#ifndef EPITAPH_FORWARD_H
#define EPITAPH_FORWARD_H

#include <stdbool.h>
#include <stdint.h>

#include "coredump/handler/crash.h"
#include "coredump/handler/relay.h"

/* What the forwarder says, in memory that both have. */
struct ep_forward_shared {
	uint64_t moved;    /* bytes, and steps: grows while anything moves */
	struct ep_err err; /* text: why it failed; "": it did not say */
};

struct ep_forward {
	pid_t process; /* -1: none */
	int ended;     /* a pipe that hangs up when it has ended */
	struct ep_forward_shared *shared;
	uint64_t moved_before;
};

/* `previous`: core_pattern's value before it was ours, not "". EP_E_IO: there is no process;
 * nothing is to be ended. */
int ep_forward_begin(struct ep_forward *forward, struct ep_relay *relay,
		     const struct ep_crash *crash, const char *previous, bool uses_pid,
		     struct ep_err *err);

/* Has nothing moved since this was asked last? */
bool ep_forward_stalls(struct ep_forward *forward);

/* Waits for its end, which is here (`ended` hangs up), or is made as it `stalled`, for `seconds`.
 * EP_E_IO: not all of the core went there. */
int ep_forward_end(struct ep_forward *forward, bool stalled, const char *previous, unsigned seconds,
		   struct ep_err *err);

#endif
