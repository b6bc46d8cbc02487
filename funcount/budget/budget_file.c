/* SPDX-License-Identifier: BSD-2-Clause */
/* budget_file.c: see budget_file.h. Lines are kept as they came; a change makes one anew. */
#include "funcount/budget/budget_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLANKS " \t"

/* ---- one line ------------------------------------------------------------ */

static void line_deinit(struct ep_sheet_line *line)
{
	free(line->text);
	free(line->section);
	free(line->key);
	free(line->value);
}

static size_t hash_of(const char *section, const char *key)
{
	size_t hash = 5381;

	while (*section)
		hash = hash * 33 + (unsigned char)*section++;
	while (*key)
		hash = hash * 33 + (unsigned char)*key++;
	return hash;
}

/* [from, to) without blanks at either end. */
static char *trimmed(const char *from, const char *to)
{
	while (from < to && strchr(BLANKS, *from))
		from++;
	while (to > from && strchr(BLANKS, to[-1]))
		to--;
	return strndup(from, (size_t)(to - from));
}

/* A comment begins with a # at the line's start or behind a blank. */
static const char *comment_of(const char *text)
{
	const char *at = text;

	while ((at = strchr(at, '#'))) {
		if (at == text || strchr(BLANKS, at[-1]))
			return at;
		at++;
	}
	return text + strlen(text);
}

static int refuse_at(const struct ep_sheet *sheet, size_t line, size_t column, struct ep_err *err,
		     const char *what)
{
	return ep_fail(err, EP_E_FORMAT, line, "%s:%zu:%zu: %s", sheet->name, line, column, what);
}

static int take_section(struct ep_sheet *sheet, struct ep_sheet_line *line, const char *from,
			const char *end, size_t number, struct ep_err *err)
{
	size_t column = (size_t)(from - line->text) + 1;
	const char *close = memchr(from, ']', (size_t)(end - from));

	if (!close)
		return refuse_at(sheet, number, column, err, "a section's name ends in ]");
	line->kind = EP_SHEET_SECTION;
	free(line->section);
	line->section = trimmed(from + 1, close);
	if (!line->section)
		return ep_fail(err, EP_E_MEMORY, 0, "%s: out of memory", sheet->name);
	while (++close < end)
		if (!strchr(BLANKS, *close))
			return refuse_at(sheet, number, (size_t)(close - line->text) + 1, err,
					 "nothing but a comment may follow a "
					 "section's name");
	if (!*line->section)
		return refuse_at(sheet, number, column, err, "a section needs a name");
	if (ep_sheet_has_section(sheet, line->section))
		return refuse_at(sheet, number, column, err, "this section is there already");
	return EP_OK;
}

static int take_entry(struct ep_sheet *sheet, struct ep_sheet_line *line, const char *from,
		      const char *end, size_t number, struct ep_err *err)
{
	size_t column = (size_t)(from - line->text) + 1;
	const char *equals = memchr(from, '=', (size_t)(end - from));
	size_t blanks;

	if (!equals)
		return refuse_at(sheet, number, column, err,
				 "neither [section], key = value, nor a # "
				 "comment");
	line->kind = EP_SHEET_ENTRY;
	line->key = trimmed(from, equals);
	line->value = trimmed(equals + 1, end);
	if (!line->key || !line->value)
		return ep_fail(err, EP_E_MEMORY, 0, "%s: out of memory", sheet->name);
	line->at = (size_t)(equals + 1 - line->text);
	blanks = strspn(line->text + line->at, BLANKS);
	/* Of no value: a comment keeps the blank that makes it one. */
	line->at += *line->value ? blanks : blanks > 1;
	if (!*line->key)
		return refuse_at(sheet, number, column, err, "a key is missing before the =");
	line->hash = hash_of(line->section, line->key);
	if (ep_sheet_find(sheet, line->section, line->key))
		return refuse_at(sheet, number, column, err, "this key is there already");
	return EP_OK;
}

/* `line` has text and the section so far. */
static int take_line(struct ep_sheet *sheet, struct ep_sheet_line *line, size_t number,
		     struct ep_err *err)
{
	const char *from = line->text + strspn(line->text, BLANKS);
	const char *end = comment_of(line->text);

	for (const char *c = line->text; *c; c++)
		if (((unsigned char)*c < ' ' && *c != '\t') || *c == 127)
			return refuse_at(sheet, number, (size_t)(c - line->text) + 1, err,
					 "a byte that is no text");
	if (from >= end)
		return EP_OK;
	if (*from == '[')
		return take_section(sheet, line, from, end, number, err);
	return take_entry(sheet, line, from, end, number, err);
}

/* ---- lines --------------------------------------------------------------- */

/* Makes room for a line at `index`; what is there moves. NULL: no memory. */
static struct ep_sheet_line *insert(struct ep_sheet *sheet, size_t index)
{
	if (sheet->count == sheet->capacity) {
		size_t room = sheet->capacity ? 2 * sheet->capacity : 32;
		void *grown = reallocarray(sheet->lines, room, sizeof(*sheet->lines));

		if (!grown)
			return NULL;
		sheet->lines = grown;
		sheet->capacity = room;
	}
	memmove(&sheet->lines[index + 1], &sheet->lines[index],
		(sheet->count - index) * sizeof(*sheet->lines));
	sheet->lines[index] = (struct ep_sheet_line){0};
	sheet->count++;
	return &sheet->lines[index];
}

static void drop(struct ep_sheet *sheet, size_t index)
{
	line_deinit(&sheet->lines[index]);
	sheet->count--;
	memmove(&sheet->lines[index], &sheet->lines[index + 1],
		(sheet->count - index) * sizeof(*sheet->lines));
}

/* A copy with a NUL; the sheet's bytes have none. */
static char *bytes_of(const char *text, size_t size)
{
	char *copy = malloc(size + 1);

	if (!copy)
		return NULL;
	memcpy(copy, text, size);
	copy[size] = '\0';
	return copy;
}

/* Adds a line of `size` bytes at `index`, in the section that is open there. */
static int add_line(struct ep_sheet *sheet, size_t index, const char *text, size_t size,
		    struct ep_err *err)
{
	const char *section = index ? sheet->lines[index - 1].section : "";
	struct ep_sheet_line line = {0};
	struct ep_sheet_line *place;
	int rc = EP_E_MEMORY;

	if (sheet->count >= EP_SHEET_LINES)
		return ep_fail(err, EP_E_LIMIT, index + 1, "%s: more than %zu lines", sheet->name,
			       EP_SHEET_LINES);
	if (memchr(text, 0, size))
		return refuse_at(sheet, index + 1, strlen(text) + 1, err, "a byte that is no text");
	line.text = bytes_of(text, size);
	line.section = strdup(section);
	if (line.text && line.section)
		rc = take_line(sheet, &line, index + 1, err);
	place = rc ? NULL : insert(sheet, index);
	if (place) {
		*place = line;
		return EP_OK;
	}
	line_deinit(&line);
	return rc && rc != EP_E_MEMORY
		       ? rc
		       : ep_fail(err, EP_E_MEMORY, 0, "%s: out of memory", sheet->name);
}

int ep_sheet_parse(struct ep_sheet *sheet, const char *name, const char *text, size_t size,
		   struct ep_err *err)
{
	int rc = EP_OK;

	*sheet = (struct ep_sheet){.name = strdup(name)};
	if (!sheet->name)
		return ep_fail(err, EP_E_MEMORY, 0, "%s: out of memory", name);
	if (size > EP_SHEET_BYTES)
		rc = ep_fail(err, EP_E_LIMIT, 0, "%s: more than %zu MiB", name,
			     EP_SHEET_BYTES >> 20);
	while (!rc && size) {
		const char *newline = memchr(text, '\n', size);
		size_t length = newline ? (size_t)(newline - text) : size;
		size_t bare = length && text[length - 1] == '\r' ? length - 1 : length;

		rc = add_line(sheet, sheet->count, text, bare, err);
		length += newline != NULL;
		text += length;
		size -= length;
	}
	if (rc)
		ep_sheet_deinit(sheet);
	return rc;
}

static int read_all(int fd, const char *path, char **text, size_t *size, struct ep_err *err)
{
	ssize_t got = 1;

	*size = 0;
	*text = malloc(EP_SHEET_BYTES + 1);
	if (!*text)
		return ep_fail(err, EP_E_MEMORY, 0, "%s: out of memory", path);
	while (got > 0 && *size <= EP_SHEET_BYTES) {
		got = read(fd, *text + *size, EP_SHEET_BYTES + 1 - *size);
		*size += got > 0 ? (size_t)got : 0;
	}
	return got < 0 ? ep_fail(err, EP_E_IO, 0, "%s: %m", path) : EP_OK;
}

int ep_sheet_read(struct ep_sheet *sheet, const char *path, struct ep_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc;
	char *text = NULL;
	size_t size = 0;
	struct stat st;

	*sheet = (struct ep_sheet){0};
	if (fd < 0 && errno == ENOENT) {
		rc = ep_sheet_parse(sheet, path, "", 0, err);
		return rc ? rc : EP_END;
	}
	if (fd < 0)
		return ep_fail(err, errno == EACCES ? EP_E_PERMISSION : EP_E_IO, 0, "%s: %m", path);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		rc = ep_fail(err, EP_E_FORMAT, 0, "%s: not a regular file", path);
	else
		rc = read_all(fd, path, &text, &size, err);
	close(fd);
	if (!rc)
		rc = ep_sheet_parse(sheet, path, text, size, err);
	free(text);
	return rc;
}

void ep_sheet_deinit(struct ep_sheet *sheet)
{
	for (size_t i = 0; i < sheet->count; i++)
		line_deinit(&sheet->lines[i]);
	free(sheet->lines);
	free(sheet->name);
	*sheet = (struct ep_sheet){0};
}

/* ---- looking up ---------------------------------------------------------- */

const struct ep_sheet_line *ep_sheet_find(const struct ep_sheet *sheet, const char *section,
					  const char *key)
{
	size_t hash = hash_of(section, key);

	for (size_t i = 0; i < sheet->count; i++) {
		const struct ep_sheet_line *line = &sheet->lines[i];

		if (line->hash == hash && line->kind == EP_SHEET_ENTRY &&
		    !strcmp(line->section, section) && !strcmp(line->key, key))
			return line;
	}
	return NULL;
}

bool ep_sheet_has_section(const struct ep_sheet *sheet, const char *section)
{
	for (size_t i = 0; i < sheet->count; i++)
		if (sheet->lines[i].kind == EP_SHEET_SECTION &&
		    !strcmp(sheet->lines[i].section, section))
			return true;
	return false;
}

const char *ep_sheet_get(const struct ep_sheet *sheet, const char *section, const char *key)
{
	const struct ep_sheet_line *line = ep_sheet_find(sheet, section, key);

	return line ? line->value : NULL;
}

size_t ep_sheet_line_number(const struct ep_sheet *sheet, const struct ep_sheet_line *line)
{
	return (size_t)(line - sheet->lines) + 1;
}

int ep_sheet_refuse(const struct ep_sheet *sheet, const struct ep_sheet_line *line,
		    struct ep_err *err, const char *format, ...)
{
	char words[400];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(words, sizeof(words), format, arguments);
	va_end(arguments);
	return refuse_at(sheet, ep_sheet_line_number(sheet, line),
			 line->kind == EP_SHEET_ENTRY ? line->at + 1
						      : strspn(line->text, BLANKS) + 1,
			 err, words);
}

/* ---- changing ------------------------------------------------------------ */

static size_t index_of(const struct ep_sheet *sheet, const struct ep_sheet_line *line)
{
	return (size_t)(line - sheet->lines);
}

/* Where a new entry of the section goes: behind its last entry. */
static size_t place_of(const struct ep_sheet *sheet, const char *section)
{
	size_t place = 0;

	for (size_t i = 0; i < sheet->count; i++)
		if (sheet->lines[i].kind != EP_SHEET_OTHER &&
		    !strcmp(sheet->lines[i].section, section))
			place = i + 1;
	return place;
}

/* What was written must be what is read. */
static bool is_writable(const char *section, const char *key, const char *value)
{
	size_t length = strlen(value);
	bool bare = !length || (!strchr(BLANKS, value[0]) && !strchr(BLANKS, value[length - 1]));

	return bare && !*comment_of(value) && !strpbrk(value, "\n\r") && *key &&
	       !strpbrk(key, "=\n\r") && *key != '[' && !*comment_of(key) &&
	       !strpbrk(section, "]\n\r") && !*comment_of(section);
}

static int add_text(struct ep_sheet *sheet, size_t index, struct ep_err *err, const char *format,
		    ...) __attribute__((format(printf, 4, 5)));
static int add_text(struct ep_sheet *sheet, size_t index, struct ep_err *err, const char *format,
		    ...)
{
	char *text = NULL;
	va_list arguments;
	int length, rc;

	va_start(arguments, format);
	length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (length < 0)
		return ep_fail(err, EP_E_MEMORY, 0, "%s: out of memory", sheet->name);
	rc = add_line(sheet, index, text, (size_t)length, err);
	free(text);
	return rc;
}

/* The new line takes the old one's place, its comment stays. */
static int replace(struct ep_sheet *sheet, size_t index, const char *value, struct ep_err *err)
{
	struct ep_sheet_line old = sheet->lines[index];
	const char *comment = comment_of(old.text);
	size_t length = strlen(old.value);
	char *text = NULL;

	if (!strcmp(old.value, value))
		return EP_OK;
	while (comment > old.text && strchr(BLANKS, comment[-1]))
		comment--;
	if (comment < old.text + old.at + length)
		comment = old.text + old.at + length;
	if (asprintf(&text, "%.*s%s%s", (int)old.at, old.text, value, comment) < 0)
		return ep_fail(err, EP_E_MEMORY, 0, "%s: out of memory", sheet->name);
	drop(sheet, index);
	int rc = add_line(sheet, index, text, strlen(text), err);
	free(text);
	return rc;
}

int ep_sheet_set(struct ep_sheet *sheet, const char *section, const char *key, const char *value,
		 struct ep_err *err)
{
	const struct ep_sheet_line *line = ep_sheet_find(sheet, section, key);
	int rc = EP_OK;

	if (!is_writable(section, key, value))
		return ep_fail(err, EP_E_USAGE, 0, "%s: [%s] %s = %s cannot be written",
			       sheet->name, section, key, value);
	if (line)
		return replace(sheet, index_of(sheet, line), value, err);
	if (*section && !ep_sheet_has_section(sheet, section)) {
		if (sheet->count)
			rc = add_text(sheet, sheet->count, err, "%s", "");
		if (!rc)
			rc = add_text(sheet, sheet->count, err, "[%s]", section);
	}
	if (!rc)
		rc = add_text(sheet, place_of(sheet, section), err, "%s = %s", key, value);
	return rc;
}

void ep_sheet_unset(struct ep_sheet *sheet, const char *section, const char *key)
{
	const struct ep_sheet_line *line = ep_sheet_find(sheet, section, key);

	if (line)
		drop(sheet, index_of(sheet, line));
}

void ep_sheet_print(const struct ep_sheet *sheet, FILE *out)
{
	for (size_t i = 0; i < sheet->count; i++)
		fprintf(out, "%s\n", sheet->lines[i].text);
}
