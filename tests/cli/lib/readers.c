/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * readers.c: commands of epitaph on many damaged cores, each in a process of its own that is forked
 * here: to start the program and load its libraries took most of the time of a command on a small
 * core (5 ms of 7; 20 of 34 under the address sanitizer). For the same reason one of four looks for
 * leaks at its end.
 *
 * readers SECONDS: a line on stdin is a command's words, with tabs between; its output goes to
 * said.out and said.err. Answered by a line: the exit status (128 + the signal, 124 after SECONDS
 * of waiting), peak memory in KiB, CPU time in microseconds.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/commands.h"

#define MOST_WORDS  30
#define LEAKS_EVERY 4

static void redirect(const char *path, int flags, int to)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);

	if (fd < 0 || dup2(fd, to) < 0)
		_exit(125);
	close(fd);
}

static _Noreturn void command(char *line, bool leaks)
{
	char name[] = "epitaph", *argv[MOST_WORDS + 2] = {name};
	int argc = 1, status;

	for (char *word = strtok(line, "\t\n"); word && argc <= MOST_WORDS;
	     word = strtok(NULL, "\t\n"))
		argv[argc++] = word;
	redirect("/dev/null", O_RDONLY, 0);
	redirect("said.out", O_WRONLY | O_CREAT | O_TRUNC, 1);
	redirect("said.err", O_WRONLY | O_CREAT | O_TRUNC, 2);
	status = ep_main(argc, argv);
	if (leaks)
		exit(status);
	fflush(NULL);
	_exit(status);
}

/* Ends it when `seconds` have passed; true then. SIGCHLD is blocked. */
static bool too_long(pid_t child, time_t seconds)
{
	const struct timespec limit = {.tv_sec = seconds};
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGCHLD);
	if (sigtimedwait(&ends, NULL, &limit) == SIGCHLD)
		return false;
	kill(child, SIGKILL);
	return true;
}

static int64_t microseconds(struct timeval time)
{
	return (int64_t)time.tv_sec * 1000000 + time.tv_usec;
}

static void answer(pid_t child, time_t seconds)
{
	bool late = too_long(child, seconds);
	struct rusage usage;
	int status, code;

	if (wait4(child, &status, 0, &usage) != child)
		exit(125);
	code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	printf("%d %ld %" PRId64 "\n", late ? 124 : code, usage.ru_maxrss,
	       microseconds(usage.ru_utime) + microseconds(usage.ru_stime));
	fflush(stdout);
}

int main(int argc, char *argv[])
{
	static char line[65536];
	sigset_t ends;

	if (argc != 2)
		return 64;
	sigemptyset(&ends);
	sigaddset(&ends, SIGCHLD);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	for (unsigned n = 0; fgets(line, sizeof(line), stdin); n++) {
		pid_t child = fork();

		if (child < 0)
			return 125;
		if (child == 0) {
			sigprocmask(SIG_UNBLOCK, &ends, NULL);
			command(line, n % LEAKS_EVERY == 0);
		}
		answer(child, atoi(argv[1]));
	}
	return 0;
}
