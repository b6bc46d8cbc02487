/* SPDX-License-Identifier: BSD-2-Clause */
/* short_name.h: names of C++ as people say them: std::string, std::vector<int>. */
#ifndef EPITAPH_SHORT_NAME_H
#define EPITAPH_SHORT_NAME_H

/*
 * A demangled name (ep_function.name) without what nobody says: template arguments of the standard
 * library that are the default ones, its inline namespaces, ABI tags, what a template returns, and
 * which clone of a function it is; std::basic_string<char> is std::string. Template arguments that
 * are not the default, and types of parameters, stay: overloads differ. No longer than `name`; a
 * name of C, or one that is no name, stays as it is. The caller frees it.
 */
char *ep_short_name(const char *name);

/* Takes the list of parameters, and what comes behind it, off a name, in place: "f(int) const" is
 * "f". Overloads are no longer told apart. */
void ep_cut_parameters(char *name);

#endif
