/* SPDX-License-Identifier: BSD-2-Clause */
/* list.c: a list of functions: names are looked up by halves, globs one by one. */
#include "funcount/filter/list.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"
#include "coredump/util/readfile.h"

static void add_pattern(struct ep_list *list, const char *text, size_t length, unsigned line)
{
	ep_array_push(&list->patterns,
		      ((struct ep_pattern){
			      .text = ep_strndup(text, length),
			      .file = (unsigned)list->files.count - 1,
			      .line = line,
			      .glob = memchr(text, '*', length) || memchr(text, '?', length) ||
				      memchr(text, '[', length),
		      }));
}

static void add_words(struct ep_list *list, const char *text, size_t size)
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
		if (at > word && *word != '#')
			add_pattern(list, word, (size_t)(at - word), line);
		if (at < end && *at != '#')
			line += *at++ == '\n';
	}
}

int ep_list_add(struct ep_list *list, const char *path, const char *text, size_t size,
		struct ep_err *err)
{
	const char *nul = memchr(text, 0, size);

	if (nul)
		return ep_fail(err, EP_E_FORMAT, (uint64_t)(nul - text),
			       "%s: not a list of functions: a NUL at byte %zu", path,
			       (size_t)(nul - text));
	ep_array_push(&list->files, ep_strdup(path));
	add_words(list, text, size);
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
	for (size_t i = 0; i < list->patterns.count; i++)
		free(list->patterns.list[i].text);
	for (size_t i = 0; i < list->files.count; i++)
		free(list->files.list[i]);
	ep_array_deinit(&list->patterns);
	ep_array_deinit(&list->files);
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
	if (list->patterns.count)
		qsort(list->patterns.list, list->patterns.count, sizeof *list->patterns.list,
		      compare);
	list->names = 0;
	while (list->names < list->patterns.count && !list->patterns.list[list->names].glob)
		list->names++;
	list->sealed = true;
}

/* The first of equal names. */
static struct ep_pattern *find_name(struct ep_list *list, const char *name)
{
	size_t low = 0, high = list->names;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(list->patterns.list[middle].text, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == list->names || strcmp(list->patterns.list[low].text, name))
		return NULL;
	return &list->patterns.list[low];
}

const struct ep_pattern *ep_list_find(struct ep_list *list, const char *name)
{
	struct ep_pattern *found;

	if (!list->sealed)
		seal(list);
	found = find_name(list, name);
	for (size_t i = list->names; !found && i < list->patterns.count; i++)
		if (!fnmatch(list->patterns.list[i].text, name, 0))
			found = &list->patterns.list[i];
	if (found)
		found->matched++;
	return found;
}

const char *ep_list_file(const struct ep_list *list, const struct ep_pattern *pattern)
{
	return list->files.list[pattern->file];
}
