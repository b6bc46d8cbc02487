/* SPDX-License-Identifier: BSD-2-Clause */
/* say.h: what the wrapper itself has to say, on stderr, under its own name. */
#ifndef EPITAPH_WRAPPER_SAY_H
#define EPITAPH_WRAPPER_SAY_H

#include <stdbool.h>

/* "epitaph-cc" or "epitaph-c++". */
extern const char *ep_tool;

/* -epitaph-verbose: whether ep_note says anything. */
extern bool ep_verbose;

/* "epitaph-cc: warning: …", and on it goes. */
void ep_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

void ep_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "epitaph-cc: error: …"; ends with status 64, which no compiler has. */
void ep_die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
