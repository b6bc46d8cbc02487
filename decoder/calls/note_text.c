/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * note_text.c: each conversion is printed for itself, by a format that is made here of what was
 * understood of it: known flags, clipped numbers, a length that fits the value that is passed.
 */
#include "decoder/calls/note_text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"
#include "coredump/util/utf8.h"
#include "decoder/symbols/demangle.h"
#include "decoder/util/timetext.h"
#include "runtime/lib/conversion.h"

#define WORD_BITS  26
#define WORD_BYTES 3
#define FIRST_BITS (WORD_BITS - EP_NOTE_SHIFT)
#define NUMBER_MAX (2 * (int)EP_NOTE_TEXT_MAX) /* of width and precision */

/* ---- arguments ----------------------------------------------------------- */

struct argument {
	unsigned kind; /* EP_NOTE_; 0: not recorded */
	uint64_t value;
	uint16_t above;        /* of a long double */
	const uint32_t *words; /* of a string: three bytes in each … */
	unsigned bytes;        /* … as many in all */
	bool truncated, null;
};

struct arguments {
	struct argument list[EP_CONVERSION_ARGUMENTS + 1]; /* from 1 */
	struct argument error;                             /* of %m */
	unsigned count;
	bool more;
};

/* Words behind the first, or SIZE_MAX: no such kind. */
static size_t words_behind(uint32_t first)
{
	switch (first & 15) {
	case EP_NOTE_INT:
	case EP_NOTE_ERRNO:
		return 1;
	case EP_NOTE_LONG:
	case EP_NOTE_POINTER:
	case EP_NOTE_DOUBLE:
		return 2;
	case EP_NOTE_LONG_DOUBLE:
		return 3;
	case EP_NOTE_STRING:
	case EP_NOTE_WIDE:
		return ((first >> EP_NOTE_SHIFT & 0xffff) + WORD_BYTES - 1) / WORD_BYTES;
	case EP_NOTE_MORE:
		return 0;
	}
	return SIZE_MAX;
}

/* 80 bits from up to four words. */
static void take_value(struct argument *one, const uint32_t *words, size_t more)
{
	unsigned shift = FIRST_BITS;

	one->value = words[0] >> EP_NOTE_SHIFT;
	for (size_t i = 1; i <= more; i++, shift += WORD_BITS) {
		if (shift < 64)
			one->value |= (uint64_t)words[i] << shift;
		if (shift + WORD_BITS > 64)
			one->above |= (uint16_t)(shift < 64 ? words[i] >> (64 - shift)
							    : words[i] << (shift - 64));
	}
	if (more == 1)
		one->value = (uint32_t)one->value;
}

static void take_argument(struct argument *one, const uint32_t *words, size_t more)
{
	*one = (struct argument){.kind = words[0] & 15};
	if (one->kind != EP_NOTE_STRING && one->kind != EP_NOTE_WIDE) {
		take_value(one, words, more);
		return;
	}
	one->words = words + 1;
	one->bytes = words[0] >> EP_NOTE_SHIFT & 0xffff;
	one->truncated = words[0] & EP_NOTE_TRUNCATED;
	one->null = words[0] & EP_NOTE_NULL;
}

static void take_arguments(struct arguments *all, const uint32_t *data, size_t count)
{
	size_t more;

	memset(all, 0, sizeof(*all));
	for (size_t i = 0; i < count; i += 1 + more) {
		more = words_behind(data[i]);
		if (more >= count - i || (data[i] & 15) == EP_NOTE_MORE ||
		    all->count == EP_CONVERSION_ARGUMENTS) {
			all->more = true;
			return;
		}
		if ((data[i] & 15) == EP_NOTE_ERRNO)
			take_argument(&all->error, &data[i], more);
		else
			take_argument(&all->list[++all->count], &data[i], more);
	}
}

static const struct argument *argument_at(const struct arguments *all, unsigned number)
{
	static const struct argument none;

	return number <= EP_CONVERSION_ARGUMENTS ? &all->list[number] : &none;
}

static char byte_at(const struct argument *one, size_t i)
{
	return (char)(one->words[i / WORD_BYTES] >> 8 * (i % WORD_BYTES));
}

/* ---- text that is bounded ------------------------------------------------ */

struct text {
	char *bytes;
	size_t size, count;
};

static void put(struct text *text, const char *bytes, size_t count)
{
	if (count > text->size - text->count)
		count = text->size - text->count;
	memcpy(text->bytes + text->count, bytes, count);
	text->count += count;
}

static void put_words(struct text *text, const char *words)
{
	put(text, words, strlen(words));
}

static void put_blanks(struct text *text, size_t count)
{
	if (count > text->size - text->count)
		count = text->size - text->count;
	memset(text->bytes + text->count, ' ', count);
	text->count += count;
}

/* `format` is one that was made here. */
static void put_formatted(struct text *text, const char *format, ...)
{
	char made[EP_NOTE_TEXT_MAX + 1];
	va_list list;
	int count;

	va_start(list, format);
	count = vsnprintf(made, sizeof(made), format, list);
	va_end(list);
	if (count > 0)
		put(text, made, (size_t)count < sizeof(made) ? (size_t)count : sizeof(made) - 1);
}

/* ---- one conversion ------------------------------------------------------ */

/* A conversion with its numbers known. */
struct spec {
	const struct ep_conversion *one;
	bool left;
	int width, precision;
};

static int number_of(const struct arguments *all, int given, unsigned argument)
{
	if (argument)
		given = (int32_t)argument_at(all, argument)->value;
	return given > NUMBER_MAX ? NUMBER_MAX : given < -NUMBER_MAX ? -NUMBER_MAX : given;
}

static bool has_flag(const struct ep_conversion *one, char flag)
{
	return memchr(one->flags, flag, one->flag_count) != NULL;
}

static struct spec spec_of(const struct arguments *all, const struct ep_conversion *one)
{
	struct spec spec = {
		.one = one,
		.left = has_flag(one, '-'),
		.width = number_of(all, one->width, one->width_argument),
		.precision = number_of(all, one->precision, one->precision_argument),
	};

	/* A negative width from an argument is a flag and a width; a negative precision is none. */
	if (spec.width < 0) {
		spec.left |= one->width_argument != 0;
		spec.width = one->width_argument ? -spec.width : 0;
	}
	if (spec.precision < 0)
		spec.precision = EP_CONVERSION_NONE;
	return spec;
}

/* "%-+08.3" and `end`; returns `out`. */
static const char *made_format(char out[48], const struct spec *spec, const char *end)
{
	size_t at = 1;

	out[0] = '%';
	for (const char *flag = "+ #0'"; *flag; flag++)
		if (has_flag(spec->one, *flag))
			out[at++] = *flag;
	if (spec->left)
		out[at++] = '-';
	if (spec->width > 0)
		at += (size_t)snprintf(out + at, 48 - at, "%d", spec->width);
	if (spec->precision != EP_CONVERSION_NONE)
		at += (size_t)snprintf(out + at, 48 - at, ".%d", spec->precision);
	snprintf(out + at, 48 - at, "%s%c", end, spec->one->letter);
	return out;
}

/* As wide as the conversion's length says. */
static uint64_t narrowed(uint64_t value, char length, bool is_signed)
{
	switch (length) {
	case 'H':
		return is_signed ? (uint64_t)(int8_t)value : (uint8_t)value;
	case 'h':
		return is_signed ? (uint64_t)(int16_t)value : (uint16_t)value;
	case 0:
		return is_signed ? (uint64_t)(int32_t)value : (uint32_t)value;
	}
	return value;
}

static void put_integer(struct text *text, const struct spec *spec, const struct argument *one)
{
	bool is_signed = spec->one->letter == 'd' || spec->one->letter == 'i';
	char format[48];

	put_formatted(text, made_format(format, spec, "ll"),
		      narrowed(one->value, spec->one->length, is_signed));
}

static void put_double(struct text *text, const struct spec *spec, const struct argument *one)
{
	char format[48];
	double value;

	memcpy(&value, &one->value, sizeof(value));
	put_formatted(text, made_format(format, spec, ""), value);
}

static void put_long_double(struct text *text, const struct spec *spec, const struct argument *one)
{
	long double value = 0;
	char format[48];

	memcpy(&value, &one->value, sizeof(one->value));
	memcpy((char *)&value + sizeof(one->value), &one->above, sizeof(one->above));
	put_formatted(text, made_format(format, spec, "L"), value);
}

static void put_pointer(struct text *text, const struct spec *spec, const struct argument *one)
{
	char format[48];

	put_formatted(text, made_format(format, spec, ""), (void *)one->value);
}

/* Bytes at the left or right of the width. */
static void put_padded(struct text *text, const struct spec *spec, const char *bytes, size_t count,
		       const char *after)
{
	size_t blanks = (size_t)spec->width > count ? (size_t)spec->width - count : 0;

	if (!spec->left)
		put_blanks(text, blanks);
	put(text, bytes, count);
	put_words(text, after);
	if (spec->left)
		put_blanks(text, blanks);
}

static void put_string(struct text *text, const struct spec *spec, const struct argument *one)
{
	static const char null[] = "(null)";
	char bytes[0xffff];
	bool room = spec->precision == EP_CONVERSION_NONE ||
		    (size_t)spec->precision >= sizeof(null) - 1;
	size_t count = one->bytes;

	if (one->null) {
		put_padded(text, spec, null, room ? sizeof(null) - 1 : 0, "");
		return;
	}
	if (spec->precision != EP_CONVERSION_NONE && (size_t)spec->precision < count)
		count = (size_t)spec->precision;
	for (size_t i = 0; i < count; i++)
		bytes[i] = byte_at(one, i);
	put_padded(text, spec, bytes, count, one->truncated && count == one->bytes ? "…" : "");
}

static size_t utf8_of(uint32_t c, char out[4])
{
	size_t more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;

	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return utf8_of(0xfffd, out);
	for (size_t i = more; i > 0; i--, c >>= 6)
		out[i] = (char)(0x80 | (c & 0x3f));
	out[0] = (char)(more ? 0xf00 >> (more + 1) | c : c);
	return more + 1;
}

static void put_character(struct text *text, const struct spec *spec, const struct argument *one)
{
	char bytes[4] = {(char)one->value};
	size_t count = spec->one->length == 'l' ? utf8_of((uint32_t)one->value, bytes) : 1;

	put_padded(text, spec, bytes, count, "");
}

static void put_error(struct text *text, const struct spec *spec, const struct argument *one)
{
	int error = (int32_t)one->value;
	const char *words =
		has_flag(spec->one, '#') ? strerrorname_np(error) : strerrordesc_np(error);
	char number[32];
	size_t count;

	snprintf(number, sizeof(number), "%s%d", has_flag(spec->one, '#') ? "" : "Unknown error ",
		 error);
	words = words ? words : number;
	count = strlen(words);
	if (spec->precision != EP_CONVERSION_NONE && (size_t)spec->precision < count)
		count = (size_t)spec->precision;
	put_padded(text, spec, words, count, "");
}

/* As it was recorded: the conversion is not one for it. */
static void put_raw(struct text *text, const struct argument *one)
{
	struct ep_conversion plain = {.flags = "", .letter = 's'};
	struct spec spec = {&plain, false, 0, EP_CONVERSION_NONE};

	switch (one->kind) {
	case EP_NOTE_INT:
		put_formatted(text, "%" PRId32, (int32_t)one->value);
		break;
	case EP_NOTE_LONG:
		put_formatted(text, "%" PRId64, (int64_t)one->value);
		break;
	case EP_NOTE_POINTER:
		put_formatted(text, "0x%" PRIx64, one->value);
		break;
	case EP_NOTE_DOUBLE:
		plain.letter = 'g';
		put_double(text, &spec, one);
		break;
	case EP_NOTE_LONG_DOUBLE:
		plain.letter = 'g';
		put_long_double(text, &spec, one);
		break;
	case EP_NOTE_STRING:
	case EP_NOTE_WIDE:
		put_words(text, "\"");
		put_string(text, &spec, one);
		put_words(text, "\"");
		break;
	default:
		put_words(text, "?");
	}
}

static void put_argument(struct text *text, const struct spec *spec, const struct argument *one)
{
	switch (one->kind) {
	case EP_NOTE_INT:
	case EP_NOTE_LONG:
		if (spec->one->letter == 'c')
			put_character(text, spec, one);
		else
			put_integer(text, spec, one);
		break;
	case EP_NOTE_POINTER:
		put_pointer(text, spec, one);
		break;
	case EP_NOTE_DOUBLE:
		put_double(text, spec, one);
		break;
	case EP_NOTE_LONG_DOUBLE:
		put_long_double(text, spec, one);
		break;
	case EP_NOTE_STRING:
	case EP_NOTE_WIDE:
		put_string(text, spec, one);
		break;
	}
}

static void put_conversion(struct text *text, const struct arguments *all,
			   const struct ep_conversion *one)
{
	struct spec spec = spec_of(all, one);
	const struct argument *argument = argument_at(all, one->argument);
	unsigned kind = ep_conversion_kind(one);

	if (one->letter == '%') {
		put_words(text, "%");
	} else if (one->letter == 'm' && all->error.kind) {
		put_error(text, &spec, &all->error);
	} else if (one->letter == 'n') {
		/* Counts, and prints nothing. */
	} else if (argument->kind == kind && kind) {
		put_argument(text, &spec, argument);
	} else {
		put_words(text, "<");
		put_raw(text, argument);
		put_words(text, ">");
	}
}

/* ---- the whole ----------------------------------------------------------- */

size_t ep_note_format(char *out, size_t size, const char *format, const uint32_t *data,
		      size_t count)
{
	struct ep_conversions all = {format, 0};
	struct text text = {out, size, 0};
	struct arguments arguments;
	struct ep_conversion one;

	take_arguments(&arguments, data, count);
	while (*all.at && text.count < text.size) {
		const char *end = strchrnul(all.at, '%');

		put(&text, all.at, (size_t)(end - all.at));
		if (!*end)
			break;
		all.at = end + 1;
		if (ep_conversion_read(&all, &one)) {
			put_conversion(&text, &arguments, &one);
			continue;
		}
		/* Nothing is known from here on: as it stands. */
		put_words(&text, end);
		break;
	}
	return text.count;
}

static void put_all_raw(struct text *text, const char *place, const uint32_t *data, size_t count)
{
	struct arguments all;

	take_arguments(&all, data, count);
	put_words(text, "[format at ");
	put_words(text, place);
	put_words(text, " not found]");
	for (unsigned i = 1; i <= all.count; i++) {
		put_words(text, i > 1 ? ", " : " ");
		put_raw(text, &all.list[i]);
	}
	if (all.error.kind)
		put_formatted(text, "%serrno %d", all.count ? ", " : " ", (int32_t)all.error.value);
	if (all.more)
		put_words(text, ", …");
}

char *ep_note_text(const char *format, const char *place, const uint32_t *data, size_t count)
{
	char made[EP_NOTE_TEXT_MAX];
	struct text text = {made, sizeof(made), 0};

	if (format)
		text.count = ep_note_format(made, sizeof(made), format, data, count);
	else
		put_all_raw(&text, place, data, count);
	if (text.count && made[text.count - 1] == '\n')
		text.count--;
	return ep_utf8_escape(made, text.count);
}

/* ---- other points ---- */

#define TYPE_PREFIX "typeinfo name for "

/* By way of the symbol of the name itself: demanglers know symbols. */
char *ep_type_text(const char *type)
{
	char *symbol = ep_asprintf("_ZTS%s", type), *text;
	char *name = *type ? ep_demangle(symbol) : NULL;

	free(symbol);
	if (name && !strncmp(name, TYPE_PREFIX, strlen(TYPE_PREFIX)))
		text = ep_utf8_escape(name + strlen(TYPE_PREFIX),
				      strlen(name) - strlen(TYPE_PREFIX));
	else
		text = ep_utf8_escape(type, strlen(type));
	free(name);
	return text;
}

char *ep_watchdog_text(const char *name, uint64_t late)
{
	char time[EP_TIMETEXT_SIZE], *shown = ep_utf8_escape(name, strlen(name));
	char *text = ep_asprintf("%s: %s too late", shown, ep_timetext(time, (int64_t)late));

	free(shown);
	return text;
}
