/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conversion.h: the conversions of a printf format, one after the other (printf(3), with glibc's
 * additions). Which arguments they take is told here to the runtime, which records them, and to the
 * decoder, which prints them.
 */
#ifndef EPITAPH_CONVERSION_H
#define EPITAPH_CONVERSION_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/format.h"

#define EP_CONVERSION_ARGUMENTS 15 /* more are not recorded */
#define EP_CONVERSION_NONE      (-1)
#define EP_CONVERSION_NUMBER    100000000 /* larger ones are clipped to it */

/* One conversion. Arguments are numbered from 1; 0: none is taken. */
struct ep_conversion {
	const char *flags; /* flag_count characters */
	unsigned flag_count;
	int width, precision; /* EP_CONVERSION_NONE: not given, or by: */
	unsigned width_argument, precision_argument;
	unsigned argument;
	char length; /* 0 h l j z t L, H for hh, q for ll */
	char letter; /* 0: the format ends, or is none that is known */
};

/* Reading a format; `next` counts arguments that are not numbered. */
struct ep_conversions {
	const char *at;
	unsigned next;
};

static inline bool ep_conversion_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline int ep_conversion_number(const char **at)
{
	int number = 0;

	while (ep_conversion_digit(**at)) {
		number = 10 * number + (*(*at)++ - '0');
		if (number > EP_CONVERSION_NUMBER)
			number = EP_CONVERSION_NUMBER;
	}
	return number;
}

/* "3$": the argument's number. Otherwise 0, and nothing is read. */
static inline unsigned ep_conversion_place(const char **at)
{
	const char *end = *at;
	int number = ep_conversion_number(&end);

	if (*end != '$' || number <= 0)
		return 0;
	*at = end + 1;
	return number <= EP_CONVERSION_ARGUMENTS ? (unsigned)number : EP_CONVERSION_ARGUMENTS + 1;
}

/* A number, or * with its argument. */
static inline int ep_conversion_size(struct ep_conversions *all, unsigned *argument)
{
	if (*all->at != '*')
		return ep_conversion_number(&all->at);
	all->at++;
	*argument = ep_conversion_place(&all->at);
	if (!*argument)
		*argument = ++all->next;
	return EP_CONVERSION_NONE;
}

static inline bool ep_conversion_is_flag(char c)
{
	return c == '-' || c == '+' || c == ' ' || c == '#' || c == '0' || c == '\'' || c == 'I';
}

static inline char ep_conversion_length(const char **at)
{
	char c = **at;

	if (c != 'h' && c != 'l' && c != 'j' && c != 'z' && c != 't' && c != 'L' && c != 'q' &&
	    c != 'Z')
		return 0;
	(*at)++;
	if ((c == 'h' || c == 'l') && **at == c) {
		(*at)++;
		return c == 'h' ? 'H' : 'q';
	}
	return c == 'Z' ? 'z' : c;
}

static inline bool ep_conversion_takes_none(char letter)
{
	return letter == '%' || letter == 'm';
}

static inline bool ep_conversion_known(char c)
{
	for (const char *known = "diouxXbBcCsSpnmfFeEgGaA%"; *known; known++)
		if (*known == c)
			return true;
	return false;
}

/* `all->at` is behind a %. False: the format ends there, or the conversion is not known, and
 * nothing is known of the arguments from here on. */
static inline bool ep_conversion_read(struct ep_conversions *all, struct ep_conversion *out)
{
	unsigned place = ep_conversion_place(&all->at);

	out->flags = all->at;
	while (ep_conversion_is_flag(*all->at))
		all->at++;
	out->flag_count = (unsigned)(all->at - out->flags);
	out->width_argument = out->precision_argument = 0;
	out->width = out->precision = EP_CONVERSION_NONE;
	if (*all->at == '*' || ep_conversion_digit(*all->at))
		out->width = ep_conversion_size(all, &out->width_argument);
	if (*all->at == '.') {
		all->at++;
		out->precision = ep_conversion_size(all, &out->precision_argument);
	}
	out->length = ep_conversion_length(&all->at);
	out->letter = *all->at;
	if (!ep_conversion_known(out->letter))
		return false;
	all->at++;
	if (out->letter == 'C' || out->letter == 'S') {
		out->letter = out->letter == 'C' ? 'c' : 's';
		out->length = 'l';
	}
	out->argument = ep_conversion_takes_none(out->letter) ? 0 : place ? place : ++all->next;
	return true;
}

/* EP_NOTE_ of the argument that it takes; 0 for %%. */
static inline unsigned ep_conversion_kind(const struct ep_conversion *one)
{
	bool wide = one->length == 'l', longer = wide || one->length == 'q' || one->length == 'j' ||
						 one->length == 'z' || one->length == 't' ||
						 one->length == 'L';

	switch (one->letter) {
	case '%':
		return 0;
	case 'm':
		return EP_NOTE_ERRNO;
	case 'p':
	case 'n':
		return EP_NOTE_POINTER;
	case 's':
		return wide ? EP_NOTE_WIDE : EP_NOTE_STRING;
	case 'c':
		return EP_NOTE_INT;
	case 'd':
	case 'i':
	case 'o':
	case 'u':
	case 'x':
	case 'X':
	case 'b':
	case 'B':
		return longer ? EP_NOTE_LONG : EP_NOTE_INT;
	}
	return one->length == 'L' || one->length == 'q' ? EP_NOTE_LONG_DOUBLE : EP_NOTE_DOUBLE;
}

#endif
