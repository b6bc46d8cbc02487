/* SPDX-License-Identifier: BSD-2-Clause */
/* extract.h: what `epitaph extract` and `epitaph control PID snapshot` share. */
#ifndef EPITAPH_CLI_EXTRACT_H
#define EPITAPH_CLI_EXTRACT_H

#include <stdio.h>

#include "cli/common/session.h"

/* --redact and --no-stacks into EP_REDACTED_ bits. An exit status: 0, or usage,
 * with a message printed. */
int ep_extract_parse_redact(const struct ep_arguments *arguments, uint32_t *bits);

/*
 * Writes the snapshot of an open session by the options --output, --no-stacks,
 * --arena-only and --quiet of `arguments`; those that a command
 * does not have are not given. Prints on stderr what was saved; its path, once it is there, also as
 * a line on `path_to` (NULL: no). An exit status.
 */
int ep_extract_run(struct ep_session *session, const struct ep_arguments *arguments, FILE *path_to);

#endif
