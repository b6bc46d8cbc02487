/* SPDX-License-Identifier: BSD-2-Clause */
/* list.c: a list of functions: names are looked up by halves, globs one by one. */
#include "funcount/filter/list.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/util/readfile.h"

static int add_pattern(struct ep_list *list, const char *text, size_t length, unsigned line)
{
	struct ep_pattern *pattern;

	if (list->count == list->room) {
		size_t room = list->room ? list->room * 2 : 64;
		struct ep_pattern *grown = reallocarray(list->patterns, room, sizeof *grown);

		if (!grown)
			return EP_E_MEMORY;
		list->patterns = grown;
		list->room = room;
	}
	pattern = &list->patterns[list->count];
	*pattern = (struct ep_pattern){
		.text = strndup(text, length),
		.file = list->file_count - 1,
		.line = line,
		.glob = memchr(text, '*', length) || memchr(text, '?', length) ||
			memchr(text, '[', length),
	};
	if (!pattern->text)
		return EP_E_MEMORY;
	list->count++;
	return EP_OK;
}

static int add_file(struct ep_list *list, const char *path)
{
	char **grown = reallocarray(list->files, list->file_count + 1, sizeof *grown);

	if (!grown)
		return EP_E_MEMORY;
	list->files = grown;
	grown[list->file_count] = strdup(path);
	if (!grown[list->file_count])
		return EP_E_MEMORY;
	list->file_count++;
	return EP_OK;
}

/* Back to `count` patterns of `files` files. */
static void take_back(struct ep_list *list, size_t count, unsigned files)
{
	while (list->count > count)
		free(list->patterns[--list->count].text);
	while (list->file_count > files)
		free(list->files[--list->file_count]);
}

static int add_words(struct ep_list *list, const char *text, size_t size)
{
	static const char blanks[] = " \t\r\n\f\v";
	const char *at = text, *end = text + size;
	unsigned line = 1;

	while (at < end) {
		const char *word = at;

		if (*at == '#')
			while (at < end && *at != '\n')
				at++;
		else
			while (at < end && *at != '#' && !strchr(blanks, *at))
				at++;
		if (at > word && *word != '#' && add_pattern(list, word, (size_t)(at - word), line))
			return EP_E_MEMORY;
		if (at < end && *at != '#')
			line += *at++ == '\n';
	}
	return EP_OK;
}

int ep_list_add(struct ep_list *list, const char *path, const char *text, size_t size,
		struct ep_err *err)
{
	size_t count = list->count;
	unsigned files = list->file_count;
	const char *nul = memchr(text, 0, size);

	if (nul)
		return ep_fail(err, EP_E_FORMAT, (uint64_t)(nul - text),
			       "%s: not a list of functions: a NUL at byte %zu", path,
			       (size_t)(nul - text));
	if (add_file(list, path) || add_words(list, text, size)) {
		take_back(list, count, files);
		return ep_fail(err, EP_E_MEMORY, 0, "%s: out of memory", path);
	}
	list->sealed = false;
	return EP_OK;
}

int ep_list_read(struct ep_list *list, const char *path, struct ep_err *err)
{
	size_t size;
	char *text;
	int rc = ep_file_read_all(&text, &size, NULL, path, EP_LIST_FILE_MAX, err);

	if (rc)
		return rc;
	rc = ep_list_add(list, path, text, size, err);
	free(text);
	return rc;
}

void ep_list_deinit(struct ep_list *list)
{
	take_back(list, 0, 0);
	free(list->patterns);
	free(list->files);
	*list = (struct ep_list){0};
}

/* Names first and in order, then globs as they came. */
static int compare(const void *a, const void *b)
{
	const struct ep_pattern *one = a, *other = b;
	int names;

	if (one->glob != other->glob)
		return one->glob - other->glob;
	names = one->glob ? 0 : strcmp(one->text, other->text);
	if (names)
		return names;
	if (one->file != other->file)
		return one->file < other->file ? -1 : 1;
	return (one->line > other->line) - (one->line < other->line);
}

static void seal(struct ep_list *list)
{
	if (list->count)
		qsort(list->patterns, list->count, sizeof *list->patterns, compare);
	list->names = 0;
	while (list->names < list->count && !list->patterns[list->names].glob)
		list->names++;
	list->sealed = true;
}

/* The first of equal names. */
static struct ep_pattern *find_name(struct ep_list *list, const char *name)
{
	size_t low = 0, high = list->names;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(list->patterns[middle].text, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == list->names || strcmp(list->patterns[low].text, name))
		return NULL;
	return &list->patterns[low];
}

const struct ep_pattern *ep_list_find(struct ep_list *list, const char *name)
{
	struct ep_pattern *found;

	if (!list->sealed)
		seal(list);
	found = find_name(list, name);
	for (size_t i = list->names; !found && i < list->count; i++)
		if (!fnmatch(list->patterns[i].text, name, 0))
			found = &list->patterns[i];
	if (found)
		found->matched++;
	return found;
}

const char *ep_list_file(const struct ep_list *list, const struct ep_pattern *pattern)
{
	return list->files[pattern->file];
}
