/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * catch_listen.c: epitaph catch --listen: what the kernel's handler is, for the sockets that
 * kernel.core_pattern may name since Linux 6.16. Each connection has a process of its own: none
 * waits for another, and if this one ends, they go on.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/commands/catch/catch.h"
#include "cli/common/say.h"
#include "coredump/handler/handle.h"
#include "coredump/handler/peer.h"

#define QUEUE         4096 /* where it is full, the kernel gives up the core; net.core.somaxconn */
#define BEGIN_SECONDS 10u  /* the kernel begins at once */
#define PASSED_FD     3    /* sd_listen_fds(3): SD_LISTEN_FDS_START */

struct listener {
	const char *folder; /* the store's */
	int fd;
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)]; /* made by us; "": not */
	unsigned busy;                                          /* processes */
};

/* ---- one connection ---- */

/* In a process of its own. */
static _Noreturn void serve(const struct ep_store *store, struct ep_crash *crash, int pidfd,
			    int socket)
{
	struct ep_err err = {0};
	int rc = ep_peer_crash(crash, pidfd, &err);

	rc = rc ? rc : ep_peer_begin(socket, BEGIN_SECONDS, &err);
	if (rc)
		ep_store_log(store, crash, err.text);
	else
		ep_handle_crash(store, crash, socket);
	_exit(rc != EP_OK);
}

static void serve_start(struct listener *listener, const struct ep_store *store,
			struct ep_crash *crash, int pidfd, int socket, const sigset_t *usual)
{
	pid_t child = fork();

	if (child == 0) {
		signal(SIGTERM, SIG_DFL);
		signal(SIGINT, SIG_DFL);
		signal(SIGCHLD, SIG_DFL);
		sigprocmask(SIG_SETMASK, usual, NULL);
		close(listener->fd);
		serve(store, crash, pidfd, socket);
	}
	/* Without a process there is no snapshot; the crashed one goes on. */
	listener->busy += child > 0;
}

/* Here is what costs no time, and waits for nobody: of a thousand crashes of one user all but his
 * share are turned away before the next one comes. */
static void receive(struct listener *listener, int socket, const sigset_t *usual)
{
	static struct ep_store store;
	static struct ep_crash crash;
	struct ep_err err = {0};
	int pidfd = -1, place = -1, rc;

	/* As they are now: --install may have come after us. */
	if (ep_store_load(&store, listener->folder, &err) < 0) {
		ep_say("%s", err.text);
		close(socket);
		return;
	}
	rc = ep_peer_who(&crash, socket, &pidfd, &err);
	rc = rc ? rc : ep_store_enter(&store, crash.account, &place, &err);
	if (rc)
		ep_store_log(&store, &crash, err.text);
	else
		serve_start(listener, &store, &crash, pidfd, socket, usual);
	if (pidfd >= 0)
		close(pidfd);
	if (place >= 0)
		close(place);
	close(socket);
}

/* ---- the loop ---- */

static volatile sig_atomic_t ended;

static void end(int number)
{
	ended = number != SIGCHLD;
}

/* Signals come in ppoll only, so that none is missed before it. */
static void signals_settle(sigset_t *usual)
{
	static const int all[] = {SIGTERM, SIGINT, SIGCHLD};
	struct sigaction action = {.sa_handler = end};
	sigset_t blocked;

	sigemptyset(&blocked);
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		sigaddset(&blocked, all[i]);
		sigaction(all[i], &action, NULL);
	}
	sigprocmask(SIG_BLOCK, &blocked, usual);
}

static void reap(struct listener *listener)
{
	while (listener->busy && waitpid(-1, NULL, WNOHANG) > 0)
		listener->busy--;
}

static void loop(struct listener *listener)
{
	sigset_t usual;

	signals_settle(&usual);
	while (!ended) {
		bool room = listener->busy < EP_HANDLED_AT_ONCE;
		struct pollfd wait = {.fd = listener->fd, .events = POLLIN};
		int socket;

		if (ppoll(&wait, room, NULL, &usual) > 0) {
			socket = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC);
			if (socket >= 0)
				receive(listener, socket, &usual);
			else if (errno == EMFILE || errno == ENFILE)
				sleep(1);
		}
		reap(listener);
	}
	if (listener->path[0])
		unlink(listener->path);
}

/* ---- the socket ---- */

/* One that was left behind is replaced; one that is served is not. */
static int socket_make(struct listener *listener, const char *path)
{
	struct sockaddr_un address;
	struct ep_err err = {0};
	struct stat status;

	if (ep_peer_address(path, &address, &err)) {
		ep_say("%s", err.text);
		return EP_EXIT_USAGE;
	}
	if (lstat(path, &status) == 0 && S_ISSOCK(status.st_mode)) {
		if (ep_peer_is_served(&address)) {
			ep_say("%s: somebody listens there already", path);
			return EP_EXIT_UNREADABLE;
		}
		unlink(path);
	}
	listener->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	/* For root only: the kernel connects as it likes (SOCK_COREDUMP). */
	umask(077);
	if (listener->fd < 0 || bind(listener->fd, (struct sockaddr *)&address, sizeof(address)) ||
	    listen(listener->fd, QUEUE)) {
		ep_say("%s: %s", path, strerror(errno));
		return EP_EXIT_UNREADABLE;
	}
	snprintf(listener->path, sizeof(listener->path), "%s", path);
	return 0;
}

/* sd_listen_fds(3): who started us has made the socket. False: nobody has. */
static bool passed(int *result, struct listener *listener)
{
	const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");
	int listens = 0;
	socklen_t size = sizeof(listens);

	if (!pid || !fds || atol(pid) != (long)getpid())
		return false;
	*result = 0;
	if (strcmp(fds, "1") != 0 ||
	    getsockopt(PASSED_FD, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) || !listens) {
		ep_say("LISTEN_FDS=%s: one socket that listens (ListenStream=) is what --listen "
		       "takes",
		       fds);
		*result = EP_EXIT_USAGE;
	}
	listener->fd = PASSED_FD;
	fcntl(PASSED_FD, F_SETFD, FD_CLOEXEC);
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	return true;
}

int ep_catch_listen(const struct ep_arguments *arguments, const char *path)
{
	const char *folder = ep_argument(arguments, "store");
	struct listener listener = {.fd = -1, .folder = folder ? folder : EP_STORE_DEFAULT};
	struct ep_err err = {0};
	int result = 0;

	if (ep_peer_possible(&err)) {
		ep_say("%s", err.text);
		return EP_EXIT_UNREADABLE;
	}
	if (!passed(&result, &listener))
		result = socket_make(&listener, path);
	if (result)
		return result;
	ep_handle_settle();
	loop(&listener);
	return EP_EXIT_COMPLETE;
}
