/* SPDX-License-Identifier: BSD-2-Clause */
/* commands.h: the table of commands, and the way from argv to one of them. */
#ifndef EPITAPH_CLI_COMMANDS_H
#define EPITAPH_CLI_COMMANDS_H

#include "cli/common/option.h"

extern const struct ep_command *const ep_commands[]; /* NULL at the end */

/* The whole program: an exit status. */
int ep_main(int argc, char *argv[]);

#endif
