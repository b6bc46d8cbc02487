/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mangled.h: the scoped name in a C++ symbol, without template arguments and parameters
 * (net::Server::run), by the Itanium C++ ABI, 5.1. Only what people write in patterns: names,
 * scopes, constructors, destructors, the unnamed namespace; what needs more than a look at the
 * symbol (substitutions in scopes, operators, lambdas) has none. Signal safe.
 */
#ifndef EPITAPH_MANGLED_H
#define EPITAPH_MANGLED_H

#include <stdbool.h>
#include <stddef.h>

/* False: no such symbol, one that is too long, or none that it knows; `out` is undefined then. */
bool ep_scoped_name(const char *symbol, char *out, size_t size);

#endif
