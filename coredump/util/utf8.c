/* SPDX-License-Identifier: BSD-2-Clause */
/* utf8.c: well-formed UTF-8 by the ranges of the Unicode standard, table 3-7. */
#include "coredump/util/utf8.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "coredump/util/alloc.h"

/* First byte [first, last] → length, and what the second byte may be. */
static const struct {
	unsigned char first, last, length, low, high;
} forms[] = {
	{0x00, 0x7f, 1, 0, 0},       {0xc2, 0xdf, 2, 0x80, 0xbf}, {0xe0, 0xe0, 3, 0xa0, 0xbf},
	{0xe1, 0xec, 3, 0x80, 0xbf}, {0xed, 0xed, 3, 0x80, 0x9f}, {0xee, 0xef, 3, 0x80, 0xbf},
	{0xf0, 0xf0, 4, 0x90, 0xbf}, {0xf1, 0xf3, 4, 0x80, 0xbf}, {0xf4, 0xf4, 4, 0x80, 0x8f},
};

static bool continues(const unsigned char *bytes, size_t form)
{
	if (forms[form].length > 1 && (bytes[1] < forms[form].low || bytes[1] > forms[form].high))
		return false;
	for (size_t i = 2; i < forms[form].length; i++)
		if (bytes[i] < 0x80 || bytes[i] > 0xbf)
			return false;
	return true;
}

size_t ep_utf8_length(const char *text, size_t size)
{
	const unsigned char *bytes = (const unsigned char *)text;

	if (size == 0)
		return 0;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (bytes[0] >= forms[i].first && bytes[0] <= forms[i].last)
			return forms[i].length <= size && continues(bytes, i) ? forms[i].length : 0;
	return 0;
}

uint32_t ep_utf8_code_point(const char *text, size_t length)
{
	const unsigned char *bytes = (const unsigned char *)text;
	uint32_t point = length == 1 ? bytes[0] : bytes[0] & (0x7fu >> length);

	for (size_t i = 1; i < length; i++)
		point = point << 6 | (bytes[i] & 0x3f);
	return point;
}

bool ep_utf8_is_control(const char *text, size_t length)
{
	/* Unicode 15, general categories Cc, Zl, Zp and of Cf what has no picture of its own. */
	static const struct {
		uint32_t first, last;
	} controls[] = {
		{0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},       {0x61c, 0x61c},
		{0x180e, 0x180e}, {0x200b, 0x200f}, {0x2028, 0x202e},   {0x2060, 0x206f},
		{0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f},
	};
	uint32_t point = ep_utf8_code_point(text, length);

	for (size_t i = 0; i < sizeof(controls) / sizeof(controls[0]); i++)
		if (point >= controls[i].first && point <= controls[i].last)
			return true;
	return false;
}

size_t ep_utf8_show(const char *text, size_t size, char out[5])
{
	size_t length = ep_utf8_length(text, size);

	if (length && !ep_utf8_is_control(text, length)) {
		memcpy(out, text, length);
		out[length] = '\0';
		return length;
	}
	snprintf(out, 5, "\\x%02x", (unsigned char)*text);
	return 1;
}

char *ep_utf8_escape(const char *text, size_t size)
{
	char *copy = ep_reallocarray(NULL, size + 1, 4);
	size_t to = 0;

	for (size_t at = 0; at < size;) {
		at += ep_utf8_show(text + at, size - at, copy + to);
		to += strlen(copy + to);
	}
	copy[to] = '\0';
	return copy;
}

bool ep_is_formula(const char *cell)
{
	return *cell && strchr("=+-@\t\r", *cell);
}
