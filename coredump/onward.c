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
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coredump/relay.h"

#define WORDS_MAX 32 /* of a handler's command; core_pattern has 128 bytes */

/* ---- progress ---- */

/* Grows while anything moves; the process that waits for us looks at it. In
 * memory that both have. */
static uint64_t *moved;

/* In the forwarder; what it returns is its exit status. */
static int forward(struct ep_relay *relay, int out)
{
	struct ep_err err;

	return ep_relay_forward(relay, out, moved, &err) == EP_OK ? 0 : 1;
}

/* ---- a file ---- */

/* As the user that crashed: what he could not write, we do not. */
static bool become(const struct ep_crash *crash)
{
	/* A change of ids forgets whom to die with (prctl(2)); and what he may
	 * signal he must not trace. */
	return setgroups(0, NULL) == 0 &&
	       setresgid(crash->gid, crash->gid, crash->gid) == 0 &&
	       setresuid(crash->uid, crash->uid, crash->uid) == 0 &&
	       prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 &&
	       prctl(PR_SET_DUMPABLE, 0) == 0;
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

static int to_file(struct ep_relay *relay, const struct ep_crash *crash,
		   const char *pattern, bool uses_pid)
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
	return forward(relay, fd);
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

static int to_program(struct ep_relay *relay, const struct ep_crash *crash,
		      const char *command)
{
	int ends[2], status = 1, result;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return 1;
	child = fork();
	if (child == 0)
		program_start(crash, command, ends[0]);
	close(ends[0]);
	result = child < 0 ? 1 : forward(relay, ends[1]);
	close(ends[1]);
	/* It may have work to do when all is there: as long as a stall. */
	++*moved;
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

static int to_socket(struct ep_relay *relay, const char *pattern)
{
	bool asks = *pattern == '@';
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), result;
	char byte;

	if (fd < 0)
		return 1;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s",
		 pattern + asks);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
	    (asks && !negotiate(fd)))
		return 1;
	result = forward(relay, fd);
	shutdown(fd, SHUT_WR);
	/* The server ends it when it is done with the process. */
	while (recv(fd, &byte, 1, 0) > 0)
		;
	return result;
}

/* ---- whichever ---- */

static int writer_run(struct ep_relay *relay, const struct ep_crash *crash,
		      const char *previous, bool uses_pid)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (*previous == '|')
		return to_program(relay, crash, previous + 1);
	if (*previous == '@')
		return to_socket(relay, previous + 1);
	return to_file(relay, crash, previous, uses_pid);
}

int ep_onward_begin(struct ep_onward *onward, struct ep_relay *relay,
		    const struct ep_crash *crash, const char *previous,
		    bool uses_pid, struct ep_err *err)
{
	int ends[2];

	*onward = (struct ep_onward){.process = -1, .ended = -1};
	moved = onward->moved =
		mmap(NULL, sizeof(*moved), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (moved == MAP_FAILED || pipe2(ends, O_CLOEXEC) != 0)
		return ep_fail(err, EP_E_IO, 0, "%s: %m", previous);
	onward->process = fork();
	if (onward->process == 0) {
		ep_relay_keep(relay, EP_RELAY_FORWARDER);
		_exit(writer_run(relay, crash, previous, uses_pid));
	}
	close(ends[1]);
	if (onward->process < 0) {
		close(ends[0]);
		return ep_fail(err, EP_E_IO, 0, "%s: %m", previous);
	}
	onward->ended = ends[0];
	return EP_OK;
}

bool ep_onward_stalls(struct ep_onward *onward)
{
	bool stalls = *onward->moved == onward->moved_before;

	onward->moved_before = *onward->moved;
	return stalls;
}

int ep_onward_end(struct ep_onward *onward, bool stalled, const char *previous,
		  unsigned seconds, struct ep_err *err)
{
	int status = -1;

	if (stalled)
		kill(onward->process, SIGKILL);
	waitpid(onward->process, &status, 0);
	close(onward->ended);
	onward->process = onward->ended = -1;
	if (stalled)
		return ep_fail(err, EP_E_IO, 0,
			       "%s: nothing moved for %u seconds", previous,
			       seconds);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return EP_OK;
	return ep_fail(err, EP_E_IO, 0, "%s: did not take all of the core",
		       previous);
}
