/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exports.c: names for the first node of a version script, or of a linker script's VERSION (ld's
 * manual, "VERSION Command"). No option overrides a script's `local: *`: with GNU ld, gold and lld
 * --export-dynamic-symbol and
 * --dynamic-list don't, and a second script may not stand beside one without a tag.
 */
#include "cli/wrapper/exports.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/wrapper/say.h"
#include "coredump/util/readfile.h"

#define SCRIPT_MOST ((size_t)64 << 20)

/* Behind blanks and comments. */
static const char *skip_blanks(const char *text)
{
	for (;;) {
		const char *end;

		if (isspace((unsigned char)*text)) {
			text++;
		} else if (text[0] == '/' && text[1] == '*') {
			end = strstr(text + 2, "*/");
			text = end ? end + 2 : text + strlen(text);
		} else if (*text == '#') {
			text += strcspn(text, "\n");
		} else {
			return text;
		}
	}
}

/* Behind "label :", if that is what stands there; else NULL. */
static const char *behind_label(const char *text, const char *label)
{
	size_t length = strlen(label);

	if (strncmp(text, label, length))
		return NULL;
	text = skip_blanks(text + length);
	return *text == ':' ? text + 1 : NULL;
}

/* Behind the first node's brace; NULL: there is none. */
static const char *find_node(const char *text)
{
	for (;;) {
		text = skip_blanks(text);
		if (*text == '{')
			return text + 1;
		if (!*text)
			return NULL;
		text++;
	}
}

/* Behind the brace of a linker script's VERSION; NULL: it has none. */
static const char *find_version(const char *text)
{
	static const char word[] = "VERSION";
	static const char parts[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$";
	unsigned depth = 0;

	while (*(text = skip_blanks(text))) {
		size_t length = strspn(text, parts);
		const char *next;

		if (*text == '"') {
			text += 1 + strcspn(text + 1, "\"");
			text += *text == '"';
		} else if (length == 0) {
			depth += *text == '{' ? 1 : *text == '}' && depth ? -1u : 0;
			text++;
		} else {
			next = skip_blanks(text + length);
			if (depth == 0 && length == strlen(word) && !strncmp(text, word, length) &&
			    *next == '{')
				return next + 1;
			text += length;
		}
	}
	return NULL;
}

enum kind { VERSION_SCRIPT, LINKER_SCRIPT };

/* A copy of the script with the names in it, as a file; -1: it is left to the linker. */
static int copy_of(const char *path, enum kind kind, const char *const *names, size_t count)
{
	const char *node, *at, *global;
	char *text;
	size_t size;
	FILE *file;
	int fd;

	if (ep_file_read_all(&text, &size, NULL, path, SCRIPT_MOST, NULL))
		return -1;
	node = kind == LINKER_SCRIPT ? find_version(text) : text;
	node = node ? find_node(node) : NULL;
	fd = node ? memfd_create("epitaph version script", 0) : -1;
	file = fd < 0 ? NULL : fdopen(dup(fd), "w");
	if (!file) {
		free(text);
		return -1;
	}
	node = skip_blanks(node);
	global = behind_label(node, "global");
	at = global ? global : node;
	fwrite(text, 1, (size_t)(at - text), file);
	if (!global && behind_label(node, "local"))
		fputs(" global:", file);
	for (size_t i = 0; i < count; i++)
		fprintf(file, " %s;", names[i]);
	fprintf(file, " %s", at);
	if (fclose(file))
		ep_die("%s: no room for a copy of it: %m", path);
	free(text);
	ep_note("%s: a copy of it that exports the runtime's functions is used", path);
	return fd;
}

/* What the words for the linker are, one after the other. */
struct reading {
	const char *const *names;
	size_t count;
	bool awaited;   /* the next one is a script's name … */
	enum kind kind; /* … of that kind */
	bool changed;
};

/* `word`, where `path` in it names a script; a copy, or another in its place. */
static char *read_script(struct reading *reading, const char *word, const char *path)
{
	int fd = copy_of(path, reading->kind, reading->names, reading->count);
	char *changed;

	if (fd < 0)
		return strdup(word);
	reading->changed = true;
	if (asprintf(&changed, "%.*s/proc/self/fd/%d", (int)(path - word), word, fd) < 0)
		ep_die("out of memory");
	return changed;
}

/* One of them; a copy, or another in its place. */
static char *read_one(struct reading *reading, const char *word)
{
	static const struct {
		const char *name;
		enum kind kind;
		bool joined; /* without "=" */
	} options[] = {
		{"--version-script", VERSION_SCRIPT, false},
		{"-version-script", VERSION_SCRIPT, false},
		{"--script", LINKER_SCRIPT, false},
		{"-script", LINKER_SCRIPT, false},
		{"--default-script", LINKER_SCRIPT, false},
		{"-dT", LINKER_SCRIPT, false},
		{"-T", LINKER_SCRIPT, true},
	};

	if (reading->awaited) {
		reading->awaited = false;
		return read_script(reading, word, word);
	}
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		size_t size = strlen(options[i].name);

		if (strncmp(word, options[i].name, size) != 0)
			continue;
		reading->kind = options[i].kind;
		if (!word[size])
			reading->awaited = true;
		else if (word[size] == '=' || options[i].joined)
			return read_script(reading, word, word + size + (word[size] == '='));
	}
	return strdup(word);
}

/* -Wl,a,b */
static void read_list(struct reading *reading, const char *list, struct ep_words *words)
{
	struct ep_words pieces = {0};
	size_t size = sizeof("-Wl");
	char *joined;

	for (;;) {
		size_t length = strcspn(list, ",");
		char *piece = strndup(list, length);

		ep_words_add(&pieces, read_one(reading, piece));
		free(piece);
		size += strlen(pieces.list[pieces.count - 1]) + 1;
		if (!list[length])
			break;
		list += length + 1;
	}
	joined = calloc(1, size);
	if (!joined)
		ep_die("out of memory");
	strcpy(joined, "-Wl");
	for (size_t i = 0; i < pieces.count; i++) {
		strcat(joined, ",");
		strcat(joined, pieces.list[i]);
	}
	ep_words_add(words, joined);
}

/* By its name: an input that the compiler hands on, and that is no object (ld's manual, "Implicit
 * Linker Scripts"). */
static bool is_script(const char *word)
{
	static const char *const ends[] = {".ld", ".lds", ".x", ".script"};
	size_t length = strlen(word);

	for (size_t i = 0; word[0] != '-' && i < sizeof(ends) / sizeof(*ends); i++) {
		size_t size = strlen(ends[i]);

		if (length > size && !strcmp(word + length - size, ends[i]))
			return true;
	}
	return false;
}

void ep_exports_keep(const struct ep_words *user, const struct ep_words *flat,
		     const char *const *names, size_t count, struct ep_words *words)
{
	struct reading reading = {.names = names, .count = count};
	struct ep_words changed = {0};
	const struct ep_words *from;

	for (size_t i = 0; i < flat->count; i++) {
		const char *word = flat->list[i];

		if (!strncmp(word, "-Wl,", 4)) {
			read_list(&reading, word + 4, &changed);
		} else if ((!strcmp(word, "-Xlinker") || !strcmp(word, "--for-linker")) &&
			   i + 1 < flat->count) {
			ep_words_add(&changed, word);
			ep_words_add(&changed, read_one(&reading, flat->list[++i]));
		} else if (!strcmp(word, "-T") && i + 1 < flat->count) { /* the compiler's own */
			ep_words_add(&changed, read_one(&reading, word));
			ep_words_add(&changed, read_one(&reading, flat->list[++i]));
		} else if (!strncmp(word, "-T", 2)) {
			ep_words_add(&changed, read_one(&reading, word));
		} else if (is_script(word) && (i == 0 || strcmp(flat->list[i - 1], "-o") != 0)) {
			reading.kind = LINKER_SCRIPT;
			ep_words_add(&changed, read_script(&reading, word, word));
		} else {
			ep_words_add(&changed, word);
		}
	}
	from = reading.changed ? &changed : user;
	for (size_t i = 0; i < from->count; i++)
		ep_words_add(words, from->list[i]);
}
