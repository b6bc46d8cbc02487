/* SPDX-License-Identifier: BSD-2-Clause */
/* text.c: bounded text without libc. Nothing is ever written past a buffer. */
#include "runtime/lib/text.h"

bool ep_bytes_equal(const void *a, const void *b, size_t size)
{
	const unsigned char *x = a;
	const unsigned char *y = b;

	for (size_t i = 0; i < size; i++) {
		if (x[i] != y[i])
			return false;
	}
	return true;
}

size_t ep_string_length(const char *string)
{
	size_t length = 0;

	while (string[length])
		length++;
	return length;
}

bool ep_string_equal(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

bool ep_string_starts(const char *string, const char *start)
{
	while (*start && *string == *start) {
		string++;
		start++;
	}
	return !*start;
}

void ep_text_init(struct ep_text *text, char *bytes, size_t size)
{
	text->bytes = bytes;
	text->size = size;
	text->used = 0;
	text->cut = false;
	bytes[0] = '\0';
}

void ep_text_add_bytes(struct ep_text *text, const char *bytes, size_t size)
{
	size_t room = text->size - text->used - 1;

	if (size > room) {
		text->cut = true;
		size = room;
	}
	ep_bytes_copy(text->bytes + text->used, bytes, size);
	text->used += size;
	text->bytes[text->used] = '\0';
}

void ep_text_add(struct ep_text *text, const char *string)
{
	ep_text_add_bytes(text, string, ep_string_length(string));
}

void ep_text_add_number(struct ep_text *text, uint64_t number)
{
	char digits[20]; /* 2^64 - 1 has 20 */
	size_t at = sizeof digits;

	do {
		digits[--at] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	ep_text_add_bytes(text, digits + at, sizeof digits - at);
}

static unsigned digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned)(c - 'a' + 10);
	if (c >= 'A' && c <= 'F')
		return (unsigned)(c - 'A' + 10);
	return 16;
}

bool ep_text_number(const char **at, const char *end, unsigned base, uint64_t *number)
{
	const char *next = *at;
	uint64_t sum = 0;

	for (; next < end && digit_of(*next) < base; next++) {
		if (__builtin_mul_overflow(sum, base, &sum) ||
		    __builtin_add_overflow(sum, digit_of(*next), &sum))
			return false;
	}
	if (next == *at)
		return false;
	*at = next;
	*number = sum;
	return true;
}
