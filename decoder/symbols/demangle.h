/* SPDX-License-Identifier: BSD-2-Clause */
/* demangle.h: names of C++ and Rust as people read them. */
#ifndef EPITAPH_DEMANGLE_H
#define EPITAPH_DEMANGLE_H

#include <stdbool.h>

/* The demangled form, which the caller frees. NULL: it is not mangled, or too long. */
char *ep_demangle(const char *symbol);
/* As people say it: with its scope, without parameters, template arguments and what a compiler adds
 * behind a dot (net::Server::run); of any symbol. The caller frees it. */
char *ep_demangle_scoped(const char *symbol);
/* What people read: demangled, unless it cannot be or `raw` says not to; valid UTF-8. The caller
 * frees it. */
char *ep_demangle_shown(const char *symbol, bool raw);

#endif
