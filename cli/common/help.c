/* SPDX-License-Identifier: BSD-2-Clause */
/* help.c: --help, from the table of commands. */
#include "cli/common/help.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/common/say.h"

const char ep_help_source[] =
	"SOURCE is a core, a snapshot, the file of EPITAPH_FILE, a funtrace.raw, a process id of a "
	"running process, or pid:N where a file of that name exists; - is a core on standard "
	"input. Cores may be compressed (zstd, xz, lz4, gzip, bzip2).";

const char *const ep_help_statuses[] = {
	"0",  "complete",
	"1",  "partial, but usable: something was lost or not saved",
	"2",  "nothing found: no trace, or nothing that was asked for",
	"3",  "the input cannot be read, or the output not written",
	"4",  "a budget is exceeded",
	"64", "the command line is not understood",
	NULL,
};

static int columns(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40)
		return size.ws_col > 100 ? 100 : size.ws_col;
	return 80;
}

/* Fills lines up to the width; an empty line stays one. */
static void wrap(FILE *out, int indent, int at, const char *text)
{
	int width = columns() - 1;

	while (*text) {
		int length = (int)strcspn(text, " \n");

		if (at > indent && at + 1 + length > width) {
			fputc('\n', out);
			at = 0;
		}
		if (at < indent)
			at += fprintf(out, "%*s", indent - at, "");
		else if (at > indent)
			at += fprintf(out, " ");
		at += fprintf(out, "%.*s", length, text);
		text += length;
		if (!strncmp(text, "\n\n", 2)) {
			fputs("\n\n", out);
			at = 0;
			text++;
		}
		text += *text != 0;
	}
	fputc('\n', out);
}

const char *ep_help_page_name(const struct ep_command *command)
{
	static char name[64];

	snprintf(name, sizeof(name), "epitaph-%s", command->name);
	for (char *at = name; *at; at++)
		*at = *at == ' ' ? '-' : *at;
	return name;
}

void ep_help_all(const struct ep_command *const *commands, FILE *out)
{
	fputs("usage: epitaph COMMAND [options] SOURCE\n\n", out);
	for (size_t i = 0; commands[i]; i++)
		fprintf(out, "  %-12s  %s\n", commands[i]->name, commands[i]->summary);
	fputc('\n', out);
	wrap(out, 0, 0, ep_help_source);
	fputs("epitaph COMMAND --help shows its options; --version shows the version.\n\n"
	      "exit status:\n",
	      out);
	for (size_t i = 0; ep_help_statuses[i]; i += 2)
		fprintf(out, "  %-3s %s\n", ep_help_statuses[i], ep_help_statuses[i + 1]);
}

static void print_option(const struct ep_option *option)
{
	char text[64];
	int length = snprintf(text, sizeof(text), "  %c%c%s--%s%s%s", option->letter ? '-' : ' ',
			      option->letter ? option->letter : ' ', option->letter ? ", " : "  ",
			      option->name, option->metavar ? "=" : "",
			      option->metavar ? option->metavar : "");

	fputs(text, stdout);
	if (length >= 27) {
		fputc('\n', stdout);
		length = 0;
	}
	wrap(stdout, 28, length, option->help);
}

void ep_help_command(const struct ep_command *command)
{
	const struct ep_option *option;

	printf("usage: epitaph %s [options] %s\n\n", command->name, command->operands);
	wrap(stdout, 0, 0, command->summary);
	printf("\nexample:\n  epitaph %s\n\noptions:\n", command->example);
	for (size_t i = 0; (option = ep_command_option(command, i)); i++)
		print_option(option);
	fputc('\n', stdout);
	if (strstr(command->operands, "SOURCE"))
		wrap(stdout, 0, 0, ep_help_source);
	if (command->words)
		printf("ACTION: %s\n", command->words);
	printf("man %s has more.\n", ep_help_page_name(command));
}

bool ep_help_group(const struct ep_command *const *commands, const char *word)
{
	const struct ep_command *list[16];
	size_t count = ep_command_group(commands, word, list, 16);

	if (!count)
		return false;
	printf("usage: epitaph %s WORD [options]\n\n", word);
	for (size_t i = 0; i < count; i++)
		printf("  %-14s  %s\n", list[i]->name, list[i]->summary);
	printf("\nepitaph %s WORD --help shows its options.\n", word);
	return true;
}
