/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * option.h: commands and their options. Parsing (getopt_long), --help, man pages and completions
 * all come from the one table of them (cli/commands.c).
 */
#ifndef EPITAPH_OPTION_H
#define EPITAPH_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit statuses of the whole program (docs/design.md). */
#define EP_EXIT_COMPLETE   0
#define EP_EXIT_PARTIAL    1
#define EP_EXIT_NOTHING    2
#define EP_EXIT_UNREADABLE 3
#define EP_EXIT_EXCEEDED   4
#define EP_EXIT_USAGE      64

struct ep_option {
	const char *name;    /* long name, without dashes; NULL ends a table */
	char letter;         /* 0: none */
	const char *metavar; /* NULL: takes no value */
	const char *help;    /* one sentence, no full stop */
};

#define EP_OPTIONS_MAX 32
#define EP_VALUES_MAX  64 /* options given on one command line */

struct ep_arguments;

struct ep_command {
	const char *name;     /* one word, or two: "count merge" */
	const char *operands; /* as shown in the usage line */
	int operands_min, operands_max;
	const char *words;       /* what ACTION may be, for help and completion; NULL: none */
	const char *summary;     /* one line, no full stop */
	const char *example;     /* words of a command line, behind "epitaph" */
	const char *description; /* of the man page: paragraphs, separated by an empty line */
	const struct ep_option *options; /* its own; the common ones come after */
	bool pages;                      /* what it prints is read in a pager, on a terminal */
	bool names;                      /* also takes the options of how functions are named */
	bool rest;                       /* what follows the first operand is operands, too */
	int (*run)(const struct ep_arguments *arguments); /* an exit status */
};

struct ep_given {
	const struct ep_option *option;
	const char *value; /* "" for an option without one */
};

struct ep_arguments {
	const struct ep_command *command;
	struct ep_given given[EP_VALUES_MAX]; /* as they came */
	size_t given_count;
	char *const *operands; /* borrowed from argv */
	int operand_count;
};

extern const struct ep_option ep_name_options[];   /* of .names commands */
extern const struct ep_option ep_pager_options[];  /* of .pages commands */
extern const struct ep_option ep_common_options[]; /* of all commands */

/* By its whole name, in a table of commands that ends with NULL. */
const struct ep_command *ep_command_find(const struct ep_command *const *commands,
					 const char *name);

/* The command that the first words of argv name, one or two; *words: how many. NULL: none, with a
 * message that says which one was meant, likely. */
const struct ep_command *ep_command_named(const struct ep_command *const *commands, int argc,
					  char *const argv[], int *words);

/* The commands of two words whose first is `word`; how many. */
size_t ep_command_group(const struct ep_command *const *commands, const char *word,
			const struct ep_command **list, size_t most);

/* The options of a command, its own first; *index runs from 0. NULL: no more. */
const struct ep_option *ep_command_option(const struct ep_command *command, size_t index);

/* argv[0] is the command's name. 0, or EP_EXIT_USAGE with a message. */
int ep_arguments_parse(struct ep_arguments *out, const struct ep_command *command, int argc,
		       char *argv[]);

/* The last value given for a long name; NULL: not given. */
const char *ep_argument(const struct ep_arguments *arguments, const char *name);
/* All values given for a long name, which may be given several times, in their order; how many.
 * They are borrowed from argv. */
size_t ep_argument_values(const struct ep_arguments *arguments, const char *name,
			  const char *values[EP_VALUES_MAX]);
/* A whole number given for a long name; where it is not given *out stays. 0, or EP_EXIT_USAGE, with
 * a message that says what is `wanted`. */
int ep_argument_number(const struct ep_arguments *arguments, const char *name, uint64_t least,
		       uint64_t most, const char *wanted, uint64_t *out);
static inline bool ep_argument_given(const struct ep_arguments *arguments, const char *name)
{
	return ep_argument(arguments, name) != NULL;
}

/* How many letters must change to make one word of the other; 99 where `b` is longer than 62. */
size_t ep_word_distance(const char *a, const char *b);

#endif
