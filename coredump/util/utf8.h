/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * utf8.h: is it UTF-8? Names and paths come from outside and may be anything; what epitaph prints
 * is always valid.
 */
#ifndef EPITAPH_UTF8_H
#define EPITAPH_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Bytes (1-4) of the well-formed character that `text` begins with, as the Unicode standard has it
 * (table 3-7: no overlong forms, no surrogates, nothing above U+10FFFF); 0 when the first byte
 * begins none in these `size` bytes.
 */
size_t ep_utf8_length(const char *text, size_t size);

/* The number of the well-formed character of `length` bytes (1-4). */
uint32_t ep_utf8_code_point(const char *text, size_t length);

/*
 * Is the well-formed character of `length` bytes one that changes how others are shown and is not
 * seen itself? C0, DEL, C1 (some terminals obey it), separators of lines and paragraphs
 * (U+2028, U+2029), what turns the direction of text (U+202E and its kind), and what has no width.
 */
bool ep_utf8_is_control(const char *text, size_t length);

/* One character (size > 0) as it is shown: itself, or \xNN for the first byte of what is none, or a
 * control character. Returns how many bytes of `text` that was. */
size_t ep_utf8_show(const char *text, size_t size, char out[5]);

/*
 * A copy that is valid UTF-8 and free of control characters (a symbol's name must not steer a
 * terminal): each byte that is neither comes out as \xNN. The caller frees it.
 */
char *ep_utf8_escape(const char *text, size_t size);

/* A cell that begins so is run by spreadsheets when they open a table: a ' in front of it, which
 * they do not show, makes it text. */
bool ep_is_formula(const char *cell);

#endif
