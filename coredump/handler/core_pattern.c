/* SPDX-License-Identifier: BSD-2-Clause */
/* core_pattern.c: what a user chose, as names of threads and files, must not lead elsewhere. */
#include "coredump/handler/core_pattern.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct text {
	char *out;
	size_t used, size;
	bool full;
};

static void text_add(struct text *text, const char *bytes, char slash)
{
	for (; *bytes; bytes++) {
		if (text->used + 1 >= text->size) {
			text->full = true;
			return;
		}
		text->out[text->used++] = *bytes == '/' ? slash : *bytes;
	}
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* A name that is . or .. would lead elsewhere, and so would none: the kernel has ! for the dot, and
 * for nothing. */
static void name_add(struct text *text, const char *name)
{
	if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
		text_add(text, "!", '!');
		name += *name != '\0';
	}
	text_add(text, name, '!');
}

static bool number_add(struct text *text, const struct ep_crash *crash, char word)
{
	const struct {
		char word;
		uint64_t value;
	} numbers[] = {
		{'p', (uint64_t)crash->inner_pid},
		{'P', (uint64_t)crash->pid},
		{'i', (uint64_t)crash->inner_tid},
		{'I', (uint64_t)crash->tid},
		{'u', crash->uid},
		{'g', crash->gid},
		{'d', crash->dumpable},
		{'s', (uint64_t)crash->signal},
		{'t', crash->time},
		{'c', crash->limit},
		{'C', (uint64_t)crash->cpu},
	};
	char digits[24];

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		if (numbers[i].word != word)
			continue;
		snprintf(digits, sizeof(digits), "%" PRIu64, numbers[i].value);
		if (word != 'C' || crash->cpu >= 0)
			text_add(text, digits, '/');
		return true;
	}
	return false;
}

/* One that the kernel does not know is nothing. */
static void word_add(struct text *text, const struct ep_crash *crash, char word)
{
	if (number_add(text, crash, word))
		return;
	if (word == '%')
		text_add(text, "%", '/');
	else if (word == 'h')
		name_add(text, crash->host);
	else if (word == 'e')
		name_add(text, crash->comm);
	else if (word == 'f')
		name_add(text, base_of(crash->path));
	else if (word == 'E')
		text_add(text, crash->path, '!');
}

int ep_core_pattern_expand(const struct ep_crash *crash, const char *pattern, char *out,
			   size_t size, struct ep_err *err)
{
	struct text text = {.out = out, .size = size};

	for (; *pattern && !text.full; pattern++) {
		char one[2] = {*pattern, '\0'};

		if (*pattern != '%')
			text_add(&text, one, '/');
		else if (*++pattern)
			word_add(&text, crash, *pattern);
		else
			break;
	}
	if (text.full || size == 0)
		return ep_fail(err, EP_E_LIMIT, 0, "the name that core_pattern gives is too long");
	out[text.used] = '\0';
	return EP_OK;
}

bool ep_core_pattern_has_pid(const char *pattern)
{
	for (; *pattern; pattern++)
		if (*pattern == '%' && *++pattern == 'p')
			return true;
		else if (*pattern == '\0')
			break;
	return false;
}
