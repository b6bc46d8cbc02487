/* SPDX-License-Identifier: BSD-2-Clause */
/* watch.c: pipes that the caller reads are copied here, so that no process that is left behind has
 * them open. */
#include "cli/common/watch.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/common/say.h"
#include "coredump/files/procfile.h"
#include "coredump/kinds/identify.h"

#define LOOK_MS 200 /* how often it is looked at */
#define GIVE_UP 15  /* looks in a row at one and the same wait in the kernel: 3 s */

struct watched {
	pid_t pid;
	int pidfd;     /* -1: this kernel has none, and its end is seen a look later */
	int copies[2]; /* what comes for stdout and stderr; -1: it has them itself */
	unsigned long waits;
	unsigned stuck; /* looks */
};

/* ---- does it come back? ---- */

/* What reads a file or another process's memory; what else waits (a terminal that takes no more, a
 * server of debuginfod) may take its time. */
static const long reading[] = {
	SYS_read,     SYS_pread64,   SYS_readv,      SYS_preadv,     SYS_process_vm_readv,
	SYS_pwrite64, SYS_open,      SYS_openat,     SYS_openat2,    SYS_close,
	SYS_stat,     SYS_lstat,     SYS_fstat,      SYS_newfstatat, SYS_statx,
	SYS_access,   SYS_faccessat, SYS_faccessat2, SYS_readlink,   SYS_readlinkat,
	SYS_statfs,   SYS_fstatfs,   SYS_mmap,       SYS_getdents64, SYS_lseek,
};

/* In one of these, or, as -1, in a page fault (proc_pid_syscall(5)). */
static bool is_reading(pid_t pid)
{
	char path[32], text[32], *end;
	long number;

	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)pid);
	if (!ep_procfile_line(path, text, sizeof(text)))
		return false;
	number = strtol(text, &end, 10);
	if (end == text) /* "running" */
		return false;
	for (size_t i = 0; i < sizeof(reading) / sizeof(*reading); i++)
		if (number == reading[i])
			return true;
	return number == -1;
}

/* How often it has waited (proc_pid_status(5)). */
static unsigned long waits_read(pid_t pid)
{
	static const char name[] = "voluntary_ctxt_switches:";
	struct ep_procfile file;
	unsigned long waits = 0;
	char path[32], *line;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	ep_procfile_open(&file, path);
	while ((line = ep_procfile_next(&file, '\n')))
		if (strncmp(line, name, strlen(name)) == 0)
			waits = strtoul(line + strlen(name), NULL, 10);
	ep_procfile_close(&file);
	return waits;
}

static bool comes_back(struct watched *watched)
{
	unsigned long before = watched->waits;

	watched->waits = waits_read(watched->pid);
	if (is_reading(watched->pid) && watched->waits == before)
		watched->stuck++;
	else
		watched->stuck = 0;
	return watched->stuck < GIVE_UP;
}

/* ---- what it prints ---- */

static bool is_pipe(int fd, struct stat *st)
{
	return fstat(fd, st) == 0 && (S_ISFIFO(st->st_mode) || S_ISSOCK(st->st_mode));
}

static void end_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void copy(int *from, int to)
{
	char bytes[65536], *at = bytes;
	ssize_t n = read(*from, bytes, sizeof(bytes)), written;

	while (n > 0 && (written = write(to, at, (size_t)n)) > 0) {
		at += written;
		n -= written;
	}
	/* Its end, or nobody reads ours: then nobody is to read its. */
	if (n != 0 || at == bytes)
		end_close(from);
}

/* ends[i]: what the child has for stdout and stderr; the same where these are one pipe. */
static void copies_make(struct watched *watched, int ends[2])
{
	struct stat out, err;
	bool pipes[2] = {is_pipe(STDOUT_FILENO, &out), is_pipe(STDERR_FILENO, &err)};
	bool one = pipes[0] && pipes[1] && out.st_dev == err.st_dev && out.st_ino == err.st_ino;

	for (int i = 0; i < 2; i++) {
		int both[2];

		watched->copies[i] = ends[i] = -1;
		if (i == 1 && one) {
			ends[1] = ends[0];
		} else if (pipes[i] && pipe2(both, O_CLOEXEC) == 0) {
			watched->copies[i] = both[0];
			ends[i] = both[1];
		}
	}
}

/* ---- signals ---- */

static volatile pid_t child;

/* It is the child that has files to take away. */
static void pass_on(int number)
{
	kill(child, number);
}

static void signals_pass_on(void)
{
	static const int all[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	struct sigaction theirs, ours = {.sa_handler = pass_on, .sa_flags = SA_RESTART};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (sigaction(all[i], NULL, &theirs) == 0 && theirs.sa_handler != SIG_IGN)
			sigaction(all[i], &ours, NULL);
}

/* ---- both ---- */

static int run(const struct ep_arguments *arguments)
{
	int result = arguments->command->run(arguments);

	return ep_stdout_finish() ? result : EP_EXIT_UNREADABLE;
}

static _Noreturn void run_watched(const struct ep_arguments *arguments, const int ends[2],
				  pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(EP_EXIT_UNREADABLE);
	for (int i = 0; i < 2; i++)
		if (ends[i] >= 0)
			dup2(ends[i], STDOUT_FILENO + i);
	exit(run(arguments));
}

/* Until it has ended; false: it does not come back. */
static bool await(struct watched *watched, int *status)
{
	for (;;) {
		struct pollfd wait[3] = {{.fd = watched->pidfd, .events = POLLIN},
					 {.fd = watched->copies[0], .events = POLLIN},
					 {.fd = watched->copies[1], .events = POLLIN}};
		int ready = poll(wait, 3, LOOK_MS);

		for (int i = 0; ready > 0 && i < 2; i++)
			if (wait[1 + i].revents)
				copy(&watched->copies[i], STDOUT_FILENO + i);
		if (!wait[1].revents && !wait[2].revents &&
		    waitpid(watched->pid, status, WNOHANG) == watched->pid)
			return true;
		if (ready == 0 && !comes_back(watched))
			return false;
	}
}

static int finish(const struct ep_arguments *arguments, struct watched *watched)
{
	int status = 0;

	if (!await(watched, &status)) {
		kill(watched->pid, SIGKILL);
		ep_say("%s: given up: a page or a file of that process lies where reading it does "
		       "not come back, as in a file system that does not answer",
		       arguments->operands[0]);
		return EP_EXIT_UNREADABLE;
	}
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	signal(WTERMSIG(status), SIG_DFL);
	raise(WTERMSIG(status));
	return EP_EXIT_UNREADABLE;
}

int ep_watch_run(const struct ep_arguments *arguments)
{
	struct watched watched = {.pidfd = -1};
	pid_t live, self = getpid();
	int ends[2], result;

	if (arguments->operand_count == 0 || strcmp(arguments->command->name, "tui") == 0 ||
	    arguments->command->rest ||
	    ep_identify(arguments->operands[0], &live) != EP_SOURCE_LIVE)
		return run(arguments);
	fflush(NULL);
	copies_make(&watched, ends);
	watched.pid = fork();
	if (watched.pid == 0)
		run_watched(arguments, ends, self);
	child = watched.pid;
	end_close(&ends[0]);
	if (watched.copies[1] >= 0)
		end_close(&ends[1]);
	if (watched.pid < 0)
		return run(arguments);
	signals_pass_on();
	watched.pidfd = (int)syscall(SYS_pidfd_open, watched.pid, 0);
	result = finish(arguments, &watched);
	for (int i = 0; i < 2; i++)
		end_close(&watched.copies[i]);
	if (watched.pidfd >= 0)
		close(watched.pidfd);
	return result;
}
