/* SPDX-License-Identifier: BSD-2-Clause */
/* say.c: what the wrapper itself has to say. */
#include "cli/wrapper/say.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

const char *ep_tool = "epitaph-cc";
bool ep_verbose;

static void say(const char *kind, const char *format, va_list arguments)
{
	fprintf(stderr, "%s: %s: ", ep_tool, kind);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
}

void ep_warn(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say("warning", format, arguments);
	va_end(arguments);
}

void ep_note(const char *format, ...)
{
	va_list arguments;

	if (!ep_verbose)
		return;
	va_start(arguments, format);
	say("note", format, arguments);
	va_end(arguments);
}

void ep_die(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	say("error", format, arguments);
	va_end(arguments);
	_exit(64); /* stderr has no buffer, and nothing is freed */
}
