/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exception.c: which exception is on its way. Where nobody catches it the handler of std::terminate
 * may throw it once more and catch it, to print its what(), as libstdc++'s own does: it is on its
 * way all the same.
 */
#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"
#include "decoder/calls/open_calls.h"

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

/* The C++ library throws again in that handler only. */
static bool is_library(const struct ep_function *function)
{
	return function && (begins(function->module, "libstdc++.so") ||
			    begins(function->module, "libc++abi.so") ||
			    begins(function->symbol, "_ZN9__gnu_cxx27__verbose_terminate"));
}

/* libgcc throws again by throwing: one after the other. */
static bool is_echo(struct ep_exception *exception, const struct ep_event *point)
{
	bool rethrown = exception->rethrown;

	exception->rethrown = point->point == EP_POINT_RETHROW;
	return rethrown && point->point == EP_POINT_THROW;
}

static bool is_terminating(const struct ep_exception *exception, const struct ep_event *point)
{
	/* A program throws again what it has caught. */
	return point->point == EP_POINT_RETHROW &&
	       (exception->flying || is_library(point->function));
}

void ep_exception_note(struct ep_exception *exception, const struct ep_event *point,
		       const struct ep_function *from)
{
	if (is_echo(exception, point))
		return;
	if (is_terminating(exception, point))
		exception->terminating = true;
	if (exception->terminating)
		return;
	if (point->point == EP_POINT_CATCH)
		exception->flying = false;
	if (point->point != EP_POINT_THROW && point->point != EP_POINT_RETHROW)
		return;
	exception->flying = true;
	exception->when = point->begin;
	exception->where = point->function;
	exception->from = from;
	/* What is thrown again is what was thrown last. */
	if (point->point == EP_POINT_RETHROW)
		return;
	free(exception->type);
	exception->type = point->text && *point->text ? ep_strdup(point->text) : NULL;
}
