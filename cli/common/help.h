/* SPDX-License-Identifier: BSD-2-Clause */
/* help.h: --help, man pages and completions, all from the table of commands, whose last entry is
 * NULL. */
#ifndef EPITAPH_HELP_H
#define EPITAPH_HELP_H

#include <stdio.h>

#include "cli/common/option.h"

/* The commands and the exit statuses. */
void ep_help_all(const struct ep_command *const *commands, FILE *out);

/* One command's --help, on stdout. */
void ep_help_command(const struct ep_command *command);

/* "count merge" → "epitaph-count-merge", as its man page is called. Borrowed until the next call.
 */
const char *ep_help_page_name(const struct ep_command *command);

/* Of the commands of two words that begin with `word`: false, there are none. */
bool ep_help_group(const struct ep_command *const *commands, const char *word);

/* epitaph.1 and epitaph-COMMAND.1 into `directory`, which is made if it is not there. 0, or -1 with
 * errno and a message. */
int ep_help_man_pages(const struct ep_command *const *commands, const char *directory);

/* The table of docs/settings.md. */
void ep_help_settings(FILE *out);

/* The completion for `shell`: bash, zsh or fish. -1: no such shell. */
int ep_help_completion(const struct ep_command *const *commands, const char *shell);

/* What SOURCE may be, and what the exit statuses mean. */
extern const char ep_help_source[];
extern const char *const ep_help_statuses[]; /* pairs: number, meaning */

#endif
