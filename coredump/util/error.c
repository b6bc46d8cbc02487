/* SPDX-License-Identifier: BSD-2-Clause */
/* error.c: fills struct ep_err. The text is always one line. */
#include "coredump/util/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "coredump/util/utf8.h"

const char *ep_error_text(int code)
{
	switch (code) {
	case EP_OK:
		return "done";
	case EP_END:
		return "nothing more";
#define EP_ERROR_CASE(name, value, text) \
	case name:                       \
		return text;
		EP_ERRORS(EP_ERROR_CASE)
#undef EP_ERROR_CASE
	}
	return "unknown error";
}

/* Names of files and of processes get into the text: a newline or an escape sequence in one must
 * not forge a line of the report. Nor does memory have to be there. */
static void text_escape(char *text)
{
	size_t left = strlen(text), length;

	for (; left; text += length, left -= length) {
		length = ep_utf8_length(text, left);
		if (length && !ep_utf8_is_control(text, length))
			continue;
		length = length ? length : 1;
		memset(text, '?', length);
	}
}

void ep_err_set(struct ep_err *err, int code, uint64_t offset, const char *format, ...)
{
	va_list args;

	if (!err)
		return;
	err->code = code;
	err->offset = offset;
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	text_escape(err->text);
}

void ep_err_prefix(struct ep_err *err, const char *format, ...)
{
	char old[sizeof(err->text)];
	va_list args;
	size_t used;

	if (!err)
		return;
	memcpy(old, err->text, sizeof(old));
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	used = strlen(err->text);
	snprintf(err->text + used, sizeof(err->text) - used, ": %s", old);
	text_escape(err->text);
}
