/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * demangle.c: names as `c++filt` prints them: libiberty's Rust, then its C++ demangler, with
 * c++filt's options. A short symbol can stand for an exponentially long name: past a limit the
 * demangler is left by longjmp (it holds nothing but its stack in this form), and the symbol stays
 * raw. A file may be full of such symbols, so the limit goes by the symbol's length; names of real
 * programs are up to some ten times as long as their symbols.
 */
#include "decoder/symbols/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"
#include "coredump/util/utf8.h"

#define NAME_MAX_SIZE ((size_t)1 << 20)
#define NAME_LEAST    4096 /* bytes that every name may have */
#define NAME_TIMES    64   /* and as often the symbol's */
#define OPTIONS       (DMGL_PARAMS | DMGL_ANSI | DMGL_VERBOSE)

struct output {
	char *text;
	size_t size, room, most;
	jmp_buf give_up;
};

static void append(const char *text, size_t size, void *opaque)
{
	struct output *output = opaque;

	if (size == 0) /* libiberty may hand over NULL then */
		return;
	if (size > output->most || output->size + size > output->most)
		longjmp(output->give_up, 1);
	if (output->size + size >= output->room) {
		output->room = 2 * (output->size + size) + 64;
		output->text = ep_reallocarray(output->text, output->room, 1);
	}
	memcpy(output->text + output->size, text, size);
	output->size += size;
	output->text[output->size] = '\0';
}

static bool demangle_rust(const char *symbol, int options, struct output *output)
{
	return setjmp(output->give_up) == 0 &&
	       rust_demangle_callback(symbol, options, append, output);
}

static bool demangle_cplus(const char *symbol, int options, struct output *output)
{
	return setjmp(output->give_up) == 0 &&
	       cplus_demangle_v3_callback(symbol, options, append, output);
}

static char *demangle(const char *symbol, int options)
{
	struct output output = {0};
	bool done;

	if (symbol[0] != '_')
		return NULL;
	output.most = NAME_LEAST + NAME_TIMES * strlen(symbol);
	if (output.most > NAME_MAX_SIZE)
		output.most = NAME_MAX_SIZE;
	done = demangle_rust(symbol, options, &output);
	if (!done) {
		output.size = 0;
		done = demangle_cplus(symbol, options, &output);
	}
	if (done)
		return output.text;
	free(output.text);
	return NULL;
}

char *ep_demangle(const char *symbol)
{
	return demangle(symbol, OPTIONS);
}

/* An operator's name may have < and > of its own. Moves *from and *to behind it. */
static void copy_operator(const char **from, char **to)
{
	static const char word[] = "operator";
	size_t length = sizeof(word) - 1;

	if (strncmp(*from, word, length) != 0)
		return;
	length += strspn(*from + length, "<>=-+*/%^&|~!,()[]");
	memmove(*to, *from, length);
	*from += length;
	*to += length;
}

/* Takes out <…>, in place. */
static void cut_templates(char *name)
{
	const char *from = name;
	unsigned depth = 0;
	char *to = name;

	while (*from) {
		bool arrow = from > name && from[-1] == '-';

		if (depth == 0)
			copy_operator(&from, &to);
		if (*from == '<')
			depth++;
		else if (*from == '>' && depth && !arrow)
			depth--;
		else if (*from && depth == 0)
			*to++ = *from;
		from += *from != '\0';
	}
	while (to > name && to[-1] == ' ')
		to--;
	*to = '\0';
}

char *ep_demangle_scoped(const char *symbol)
{
	size_t stem = strcspn(symbol, ".");
	char *bare = ep_strndup(symbol, stem ? stem : strlen(symbol));
	char *name = demangle(bare, DMGL_ANSI);

	if (!name)
		return bare;
	free(bare);
	cut_templates(name);
	return name;
}

char *ep_demangle_shown(const char *symbol, bool raw)
{
	char *plain = raw ? NULL : ep_demangle(symbol), *shown;
	const char *text = plain ? plain : symbol;

	shown = ep_utf8_escape(text, strlen(text));
	free(plain);
	return shown;
}
