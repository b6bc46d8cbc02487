/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * json.h: a small streaming writer, for every JSON that epitaph prints. Strings that are not UTF-8
 * come out with U+FFFD in place of each bad byte; numbers never depend on the locale. The first
 * write error sticks and is told by ep_json_finish.
 */
#ifndef EPITAPH_JSON_H
#define EPITAPH_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "decoder/util/outbuf.h"

struct ep_json {
	FILE *file;            /* borrowed */
	struct ep_outbuf *out; /* borrowed; NULL: straight to the file */
	unsigned depth;
	uint64_t has_items; /* a bit a level: a comma is due */
	bool after_key;
	bool failed;
	int error; /* errno of the first failure */
};

void ep_json_init(struct ep_json *json, FILE *file);
/* By a buffer, for millions of values: what fails is told by ep_outbuf_finish, and no
 * ep_json_finish is needed. */
void ep_json_init_outbuf(struct ep_json *json, struct ep_outbuf *out);
int ep_json_finish(struct ep_json *json); /* 0, or -1 with errno; flushes */

void ep_json_object(struct ep_json *json); /* { */
void ep_json_object_end(struct ep_json *json);
void ep_json_array(struct ep_json *json); /* [ */
void ep_json_array_end(struct ep_json *json);
void ep_json_key(struct ep_json *json, const char *key);
void ep_json_string(struct ep_json *json, const char *text);
void ep_json_bytes(struct ep_json *json, const char *text, size_t size);
void ep_json_uint(struct ep_json *json, uint64_t value);
void ep_json_int(struct ep_json *json, int64_t value);
/* value / 1000 with three decimals: ns → us, exactly. */
void ep_json_thousandth(struct ep_json *json, int64_t value);
void ep_json_hex(struct ep_json *json, uint64_t value); /* "0x1f" */
void ep_json_bool(struct ep_json *json, bool value);
void ep_json_null(struct ep_json *json);
/* A key that needs no escape, of a member that is not the first; quick where there is a buffer. */
static inline void ep_json_plain_key(struct ep_json *json, const char *key)
{
	struct ep_outbuf *out = json->out;
	size_t size = strlen(key);
	char *at;

	if (!out || size + 4 > EP_OUTBUF_SIZE - out->used) {
		ep_json_key(json, key);
		return;
	}
	at = out->bytes + out->used;
	memcpy(at, ",\"", 2);
	memcpy(at + 2, key, size);
	memcpy(at + 2 + size, "\":", 2);
	out->used += (uint32_t)size + 4;
	json->after_key = true;
}

static inline void ep_json_plain_int(struct ep_json *json, const char *key, int64_t value)
{
	ep_json_plain_key(json, key);
	if (json->out) {
		json->after_key = false;
		ep_outbuf_int(json->out, value);
	} else {
		ep_json_int(json, value);
	}
}

/* Members that this writer made elsewhere: "a":1,"b":2 */
void ep_json_members(struct ep_json *json, const char *members, size_t size);
/* A key and its value, or the beginning of its value. */
void ep_json_member_object(struct ep_json *json, const char *key);
void ep_json_member_array(struct ep_json *json, const char *key);
void ep_json_member_text(struct ep_json *json, const char *key, const char *text);
void ep_json_member_uint(struct ep_json *json, const char *key, uint64_t value);
void ep_json_member_int(struct ep_json *json, const char *key, int64_t value);
void ep_json_member_thousandth(struct ep_json *json, const char *key, int64_t value);
void ep_json_member_bool(struct ep_json *json, const char *key, bool value);
void ep_json_member_null(struct ep_json *json, const char *key);

void ep_json_newline(struct ep_json *json); /* white space between items */

#endif
