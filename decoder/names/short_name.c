/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * short_name.c: one pass over a demangled name. What was read stands in `out`, which never grows
 * past what was read; an argument of a template is looked at when it ends, and taken back when it
 * is what the template would have had anyway. By then what is inside of it is short already.
 */
#include "decoder/names/short_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "coredump/util/alloc.h"

#define DEPTH_MAX 128u /* of brackets; a name with more stays as it is */

/* A bracket that is open. All are offsets in `out`. */
struct bracket {
	char kind;          /* < ( { [ */
	size_t name;        /* of the template */
	size_t first, last; /* its first argument; 0 none yet */
	size_t argument;    /* the present one */
	size_t kept;        /* arguments that were not the default */
};

struct shortener {
	const char *from;
	char *out;
	size_t size;
	size_t word; /* behind the last space outside of all brackets */
	bool past;   /* the list of parameters has begun */
	struct bracket open[DEPTH_MAX];
	unsigned depth;
};

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* ---- default arguments ---- */

static bool is_text(const struct shortener *to, size_t begin, size_t end, const char *text)
{
	return end - begin == strlen(text) && memcmp(to->out + begin, text, end - begin) == 0;
}

static bool begins(const struct shortener *to, size_t begin, size_t end, const char *text)
{
	return end - begin >= strlen(text) && memcmp(to->out + begin, text, strlen(text)) == 0;
}

/* Is it `wrapper`, "std::less<", of the first argument? */
static bool wraps_first(const struct shortener *to, const struct bracket *bracket, size_t begin,
			const char *wrapper)
{
	size_t inner = begin + strlen(wrapper), length = bracket->last - bracket->first;

	return begins(to, begin, to->size, wrapper) && to->size == inner + length + 1 &&
	       memcmp(to->out + inner, to->out + bracket->first, length) == 0;
}

static bool is_default(const struct shortener *to, const struct bracket *bracket, size_t begin)
{
	static const char *const wrappers[] = {
		"std::char_traits<", "std::less<",           "std::hash<",
		"std::equal_to<",    "std::default_delete<", "std::regex_traits<",
	};

	if (!bracket->kept || !begins(to, bracket->name, to->size, "std::"))
		return false;
	/* An allocator must be one of what it allocates for. */
	if (begins(to, begin, to->size, "std::allocator<"))
		return true;
	for (size_t i = 0; i < sizeof(wrappers) / sizeof(wrappers[0]); i++)
		if (wraps_first(to, bracket, begin, wrappers[i]))
			return true;
	if (begins(to, bracket->name, to->size, "std::priority_queue<"))
		return wraps_first(to, bracket, begin, "std::vector<");
	return (begins(to, bracket->name, to->size, "std::stack<") ||
		begins(to, bracket->name, to->size, "std::queue<")) &&
	       wraps_first(to, bracket, begin, "std::deque<");
}

static void trim(struct shortener *to)
{
	while (to->size && to->out[to->size - 1] == ' ')
		to->size--;
}

static void end_argument(struct shortener *to, struct bracket *bracket)
{
	size_t begin = bracket->argument;

	trim(to);
	while (begin < to->size && (to->out[begin] == ' ' || to->out[begin] == ','))
		begin++;
	if (begin < to->size && is_default(to, bracket, begin)) {
		to->size = bracket->argument;
	} else if (begin < to->size && bracket->kept++ == 0) {
		bracket->first = begin;
		bracket->last = to->size;
	}
	bracket->argument = to->size;
}

/* ---- what has a name of its own ---- */

static const char *letters_of(const struct shortener *to, const struct bracket *bracket)
{
	static const char *const types[][2] = {
		{"char", ""},        {"wchar_t", "w"},    {"char8_t", "u8"},
		{"char16_t", "u16"}, {"char32_t", "u32"},
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (is_text(to, bracket->first, bracket->last, types[i][0]))
			return types[i][1];
	return NULL;
}

/* std::basic_string<wchar_t> is std::wstring. */
static void say_basic(struct shortener *to, const struct bracket *bracket)
{
	static const char std[] = "std::", basic[] = "std::basic_";
	const char *letter = letters_of(to, bracket);
	size_t from = bracket->name + strlen(basic), to_begin = bracket->name + strlen(std);
	size_t length = bracket->first - 1 - from;

	if (bracket->kept != 1 || !letter || !begins(to, bracket->name, to->size, basic))
		return;
	memmove(to->out + to_begin + strlen(letter), to->out + from, length);
	memcpy(to->out + to_begin, letter, strlen(letter));
	to->size = to_begin + strlen(letter) + length;
}

/* ---- brackets ---- */

static void put(struct shortener *to, char c)
{
	to->out[to->size++] = c;
}

static size_t name_before(const struct shortener *to)
{
	size_t at = to->size;

	while (at && (is_word(to->out[at - 1]) || to->out[at - 1] == ':' || to->out[at - 1] == '~'))
		at--;
	return at;
}

/* What a template returns stands before its name: of other functions it is not in the symbol. The
 * type that a conversion has for a name, and "thunk to", are no such thing. */
static void drop_returned(struct shortener *to)
{
	static const char *const words[] = {"operator ", " to ", " for ", " in "};
	size_t word = to->word;

	to->past = true;
	if (!word || !to->size || to->out[to->size - 1] != '>')
		return;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (word >= strlen(words[i]) &&
		    memcmp(to->out + word - strlen(words[i]), words[i], strlen(words[i])) == 0)
			return;
	memmove(to->out, to->out + word, to->size - word);
	to->size -= word;
}

/* A parenthesis that begins no list of parameters. */
static bool is_anonymous(const char *from)
{
	return strncmp(from, "(anonymous namespace)", 21) == 0 || strncmp(from, "(auto)", 6) == 0;
}

static bool open_bracket(struct shortener *to, char kind)
{
	struct bracket *bracket = &to->open[to->depth];

	if (to->depth == DEPTH_MAX)
		return false;
	if (kind == '(' && to->depth == 0 && !to->past && !is_anonymous(to->from))
		drop_returned(to);
	*bracket = (struct bracket){.kind = kind, .name = name_before(to)};
	put(to, kind);
	bracket->argument = to->size;
	to->depth++;
	return true;
}

static void close_bracket(struct shortener *to, char c)
{
	static const char pairs[] = "<>(){}[]";
	struct bracket *bracket = to->depth ? &to->open[to->depth - 1] : NULL;
	const char *pair = strchr(pairs, c);

	if (!bracket || bracket->kind != pair[-1]) {
		put(to, c);
		return;
	}
	to->depth--;
	if (c == '>')
		end_argument(to, bracket);
	put(to, c);
	if (c == '>' && bracket->kept)
		say_basic(to, bracket);
}

/* ---- what is left out, and what is copied ---- */

/* How long what nobody says is, at *from; 0. */
static size_t unsaid(const struct shortener *to)
{
	static const char *const inner[] = {"__cxx11::", "__1::", "__ndk1::", "_V2::"};
	static const char *const marks[] = {"[abi:", " [clone "};
	bool std = to->size >= 5 && memcmp(to->out + to->size - 5, "std::", 5) == 0 &&
		   (to->size == 5 || !is_word(to->out[to->size - 6]));

	for (size_t i = 0; std && i < sizeof(inner) / sizeof(inner[0]); i++)
		if (strncmp(to->from, inner[i], strlen(inner[i])) == 0)
			return strlen(inner[i]);
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (strncmp(to->from, marks[i], strlen(marks[i])) == 0 && strchr(to->from, ']'))
			return strcspn(to->from, "]") + 1;
	return 0;
}

/* An operator's name may have brackets of its own. */
static size_t operator_length(const char *from, char before)
{
	static const char word[] = "operator";
	size_t length = strlen(word), sign;

	if (strncmp(from, word, length) != 0 || is_word(before))
		return 0;
	if (strncmp(from + length, "()", 2) == 0 || strncmp(from + length, "[]", 2) == 0)
		return length + 2;
	sign = strspn(from + length, "<>=-+*/%^&|~!,");
	return sign ? length + sign : 0;
}

static void copy(struct shortener *to, size_t length)
{
	memcpy(to->out + to->size, to->from, length);
	to->size += length;
	to->from += length;
}

static void copy_plain(struct shortener *to, char c)
{
	struct bracket *bracket = to->depth ? &to->open[to->depth - 1] : NULL;

	if (c == ',' && bracket && bracket->kind == '<')
		end_argument(to, bracket);
	put(to, c);
	/* "operator< <int>" is one. */
	if (c == ' ' && !bracket && to->from[1] != '<')
		to->word = to->size;
}

/* One character, or what stands for itself. False: too many brackets. */
static bool shorten_next(struct shortener *to)
{
	size_t skipped = unsaid(to);
	char c = *to->from, before = to->size ? to->out[to->size - 1] : '\0';
	size_t length = skipped ? 0 : operator_length(to->from, before);

	if (!length && c == '-' && to->from[1] == '>')
		length = 2;
	if (skipped || length) {
		copy(to, length);
		to->from += skipped;
		return true;
	}
	if (strchr("<({[", c)) {
		if (!open_bracket(to, c))
			return false;
	} else if (strchr(">)}]", c)) {
		close_bracket(to, c);
	} else {
		copy_plain(to, c);
	}
	to->from++;
	return true;
}

static bool shorten(struct shortener *to)
{
	while (*to->from)
		if (!shorten_next(to))
			return false;
	return true;
}

char *ep_short_name(const char *name)
{
	struct shortener *to;
	char *out;

	if (!strpbrk(name, "<(["))
		return ep_strdup(name);
	to = ep_calloc(1, sizeof(*to));
	out = ep_malloc(strlen(name) + 1);
	to->from = name;
	to->out = out;
	if (shorten(to))
		out[to->size] = '\0';
	else
		strcpy(out, name);
	free(to);
	return out;
}

/* ---- parameters ---- */

/* Where the list of parameters begins; the end where there is none. */
static size_t parameters_at(const char *name)
{
	unsigned depth = 0;
	size_t i = 0;

	while (name[i]) {
		char c = name[i], before = i ? name[i - 1] : '\0';
		size_t length = operator_length(name + i, before);

		if (c == '(' && depth == 0 && !is_anonymous(name + i))
			break;
		if (strchr("<({[", c))
			depth++;
		else if (strchr(">)}]", c) && depth && before != '-')
			depth--;
		i += length ? length : 1;
	}
	return i;
}

void ep_cut_parameters(char *name)
{
	size_t at = parameters_at(name);

	if (at)
		name[at] = '\0';
}
