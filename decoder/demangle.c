/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * demangle.c: names as `c++filt` prints them: libiberty's Rust, then its C++
 * demangler, with c++filt's options. A short symbol can stand for an
 * exponentially long name: past NAME_MAX_SIZE the demangler is left by longjmp
 * (it holds nothing but its stack in this form), and the symbol stays raw.
 */
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "decoder/names.h"

#define NAME_MAX_SIZE ((size_t)1 << 20)
#define OPTIONS       (DMGL_PARAMS | DMGL_ANSI | DMGL_VERBOSE)

struct output {
	char *text;
	size_t size, room;
	jmp_buf too_long;
};

static void append(const char *text, size_t size, void *opaque)
{
	struct output *output = opaque;

	if (size == 0) /* libiberty may hand over NULL then */
		return;
	if (size > NAME_MAX_SIZE || output->size + size > NAME_MAX_SIZE)
		longjmp(output->too_long, 1);
	if (output->size + size >= output->room) {
		size_t room = 2 * (output->size + size) + 64;
		char *grown = realloc(output->text, room);

		if (!grown)
			longjmp(output->too_long, 1);
		output->text = grown;
		output->room = room;
	}
	memcpy(output->text + output->size, text, size);
	output->size += size;
	output->text[output->size] = '\0';
}

static bool demangle_rust(const char *symbol, struct output *output)
{
	return setjmp(output->too_long) == 0 &&
	       rust_demangle_callback(symbol, OPTIONS, append, output);
}

static bool demangle_cplus(const char *symbol, struct output *output)
{
	return setjmp(output->too_long) == 0 &&
	       cplus_demangle_v3_callback(symbol, OPTIONS, append, output);
}

char *ep_demangle(const char *symbol)
{
	struct output output = {0};

	if (symbol[0] != '_')
		return NULL;
	if (demangle_rust(symbol, &output) && output.text)
		return output.text;
	output.size = 0;
	if (demangle_cplus(symbol, &output) && output.text)
		return output.text;
	free(output.text);
	return NULL;
}
