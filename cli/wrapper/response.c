/* SPDX-License-Identifier: BSD-2-Clause */
/* response.c: what @files say. Nesting is worked off with a stack of our own. */
#include "cli/wrapper/response.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "coredump/util/readfile.h"

#define FILES_MAX 2000

/* The file's text, NULL when it cannot be read or is no regular file. */
static char *read_text(const char *path)
{
	struct stat status;
	char *text;
	size_t size;

	/* What can be read once only is the compiler's to read. */
	if (stat(path, &status) || !S_ISREG(status.st_mode) ||
	    ep_file_read_all(&text, &size, NULL, path, SIZE_MAX / 2, NULL))
		return NULL;
	return text;
}

/* Moves the words to `stack`, last first, so that the first is on top. */
static void push_reversed(struct ep_words *stack, const struct ep_words *words)
{
	for (size_t i = words->count; i-- > 0;)
		ep_words_add(stack, words->list[i]);
}

void ep_response_expand(const struct ep_words *words, struct ep_words *flat)
{
	struct ep_words stack = {0};
	int files = 0;

	push_reversed(&stack, words);
	while (stack.count) {
		const char *word = stack.list[--stack.count];
		struct ep_words inner = {0};
		char *text = NULL;

		if (word[0] == '@' && files < FILES_MAX)
			text = read_text(word + 1);
		if (!text) {
			ep_words_add(flat, word);
			continue;
		}
		files++;
		ep_words_unquote(&inner, text);
		push_reversed(&stack, &inner);
	}
}
