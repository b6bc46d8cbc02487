/* SPDX-License-Identifier: BSD-2-Clause */
/* words.c: a growing list of arguments. */
#include "cli/wrapper/words.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"
#include "coredump/util/array.h"

void ep_words_add(struct ep_words *words, const char *word)
{
	ep_array_reserve(words, words->count + 2);
	words->list[words->count++] = (char *)word;
	words->list[words->count] = NULL;
}

void ep_words_addf(struct ep_words *words, const char *format, ...)
{
	va_list arguments;
	char *word;

	va_start(arguments, format);
	if (vasprintf(&word, format, arguments) < 0)
		ep_out_of_memory();
	va_end(arguments);
	ep_words_add(words, word);
}

void ep_words_split(struct ep_words *words, const char *text)
{
	char *rest = ep_strdup(text);
	char *word;

	while ((word = strtok_r(rest, " \t\n", &rest)))
		ep_words_add(words, word);
}

/* One word from *text to `to`; *text ends behind it. */
static void unquote_one(const char **text, char *to)
{
	const char *from = *text;
	char quote = 0;

	for (; *from && (quote || !isspace((unsigned char)*from)); from++) {
		if (*from == '\\' && !from[1])
			continue; /* nothing is left to quote: gcc drops it */
		if (*from == '\\')
			*to++ = *++from;
		else if (quote && *from == quote)
			quote = 0;
		else if (!quote && (*from == '\'' || *from == '"'))
			quote = *from;
		else
			*to++ = *from;
	}
	*to = 0;
	*text = from;
}

void ep_words_unquote(struct ep_words *words, const char *text)
{
	char *to = ep_malloc(2 * strlen(text) + 1);

	for (;;) {
		while (isspace((unsigned char)*text))
			text++;
		if (!*text)
			return;
		unquote_one(&text, to);
		ep_words_add(words, to);
		to += strlen(to) + 1;
	}
}

static void print_quoted(const char *word)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_";

	if (*word && !word[strspn(word, plain)]) {
		fputs(word, stderr);
		return;
	}
	fputc('\'', stderr);
	for (; *word; word++) {
		if (*word == '\'')
			fputs("'\\''", stderr);
		else
			fputc(*word, stderr);
	}
	fputc('\'', stderr);
}

void ep_words_print(const struct ep_words *words)
{
	for (size_t i = 0; i < words->count; i++) {
		if (i)
			fputc(' ', stderr);
		print_quoted(words->list[i]);
	}
	fputc('\n', stderr);
}
