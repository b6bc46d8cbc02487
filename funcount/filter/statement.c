/* SPDX-License-Identifier: BSD-2-Clause */
/* statement.c: one line of GNU assembly, taken apart. */
#include "funcount/filter/statement.h"

#include <string.h>

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

static struct ep_piece trim(const char *at, const char *end)
{
	while (at < end && blank(*at))
		at++;
	while (end > at && blank(end[-1]))
		end--;
	return (struct ep_piece){at, (size_t)(end - at)};
}

/* Behind a quoted text that begins at `at`. */
static const char *skip_quoted(const char *at, const char *end)
{
	for (at++; at < end && *at != '"'; at++)
		if (*at == '\\' && at + 1 < end)
			at++;
	return at < end ? at + 1 : end;
}

static bool symbol_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '.' || c == '$' || (unsigned char)c >= 0x80;
}

/* Behind a symbol, quoted or not; `at` itself if there is none. */
static const char *skip_symbol(const char *at, const char *end)
{
	if (at < end && *at == '"')
		return skip_quoted(at, end);
	while (at < end && symbol_byte(*at))
		at++;
	return at;
}

static struct ep_piece unquoted(struct ep_piece piece)
{
	if (piece.size >= 2 && piece.at[0] == '"' && piece.at[piece.size - 1] == '"')
		return (struct ep_piece){piece.at + 1, piece.size - 2};
	return piece;
}

/* Where the statement ends: a comment, a semicolon, the line's end. A character constant may be
 * either: '# */
static const char *statement_end(const char *at, const char *end)
{
	while (at < end && *at != '#' && *at != ';') {
		if (*at == '"')
			at = skip_quoted(at, end);
		else if (*at == '\'' && at + 1 < end)
			at += 2;
		else
			at++;
	}
	return at < end ? at : end;
}

struct ep_statement ep_statement_read(struct ep_piece line)
{
	struct ep_statement statement = {0};
	const char *end = line.at + line.size, *stop;

	for (;;) {
		line = trim(line.at, end);
		stop = skip_symbol(line.at, end);
		if (stop == line.at || stop == end || *stop != ':')
			break;
		statement.label = unquoted((struct ep_piece){line.at, (size_t)(stop - line.at)});
		line.at = stop + 1;
	}
	stop = statement_end(line.at, end);
	statement.more = stop < end && *stop == ';';
	line = trim(line.at, stop);
	end = line.at + line.size;
	stop = line.at;
	while (stop < end && !blank(*stop))
		stop++;
	statement.op = (struct ep_piece){line.at, (size_t)(stop - line.at)};
	statement.args = trim(stop, end);
	return statement;
}

bool ep_piece_is(struct ep_piece piece, const char *text)
{
	return piece.size == strlen(text) && !memcmp(piece.at, text, piece.size);
}

bool ep_piece_starts(struct ep_piece piece, const char *text)
{
	size_t size = strlen(text);

	return piece.size >= size && !memcmp(piece.at, text, size);
}

bool ep_piece_has(struct ep_piece piece, const char *text)
{
	return piece.size && memmem(piece.at, piece.size, text, strlen(text));
}

bool ep_piece_equal(struct ep_piece a, struct ep_piece b)
{
	return a.size == b.size && (!a.size || !memcmp(a.at, b.at, a.size));
}

bool ep_piece_next(struct ep_piece *rest, char stop, struct ep_piece *out)
{
	const char *at = rest->at, *end = rest->at + rest->size;
	int depth = 0;

	if (!rest->size)
		return false;
	while (at < end && (*at != stop || depth > 0)) {
		depth += (*at == '(') - (*at == ')');
		at = *at == '"' ? skip_quoted(at, end) : at + 1;
	}
	*out = unquoted(trim(rest->at, at));
	if (at < end)
		at++;
	*rest = (struct ep_piece){at, (size_t)(end - at)};
	return true;
}
