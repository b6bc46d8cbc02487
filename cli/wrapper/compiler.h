/* SPDX-License-Identifier: BSD-2-Clause */
/* compiler.h: which compiler the wrapper runs, and of which family it is. */
#ifndef EPITAPH_WRAPPER_COMPILER_H
#define EPITAPH_WRAPPER_COMPILER_H

#include <stdbool.h>

#include "cli/wrapper/words.h"

enum ep_family { EP_FAMILY_GCC, EP_FAMILY_CLANG, EP_FAMILY_OTHER };

/* Appends the compiler's own words: EPITAPH_CXX or EPITAPH_CC, split at blanks, else g++ or gcc. */
void ep_compiler_words(bool cxx, struct ep_words *words);

/*
 * The family of the compiler: by its name when that says it, else by what it answers to --version
 * (one process, about a millisecond).
 */
enum ep_family ep_compiler_family(const struct ep_words *words);

/* The first line of what the compiler answers when it is asked `question`, at most `size` - 1
 * bytes; "" when it says nothing. */
void ep_compiler_ask(const struct ep_words *words, const char *question, char *line, size_t size);

#endif
