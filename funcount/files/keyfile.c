/* SPDX-License-Identifier: BSD-2-Clause */
/* keyfile.c: the text is copied once, and its lines are cut out of the copy in place. */
#include "funcount/files/keyfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coredump/util/alloc.h"
#include "coredump/util/readfile.h"

#define BLANKS " \t"

/* ---- looking up ---------------------------------------------------------- */

/* Of an opening another one than of an empty key. */
static uint32_t hash_of(const char *section, const char *key)
{
	return ep_hash_number(ep_hash_text(section) ^
			      (key ? (uint64_t)ep_hash_text(key) << 32 | 1 : 0));
}

const struct ep_keyfile_line *ep_keyfile_find(const struct ep_keyfile *file, const char *section,
					      const char *key)
{
	uint32_t hash = hash_of(section, key), at = 0, number;

	while ((number = ep_hash_next(&file->index, hash, &at)) != EP_HASH_NONE) {
		const struct ep_keyfile_line *line = &file->lines.list[number];

		if (!key == !line->key && !strcmp(line->section, section) &&
		    (!key || !strcmp(line->key, key)))
			return line;
	}
	return NULL;
}

/* ---- one line ------------------------------------------------------------ */

static int refuse_at(const struct ep_keyfile *file, size_t line, size_t column, struct ep_err *err,
		     const char *what)
{
	return ep_fail(err, EP_E_FORMAT, line, "%s:%zu:%zu: %s", file->name, line, column, what);
}

/* [from, to) without blanks at either end, ended by a NUL at *to or before it. */
static char *cut(char *from, char *to)
{
	while (from < to && strchr(BLANKS, *from))
		from++;
	while (to > from && strchr(BLANKS, to[-1]))
		to--;
	*to = '\0';
	return from;
}

static char *comment_of(char *text)
{
	char *at = text;

	while ((at = strchr(at, '#'))) {
		if (at == text || strchr(BLANKS, at[-1]))
			return at;
		at++;
	}
	return text + strlen(text);
}

static void add_line(struct ep_keyfile *file, struct ep_keyfile_line line)
{
	ep_hash_add(&file->index, hash_of(line.section, line.key), (uint32_t)file->lines.count);
	ep_array_push(&file->lines, line);
}

/* [from, end) of the line `text`. */
static int parse_section(struct ep_keyfile *file, char *text, char *from, char *end, size_t number,
			 struct ep_err *err)
{
	struct ep_keyfile_line line = {.number = number, .column = (size_t)(from - text) + 1};
	char *close = memchr(from, ']', (size_t)(end - from));

	if (!close)
		return refuse_at(file, number, line.column, err, "a section's name ends in ]");
	for (char *at = close + 1; at < end; at++)
		if (!strchr(BLANKS, *at))
			return refuse_at(file, number, (size_t)(at - text) + 1, err,
					 "nothing but a comment may follow a section's name");
	line.section = cut(from + 1, close);
	if (!*line.section)
		return refuse_at(file, number, line.column, err, "a section needs a name");
	if (ep_keyfile_find(file, line.section, NULL))
		return refuse_at(file, number, line.column, err, "this section is there already");
	add_line(file, line);
	return EP_OK;
}

static int parse_entry(struct ep_keyfile *file, char *text, char *from, char *end, size_t number,
		       struct ep_err *err)
{
	size_t column = (size_t)(from - text) + 1, count = file->lines.count;
	char *equals = memchr(from, '=', (size_t)(end - from));
	struct ep_keyfile_line line = {
		.section = count ? file->lines.list[count - 1].section : "",
		.number = number,
	};

	if (!equals)
		return refuse_at(file, number, column, err,
				 "neither [section], key = value, nor a # comment");
	line.value = cut(equals + 1, end);
	line.column = (size_t)(line.value - text) + 1;
	line.key = cut(from, equals);
	if (!*line.key)
		return refuse_at(file, number, column, err, "a key is missing before the =");
	if (ep_keyfile_find(file, line.section, line.key))
		return refuse_at(file, number, column, err, "this key is there already");
	add_line(file, line);
	return EP_OK;
}

static int parse_line(struct ep_keyfile *file, char *text, size_t size, size_t number,
		      struct ep_err *err)
{
	char *from = text + strspn(text, BLANKS), *end;

	for (const char *at = text; at < text + size; at++)
		if (((unsigned char)*at < ' ' && *at != '\t') || *at == 127)
			return refuse_at(file, number, (size_t)(at - text) + 1, err,
					 "a byte that is no text");
	end = comment_of(text);
	if (from >= end)
		return EP_OK;
	return *from == '[' ? parse_section(file, text, from, end, number, err)
			    : parse_entry(file, text, from, end, number, err);
}

/* ---- all of them --------------------------------------------------------- */

int ep_keyfile_parse(struct ep_keyfile *file, const char *name, const char *text, size_t size,
		     struct ep_err *err)
{
	char *at, *end, *next;
	size_t number = 0;
	int rc = EP_OK;

	*file = (struct ep_keyfile){0};
	if (size > EP_KEYFILE_BYTES)
		return ep_fail(err, EP_E_LIMIT, 0, "%s: more than %zu MiB", name,
			       EP_KEYFILE_BYTES >> 20);
	file->name = ep_strdup(name);
	file->text = ep_malloc(size + 1);
	memcpy(file->text, text, size);
	end = file->text + size;
	for (at = file->text; !rc && at < end; at = next) {
		char *newline = memchr(at, '\n', (size_t)(end - at)),
		     *stop = newline ? newline : end;

		next = newline ? newline + 1 : end;
		if (stop > at && stop[-1] == '\r')
			stop--;
		*stop = '\0';
		rc = parse_line(file, at, (size_t)(stop - at), ++number, err);
	}
	if (rc)
		ep_keyfile_deinit(file);
	return rc;
}

int ep_keyfile_read(struct ep_keyfile *file, const char *path, struct ep_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc;
	size_t size = 0;
	struct stat st;
	char *text = NULL;

	*file = (struct ep_keyfile){0};
	if (fd < 0 && errno == ENOENT)
		return EP_END;
	if (fd < 0)
		return ep_fail(err, errno == EACCES ? EP_E_PERMISSION : EP_E_IO, 0, "%s: %m", path);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		rc = ep_fail(err, EP_E_FORMAT, 0, "%s: not a regular file", path);
	else
		rc = ep_file_read_rest(&text, &size, fd, path, EP_KEYFILE_BYTES, err);
	close(fd);
	if (!rc)
		rc = ep_keyfile_parse(file, path, text, size, err);
	free(text);
	return rc;
}

void ep_keyfile_deinit(struct ep_keyfile *file)
{
	ep_array_deinit(&file->lines);
	ep_hash_deinit(&file->index);
	free(file->text);
	free(file->name);
	*file = (struct ep_keyfile){0};
}

int ep_keyfile_refuse(const struct ep_keyfile *file, const struct ep_keyfile_line *line,
		      struct ep_err *err, const char *format, ...)
{
	char words[400];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(words, sizeof(words), format, arguments);
	va_end(arguments);
	return refuse_at(file, line->number, line->column, err, words);
}
