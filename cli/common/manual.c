/* SPDX-License-Identifier: BSD-2-Clause */
/* manual.c: man pages and completions from the option table, and what the table of settings says.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/common/help.h"
#include "cli/common/say.h"
#include "runtime/settings/settings_list.h"

/* roff takes - for a hyphen. */
static void roff_words(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '-')
			fputs("\\-", out);
		else if (*text == '\\')
			fputs("\\e", out);
		else if (!strncmp(text, "\n\n", 2)) {
			fputs("\n.PP\n", out);
			text++;
		} else
			fputc(*text, out);
	}
}

/* Paragraphs. roff takes a leading dot or quote for a request. */
static void roff(FILE *out, const char *text)
{
	if (*text == '.' || *text == '\'')
		fputs("\\&", out);
	roff_words(out, text);
	fputc('\n', out);
}

static void roff_option(FILE *out, const struct ep_option *option)
{
	fputs(".TP\n", out);
	if (option->letter)
		fprintf(out, "\\fB\\-%c\\fR, ", option->letter);
	fputs("\\fB\\-\\-", out);
	roff_words(out, option->name);
	fputs("\\fR", out);
	if (option->metavar)
		fprintf(out, "=\\fI%s\\fR", option->metavar);
	fputc('\n', out);
	roff(out, option->help);
}

static void roff_statuses(FILE *out)
{
	fputs(".SH EXIT STATUS\n", out);
	for (size_t i = 0; ep_help_statuses[i]; i += 2) {
		fprintf(out, ".TP\n.B %s\n", ep_help_statuses[i]);
		roff(out, ep_help_statuses[i + 1]);
	}
}

static void head(FILE *out, const char *title)
{
	fputs(".TH \"", out);
	for (; *title; title++)
		fprintf(out, *title == '-' ? "\\-" : "%c", toupper((unsigned char)*title));
	fprintf(out, "\" 1 \"\" \"epitaph %s\" \"epitaph\"\n", EP_VERSION);
}

static void command_page(FILE *out, const struct ep_command *command)
{
	const struct ep_option *option;
	const char *name = ep_help_page_name(command);

	head(out, name);
	fputs(".SH NAME\n", out);
	roff_words(out, name);
	fputs(" \\- ", out);
	roff(out, command->summary);
	fprintf(out, ".SH SYNOPSIS\n.B epitaph %s\n[options] ", command->name);
	roff(out, command->operands);
	fputs(".SH DESCRIPTION\n", out);
	roff(out, command->description);
	if (strstr(command->operands, "SOURCE")) {
		fputs(".PP\n", out);
		roff(out, ep_help_source);
	}
	fputs(".SH EXAMPLE\n.nf\nepitaph ", out);
	roff(out, command->example);
	fputs(".fi\n.SH OPTIONS\n", out);
	for (size_t i = 0; (option = ep_command_option(command, i)); i++)
		roff_option(out, option);
	roff_statuses(out);
	fputs(".SH SEE ALSO\n.BR epitaph (1),\n.BR gdb (1),\n.BR core (5)\n", out);
}

#define SETTING(variable, set, otherwise, values, option, letter, metavar, page, text) \
	{variable, otherwise, values, page, text},

/* What a traced program obeys. */
static const struct {
	const char *name, *otherwise, *values, *page, *text;
} settings[] = {EP_SETTINGS(SETTING)};

#define SETTINGS (sizeof(settings) / sizeof(*settings))

/* What these commands obey. */
static const char *const own_variables[][2] = {
	{"NO_COLOR", "no colours, when it is not empty"},
	{"EPITAPH_PAGER", "the pager of long output, before PAGER; less, where neither is set"},
	{"EPITAPH_BUDGET_RESULTS",
	 "where budget run files its results and budget check reads them (epitaph-results)"},
	{"DEBUGINFOD_URLS", "servers that are asked for files which are not here; docs/names.md"},
	{"TMPDIR", "where temporary files lie"},
};

static void environment(FILE *out)
{
	fputs(".SH ENVIRONMENT\nOf the traced program:\n", out);
	for (size_t i = 0; i < SETTINGS; i++) {
		fprintf(out, ".TP\n.B %s\n", settings[i].name);
		roff_words(out, settings[i].text);
		fputs(".\nIt is ", out);
		roff_words(out, settings[i].values);
		fputs("; by default ", out);
		roff_words(out, settings[i].otherwise);
		fputs(".\n", out);
		if (settings[i].page)
			fprintf(out, "docs/%s.md has more.\n", settings[i].page);
	}
	fputs(".PP\nOf these commands:\n", out);
	for (size_t i = 0; i < sizeof(own_variables) / sizeof(*own_variables); i++) {
		fprintf(out, ".TP\n.B %s\n", own_variables[i][0]);
		roff(out, own_variables[i][1]);
	}
}

void ep_help_settings(FILE *out)
{
	fputs("| variable | default | may be | |\n|---|---|---|---|\n", out);
	for (size_t i = 0; i < SETTINGS; i++) {
		/* Words with blanks are no value that one could write. */
		const char *mark = strchr(settings[i].otherwise, ' ') ? "" : "`";

		fprintf(out, "| `%s` | %s%s%s | %s | %s", settings[i].name, mark,
			settings[i].otherwise, mark, settings[i].values, settings[i].text);
		if (settings[i].page)
			fprintf(out, " ([%s.md](%s.md))", settings[i].page, settings[i].page);
		fputs(" |\n", out);
	}
}

static void main_page(const struct ep_command *const *commands, FILE *out)
{
	head(out, "epitaph");
	fputs(".SH NAME\nepitaph \\- what every thread of a dead process was doing, from its "
	      "core\n.SH SYNOPSIS\n.B epitaph\n\\fICOMMAND\\fR [options] \\fISOURCE\\fR\n.SH "
	      "DESCRIPTION\n",
	      out);
	roff(out, "A program that is built with epitaph-cc keeps the last calls of each of its "
		  "threads in memory, where a core dump holds them. These commands find them there "
		  "and explain them.");
	fputs(".PP\n", out);
	roff(out, ep_help_source);
	fputs(".SH COMMANDS\n", out);
	for (size_t i = 0; commands[i]; i++) {
		fputs(".TP\n.BR ", out);
		roff_words(out, ep_help_page_name(commands[i]));
		fputs(" (1)\n", out);
		roff(out, commands[i]->summary);
	}
	environment(out);
	roff_statuses(out);
	fputs(".SH SEE ALSO\n.BR gdb (1),\n.BR core (5)\n", out);
}

static int write_page(const char *directory, const char *name,
		      const struct ep_command *const *commands, const struct ep_command *command)
{
	char path[4096];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s.1", directory, name);
	out = fopen(path, "w");
	if (out && command)
		command_page(out, command);
	else if (out)
		main_page(commands, out);
	if (!out || fclose(out)) {
		ep_say("%s: %s", path, strerror(errno));
		return -1;
	}
	return 0;
}

int ep_help_man_pages(const struct ep_command *const *commands, const char *directory)
{
	if (mkdir(directory, 0777) && errno != EEXIST) {
		ep_say("%s: %s", directory, strerror(errno));
		return -1;
	}
	if (write_page(directory, "epitaph", commands, NULL))
		return -1;
	for (size_t i = 0; commands[i]; i++) {
		if (write_page(directory, ep_help_page_name(commands[i]), commands, commands[i]))
			return -1;
	}
	return 0;
}

/* ---- completions ---------------------------------------------------------- */

static void bash_options(const struct ep_command *command)
{
	const struct ep_option *option;

	for (size_t i = 0; (option = ep_command_option(command, i)); i++)
		printf("%s--%s%s", i ? " " : "", option->name, option->metavar ? "=" : "");
}

/* First words, each once; with `first`, the second ones behind it. */
static void bash_words(const struct ep_command *const *commands, const char *first)
{
	const char *before = "";

	for (size_t i = 0; commands[i]; i++) {
		const char *name = commands[i]->name;
		size_t length = strcspn(name, " ");

		if (first) {
			if (strncmp(name, first, length) || !name[length] || first[length])
				continue;
			printf(" %s", name + length + 1);
		} else if (strlen(before) < length || strncmp(before, name, length)) {
			printf(" %.*s", (int)length, name);
		}
		before = name;
	}
}

/* What may follow each first word of commands of two. */
static void bash_seconds(const struct ep_command *const *commands)
{
	char last[64] = "";

	for (size_t i = 0; commands[i]; i++) {
		const char *name = commands[i]->name;
		char first[64];

		snprintf(first, sizeof(first), "%.*s", (int)strcspn(name, " "), name);
		if (!strchr(name, ' ') || !strcmp(first, last))
			continue;
		printf("\t%s) seconds='", first);
		bash_words(commands, first);
		puts("' ;;");
		strcpy(last, first);
	}
}

static void complete_bash(const struct ep_command *const *commands)
{
	puts("# bash completion for epitaph, from its option table\n"
	     "_epitaph() {\n"
	     "\tlocal word=${COMP_WORDS[COMP_CWORD]} options= seconds= words=\n"
	     "\tcase ${COMP_WORDS[1]} in");
	bash_seconds(commands);
	puts("\tesac\n"
	     "\tcase \"${COMP_WORDS[1]}${seconds:+ ${COMP_WORDS[2]}}\" in");
	for (size_t i = 0; commands[i]; i++) {
		printf("\t'%s') options='", commands[i]->name);
		bash_options(commands[i]);
		printf("' words='%s' ;;\n", commands[i]->words ? commands[i]->words : "");
	}
	fputs("\tesac\n"
	      "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n"
	      "\t\tCOMPREPLY=($(compgen -W '--help --version",
	      stdout);
	bash_words(commands, NULL);
	puts("' -- \"$word\"))\n"
	     "\telif [ \"$COMP_CWORD\" -eq 2 ] && [ -n \"$seconds\" ]; then\n"
	     "\t\tCOMPREPLY=($(compgen -W \"$seconds\" -- \"$word\"))\n"
	     "\telif [[ $word == -* ]]; then\n"
	     "\t\tcompopt -o nospace 2>/dev/null\n"
	     "\t\tCOMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
	     "\telse\n"
	     "\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
	     "\tfi\n"
	     "}\n"
	     "# Names of files are readline's own: it quotes blanks, and expands nothing.\n"
	     "complete -o default -F _epitaph epitaph");
}

static void complete_zsh(const struct ep_command *const *commands)
{
	puts("#compdef epitaph\n# zsh: bash's completion does it\n"
	     "autoload -U +X bashcompinit && bashcompinit");
	complete_bash(commands);
}

/* In single quotes: an apostrophe ends them, stands alone, and begins anew. */
static void quoted(const char *text)
{
	putchar('\'');
	for (; *text; text++)
		if (*text == '\'')
			fputs("\\'", stdout);
		else
			putchar(*text);
	putchar('\'');
}

static const char *last_word(const struct ep_command *command)
{
	const char *blank = strchr(command->name, ' ');

	return blank ? blank + 1 : command->name;
}

static void fish_seen(const struct ep_command *command)
{
	int length = (int)strcspn(command->name, " ");

	printf("'__fish_seen_subcommand_from %.*s", length, command->name);
	if (command->name[length])
		printf("; and __fish_seen_subcommand_from %s", last_word(command));
	putchar('\'');
}

/* A command of two words is offered by the first, then by the second. */
static void fish_command(const struct ep_command *command)
{
	int length = (int)strcspn(command->name, " ");

	printf("complete -c epitaph -n __fish_use_subcommand -a %.*s -d ", length, command->name);
	quoted(command->summary);
	if (command->name[length]) {
		printf("\ncomplete -c epitaph -n '__fish_seen_subcommand_from %.*s' -a %s -d ",
		       length, command->name, last_word(command));
		quoted(command->summary);
	}
	putchar('\n');
}

static void complete_fish(const struct ep_command *const *commands)
{
	const struct ep_option *option;

	puts("# fish completion for epitaph, from its option table");
	for (size_t i = 0; commands[i]; i++) {
		const struct ep_command *command = commands[i];

		fish_command(command);
		if (command->words) {
			fputs("complete -c epitaph -n ", stdout);
			fish_seen(command);
			printf(" -a '%s'\n", command->words);
		}
		for (size_t j = 0; (option = ep_command_option(command, j)); j++) {
			fputs("complete -c epitaph -n ", stdout);
			fish_seen(command);
			printf(" -l %s", option->name);
			if (option->letter)
				printf(" -s %c", option->letter);
			fputs(option->metavar ? " -r -d " : " -d ", stdout);
			quoted(option->help);
			putchar('\n');
		}
	}
}

int ep_help_completion(const struct ep_command *const *commands, const char *shell)
{
	if (!strcmp(shell, "bash"))
		complete_bash(commands);
	else if (!strcmp(shell, "zsh"))
		complete_zsh(commands);
	else if (!strcmp(shell, "fish"))
		complete_fish(commands);
	else
		return -1;
	return 0;
}
