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

#include "cli/common/say.h"

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

/* ---- which pager ---- */

static bool is_executable(const char *folder, size_t folder_size, const char *name, size_t size)
{
	char path[4096];
	int length = snprintf(path, sizeof(path), "%.*s%s%.*s", (int)folder_size, folder,
			      folder_size ? "/" : "", (int)size, name);

	return length > 0 && (size_t)length < sizeof(path) && access(path, X_OK) == 0;
}

static bool is_in_path(const char *name, size_t size)
{
	const char *path = getenv("PATH");

	if (memchr(name, '/', size))
		return is_executable("", 0, name, size);
	while (path && *path) {
		size_t length = strcspn(path, ":");

		if (is_executable(length ? path : ".", length ? length : 1, name, size))
			return true;
		path += length + (path[length] == ':');
	}
	return false;
}

/* The shell would find the program, as far as its first word tells: else the page would be lost.
 * What the shell makes of a word, or does itself, is left to it. */
static bool is_there(const char *command)
{
	static const char *const builtins[] = {"exec", "command", "eval"};
	size_t size;

	command += strspn(command, " \t");
	size = strcspn(command, " \t\n");
	for (size_t i = 0; i < sizeof(builtins) / sizeof(*builtins); i++)
		if (strlen(builtins[i]) == size && strncmp(builtins[i], command, size) == 0)
			return true;
	return strcspn(command, "|&;<>()$`\\\"'*?[#~=%{}!") < size || is_in_path(command, size);
}

static bool is_dumb(void)
{
	const char *term = getenv("TERM");

	return !term || !*term || strcmp(term, "dumb") == 0;
}

/* NULL: none. Where nobody asked for one, a terminal that cannot move its cursor has none. */
static const char *pager_command(void)
{
	const char *command = getenv("EPITAPH_PAGER");

	if (!command)
		command = getenv("PAGER");
	if (!command)
		return !is_dumb() && is_there("less") ? "less" : NULL;
	if (!*command || strcmp(command, "cat") == 0)
		return NULL;
	if (is_there(command))
		return command;
	ep_say("no pager: there is no program \"%s\"", command);
	return NULL;
}

/* ---- running it ---- */

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

/* What is ignored, as below nohup, stays so. */
static void catch_endings(void)
{
	for (size_t i = 0; i < ENDING; i++) {
		before[i] = signal(ending[i], end_after_pager);
		if (before[i] == SIG_IGN)
			signal(ending[i], SIG_IGN);
	}
}

void ep_pager_start(void)
{
	const char *command = isatty(STDOUT_FILENO) ? pager_command() : NULL;
	int ends[2];

	if (!command || pipe(ends) != 0)
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
		catch_endings();
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
