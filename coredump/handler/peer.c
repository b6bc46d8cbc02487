/* SPDX-License-Identifier: BSD-2-Clause */
/* peer.c: what Linux 6.1's headers do not have yet is laid out here as in the headers of 6.18. */
#include "coredump/handler/peer.h"

#include <assert.h>
#include <elf.h>
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "coredump/files/procfile.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* asm-generic/socket.h, since Linux 6.5 */
#endif

/* linux/pidfd.h: struct pidfd_info up to what 6.16 has. */
struct pidfd_facts {
	uint64_t mask;
	uint64_t cgroup;
	uint32_t pid, tgid, ppid; /* in our pid namespace */
	uint32_t ids[8];          /* real, effective, saved, fs: uid and gid */
	int32_t exit_code;
	uint32_t coredump_mask;
	uint32_t spare;
};
static_assert(sizeof(struct pidfd_facts) == 72, "linux/pidfd.h");

#define GET_INFO      _IOWR(0xff, 11, struct pidfd_facts) /* PIDFD_GET_INFO */
#define INFO_PID      UINT64_C(1)                         /* PIDFD_INFO_PID */
#define INFO_COREDUMP UINT64_C(16)                        /* PIDFD_INFO_COREDUMP */
#define COREDUMPED    1u                                  /* PIDFD_COREDUMPED */
#define COREDUMP_ROOT 8u                                  /* PIDFD_COREDUMP_ROOT: not the user's */

/* linux/coredump.h, since 6.17: the kernel's question and the answer. */
struct coredump_question {
	uint32_t size;     /* bytes of it */
	uint32_t size_ack; /* that an answer may have at most */
	uint64_t mask;     /* what may be wanted */
};
struct coredump_answer {
	uint32_t size, spare;
	uint64_t mask;
};
#define WANT_KERNEL   UINT64_C(1) /* COREDUMP_KERNEL: the kernel sends it */
#define WANT_WAIT     UINT64_C(8) /* COREDUMP_WAIT: and waits for us */
#define QUESTION_MOST 4096u       /* one page, as the kernel says of answers */

/* ---- who ---- */

static int facts_read(struct pidfd_facts *facts, int pidfd)
{
	memset(facts, 0, sizeof(*facts));
	facts->mask = INFO_PID | INFO_COREDUMP;
	return ioctl(pidfd, GET_INFO, facts);
}

int ep_peer_possible(struct ep_err *err)
{
	struct pidfd_facts facts = {0};
	int pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0), rc = -1;

	if (pidfd >= 0) {
		rc = facts_read(&facts, pidfd);
		close(pidfd);
	}
	if (rc == 0 && facts.mask & INFO_COREDUMP)
		return EP_OK;
	return ep_fail(err, EP_E_VERSION, 0,
		       "this kernel does not send cores to sockets: Linux does since 6.16; without "
		       "--listen, --install works with any");
}

/* Bytes that a core of it may have: UINT64_MAX, any number; none where that is not told. Not by
 * prlimit(2), which needs CAP_SYS_RESOURCE. */
static uint64_t limit_of(pid_t pid)
{
	static const char name[] = "Max core file size ";
	struct ep_procfile file;
	char path[32], *line;
	uint64_t limit = 0;

	snprintf(path, sizeof(path), "/proc/%d/limits", (int)pid);
	ep_procfile_open(&file, path);
	while ((line = ep_procfile_next(&file, '\n')) != NULL) {
		if (strncmp(line, name, strlen(name)) != 0)
			continue;
		line += strlen(name);
		line += strspn(line, " ");
		limit = *line == 'u' ? UINT64_MAX : strtoull(line, NULL, 10);
	}
	ep_procfile_close(&file);
	return limit;
}

int ep_peer_who(struct ep_crash *crash, int socket, int *pidfd, struct ep_err *err)
{
	struct pidfd_facts facts;
	socklen_t size = sizeof(*pidfd);

	ep_crash_init(crash);
	*pidfd = -1;
	if (getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, pidfd, &size) != 0 ||
	    facts_read(&facts, *pidfd) != 0)
		return ep_fail(err, EP_E_IO, 0, "who connected: %m");
	crash->pid = crash->inner_pid = (pid_t)facts.tgid;
	crash->time = (uint64_t)time(NULL);
	if (!(facts.mask & INFO_COREDUMP) || !(facts.coredump_mask & COREDUMPED))
		return ep_fail(err, EP_END, 0,
			       "it connected without crashing, and was turned away");
	crash->dumpable = facts.coredump_mask & COREDUMP_ROOT ? 2 : 1;
	crash->uid = crash->account = facts.ids[0];
	crash->gid = facts.ids[1];
	ep_crash_account(crash, *pidfd);
	return EP_OK;
}

int ep_peer_crash(struct ep_crash *crash, int pidfd, struct ep_err *err)
{
	crash->limit = limit_of(crash->pid);
	return ep_crash_of(crash, pidfd, err);
}

/* ---- what it says ---- */

static int answer(int socket, uint32_t size, struct ep_err *err)
{
	uint8_t bytes[QUESTION_MOST];
	struct coredump_question question;
	struct coredump_answer said = {.size = sizeof(said)};
	uint32_t mark = 1;

	if (recv(socket, bytes, size, MSG_WAITALL) != (ssize_t)size)
		return ep_fail(err, EP_E_IO, 0, "the kernel's question: %m");
	memcpy(&question, bytes, sizeof(question));
	said.mask = (WANT_KERNEL | WANT_WAIT) & question.mask;
	if (send(socket, &said, sizeof(said), MSG_NOSIGNAL) != sizeof(said) ||
	    recv(socket, &mark, sizeof(mark), MSG_WAITALL) != sizeof(mark))
		return ep_fail(err, EP_E_IO, 0, "answering the kernel: %m");
	if (mark != 0)
		return ep_fail(err, EP_E_FORMAT, 0, "the kernel does not take the answer (mark %u)",
			       mark);
	return EP_OK;
}

int ep_peer_begin(int socket, unsigned seconds, struct ep_err *err)
{
	struct pollfd wait = {.fd = socket, .events = POLLIN};
	struct timeval limit = {.tv_sec = seconds};
	uint32_t first = 0;

	setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	if (poll(&wait, 1, (int)seconds * 1000) != 1 ||
	    recv(socket, &first, sizeof(first), MSG_PEEK | MSG_WAITALL) != sizeof(first))
		return ep_fail(err, EP_E_IO, 0, "it crashed, and nothing came of its core");
	if (memcmp(&first, ELFMAG, SELFMAG) == 0)
		return EP_OK;
	if (first < sizeof(struct coredump_question) || first > QUESTION_MOST)
		return ep_fail(err, EP_E_FORMAT, 0,
			       "what came is neither a core nor the kernel's question");
	return answer(socket, first, err);
}

/* ---- the socket ---- */

int ep_peer_address(const char *path, struct sockaddr_un *out, struct ep_err *err)
{
	*out = (struct sockaddr_un){.sun_family = AF_UNIX};
	/* What the kernel takes: fs/coredump.c, format_corename. */
	if (*path != '/' || strstr(path, "..") || strlen(path) >= sizeof(out->sun_path))
		return ep_fail(err, EP_E_USAGE, 0,
			       "--listen=%s: an absolute path without .., of less than %zu bytes",
			       path, sizeof(out->sun_path));
	snprintf(out->sun_path, sizeof(out->sun_path), "%s", path);
	return EP_OK;
}

bool ep_peer_is_served(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool served;

	errno = 0;
	served = fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0;
	/* Who may not connect cannot know. */
	served |= errno == EACCES || errno == EPERM;
	if (fd >= 0)
		close(fd);
	return served;
}
