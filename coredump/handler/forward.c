/* SPDX-License-Identifier: BSD-2-Clause */
/* forward.c: whoever writes is a process of its own, so that its rights and its death are its
 * own. */
#include "coredump/handler/forward.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coredump/handler/core_pattern.h"
#include "coredump/handler/corefile.h"
#include "coredump/handler/relay.h"

#define WORDS_MAX 32 /* of a handler's command; core_pattern has 128 bytes */

/* ---- progress ---- */

/* `moved` grows while anything moves; the process that waits for us looks at it, and at why it
 * failed. In memory that both have. */
static struct ep_forward_shared *shared;

/* In the forwarder; what it returns is its exit status. */
static int stream_copy(struct ep_relay *relay, int out)
{
	struct ep_err err;

	return ep_relay_forward(relay, out, &shared->moved, &err) == EP_OK ? 0 : 1;
}

/* ---- a file ---- */

enum { WHOLE, FAILED, UNWANTED }; /* how the writer exits */

static int core_write(struct ep_relay *piped, const struct ep_crash *crash, const char *pattern,
		      bool uses_pid, struct ep_err *err)
{
	struct rlimit limit = {crash->limit, RLIM_INFINITY};
	uint64_t bytes = 0;
	int fd, rc = ep_corefile_open(crash, pattern, uses_pid, &fd, err);

	if (rc)
		return rc == EP_END ? UNWANTED : FAILED;
	if (crash->limit != UINT64_MAX) {
		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &limit);
	}
	return ep_relay_forward(piped, fd, &bytes, NULL) == EP_OK ? WHOLE : FAILED;
}

/*
 * The writer has a pipe, and not the kernel's stream: in a file system that does not answer (FUSE)
 * SIGKILL does not end it, and whoever has the stream open holds the crashed process.
 */
static int to_file(struct ep_relay *relay, const struct ep_crash *crash, const char *pattern,
		   bool uses_pid, struct ep_err *err)
{
	int ends[2], status = -1, copied;
	pid_t writer;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return 1;
	writer = fork();
	if (writer == 0) {
		struct ep_relay piped = {.stream = ends[0], .memory = -1, .wake = {-1, -1}};

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		ep_relay_deinit(relay);
		close(ends[1]);
		_exit(core_write(&piped, crash, pattern, uses_pid, err));
	}
	close(ends[0]);
	copied = writer < 0 ? 1 : stream_copy(relay, ends[1]);
	close(ends[1]);
	/* It has yet to write what the pipe holds. */
	shared->moved++;
	if (writer < 0 || waitpid(writer, &status, 0) != writer || !WIFEXITED(status))
		return 1;
	return WEXITSTATUS(status) == WHOLE ? copied : WEXITSTATUS(status) != UNWANTED;
}

/* ---- a program ---- */

static int words_expand(const struct ep_crash *crash, const char *command, char *words[WORDS_MAX])
{
	static char texts[WORDS_MAX][PATH_MAX];
	char copy[256], *save = NULL, *word;
	int count = 0;

	snprintf(copy, sizeof(copy), "%s", command);
	for (word = strtok_r(copy, " ", &save); word && count < WORDS_MAX - 1;
	     word = strtok_r(NULL, " ", &save)) {
		if (ep_core_pattern_expand(crash, word, texts[count], PATH_MAX, NULL))
			return 0;
		words[count] = texts[count];
		count++;
	}
	words[count] = NULL;
	return count;
}

static void program_start(const struct ep_crash *crash, const char *command, int in)
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

static int to_program(struct ep_relay *relay, const struct ep_crash *crash, const char *command)
{
	int ends[2], status = 1, result;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return 1;
	child = fork();
	if (child == 0)
		program_start(crash, command, ends[0]);
	close(ends[0]);
	result = child < 0 ? 1 : stream_copy(relay, ends[1]);
	close(ends[1]);
	/* It may have work to do when all is there: as long as a stall. */
	shared->moved++;
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

	return send(fd, &request, sizeof(request), MSG_NOSIGNAL) == sizeof(request) &&
	       recv(fd, &answer, sizeof(answer), MSG_WAITALL) == sizeof(answer) &&
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
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", pattern + asks);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
	    (asks && !negotiate(fd)))
		return 1;
	result = stream_copy(relay, fd);
	shutdown(fd, SHUT_WR);
	/* The server ends it when it is done with the process. */
	while (recv(fd, &byte, 1, 0) > 0)
		;
	return result;
}

/* ---- whichever ---- */

static int forwarder_run(struct ep_relay *relay, const struct ep_crash *crash, const char *previous,
			 bool uses_pid, struct ep_err *err)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (*previous == '|')
		return to_program(relay, crash, previous + 1);
	if (*previous == '@')
		return to_socket(relay, previous + 1);
	return to_file(relay, crash, previous, uses_pid, err);
}

int ep_forward_begin(struct ep_forward *forward, struct ep_relay *relay,
		     const struct ep_crash *crash, const char *previous, bool uses_pid,
		     struct ep_err *err)
{
	int ends[2];

	*forward = (struct ep_forward){.process = -1, .ended = -1};
	shared = forward->shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
					MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED || pipe2(ends, O_CLOEXEC) != 0)
		return ep_fail(err, EP_E_IO, 0, "%s: %m", previous);
	forward->process = fork();
	if (forward->process == 0) {
		ep_relay_keep(relay, EP_RELAY_FORWARDER);
		_exit(forwarder_run(relay, crash, previous, uses_pid, &shared->err));
	}
	close(ends[1]);
	if (forward->process < 0) {
		close(ends[0]);
		return ep_fail(err, EP_E_IO, 0, "%s: %m", previous);
	}
	forward->ended = ends[0];
	return EP_OK;
}

bool ep_forward_stalls(struct ep_forward *forward)
{
	bool stalls = forward->shared->moved == forward->moved_before;

	forward->moved_before = forward->shared->moved;
	return stalls;
}

int ep_forward_end(struct ep_forward *forward, bool stalled, const char *previous, unsigned seconds,
		   struct ep_err *err)
{
	int status = -1;

	ep_relay_reap(forward->process, stalled, &status);
	close(forward->ended);
	forward->process = forward->ended = -1;
	if (stalled)
		return ep_fail(err, EP_E_IO, 0, "%s: nothing moved for %u seconds", previous,
			       seconds);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return EP_OK;
	shared->err.text[sizeof(shared->err.text) - 1] = '\0';
	return ep_fail(err, EP_E_IO, 0, "%s: did not take all of the core%s%s", previous,
		       shared->err.text[0] ? ": " : "", shared->err.text);
}
