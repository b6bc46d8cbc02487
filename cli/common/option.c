/* SPDX-License-Identifier: BSD-2-Clause */
/* option.c: command lines, by getopt_long fed from the table. */
#include "cli/common/option.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cli/common/say.h"
#include "coredump/util/number.h"

const struct ep_option ep_name_options[] = {
	{"debug-path", 0, "DIR",
	 "also look for debug files below DIR (.build-id/xx/yyyy.debug, and the module's path); "
	 "may be given several times"},
	{"executable", 'e', "FILE", "the program's file, when it is not where the core says"},
	{"sysroot", 0, "DIR", "find the modules' files below DIR"},
	{"path-map", 0, "OLD=NEW",
	 "source files below OLD are below NEW here; may be given several times, the first that "
	 "fits is taken"},
	{"sample", 0, "N", "of a funtrace.raw the Nth sample, from 0 on; default the last"},
	{"force", 0, NULL, "use files whose build-id differs from the core's"},
	{"no-debuginfod", 0, NULL, "don't ask the servers that DEBUGINFOD_URLS names"},
	{"no-demangle", 0, NULL, "show C++ and Rust names as the linker has them"},
	{NULL, 0, NULL, NULL},
};

const struct ep_option ep_pager_options[] = {
	{"no-pager", 0, NULL,
	 "no pager; else, on a terminal, what EPITAPH_PAGER or PAGER says, or less"},
	{NULL, 0, NULL, NULL},
};

const struct ep_option ep_common_options[] = {
	{"color", 0, "WHEN", "auto, always or never; auto obeys NO_COLOR"},
	{"help", 'h', NULL, "show this help"},
	{NULL, 0, NULL, NULL},
};

/* getopt's values for options without a letter begin here. */
#define LONG_ONLY 256

const struct ep_command *ep_command_find(const struct ep_command *const *commands, const char *name)
{
	for (size_t i = 0; commands[i]; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

const struct ep_option *ep_command_option(const struct ep_command *command, size_t index)
{
	const struct ep_option *tables[] = {
		command->options,
		command->names ? ep_name_options : NULL,
		command->pages ? ep_pager_options : NULL,
		ep_common_options,
	};

	for (size_t t = 0; t < sizeof(tables) / sizeof(*tables); t++)
		for (size_t i = 0; tables[t] && tables[t][i].name; i++)
			if (index-- == 0)
				return &tables[t][i];
	return NULL;
}

size_t ep_word_distance(const char *a, const char *b)
{
	size_t row[64], length = strlen(b);

	if (length >= 63)
		return 99;
	for (size_t j = 0; j <= length; j++)
		row[j] = j;
	for (size_t i = 1; *a; i++, a++) {
		size_t before = row[0];

		row[0] = i;
		for (size_t j = 1; j <= length; j++) {
			size_t best = before + (*a != b[j - 1]);

			before = row[j];
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			if (row[j] + 1 < best)
				best = row[j] + 1;
			row[j] = best;
		}
	}
	return row[length];
}

/* The second word of a command whose first is `word`; NULL: no such. */
static const char *second_word(const struct ep_command *command, const char *word)
{
	size_t length = strlen(word);

	return !strncmp(command->name, word, length) && command->name[length] == ' '
		       ? command->name + length + 1
		       : NULL;
}

/* "count takes report, merge or diff"; false: no command begins so. */
static bool print_seconds(const struct ep_command *const *commands, const char *word)
{
	char text[256] = "";
	size_t used = 0;

	for (size_t i = 0; commands[i]; i++) {
		const char *second = second_word(commands[i], word);

		if (second && used < sizeof(text))
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
						 used ? ", " : "", second);
	}
	if (used)
		ep_say("%s takes one of: %s; see epitaph %s WORD --help", word, text, word);
	return used != 0;
}

size_t ep_command_group(const struct ep_command *const *commands, const char *word,
			const struct ep_command **list, size_t most)
{
	size_t count = 0;

	for (size_t i = 0; commands[i] && count < most; i++)
		if (second_word(commands[i], word))
			list[count++] = commands[i];
	return count;
}

/* `words`: the first two, of which the second may belong to the first. */
static void refuse(const struct ep_command *const *commands, const char *first, const char *words)
{
	const char *nearest = NULL;
	size_t least = 3, apart, other;

	for (size_t i = 0; commands[i]; i++) {
		apart = ep_word_distance(first, commands[i]->name);
		other = ep_word_distance(words, commands[i]->name);
		apart = other < apart ? other : apart;
		if (apart < least) {
			least = apart;
			nearest = commands[i]->name;
		}
	}
	if (nearest)
		ep_say("there is no command %s; did you mean %s?", first, nearest);
	else
		ep_say("there is no command %s; see epitaph --help", first);
}

const struct ep_command *ep_command_named(const struct ep_command *const *commands, int argc,
					  char *const argv[], int *words)
{
	const struct ep_command *command;
	char both[64];

	snprintf(both, sizeof(both), "%s %s", argv[0], argc > 1 ? argv[1] : "");
	*words = 2;
	command = ep_command_find(commands, both);
	if (command)
		return command;
	*words = 1;
	command = ep_command_find(commands, argv[0]);
	if (!command && !print_seconds(commands, argv[0]))
		refuse(commands, argv[0], both);
	return command;
}

static int refuse_option(const struct ep_command *command, const char *given)
{
	const char *nearest = NULL;
	size_t least = 4;
	char name[64];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(given, "="), given);
	for (size_t i = 0; ep_command_option(command, i); i++) {
		char text[64];
		size_t apart;

		snprintf(text, sizeof(text), "--%s", ep_command_option(command, i)->name);
		apart = ep_word_distance(name, text);
		if (apart < least) {
			least = apart;
			nearest = ep_command_option(command, i)->name;
		}
	}
	if (nearest)
		ep_say("%s: there is no option %s; did you mean --%s?", command->name, name,
		       nearest);
	else
		ep_say("%s: there is no option %s; see epitaph %s --help", command->name, name,
		       command->name);
	return EP_EXIT_USAGE;
}

static const struct ep_option *option_of(const struct ep_command *command, int value)
{
	const struct ep_option *option;

	if (value >= LONG_ONLY)
		return ep_command_option(command, (size_t)value - LONG_ONLY);
	for (size_t i = 0; (option = ep_command_option(command, i)); i++)
		if (option->letter == value)
			return option;
	return NULL;
}

static void fill_tables(const struct ep_command *command, struct option *longs, char *letters)
{
	const struct ep_option *option;

	if (command->rest)
		*letters++ = '+';
	*letters++ = ':'; /* a missing value is told apart */
	for (size_t i = 0; (option = ep_command_option(command, i)); i++) {
		longs[i] = (struct option){option->name,
					   option->metavar ? required_argument : no_argument, NULL,
					   LONG_ONLY + (int)i};
		if (option->letter) {
			*letters++ = option->letter;
			if (option->metavar)
				*letters++ = ':';
		}
	}
	*letters = 0;
}

static int take(struct ep_arguments *out, int value, char *argv[])
{
	const struct ep_command *command = out->command;

	if (value == '?')
		return refuse_option(command, argv[optind - 1]);
	if (value == ':') {
		ep_say("%s: %s needs a value", command->name, argv[optind - 1]);
		return EP_EXIT_USAGE;
	}
	if (out->given_count == EP_VALUES_MAX) {
		ep_say("%s: too many options", command->name);
		return EP_EXIT_USAGE;
	}
	out->given[out->given_count++] =
		(struct ep_given){option_of(command, value), optarg ? optarg : ""};
	return 0;
}

int ep_arguments_parse(struct ep_arguments *out, const struct ep_command *command, int argc,
		       char *argv[])
{
	struct option longs[EP_OPTIONS_MAX + 1] = {{0}};
	char letters[2 * EP_OPTIONS_MAX + 3];
	int value, result;

	*out = (struct ep_arguments){.command = command};
	fill_tables(command, longs, letters);
	opterr = 0;
	optind = 0;
	while ((value = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		result = take(out, value, argv);
		if (result)
			return result;
	}
	out->operands = argv + optind;
	out->operand_count = argc - optind;
	if (ep_argument(out, "help"))
		return 0;
	if (out->operand_count < command->operands_min ||
	    out->operand_count > command->operands_max) {
		ep_say("usage: epitaph %s [options] %s (see epitaph %s --help)", command->name,
		       command->operands, command->name);
		return EP_EXIT_USAGE;
	}
	return 0;
}

const char *ep_argument(const struct ep_arguments *arguments, const char *name)
{
	for (size_t i = arguments->given_count; i > 0; i--)
		if (!strcmp(arguments->given[i - 1].option->name, name))
			return arguments->given[i - 1].value;
	return NULL;
}

size_t ep_argument_values(const struct ep_arguments *arguments, const char *name,
			  const char *values[EP_VALUES_MAX])
{
	size_t count = 0;

	for (size_t i = 0; i < arguments->given_count; i++)
		if (!strcmp(arguments->given[i].option->name, name))
			values[count++] = arguments->given[i].value;
	return count;
}

int ep_argument_number(const struct ep_arguments *arguments, const char *name, uint64_t least,
		       uint64_t most, const char *wanted, uint64_t *out)
{
	const char *text = ep_argument(arguments, name);

	if (!text || ep_number_parse(text, least, most, out))
		return 0;
	ep_say("--%s=%s: %s", name, text, wanted);
	return EP_EXIT_USAGE;
}
