/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * thrown.c: which exception is on its way. libstdc++'s terminate handler throws
 * it once more and catches it, to print its what(): that is not the program's
 * doing.
 */
#include <stdlib.h>
#include <string.h>

#include "decoder/flight.h"

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static bool is_library(const struct ep_function *function)
{
	return function && (begins(function->module, "libstdc++.so") ||
			    begins(function->module, "libc++abi.so") ||
			    begins(function->symbol,
				   "_ZN9__gnu_cxx27__verbose_terminate") ||
			    strcmp(function->symbol, "__cxa_rethrow") == 0);
}

int ep_thrown_note(struct ep_thrown *thrown, const struct ep_event *point)
{
	if (is_library(point->function))
		return EP_OK;
	if (point->point == EP_POINT_CATCH)
		thrown->flying = false;
	if (point->point != EP_POINT_THROW && point->point != EP_POINT_RETHROW)
		return EP_OK;
	thrown->flying = true;
	thrown->when = point->begin;
	thrown->where = point->function;
	/* What is thrown again is what was thrown last. */
	if (point->point == EP_POINT_RETHROW)
		return EP_OK;
	free(thrown->type);
	thrown->type = NULL;
	if (!point->text || !*point->text)
		return EP_OK;
	thrown->type = strdup(point->text);
	return thrown->type ? EP_OK : EP_E_MEMORY;
}
