/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gccname.h: functions as gcc's -finstrument-functions-exclude-function-list knows them: it looks
 * for each word of that list anywhere in a function's name as gcc itself prints it: with scope and
 * template arguments, without return type and parameters; C names are bare. (gcc 12, tried.)
 */
#ifndef EPITAPH_GCCNAME_H
#define EPITAPH_GCCNAME_H

#include "funcount/counts/called.h"

/* gcc's name of a function, from its linker's and its demangled one. NULL: out of memory; free
 * it. */
char *ep_gcc_name(const char *symbol, const char *demangled);

/* A word for the list: commas escaped. NULL: out of memory; free it. */
char *ep_gcc_word(const char *name);

/* How many called functions of other groups a word would exclude with this group; *first is one of
 * them. `names` has gcc's name of each function. */
size_t ep_gcc_hits(const struct ep_called *called, char *const *names, const char *name,
		   size_t group, const struct ep_called_function **first);

#endif
