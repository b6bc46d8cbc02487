/* SPDX-License-Identifier: BSD-2-Clause */
/* say.h: words to the user on stderr, and colours on stdout. */
#ifndef EPITAPH_SAY_H
#define EPITAPH_SAY_H

#include <stdbool.h>

/* One line on stderr: "epitaph: …". */
void ep_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * What a terminal, or a line of text, may have of it: UTF-8 without control characters
 * (ep_utf8_escape). For whatever comes from outside: names of files, programs, settings. Borrowed
 * until the fourth call from now; no more than 4096 bytes of `text` for certain.
 */
const char *ep_shown(const char *text);

/* Decides by --color (auto, always, never; NULL: auto) and NO_COLOR. False: the word is none of
 * these. */
bool ep_color_choose(const char *when);

/* Escape sequences, "" when colours are off. Static. */
enum ep_color { EP_PLAIN, EP_BOLD, EP_DIM, EP_RED, EP_YELLOW, EP_CYAN };
const char *ep_color(enum ep_color color);

/* Flushes stdout; false when something could not be written (disk full), with a message. A reader
 * that has gone away (EPIPE) is no error. */
bool ep_stdout_finish(void);

#endif
