/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * support.c: what the fuzz targets share. The JSON reader shares nothing with the writer that it
 * judges.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

void fuzz_check_failure(int rc, const struct ep_err *err)
{
	MUST(rc >= EP_E_USAGE && rc <= EP_END && rc != EP_OK);
	MUST(err->text[0] != '\0');
	MUST(strchr(err->text, '\n') == NULL);
}

/* ---- text ---- */

/* Bytes of the well-formed character at `at` (Unicode, table 3-7), 0: none. */
static size_t character(const uint8_t *at, size_t left)
{
	uint32_t code;
	size_t length;

	if (at[0] < 0x80)
		return 1;
	length = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
	if (at[0] < 0xc2 || at[0] > 0xf4 || length > left)
		return 0;
	code = at[0] & (0xff >> (length + 1));
	for (size_t i = 1; i < length; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (at[i] & 0x3f);
	}
	if ((length == 3 && code < 0x800) || (length == 4 && code < 0x10000) || code > 0x10ffff ||
	    (code >= 0xd800 && code < 0xe000))
		return 0;
	return length;
}

void fuzz_check_text(const char *text, size_t size, const char *allowed)
{
	const uint8_t *at = (const uint8_t *)text;

	for (size_t i = 0; i < size;) {
		size_t length = character(at + i, size - i);

		MUST(length != 0);
		MUST(at[i] >= 0x20 || (at[i] && strchr(allowed, at[i])));
		MUST(at[i] != 0x7f);
		i += length;
	}
}

/* ---- JSON, RFC 8259 ---- */

struct reader {
	const char *at, *end;
};

static void blanks(struct reader *r)
{
	while (r->at < r->end && strchr(" \t\n\r", *r->at) && *r->at)
		r->at++;
}

static bool taken(struct reader *r, char wanted)
{
	if (r->at == r->end || *r->at != wanted)
		return false;
	r->at++;
	return true;
}

static void string(struct reader *r)
{
	MUST(taken(r, '"'));
	while (!taken(r, '"')) {
		MUST(r->at < r->end && (uint8_t)*r->at >= 0x20);
		if (*r->at++ != '\\')
			continue;
		MUST(r->at < r->end && *r->at && strchr("\"\\/bfnrtu", *r->at));
		if (*r->at++ == 'u')
			for (int i = 0; i < 4; i++, r->at++)
				MUST(r->at < r->end && *r->at &&
				     strchr("0123456789abcdefABCDEF", *r->at));
	}
}

static void digits(struct reader *r)
{
	MUST(r->at < r->end && *r->at >= '0' && *r->at <= '9');
	while (r->at < r->end && *r->at >= '0' && *r->at <= '9')
		r->at++;
}

static void number(struct reader *r)
{
	taken(r, '-');
	if (!taken(r, '0'))
		digits(r);
	if (taken(r, '.'))
		digits(r);
	if (taken(r, 'e') || taken(r, 'E')) {
		if (!taken(r, '-'))
			taken(r, '+');
		digits(r);
	}
}

static void word(struct reader *r, const char *text)
{
	size_t length = strlen(text);

	MUST((size_t)(r->end - r->at) >= length);
	MUST(memcmp(r->at, text, length) == 0);
	r->at += length;
}

/* What opens nothing. */
static void scalar(struct reader *r)
{
	MUST(r->at < r->end);
	switch (*r->at) {
	case '"':
		string(r);
		break;
	case 't':
		word(r, "true");
		break;
	case 'f':
		word(r, "false");
		break;
	case 'n':
		word(r, "null");
		break;
	default:
		number(r);
	}
}

static void key(struct reader *r)
{
	blanks(r);
	string(r);
	blanks(r);
	MUST(taken(r, ':'));
	blanks(r);
}

/* After a value: closes what ends here. False: nothing is open any more. */
static bool go_on(struct reader *r, char *open, size_t *depth)
{
	for (;;) {
		if (*depth == 0)
			return false;
		blanks(r);
		if (taken(r, ','))
			break;
		MUST(taken(r, open[*depth - 1]));
		--*depth;
	}
	if (open[*depth - 1] == '}')
		key(r);
	blanks(r);
	return true;
}

static void value(struct reader *r)
{
	char open[64];
	size_t depth = 0;

	for (;;) {
		char first;

		blanks(r);
		MUST(r->at < r->end);
		first = *r->at;
		if (first != '{' && first != '[') {
			scalar(r);
		} else {
			MUST(depth < sizeof(open));
			open[depth++] = first == '{' ? '}' : ']';
			r->at++;
			blanks(r);
			if (!taken(r, open[depth - 1])) {
				if (first == '{')
					key(r);
				continue;
			}
			depth--;
		}
		if (!go_on(r, open, &depth))
			return;
	}
}

void fuzz_check_json(const char *text, size_t size, bool lines)
{
	struct reader r = {text, text + size};

	fuzz_check_text(text, size, "\n\t\r");
	while (lines && r.at < r.end) {
		struct reader line = r;

		line.end = memchr(r.at, '\n', (size_t)(r.end - r.at));
		MUST(line.end != NULL);
		value(&line);
		MUST(line.at == line.end);
		r.at = line.end + 1;
	}
	if (lines)
		return;
	value(&r);
	blanks(&r);
	MUST(r.at == r.end);
}

/* ---- changes ---- */

static uint64_t random_state;

static uint64_t any(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static const uint64_t edges[] = {
	0,
	1,
	2,
	4,
	8,
	64,
	0xff,
	0xfff,
	0x1000,
	0xffff,
	0x10000,
	INT32_MAX,
	UINT32_MAX,
	UINT64_C(1) << 47,
	(UINT64_C(1) << 47) - 1,
	INT64_MAX,
	UINT64_C(1) << 63,
	UINT64_MAX - 4095,
	UINT64_MAX,
};

/* An aligned place, preferably one where something is written. */
static size_t place(const uint8_t *bytes, size_t size, size_t unit)
{
	uint64_t word = 0;
	size_t at = 0;

	for (int i = 0; i < 16 && word == 0; i++) {
		at = any() % (size / unit) * unit;
		memcpy(&word, bytes + at, unit);
	}
	return at;
}

static void change_word(uint8_t *bytes, size_t size)
{
	static const size_t units[] = {1, 2, 4, 8, 8, 8};
	size_t unit = units[any() % 6], at = place(bytes, size, unit);
	uint64_t word = 0;

	memcpy(&word, bytes + at, unit);
	switch (any() % 6) {
	case 0:
		word = edges[any() % (sizeof(edges) / sizeof(*edges))];
		break;
	case 1:
		memcpy(&word, bytes + place(bytes, size, unit), unit);
		break;
	case 2:
		word += any() % 33 - 16;
		break;
	case 3:
		word ^= UINT64_C(1) << any() % (8 * unit);
		break;
	case 4:
		word = any() >> any() % 64;
		break;
	case 5:
		word += edges[any() % (sizeof(edges) / sizeof(*edges))];
		break;
	}
	memcpy(bytes + at, &word, unit);
}

/* One piece of the input over another. */
static void copy_piece(uint8_t *bytes, size_t size)
{
	size_t length = any() % 4 ? 8 << any() % 6 : 4096, from, to;

	if (length > size)
		return;
	from = any() % (size - length + 1) & ~(size_t)7;
	to = any() % (size - length + 1) & ~(size_t)7;
	memmove(bytes + to, bytes + from, length);
}

static void change_window(uint8_t *bytes, size_t size)
{
	size_t length = 8 + any() % 56, at;

	if (length > size)
		length = size;
	at = place(bytes, size, 8);
	if (at > size - length)
		at = size - length;
	LLVMFuzzerMutate(bytes + at, length, length);
}

size_t fuzz_mutate(uint8_t *bytes, size_t size, size_t max_size, unsigned seed,
		   void (*repair)(uint8_t *bytes, size_t size))
{
	random_state = seed * UINT64_C(0x9e3779b97f4a7c15) + 88172645463325252u;
	if (size < 8 || any() % 8 == 0)
		size = LLVMFuzzerMutate(bytes, size, max_size);
	for (uint64_t i = any() % 5; i > 0 && size >= 8; i--) {
		uint64_t way = any() % 8;

		if (way == 0)
			copy_piece(bytes, size);
		else if (way < 3)
			change_window(bytes, size);
		else
			change_word(bytes, size);
	}
	if (repair)
		repair(bytes, size);
	return size;
}

/* ---- inputs in pieces ---- */

uint8_t fuzz_take8(struct fuzz_bytes *bytes)
{
	if (!bytes->left)
		return 0;
	bytes->left--;
	return *bytes->at++;
}

uint64_t fuzz_take64(struct fuzz_bytes *bytes)
{
	uint64_t word = 0;

	for (int i = 0; i < 8; i++)
		word |= (uint64_t)fuzz_take8(bytes) << 8 * i;
	return word;
}

char *fuzz_take_text(struct fuzz_bytes *bytes, size_t most)
{
	size_t room = bytes->left < most ? bytes->left : most;
	size_t length = room ? strnlen((const char *)bytes->at, room) : 0;
	char *text = malloc(length + 1);

	MUST(text != NULL);
	if (length)
		memcpy(text, bytes->at, length);
	text[length] = '\0';
	if (length < bytes->left)
		length++;
	bytes->at += length;
	bytes->left -= length;
	return text;
}

int fuzz_file(const uint8_t *bytes, size_t size, char path[64])
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	MUST(fd >= 0);
	MUST(size == 0 || write(fd, bytes, size) == (ssize_t)size);
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}
