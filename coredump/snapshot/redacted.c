/* SPDX-License-Identifier: BSD-2-Clause */
/* redacted.c: what is left out, for people; what a snapshot says of it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "coredump/snapshot/redacted.h"
#include "coredump/memory/source_impl.h"
#include "coredump/util/hex.h"
#include "runtime/format.h"

static const struct {
	const char *word, *text;
	uint32_t bit;
} words[] = {
	{"cmdline", "the command line", EP_REDACTED_CMDLINE},
	{"paths", "paths", EP_REDACTED_PATHS},
	{"notes", "what the program said", EP_REDACTED_NOTES},
	{"stacks", "the stacks", EP_REDACTED_STACKS},
	{"registers", "registers", EP_REDACTED_REGISTERS},
};
#define WORDS (sizeof(words) / sizeof(*words))
static_assert(EP_REDACTED_ALL == (1u << WORDS) - 1, "a word for each");

static uint32_t bit_of(const char *word, size_t length)
{
	if (length == 3 && strncmp(word, "all", 3) == 0)
		return EP_REDACTED_ALL;
	for (size_t i = 0; i < WORDS; i++)
		if (strlen(words[i].word) == length && strncmp(word, words[i].word, length) == 0)
			return words[i].bit;
	return 0;
}

int ep_redacted_parse(const char *text, uint32_t *out, struct ep_err *err)
{
	uint32_t bits = 0;

	for (;;) {
		size_t length = strcspn(text, ",");
		uint32_t bit = bit_of(text, length);

		if (!bit)
			return ep_fail(err, EP_E_USAGE, 0,
				       "--redact=%.*s: cmdline, paths, notes, stacks, registers, "
				       "several with commas between them, or all",
				       (int)(length < 64 ? length : 64), text);
		bits |= bit;
		if (!text[length])
			break;
		text += length + 1;
	}
	*out = bits;
	return EP_OK;
}

const char *ep_redacted_words(char *out, size_t size, uint32_t bits)
{
	size_t used = 0;

	out[0] = '\0';
	for (size_t i = 0; i < WORDS && used < size; i++)
		if (bits & words[i].bit)
			used += (size_t)snprintf(out + used, size - used, "%s%s", used ? "," : "",
						 words[i].word);
	return out;
}

const char *ep_redacted_text(char *out, size_t size, uint32_t bits)
{
	size_t used = 0;

	bits &= EP_REDACTED_ALL;
	out[0] = '\0';
	for (size_t i = 0; i < WORDS && used < size; i++) {
		const char *before = !used ? "" : bits >> i == 1 ? " and " : ", ";

		if (bits & words[i].bit)
			used += (size_t)snprintf(out + used, size - used, "%s%s", before,
						 words[i].text);
	}
	return out;
}

uint32_t ep_source_redacted(const struct ep_source *source)
{
	struct ep_snapshot_note head;
	size_t next = 0;

	return ep_source_snapshot_note(source, &next, &head) ? head.redacted : 0;
}

void ep_redacted_path(char out[EP_REDACTED_PATH_MAX], const uint8_t *build_id,
		      uint32_t build_id_size, uint64_t number)
{
	size_t used;

	if (build_id_size < 8) {
		snprintf(out, EP_REDACTED_PATH_MAX, "left-out:%" PRIx64, number);
		return;
	}
	used = (size_t)snprintf(out, EP_REDACTED_PATH_MAX, "build-id:");
	ep_hex(out + used, build_id, 8);
}
