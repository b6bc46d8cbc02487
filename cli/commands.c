/* SPDX-License-Identifier: BSD-2-Clause */
/* commands.c: which commands there are, and from argv to one of them. */
#include "cli/commands.h"

#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli/common/commands.h"
#include "cli/common/help.h"
#include "cli/common/progress.h"
#include "cli/common/say.h"
#include "cli/common/terminal.h"
#include "cli/common/watch.h"
#include "coredump/files/output.h"
#include "coredump/files/output_folder.h"

const struct ep_command *const ep_commands[] = {
	&ep_command_report,       &ep_command_extract,
	&ep_command_info,         &ep_command_replay,
	&ep_command_stats,        &ep_command_export,
	&ep_command_tui,          &ep_command_diff,
	&ep_command_catch,        &ep_command_list,
	&ep_command_doctor,       &ep_command_control,
	&ep_command_count_report, &ep_command_count_merge,
	&ep_command_count_diff,   &ep_command_calibrate,
	&ep_command_exclude,      &ep_command_budget_check,
	&ep_command_budget_run,   &ep_command_run,
	&ep_command_help,         NULL,
};

static int run_command(const struct ep_command *command, int argc, char *argv[])
{
	struct ep_arguments arguments;
	int result = ep_arguments_parse(&arguments, command, argc, argv);

	if (result)
		return result;
	if (ep_argument_given(&arguments, "help")) {
		ep_help_command(command);
		return ep_stdout_finish() ? EP_EXIT_COMPLETE : EP_EXIT_UNREADABLE;
	}
	if (!ep_color_choose(ep_argument(&arguments, "color"))) {
		ep_say("--color takes auto, always or never");
		return EP_EXIT_USAGE;
	}
	ep_progress_show();
	if (command->pages && !ep_argument_given(&arguments, "no-pager"))
		ep_pager_start();
	result = ep_watch_run(&arguments);
	ep_pager_finish();
	return result;
}

/* Ctrl-C, and being asked to end: no half file stays, and the process has died of the signal, as
 * its shell is to see. All that is called here is safe in a signal handler. */
static void end_by_signal(int number)
{
	ep_output_remove_asides();
	ep_output_folder_remove_aside();
	ep_progress_wipe();
	/* Also where somebody put this handler back with signal(2), which keeps it. It ends the
	 * process on return. */
	signal(number, SIG_DFL);
	raise(number);
}

/* SIGINT, SIGTERM and SIGHUP, but for those that are ignored or handled already. */
static void handle_interrupts(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction ours = {.sa_handler = end_by_signal}, theirs;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (sigaction(numbers[i], NULL, &theirs) == 0 && theirs.sa_handler == SIG_DFL)
			sigaction(numbers[i], &ours, NULL);
}

int ep_main(int argc, char *argv[])
{
	const struct ep_command *command;
	int words;

	setlocale(LC_CTYPE, "");
	/* Writing to a pager that was quit is no reason to die noisily. */
	signal(SIGPIPE, SIG_IGN);
	handle_interrupts();
	if (argc < 2) {
		ep_help_all(ep_commands, stderr);
		return EP_EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		ep_help_all(ep_commands, stdout);
		return ep_stdout_finish() ? EP_EXIT_COMPLETE : EP_EXIT_UNREADABLE;
	}
	if (argc == 3 && (!strcmp(argv[2], "--help") || !strcmp(argv[2], "-h")) &&
	    ep_help_group(ep_commands, argv[1]))
		return ep_stdout_finish() ? EP_EXIT_COMPLETE : EP_EXIT_UNREADABLE;
	if (!strcmp(argv[1], "--version")) {
		printf("epitaph %s\n", EP_VERSION);
		return ep_stdout_finish() ? EP_EXIT_COMPLETE : EP_EXIT_UNREADABLE;
	}
	command = ep_command_named(ep_commands, argc - 1, argv + 1, &words);
	if (!command)
		return EP_EXIT_USAGE;
	return run_command(command, argc - words, argv + words);
}
