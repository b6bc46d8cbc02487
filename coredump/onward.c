/* SPDX-License-Identifier: BSD-2-Clause */
/* onward.c: see onward.h. Whoever writes is a process of its own, so that its
 * rights and its death are its own. */
#include "coredump/onward.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "coredump/spool.h"

#define WORDS_MAX 32 /* of a handler's command; core_pattern has 128 bytes */

/* ---- time ---- */

/* Looked at by the signal handler: has anything moved since? */
static uint64_t moved;
static uint64_t moved_before;

static void stalled(int signal)
{
	(void)signal;
	if (moved == moved_before)
		_exit(3);
	moved_before = moved;
}

/* From here on the process ends when nothing moves for so long. */
static void limit_stalls(unsigned seconds)
{
	struct sigaction action = {.sa_handler = stalled,
				   .sa_flags = SA_RESTART};
	timer_t timer;
	struct itimerspec spec = {{seconds, 0}, {seconds, 0}};

	moved = moved_before = 0;
	sigaction(SIGALRM, &action, NULL);
	if (seconds && timer_create(CLOCK_MONOTONIC, NULL, &timer) == 0)
		timer_settime(timer, 0, &spec, NULL);
}

/* In the writer; what it returns is its exit status. */
static int forward(struct ep_source *held, int out, unsigned seconds)
{
	struct ep_err err;

	limit_stalls(seconds);
	return ep_spool_forward(held, out, &moved, &err) == EP_OK ? 0 : 1;
}

/* ---- a file ---- */

/* As the user that crashed: what he could not write, we do not. */
static bool become(const struct ep_crash *crash)
{
	return setgroups(0, NULL) == 0 &&
	       setresgid(crash->gid, crash->gid, crash->gid) == 0 &&
	       setresuid(crash->uid, crash->uid, crash->uid) == 0;
}

/* Where the process would have written: below its own root, or in its working
 * directory. */
static int directory_open(const struct ep_crash *crash, const char **name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)crash->pid,
		 **name == '/' ? "root" : "cwd");
	while (**name == '/')
		(*name)++;
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* core(5): not through a link, not into anything but a regular file of the
 * user's own that has one name. */
static int core_open(const struct ep_crash *crash, const char *name)
{
	int directory = directory_open(crash, &name), fd;
	struct stat st;

	if (directory < 0 || (crash->dumpable != 2 && !become(crash)))
		return -1;
	unlinkat(directory, name, 0);
	fd = openat(directory, name,
		    O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
		close(fd);
		return -1;
	}
	return fd;
}

static int to_file(struct ep_source *held, const struct ep_crash *crash,
		   const char *pattern, bool uses_pid, unsigned seconds)
{
	struct rlimit limit = {crash->limit, RLIM_INFINITY};
	char name[PATH_MAX];
	size_t length;
	int fd;

	/* Without a limit there would be no core, and setuid programs leave
	 * none behind a relative name. */
	if (crash->limit < 4096 || (crash->dumpable == 2 && *pattern != '/') ||
	    ep_crash_expand(crash, pattern, name, sizeof(name), NULL))
		return 1;
	length = strlen(name);
	if (uses_pid && !ep_crash_names_pid(pattern))
		snprintf(name + length, sizeof(name) - length, ".%d",
			 (int)crash->inner_pid);
	fd = core_open(crash, name);
	if (fd < 0)
		return 1;
	if (crash->limit != UINT64_MAX) {
		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &limit);
	}
	return forward(held, fd, seconds);
}

/* ---- a program ---- */

static int words_expand(const struct ep_crash *crash, const char *command,
			char *words[WORDS_MAX])
{
	static char texts[WORDS_MAX][PATH_MAX];
	char copy[256], *save = NULL, *word;
	int count = 0;

	snprintf(copy, sizeof(copy), "%s", command);
	for (word = strtok_r(copy, " ", &save); word && count < WORDS_MAX - 1;
	     word = strtok_r(NULL, " ", &save)) {
		if (ep_crash_expand(crash, word, texts[count], PATH_MAX, NULL))
			return 0;
		words[count] = texts[count];
		count++;
	}
	words[count] = NULL;
	return count;
}

static void program_start(const struct ep_crash *crash, const char *command,
			  int in)
{
	static char *const nothing[] = {NULL};
	char *words[WORDS_MAX];
	int null = open("/dev/null", O_RDWR);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (chdir("/") != 0 || !words_expand(crash, command, words))
		_exit(127);
	dup2(in, 0);
	dup2(null, 1);
	dup2(null, 2);
	signal(SIGPIPE, SIG_DFL);
	execve(words[0], words, nothing);
	_exit(127);
}

static int to_program(struct ep_source *held, const struct ep_crash *crash,
		      const char *command, unsigned seconds)
{
	int ends[2], status = 1, result;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return 1;
	child = fork();
	if (child == 0)
		program_start(crash, command, ends[0]);
	close(ends[0]);
	result = child < 0 ? 1 : forward(held, ends[1], seconds);
	close(ends[1]);
	/* It may have work to do when all is there: as long as a stall. */
	moved++;
	if (child > 0 && waitpid(child, &status, 0) == child)
		result |= !WIFEXITED(status) || WEXITSTATUS(status) != 0;
	return result;
}

/* ---- a socket ---- */

/* linux/coredump.h of Linux 6.17: what the kernel and a server say of @@. */
struct request {
	uint32_t size, size_ack;
	uint64_t mask;
};
struct answer {
	uint32_t size, spare;
	uint64_t mask;
};
#define MASK_KERNEL UINT64_C(1) /* the core follows */
#define MASK_WAIT   UINT64_C(8)

/* The kernel's part of the conversation. False: the server wants no core. */
static bool negotiate(int fd)
{
	struct request request = {sizeof(request), sizeof(struct answer), 15};
	struct answer answer = {0};
	uint32_t mark = 0;

	return send(fd, &request, sizeof(request), MSG_NOSIGNAL) ==
		       sizeof(request) &&
	       recv(fd, &answer, sizeof(answer), MSG_WAITALL) ==
		       sizeof(answer) &&
	       (answer.mask & MASK_KERNEL) &&
	       send(fd, &mark, sizeof(mark), MSG_NOSIGNAL) == sizeof(mark);
}

static int to_socket(struct ep_source *held, const char *pattern,
		     unsigned seconds)
{
	bool asks = *pattern == '@';
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), result;
	char byte;

	if (fd < 0)
		return 1;
	limit_stalls(seconds);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s",
		 pattern + asks);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
	    (asks && !negotiate(fd)))
		return 1;
	result = forward(held, fd, seconds);
	shutdown(fd, SHUT_WR);
	/* The server ends it when it is done with the process. */
	while (recv(fd, &byte, 1, 0) > 0)
		;
	return result;
}

/* ---- whichever ---- */

static int writer_run(struct ep_source *held, const struct ep_crash *crash,
		      const char *previous, bool uses_pid, unsigned seconds)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (*previous == '|')
		return to_program(held, crash, previous + 1, seconds);
	if (*previous == '@')
		return to_socket(held, previous + 1, seconds);
	return to_file(held, crash, previous, uses_pid, seconds);
}

int ep_onward(struct ep_source *held, const struct ep_crash *crash,
	      const char *previous, bool uses_pid, unsigned seconds,
	      struct ep_err *err)
{
	int status = -1;
	pid_t child;

	if (*previous == '\0')
		return EP_OK;
	child = fork();
	if (child == 0)
		_exit(writer_run(held, crash, previous, uses_pid, seconds));
	if (child > 0)
		waitpid(child, &status, 0);
	if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return EP_OK;
	if (child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 3)
		return ep_fail(err, EP_E_IO, 0,
			       "%s: nothing moved for %u seconds", previous,
			       seconds);
	return ep_fail(err, EP_E_IO, 0, "%s: did not take all of the core",
		       previous);
}
