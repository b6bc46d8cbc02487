/* SPDX-License-Identifier: BSD-2-Clause */
/* help.c: epitaph help: of one command or of all, as text, man pages and completions; and the
 * settings. */
#include "cli/common/help.h"

#include "cli/commands.h"
#include "cli/common/commands.h"
#include "cli/common/say.h"

static int help_run(const struct ep_arguments *arguments)
{
	const char *directory = ep_argument(arguments, "man-pages");
	const char *shell = ep_argument(arguments, "completion");
	const struct ep_command *command;
	int words;

	if (directory)
		return ep_help_man_pages(ep_commands, directory) ? EP_EXIT_UNREADABLE
								 : EP_EXIT_COMPLETE;
	if (shell) {
		if (ep_help_completion(ep_commands, shell) == 0)
			return EP_EXIT_COMPLETE;
		ep_say("completions are there for bash, zsh and fish, not for %s", shell);
		return EP_EXIT_USAGE;
	}
	if (ep_argument_given(arguments, "settings")) {
		ep_help_settings(stdout);
		return EP_EXIT_COMPLETE;
	}
	if (arguments->operand_count == 0) {
		ep_help_all(ep_commands, stdout);
		return EP_EXIT_COMPLETE;
	}
	if (arguments->operand_count == 1 && ep_help_group(ep_commands, arguments->operands[0]))
		return EP_EXIT_COMPLETE;
	command = ep_command_named(ep_commands, arguments->operand_count, arguments->operands,
				   &words);
	if (command && words == arguments->operand_count) {
		ep_help_command(command);
		return EP_EXIT_COMPLETE;
	}
	if (command)
		ep_say("help takes one command");
	return EP_EXIT_USAGE;
}

static const struct ep_option options[] = {
	{"man-pages", 0, "DIR", "write all man pages into DIR"},
	{"completion", 0, "SHELL", "print the completion for bash, zsh or fish"},
	{"settings", 0, NULL, "print the table of the settings of a traced program (Markdown)"},
	{NULL, 0, NULL, NULL},
};

const struct ep_command ep_command_help = {
	.name = "help",
	.operands = "[COMMAND]",
	.operands_max = 2,
	.summary = "help on a command, man pages, shell completions",
	.example = "help --man-pages man",
	.description = "Shows a command's help, or writes the man pages and completions that all "
		       "come from the same table. The settings are explained in epitaph (1), too.",
	.options = options,
	.run = help_run,
};
