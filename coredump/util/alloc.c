/* SPDX-License-Identifier: BSD-2-Clause */
/* alloc.c: the C library's allocator, or the end. */
#include "coredump/util/alloc.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Noreturn void ep_out_of_memory(void)
{
	static const char message[] = "epitaph: out of memory\n";

	/* Nothing of stdio's, which may want memory of its own. */
	if (write(STDERR_FILENO, message, sizeof(message) - 1) < 0)
		exit(EP_EXIT_MEMORY);
	exit(EP_EXIT_MEMORY);
}

static void *or_end(void *memory)
{
	if (!memory)
		ep_out_of_memory();
	return memory;
}

void *ep_malloc(size_t size)
{
	return or_end(malloc(size ? size : 1));
}

void *ep_calloc(size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
		ep_out_of_memory();
	return or_end(calloc(bytes ? bytes : 1, 1));
}

void *ep_reallocarray(void *old, size_t count, size_t size)
{
	size_t bytes;

	/* Checked here: sanitizers end a program that lets reallocarray(3) find it. */
	if (__builtin_mul_overflow(count, size, &bytes))
		ep_out_of_memory();
	return or_end(realloc(old, bytes ? bytes : 1));
}

char *ep_strdup(const char *text)
{
	return or_end(strdup(text));
}

char *ep_strndup(const char *text, size_t most)
{
	size_t size = strnlen(text, most);
	char *copy = ep_malloc(size + 1);

	/* Not strndup(3), by which sanitizers want a 0 behind `most` bytes as well. */
	memcpy(copy, text, size);
	copy[size] = 0;
	return copy;
}

char *ep_asprintf(const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		ep_out_of_memory();
	va_end(arguments);
	return text;
}

FILE *ep_open_memstream(char **text, size_t *size)
{
	return or_end(open_memstream(text, size));
}

void ep_close_memstream(FILE *stream)
{
	if (ferror(stream) | fclose(stream))
		ep_out_of_memory();
}
