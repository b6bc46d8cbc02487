/* SPDX-License-Identifier: BSD-2-Clause */
/* parser.h: the process that takes the snapshot of what crashed, seen by the relay (relay.h). */
#ifndef EPITAPH_PARSER_H
#define EPITAPH_PARSER_H

#include "coredump/files/output.h"
#include "coredump/handler/relay.h"
#include "coredump/handler/store.h"

struct ep_parser {
	pid_t process;    /* -1: none */
	int said;         /* a pipe that hangs up when it has ended */
	unsigned seconds; /* that it may take */
	uint64_t until;   /* CLOCK_MONOTONIC, ns: then it is late */
	char path[PATH_MAX];
	struct ep_output output;
};

/* Afterwards the caller closes relay->feed[0], and calls _end whatever happens; but not after a
 * failure: no file. */
int ep_parser_begin(struct ep_parser *parser, const struct ep_store *store,
		    const struct ep_crash *crash, struct ep_relay *relay, struct ep_err *err);
/* It has ended (`said` hangs up), or is `late` and is ended: gives the file its name and owner, or
 * says why there is none; then nothing is left of it. */
int ep_parser_end(struct ep_parser *parser, bool late, const struct ep_store *store,
		  const struct ep_crash *crash, struct ep_err *err);

#endif
