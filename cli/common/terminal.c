/* SPDX-License-Identifier: BSD-2-Clause */
/* terminal.c: the terminal's width; the pager is a child with our stdout, and we write to it. */
#include "cli/common/terminal.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define NARROWEST 80u
#define WIDEST    200u

static volatile pid_t pager;  /* 0: none */
static size_t columns_before; /* it came */

static size_t clamp(unsigned long columns)
{
	return columns < NARROWEST ? NARROWEST : columns > WIDEST ? WIDEST : columns;
}

/* 0: not told. */
static unsigned long told_columns(void)
{
	const char *text = getenv("COLUMNS");
	char *end;
	unsigned long columns = text ? strtoul(text, &end, 10) : 0;

	return text && *text >= '0' && *text <= '9' && !*end ? columns : 0;
}

size_t ep_terminal_columns(void)
{
	unsigned long told = told_columns();
	struct winsize size = {0};

	if (columns_before)
		return columns_before;
	if (told)
		return clamp(told);
	if (!isatty(STDOUT_FILENO))
		return 0;
	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	return clamp(size.ws_col);
}

static const char *pager_command(void)
{
	const char *command = getenv("EPITAPH_PAGER");

	if (!command)
		command = getenv("PAGER");
	if (!command)
		command = "less";
	return *command && strcmp(command, "cat") != 0 ? command : NULL;
}

static _Noreturn void run_pager(const char *command, int from)
{
	dup2(from, STDIN_FILENO);
	signal(SIGPIPE, SIG_DFL);
	/* Quits if all fits, keeps colours, leaves the page on the screen. */
	setenv("LESS", "FRX", 0);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
#define ENDING (sizeof(ending) / sizeof(*ending))
static void (*before[ENDING])(int); /* what they did before the pager came */

/* A pager that has no end to read stays, and the terminal must not be the shell's before it has
 * gone. */
static void end_after_pager(int number)
{
	close(STDOUT_FILENO);
	while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
		continue;
	for (size_t i = 0; i < ENDING; i++)
		if (ending[i] == number)
			signal(number, before[i]);
	raise(number);
}

void ep_pager_start(void)
{
	const char *command = pager_command();
	int ends[2];

	if (!command || !isatty(STDOUT_FILENO) || pipe(ends) != 0)
		return;
	columns_before = ep_terminal_columns();
	fflush(stdout);
	pager = fork();
	if (pager == 0) {
		close(ends[1]);
		run_pager(command, ends[0]);
	}
	if (pager > 0)
		dup2(ends[1], STDOUT_FILENO);
	else
		pager = 0;
	close(ends[0]);
	close(ends[1]);
	if (pager)
		for (size_t i = 0; i < ENDING; i++)
			before[i] = signal(ending[i], end_after_pager);
}

bool ep_on_terminal(void)
{
	return pager || isatty(STDOUT_FILENO);
}

void ep_pager_finish(void)
{
	if (!pager)
		return;
	fclose(stdout);
	while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
		continue;
	pager = 0;
}
