/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * words.h: a growing list of arguments, NULL-terminated as execvp wants it. The wrapper lives for
 * one exec, so nothing is ever freed.
 */
#ifndef EPITAPH_WRAPPER_WORDS_H
#define EPITAPH_WRAPPER_WORDS_H

#include <stddef.h>

struct ep_words {
	char **list; /* list[count] is NULL once anything was added */
	size_t count;
	size_t capacity;
};

/* Appends `word`, borrowed for good. */
void ep_words_add(struct ep_words *words, const char *word);

/* Appends a copy of the formatted word. */
void ep_words_addf(struct ep_words *words, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Appends what stands between blanks in `text`, as "ccache gcc". */
void ep_words_split(struct ep_words *words, const char *text);

/*
 * Appends the words of a response file's `text` by gcc's rules (libiberty's expandargv: blanks
 * separate, ' and " quote, \ takes the next character as it is).
 */
void ep_words_unquote(struct ep_words *words, const char *text);

/* Prints the words on stderr, quoted so that a shell would read them back. */
void ep_words_print(const struct ep_words *words);

#endif
