/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * names.h: functions by name, for epitaph_trace and epitaph_untrace: from the symbol table of each
 * module's file (.symtab, else .dynsym), which is mapped for the moment. A pattern (* ? [...]) is
 * compared with the symbol's name, and for C++ with the scoped name without template arguments and
 * parameters (net::Server::run). Patterns hold for libraries that are loaded later, too.
 */
#ifndef EPITAPH_SWITCHING_NAMES_H
#define EPITAPH_SWITCHING_NAMES_H

#include <stdbool.h>

/* How many functions now are as asked for; or a negative errno (EINVAL: an empty pattern or one of
 * more than 255 bytes; ENOSPC: too many patterns; ENOTSUP: code cannot be changed here). Not in
 * signal handlers. */
int ep_switch_names(const char *pattern, bool off);

/* Libraries came: what patterns say of them. */
void ep_switch_names_refresh(void);

#endif
