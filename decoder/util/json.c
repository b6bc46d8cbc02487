/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * json.c: the writer. A comma or a colon is decided when the next item starts, so callers never
 * think of separators; text is copied in runs, and only what JSON or UTF-8 forbids is replaced.
 */
#include "decoder/util/json.h"

#include <errno.h>
#include <string.h>

#include "coredump/util/utf8.h"

/* Levels whose comma is remembered: bits of has_items. */
#define DEPTH_MAX 64

static void fail(struct ep_json *json, int error)
{
	json->failed = true;
	json->error = error ? error : EIO;
}

static inline void put(struct ep_json *json, const char *text, size_t size)
{
	if (json->out)
		ep_outbuf_put(json->out, text, size);
	else if (!json->failed && fwrite(text, 1, size, json->file) != size)
		fail(json, errno);
}

static inline void put_char(struct ep_json *json, char c)
{
	put(json, &c, 1);
}

/* What goes before an item: nothing after a key, a comma after a neighbour. */
static inline void begin_item(struct ep_json *json)
{
	uint64_t bit = UINT64_C(1) << (json->depth % DEPTH_MAX);

	if (json->after_key) {
		json->after_key = false;
		return;
	}
	if (json->has_items & bit)
		put_char(json, ',');
	json->has_items |= bit;
}

static void open_level(struct ep_json *json, char bracket)
{
	begin_item(json);
	put_char(json, bracket);
	json->depth++;
	if (json->depth >= DEPTH_MAX) {
		fail(json, EOVERFLOW);
		return;
	}
	json->has_items &= ~(UINT64_C(1) << json->depth);
}

static void close_level(struct ep_json *json, char bracket)
{
	if (json->depth > 0)
		json->depth--;
	put_char(json, bracket);
}

void ep_json_init(struct ep_json *json, FILE *file)
{
	*json = (struct ep_json){.file = file};
}

void ep_json_init_outbuf(struct ep_json *json, struct ep_outbuf *out)
{
	*json = (struct ep_json){.out = out};
}

int ep_json_finish(struct ep_json *json)
{
	if (!json->failed && (fflush(json->file) != 0 || ferror(json->file)))
		fail(json, errno);
	if (json->failed)
		errno = json->error;
	return json->failed ? -1 : 0;
}

void ep_json_object(struct ep_json *json)
{
	open_level(json, '{');
}

void ep_json_object_end(struct ep_json *json)
{
	close_level(json, '}');
}

void ep_json_array(struct ep_json *json)
{
	open_level(json, '[');
}

void ep_json_array_end(struct ep_json *json)
{
	close_level(json, ']');
}

/* Bytes that stand for themselves inside a JSON string. */
static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* One character that is not plain: its escape, itself, or U+FFFD for a byte that begins no
 * character. Returns the bytes taken. */
static size_t put_special(struct ep_json *json, const char *text, size_t size)
{
	static const char letters[] = "btn?fr";
	unsigned char c = (unsigned char)*text;
	char escape[16];
	uint32_t point;
	size_t length;

	if (c == '"' || c == '\\') {
		snprintf(escape, sizeof(escape), "\\%c", c);
	} else if (c >= '\b' && c <= '\r' && c != '\v') {
		snprintf(escape, sizeof(escape), "\\%c", letters[c - '\b']);
	} else {
		length = ep_utf8_length(text, size);
		if (!length || !ep_utf8_is_control(text, length)) {
			put(json, length ? text : "\xef\xbf\xbd", length ? length : 3);
			return length ? length : 1;
		}
		point = ep_utf8_code_point(text, length);
		if (point < 0x10000)
			snprintf(escape, sizeof(escape), "\\u%04x", point);
		else /* RFC 8259, section 7: a surrogate pair */
			snprintf(escape, sizeof(escape), "\\u%04x\\u%04x", 0xd7c0 + (point >> 10),
				 0xdc00 + (point & 0x3ff));
		put(json, escape, strlen(escape));
		return length;
	}
	put(json, escape, strlen(escape));
	return 1;
}

static void put_string(struct ep_json *json, const char *text, size_t size)
{
	size_t at = 0, run;

	put_char(json, '"');
	while (at < size) {
		for (run = at; run < size && is_plain((unsigned char)text[run]); run++)
			;
		if (run > at)
			put(json, text + at, run - at);
		at = run;
		if (at < size)
			at += put_special(json, text + at, size - at);
	}
	put_char(json, '"');
}

void ep_json_key(struct ep_json *json, const char *key)
{
	begin_item(json);
	put_string(json, key, strlen(key));
	put_char(json, ':');
	json->after_key = true;
}

void ep_json_bytes(struct ep_json *json, const char *text, size_t size)
{
	begin_item(json);
	put_string(json, text, size);
}

void ep_json_string(struct ep_json *json, const char *text)
{
	if (!text)
		ep_json_null(json);
	else
		ep_json_bytes(json, text, strlen(text));
}

static inline void put_item(struct ep_json *json, const char *text, size_t size)
{
	begin_item(json);
	put(json, text, size);
}

void ep_json_uint(struct ep_json *json, uint64_t value)
{
	char text[EP_DIGITS_SIZE], *end = text + sizeof(text), *at = ep_digits_uint(end, value);

	put_item(json, at, (size_t)(end - at));
}

void ep_json_int(struct ep_json *json, int64_t value)
{
	char text[EP_DIGITS_SIZE], *end = text + sizeof(text), *at = ep_digits_int(end, value);

	put_item(json, at, (size_t)(end - at));
}

void ep_json_thousandth(struct ep_json *json, int64_t value)
{
	char text[EP_DIGITS_SIZE], *end = text + sizeof(text);
	char *at = ep_digits_thousandth(end, value);

	put_item(json, at, (size_t)(end - at));
}

void ep_json_hex(struct ep_json *json, uint64_t value)
{
	char text[EP_DIGITS_SIZE], *end = text + sizeof(text), *at = end;

	*--at = '"';
	at = ep_digits_hex(at, value);
	*--at = '"';
	put_item(json, at, (size_t)(end - at));
}

void ep_json_bool(struct ep_json *json, bool value)
{
	put_item(json, value ? "true" : "false", value ? 4 : 5);
}

void ep_json_null(struct ep_json *json)
{
	put_item(json, "null", 4);
}

void ep_json_members(struct ep_json *json, const char *members, size_t size)
{
	put_item(json, members, size);
}

void ep_json_newline(struct ep_json *json)
{
	put_char(json, '\n');
}

void ep_json_member_object(struct ep_json *json, const char *key)
{
	ep_json_key(json, key);
	ep_json_object(json);
}

void ep_json_member_array(struct ep_json *json, const char *key)
{
	ep_json_key(json, key);
	ep_json_array(json);
}

void ep_json_member_text(struct ep_json *json, const char *key, const char *text)
{
	ep_json_key(json, key);
	ep_json_string(json, text);
}

void ep_json_member_uint(struct ep_json *json, const char *key, uint64_t value)
{
	ep_json_key(json, key);
	ep_json_uint(json, value);
}

void ep_json_member_int(struct ep_json *json, const char *key, int64_t value)
{
	ep_json_key(json, key);
	ep_json_int(json, value);
}

void ep_json_member_thousandth(struct ep_json *json, const char *key, int64_t value)
{
	ep_json_key(json, key);
	ep_json_thousandth(json, value);
}

void ep_json_member_bool(struct ep_json *json, const char *key, bool value)
{
	ep_json_key(json, key);
	ep_json_bool(json, value);
}

void ep_json_member_null(struct ep_json *json, const char *key)
{
	ep_json_key(json, key);
	ep_json_null(json);
}
