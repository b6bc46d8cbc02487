/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fuzz_response.c: any text as a compiler's response file, taken apart by the wrapper and by
 * libiberty's buildargv, which gcc itself uses: the same words. And the words, printed for a shell,
 * are quoted.
 */
#include <libiberty/libiberty.h>

#include "cli/wrapper/words.h"
#include "coredump/util/alloc.h"
#include "coredump/util/array.h"
#include "tests/fuzz/fuzz.h"

/* The wrapper lives for one exec and frees nothing: here all it takes is remembered, and freed
 * after each input. */
static void *taken[1 << 16];
static size_t taken_count;

static void *keep(void *old, void *now)
{
	for (size_t i = taken_count; old && i-- > 0;)
		if (taken[i] == old) {
			taken[i] = now;
			return now;
		}
	MUST(now && taken_count < sizeof(taken) / sizeof(*taken));
	return taken[taken_count++] = now;
}

static void free_all(void)
{
	while (taken_count)
		free(taken[--taken_count]);
}

#define ep_malloc(size) keep(NULL, ep_malloc(size))
#define ep_strdup(text) keep(NULL, ep_strdup(text))
#define ep_array_grown(list, room, wanted, size) \
	keep(list, ep_array_grown(list, room, wanted, size))
#include "cli/wrapper/words.c"
#undef ep_malloc
#undef ep_strdup
#undef ep_array_grown

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct fuzz_bytes left = {bytes, size};
	struct ep_words words = {0}, blanks = {0};
	char *text, **wanted;
	size_t count = 0;

	if (size > 16384) /* so that `taken` is large enough */
		return 0;
	text = fuzz_take_text(&left, size);
	wanted = buildargv(text);
	MUST(wanted != NULL);
	ep_words_unquote(&words, text);
	/* gcc looks for blanks alone before it asks buildargv, which makes one empty word of
	 * them. */
	while (wanted[count] && text[strspn(text, " \t\n\v\f\r")])
		count++;
	MUST(words.count == count);
	for (size_t i = 0; i < count; i++)
		MUST(strcmp(words.list[i], wanted[i]) == 0);
	MUST(count == 0 || words.list[count] == NULL);
	ep_words_split(&blanks, text);
	for (size_t i = 0; i < blanks.count; i++)
		MUST(blanks.list[i][0] && !strpbrk(blanks.list[i], " \t\n"));
	freeargv(wanted);
	free(text);
	free_all();
	return 0;
}
