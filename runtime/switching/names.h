/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * names.h: functions by name, for epitaph_trace and epitaph_untrace: from the symbol table of each
 * module's file (.symtab, else .dynsym). A pattern (* ? [...]) is compared with the symbol, with
 * what of it comes before a compiler's dot (f.constprop.0, f.cold), and for C++ with the scoped
 * name without template arguments and parameters (net::Server::run). Patterns hold for libraries
 * that are loaded later, too: of several that match, the latest. No malloc.
 */
#ifndef EPITAPH_SWITCHING_NAMES_H
#define EPITAPH_SWITCHING_NAMES_H

#include <stdbool.h>

#define EP_SWITCH_PATTERNS 64
#define EP_PATTERN_SIZE    256 /* bytes, with the NUL */

/*
 * Untraced (`off`), or traced whatever the budget says. How many functions that was new for; or a
 * negative errno (EINVAL: an empty pattern, or one that is too long; ENOSPC: too many patterns;
 * ENOTSUP: code cannot be changed here). Not in signal handlers.
 */
int ep_switch_names(const char *pattern, bool off);

/* Libraries came: what patterns say of them. Not in signal handlers. */
void ep_switch_names_refresh(void);

/* One has gone: when it comes back, patterns hold for it anew. Signal safe. */
void ep_switch_names_forget(void);

/* In a forked child, where nobody else is at it. */
void ep_switch_names_start(void);

#endif
