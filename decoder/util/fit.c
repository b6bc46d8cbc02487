/* SPDX-License-Identifier: BSD-2-Clause */
/* fit.c: how wide text is, and how it is made narrower. */
#include "decoder/util/fit.h"

#include <locale.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "coredump/util/alloc.h"
#include "coredump/util/utf8.h"

#define ESCAPE '\033'

/* By the table of UTF-8, whatever the user's locale is: text is UTF-8 in all of them. */
size_t ep_fit_character(const char *text, size_t size)
{
	static locale_t utf8;
	locale_t before;
	int width;

	if (size < 2 || (!utf8 && !(utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0))))
		return 1;
	before = uselocale(utf8);
	width = wcwidth((wchar_t)ep_utf8_code_point(text, size));
	uselocale(before);
	return width < 0 ? 1 : (size_t)width;
}

/* Bytes of what `text` begins with, an escape sequence (*columns 0) or a character. Text is valid
 * UTF-8; what is not counts a column a byte. */
static size_t piece(const char *text, size_t *columns)
{
	size_t size = 1;

	if (*text == ESCAPE) {
		*columns = 0;
		size += strcspn(text + 1, "m");
		return size + (text[size] == 'm');
	}
	while (((unsigned char)text[size] & 0xc0) == 0x80 && size < 4)
		size++;
	*columns = ep_fit_character(text, size);
	return size;
}

/* Columns of the first `size` bytes. */
static size_t columns_of(const char *text, size_t size)
{
	size_t columns = 0, one;

	for (size_t at = 0; at < size && text[at]; columns += one)
		at += piece(text + at, &one);
	return columns;
}

size_t ep_fit_columns(const char *text)
{
	return columns_of(text, strlen(text));
}

int ep_fit_blanks(const char *text, size_t columns)
{
	size_t used = ep_fit_columns(text);

	return used < columns ? (int)(columns - used) : 0;
}

size_t ep_fit_bytes(const char *text, size_t columns)
{
	size_t at = 0, size, one;

	for (; text[at]; at += size) {
		size = piece(text + at, &one);
		if (one > columns)
			break;
		columns -= one;
	}
	return at;
}

const char *ep_fit_tail(const char *text, size_t columns)
{
	size_t whole = ep_fit_columns(text), at;

	if (whole <= columns)
		return text;
	at = ep_fit_bytes(text, whole - columns);
	/* A wide character of which one column would be left. */
	if (columns_of(text, at) < whole - columns)
		at = ep_fit_bytes(text, whole - columns + 1);
	return text + at;
}

char *ep_fit_name(const char *name, size_t columns)
{
	if (columns == EP_FIT_ALL || ep_fit_columns(name) <= columns)
		return ep_strdup(name);
	return ep_asprintf("%.*s…%s", (int)ep_fit_bytes(name, columns / 2), name,
			   ep_fit_tail(name, columns - columns / 2 - 1));
}

/* ---- lines ---- */

static void put_spaces(FILE *out, size_t count)
{
	for (; count; count--)
		fputc(' ', out);
}

/* The bytes of a line that fit in `columns`, up to a space, or as they are. */
static size_t break_at(const char *line, size_t size, size_t columns)
{
	size_t most = ep_fit_bytes(line, columns), at = most, first = strspn(line, " ");

	if (most >= size)
		return size;
	while (at > first && line[at] != ' ')
		at--;
	return at > first ? at : 0;
}

/* A word that is longer than a line. */
static size_t put_cut(FILE *out, const char *line, size_t size, size_t columns)
{
	size_t blank = strspn(line, " "), length = blank + strcspn(line + blank, " ");
	char *word, *cut;

	length = length < size ? length : size;
	word = ep_strndup(line, length);
	cut = ep_fit_name(word, columns);
	fputs(cut, out);
	free(cut);
	free(word);
	return length;
}

static size_t put_line(FILE *out, const char *line, size_t size, size_t columns, size_t indent)
{
	size_t lines = 0, left = columns;

	do {
		size_t used = columns == EP_FIT_ALL ? size : break_at(line, size, left);

		if (lines++)
			put_spaces(out, indent);
		if (used || !size)
			fwrite(line, 1, used, out);
		else
			used = put_cut(out, line, size, left);
		fputc('\n', out);
		while (used < size && line[used] == ' ')
			used++;
		line += used;
		size -= used;
		left = columns - indent;
	} while (size);
	return lines;
}

size_t ep_fit_lines(FILE *out, const char *text, size_t columns, size_t indent)
{
	size_t lines = 0;

	while (*text) {
		size_t size = strcspn(text, "\n");

		lines += put_line(out, text, size, columns, indent);
		text += size + (text[size] == '\n');
	}
	return lines;
}

/* A path that is not begun with would leave most of the line empty. */
static bool is_path(const char *word, size_t size)
{
	size_t blank = strspn(word, " "), length = blank + strcspn(word + blank, " ");

	return memchr(word, '/', length < size ? length : size) != NULL;
}

/* Escape sequences of what is cut away stay. */
static void put_one(FILE *out, const char *line, size_t size, size_t columns)
{
	size_t used, one;

	if (columns == EP_FIT_ALL || columns_of(line, size) <= columns) {
		fwrite(line, 1, size, out);
		return;
	}
	used = break_at(line, size, columns - 2);
	fwrite(line, 1, used, out);
	if (!used || (used < columns / 2 && is_path(line + used, size - used)))
		used += put_cut(out, line + used, size - used,
				columns - 2 - columns_of(line, used));
	fputs(" …", out);
	for (size_t at = used, length; at < size; at += length) {
		length = piece(line + at, &one);
		if (!one)
			fwrite(line + at, 1, length, out);
	}
}

size_t ep_fit_cut_lines(FILE *out, const char *text, size_t columns)
{
	size_t lines = 0;

	for (; *text; lines++) {
		size_t size = strcspn(text, "\n");

		put_one(out, text, size, columns);
		fputc('\n', out);
		text += size + (text[size] == '\n');
	}
	return lines;
}
