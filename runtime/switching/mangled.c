/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mangled.c: <encoding> ::= _Z <name>; <name> is a <source-name> or N <qualifiers> <prefix> … E.
 * Template arguments (I … E) are stepped over: in them everything that nests ends with an E, and
 * only literals and names hold letters that are not what they seem.
 */
#include "runtime/switching/mangled.h"

#include "runtime/lib/text.h"

struct parse {
	const char *at;
	struct ep_text *out;
	const char *last; /* the latest component, for constructors */
	size_t last_size;
};

static bool is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

static bool is_letter(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

/* <source-name>: its length and so many bytes. */
static bool parse_source(struct parse *parse, const char **name, size_t *size)
{
	size_t length = 0;

	while (is_digit(*parse->at) && length < 4096)
		length = length * 10 + (size_t)(*parse->at++ - '0');
	for (size_t i = 0; i < length; i++)
		if (!parse->at[i])
			return false;
	*name = parse->at;
	*size = length;
	parse->at += length;
	return length && length < 4096;
}

static void add_scope(struct parse *parse)
{
	if (parse->out->used)
		ep_text_add(parse->out, "::");
}

static bool add_source(struct parse *parse)
{
	static const char unnamed[] = "_GLOBAL__N_";

	if (!parse_source(parse, &parse->last, &parse->last_size))
		return false;
	add_scope(parse);
	if (parse->last_size >= sizeof(unnamed) - 1 && ep_string_starts(parse->last, unnamed))
		ep_text_add(parse->out, "(anonymous namespace)");
	else
		ep_text_add_bytes(parse->out, parse->last, parse->last_size);
	/* ABI tags: f[abi:cxx11] is f for people. */
	while (*parse->at == 'B') {
		const char *tag;
		size_t size;

		parse->at++;
		if (!parse_source(parse, &tag, &size))
			return false;
	}
	return true;
}

/* C1, C2, C3, D0, D1, D2: named like their class. */
static bool add_structor(struct parse *parse)
{
	bool destroys = *parse->at == 'D';

	if (!parse->last || !is_digit(parse->at[1]))
		return false;
	add_scope(parse);
	if (destroys)
		ep_text_add(parse->out, "~");
	ep_text_add_bytes(parse->out, parse->last, parse->last_size);
	parse->at += 2;
	return true;
}

/* S_, S0_, T_, T1_ …, and two letters for names of the standard library. */
static bool skip_reference(struct parse *parse)
{
	parse->at++;
	if (*parse->at >= 'a' && *parse->at <= 'z') {
		parse->at++;
		return true;
	}
	while (is_digit(*parse->at) || (*parse->at >= 'A' && *parse->at <= 'Z'))
		parse->at++;
	return *parse->at++ == '_';
}

/* L <builtin type> <number> E; others are not known. */
static bool skip_literal(struct parse *parse)
{
	parse->at++;
	if (!(*parse->at >= 'a' && *parse->at <= 'z'))
		return false;
	parse->at++;
	while (is_digit(*parse->at) || *parse->at == 'n')
		parse->at++;
	return *parse->at++ == 'E';
}

/* One thing inside of template arguments; *depth: of what ends with an E. */
static bool skip_one(struct parse *parse, unsigned *depth)
{
	const char *name;
	size_t size;

	switch (*parse->at) {
	case 'S':
	case 'T':
		return skip_reference(parse);
	case 'L':
		return skip_literal(parse);
	case 'X': /* an expression */
	case 'Z': /* a local name */
	case 'U': /* a lambda, a vendor's qualifier */
	case 'A': /* an array's size is a number */
	case 'D':
		return false;
	case 'I':
	case 'J':
	case 'N':
	case 'F':
		++*depth;
		break;
	case 'E':
		--*depth;
		break;
	default:
		if (is_digit(*parse->at))
			return parse_source(parse, &name, &size);
		if (!is_letter(*parse->at))
			return false;
	}
	parse->at++;
	return true;
}

static bool skip_arguments(struct parse *parse)
{
	unsigned depth = 0;

	do {
		if (!skip_one(parse, &depth))
			return false;
	} while (depth);
	return true;
}

static bool parse_component(struct parse *parse)
{
	switch (*parse->at) {
	case 'I':
		return parse->last && skip_arguments(parse);
	case 'C':
	case 'D':
		return add_structor(parse);
	case 'L': /* of internal linkage */
		parse->at++;
		return true;
	default:
		return is_digit(*parse->at) && add_source(parse);
	}
}

static bool parse_std(struct parse *parse)
{
	if (parse->at[0] != 'S' || parse->at[1] != 't')
		return false;
	parse->at += 2;
	ep_text_add(parse->out, "std");
	return true;
}

static bool parse_nested(struct parse *parse)
{
	parse->at++;
	while (*parse->at == 'r' || *parse->at == 'V' || *parse->at == 'K')
		parse->at++;
	if (*parse->at == 'R' || *parse->at == 'O')
		parse->at++;
	parse_std(parse);
	while (*parse->at != 'E')
		if (!parse_component(parse))
			return false;
	return parse->last != NULL;
}

bool ep_scoped_name(const char *symbol, char *out, size_t size)
{
	struct ep_text text;
	struct parse parse = {.at = symbol + 2, .out = &text};

	if (!ep_string_starts(symbol, "_Z"))
		return false;
	ep_text_init(&text, out, size);
	if (*parse.at == 'N')
		return parse_nested(&parse) && !text.cut;
	parse_std(&parse);
	if (*parse.at == 'L')
		parse.at++;
	return is_digit(*parse.at) && add_source(&parse) && !text.cut;
}
