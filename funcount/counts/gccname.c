/* SPDX-License-Identifier: BSD-2-Clause */
/* gccname.c: a function's name as gcc matches it. Works on the demangled name, by its brackets. */
#include "funcount/counts/gccname.h"

#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"

/* Integer types as the demangler writes them and as gcc does; of two that begin alike the longer
 * comes first. */
static const struct {
	const char *theirs, *gccs;
} types[] = {
	{"unsigned long long", "long long unsigned int"},
	{"unsigned long", "long unsigned int"},
	{"unsigned short", "short unsigned int"},
	{"long long", "long long int"},
	{"long double", "long double"},
	{"long", "long int"},
	{"short", "short int"},
};

static bool is_part_of_word(char byte)
{
	return byte == '_' || byte == ':' || (byte >= '0' && byte <= '9') ||
	       (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z');
}

/* The type that stands at `at` of `name` as a whole word; -1: none. */
static int type_at(const char *name, const char *at)
{
	if (at > name && is_part_of_word(at[-1]))
		return -1;
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		size_t length = strlen(types[i].theirs);

		if (!strncmp(at, types[i].theirs, length) && !is_part_of_word(at[length]))
			return (int)i;
	}
	return -1;
}

/* A copy with gcc's types, none of them three times as long. */
static char *with_types(const char *name)
{
	char *copy = ep_malloc(3 * strlen(name) + 1), *to = copy;

	for (const char *at = name; *at;) {
		int type = type_at(name, at);

		if (type < 0) {
			*to++ = *at++;
			continue;
		}
		to = stpcpy(to, types[type].gccs);
		at += strlen(types[type].theirs);
	}
	*to = '\0';
	return copy;
}

/* Replaces, in place, what gcc spells shorter. */
static void respell(char *name, const char *theirs, const char *gccs)
{
	size_t old = strlen(theirs), new = strlen(gccs);
	char *at = name;

	while ((at = strstr(at, theirs))) {
		memcpy(at, gccs, new);
		memmove(at + new, at + old, strlen(at + old) + 1);
		at += new;
	}
}

/* {lambda(int)#1} → <lambda(int)> */
static void respell_lambdas(char *name)
{
	char *at = name;

	while ((at = strstr(at, "{lambda("))) {
		char *number = strstr(at, ")#"), *end;

		end = number ? strchr(number, '}') : NULL;
		if (!end)
			return;
		*at = '<';
		number[1] = '>';
		memmove(number + 2, end + 1, strlen(end + 1) + 1);
		at++;
	}
}

/* The bracket that the one at `close` ends, or NULL. */
static char *opening(char *name, char *close)
{
	int depth = 0;

	for (char *at = close; at >= name; at--) {
		depth += (*at == ')') - (*at == '(');
		if (depth == 0)
			return at;
	}
	return NULL;
}

static bool ends_with(const char *name, const char *end, const char *word)
{
	size_t length = strlen(word);

	return (size_t)(end - name) >= length && !memcmp(end - length, word, length);
}

/* The last brackets are the parameters, but for those of operator(). */
static void cut_parameters(char *name)
{
	char *clone = strstr(name, " [clone "), *close, *open;

	if (clone)
		*clone = '\0';
	close = strrchr(name, ')');
	open = close ? opening(name, close) : NULL;
	if (open && !(ends_with(name, open, "operator") && open + 1 == close))
		*open = '\0';
}

/* Where the name proper begins: behind the last blank outside of brackets that comes before any
 * operator's name. */
static const char *without_type(const char *name)
{
	const char *begin = name;
	int depth = 0;

	for (const char *at = name; *at; at++) {
		if (depth == 0 && !strncmp(at, "operator", 8))
			break;
		if (strchr("(<[{", *at))
			depth++;
		else if (strchr(")>]}", *at))
			depth--;
		else if (*at == ' ' && depth == 0)
			begin = at + 1;
	}
	return begin;
}

char *ep_gcc_name(const char *symbol, const char *demangled)
{
	char *name, *proper;

	if (!strcmp(symbol, demangled))
		return ep_strndup(symbol, ep_symbol_stem(symbol));
	name = ep_strdup(demangled);
	respell(name, "(anonymous namespace)", "{anonymous}");
	respell_lambdas(name);
	cut_parameters(name);
	proper = with_types(without_type(name));
	free(name);
	return proper;
}

char *ep_gcc_word(const char *name)
{
	char *word = ep_malloc(2 * strlen(name) + 1), *at = word;

	for (; *name; name++) {
		if (*name == ',')
			*at++ = '\\';
		*at++ = *name;
	}
	*at = '\0';
	return word;
}

size_t ep_gcc_hits(const struct ep_called *called, char *const *names, const char *name,
		   size_t group, const struct ep_called_function **first)
{
	size_t hits = 0;

	for (size_t i = 0; i < called->function_count; i++) {
		if (called->functions[i].group == group || !strstr(names[i], name))
			continue;
		if (!hits++)
			*first = &called->functions[i];
	}
	return hits;
}
