/* SPDX-License-Identifier: BSD-2-Clause */
/* mentions.c: files are read once each, and worked off as a list. */
#include "cli/wrapper/mentions.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "coredump/util/alloc.h"
#include "coredump/util/array.h"
#include "coredump/util/readfile.h"
#include "funcount/filter/convention.h"

#define FILES_MAX 4000
#define FILE_MAX  ((size_t)64 << 20)

struct seen {
	dev_t device;
	ino_t inode;
};

struct search {
	struct ep_words files;   /* to be looked at */
	struct ep_words folders; /* -I and the like */
	EP_ARRAY(struct seen) seen;
	unsigned found;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '_';
}

/* As attributes stand: behind ( , or : and before ) , or ], underscores or not. */
static bool stands_alone(const char *text, const char *at, const char *end, const char *stop)
{
	while (at > text && is_blank(at[-1]))
		at--;
	while (end < stop && is_blank(*end))
		end++;
	return at > text && strchr("(,:", at[-1]) && end < stop && strchr("),]", *end);
}

static unsigned look(const char *text, size_t size)
{
	static const struct {
		const char *name;
		unsigned bit;
		bool common; /* a word that stands for other things, too */
	} names[] = {
		{"no_caller_saved_registers", EP_CONVENTION_KEEPS, false},
		{"naked", EP_CONVENTION_NAKED, true},
		{"interrupt", EP_CONVENTION_INTERRUPT, true},
	};
	const char *stop = text + size;
	unsigned found = 0;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		size_t length = strlen(names[i].name);
		const char *at = text;

		while (!(found & names[i].bit) &&
		       (at = memmem(at, (size_t)(stop - at), names[i].name, length))) {
			if (!names[i].common || stands_alone(text, at, at + length, stop))
				found |= names[i].bit;
			at += length;
		}
	}
	return found;
}

static bool exists(const char *path)
{
	struct stat status;

	return !stat(path, &status) && S_ISREG(status.st_mode);
}

/* A header that `from` includes; one that is nowhere is the compiler's own, or made later. */
static void add_header(struct search *search, const char *from, const char *name, int length,
		       bool quoted)
{
	const char *slash = strrchr(from, '/');
	char *path;

	if (quoted) {
		path = ep_asprintf("%.*s%.*s", slash ? (int)(slash + 1 - from) : 0, from, length,
				   name);
		if (exists(path)) {
			ep_words_add(&search->files, path);
			return;
		}
		free(path);
	}
	for (size_t i = 0; i < search->folders.count; i++) {
		path = ep_asprintf("%s/%.*s", search->folders.list[i], length, name);
		if (exists(path)) {
			ep_words_add(&search->files, path);
			return;
		}
		free(path);
	}
}

/* # include "NAME", <NAME>; include_next and import too. */
static void follow(struct search *search, const char *from, const char *text, size_t size)
{
	const char *at = text, *stop = text + size;

	while ((at = memchr(at, '#', (size_t)(stop - at)))) {
		const char *end;
		char close;

		for (at++; at < stop && (*at == ' ' || *at == '\t'); at++)
			;
		if (stop - at < 8 || (memcmp(at, "include", 7) && memcmp(at, "import", 6)))
			continue;
		while (at < stop &&
		       ((*at >= 'a' && *at <= 'z') || *at == '_' || *at == ' ' || *at == '\t'))
			at++;
		if (at == stop || (*at != '"' && *at != '<'))
			continue;
		close = *at == '"' ? '"' : '>';
		end = memchr(at + 1, close, (size_t)(stop - at - 1));
		if (end && end - at < 4096)
			add_header(search, from, at + 1, (int)(end - at - 1), close == '"');
	}
}

static void look_at_file(struct search *search, const char *path)
{
	struct stat status;
	size_t size;
	char *text;

	if (stat(path, &status) || !S_ISREG(status.st_mode))
		return;
	for (size_t i = 0; i < search->seen.count; i++)
		if (search->seen.list[i].inode == status.st_ino &&
		    search->seen.list[i].device == status.st_dev)
			return;
	ep_array_push(&search->seen, ((struct seen){status.st_dev, status.st_ino}));
	if (ep_file_read_all(&text, &size, NULL, path, FILE_MAX, NULL))
		return;
	search->found |= look(text, size);
	follow(search, path, text, size);
	free(text);
}

static void read_command(struct search *search, const struct ep_words *words)
{
	static const char *const folders[] = {"-iquote", "-isystem", "-idirafter", "-I"};

	for (size_t i = 0; i < words->count; i++) {
		const char *word = words->list[i];
		const char *next = i + 1 < words->count ? words->list[i + 1] : NULL;

		search->found |= look(word, strlen(word));
		for (size_t j = 0; j < sizeof folders / sizeof *folders; j++) {
			size_t length = strlen(folders[j]);

			if (strncmp(word, folders[j], length))
				continue;
			if (word[length] || next)
				ep_words_add(&search->folders, word[length] ? word + length : next);
			break;
		}
		if ((!strcmp(word, "-include") || !strcmp(word, "-imacros")) && next)
			ep_words_add(&search->files, next);
	}
}

unsigned ep_mentions_find(const struct ep_words *words, const struct ep_words *sources)
{
	struct search search = {0};

	read_command(&search, words);
	for (size_t i = 0; i < sources->count; i++)
		ep_words_add(&search.files, sources->list[i]);
	for (size_t i = 0; i < search.files.count && i < FILES_MAX; i++)
		look_at_file(&search, search.files.list[i]);
	return search.found;
}
