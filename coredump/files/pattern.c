/* SPDX-License-Identifier: BSD-2-Clause */
/* pattern.c: file names with %p, %e, %h, %t and %n. */
#include "coredump/files/pattern.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define NUMBERS_MAX 1000000u

struct text {
	char *out;
	size_t size, used;
};

static bool put(struct text *text, const char *bytes, size_t size)
{
	if (size >= text->size - text->used)
		return false;
	memcpy(text->out + text->used, bytes, size);
	text->used += size;
	text->out[text->used] = '\0';
	return true;
}

static bool put_number(struct text *text, uint64_t number)
{
	char digits[24];

	return put(text, digits, (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, number));
}

/* A name out of a core must not lead into another directory. */
static bool put_name(struct text *text, const char *name)
{
	const char *base = name ? strrchr(name, '/') : NULL;

	base = base ? base + 1 : name;
	if (!base || !*base || strcmp(base, ".") == 0 || strcmp(base, "..") == 0)
		base = "unknown";
	return put(text, base, strlen(base));
}

static int put_item(struct text *text, char item, const struct ep_pattern_facts *facts,
		    uint64_t number)
{
	switch (item) {
	case '%':
		return put(text, "%", 1);
	case 'p':
		return put_number(text, (uint64_t)facts->pid);
	case 'e':
		return put_name(text, facts->executable);
	case 'h':
		return put_name(text, facts->host);
	case 't':
		return put_number(text, facts->time);
	case 'n':
		return put_number(text, number);
	}
	return -1;
}

static int expand(const char *pattern, const struct ep_pattern_facts *facts, uint64_t number,
		  struct text *text, struct ep_err *err)
{
	text->used = 0;
	text->out[0] = '\0';
	for (const char *at = pattern; *at; at++) {
		int good;

		if (*at == '%' && at[1])
			good = put_item(text, *++at, facts, number);
		else
			good = *at == '%' ? -1 : put(text, at, 1);
		if (good < 0)
			return ep_fail(err, EP_E_USAGE, (uint64_t)(at - pattern),
				       "%s: %%%s is not known; %%p pid, %%e executable, %%h host, "
				       "%%t time, %%n a number, %%%% itself",
				       pattern, *at == '%' ? "" : (char[]){*at, '\0'});
		if (!good)
			return ep_fail(err, EP_E_LIMIT, 0, "%s: expands to more than %zu bytes",
				       pattern, text->size - 1);
	}
	return EP_OK;
}

static bool has_number(const char *pattern)
{
	for (; *pattern; pattern++)
		if (*pattern == '%' && *++pattern == 'n')
			return true;
		else if (!*pattern)
			break;
	return false;
}

int ep_pattern_expand(const char *pattern, const struct ep_pattern_facts *facts, char *out,
		      size_t size, struct ep_err *err)
{
	struct text text = {out, size, 0};
	struct stat st;

	if (size == 0)
		return ep_fail(err, EP_E_LIMIT, 0, "%s: no room", pattern);
	for (uint64_t number = 1; number <= NUMBERS_MAX; number++) {
		int rc = expand(pattern, facts, number, &text, err);

		if (rc || !has_number(pattern) || lstat(out, &st) != 0)
			return rc;
	}
	return ep_fail(err, EP_E_LIMIT, 0, "%s: %u such files exist", pattern, NUMBERS_MAX);
}
