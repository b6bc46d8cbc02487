/* SPDX-License-Identifier: BSD-2-Clause */
/* relay.c: a byte is in memory before anybody learns of it, and room for it before it is taken from
 * the stream: so none is lost. */
#include "coredump/handler/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STEP  (64u << 10) /* bytes: what a pipe holds (pipe(7)) */
#define CHUNK (1u << 20)  /* bytes that are forwarded at once */
#define PAGE  4096u

uint64_t ep_relay_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void ep_relay_reap(pid_t child, bool end, int *status)
{
	const struct timespec look = {.tv_nsec = 10000000};

	if (!end) {
		waitpid(child, status, 0);
		return;
	}
	if (kill(child, SIGKILL) != 0)
		return;
	for (int i = 0; i < 100 && waitpid(child, status, WNOHANG) == 0; i++)
		nanosleep(&look, NULL);
}

/* ---- life ---- */

static void close_end(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

int ep_relay_init(struct ep_relay *relay, int stream, struct ep_err *err)
{
	*relay = (struct ep_relay){.stream = stream,
				   .memory = -1,
				   .feed = {-1, -1},
				   .wake = {-1, -1},
				   .most = EP_RELAY_MOST};
	relay->memory = memfd_create("core", MFD_CLOEXEC);
	if (relay->memory < 0 || pipe2(relay->feed, O_CLOEXEC) != 0 ||
	    pipe2(relay->wake, O_CLOEXEC) != 0)
		return ep_fail(err, EP_E_IO, 0, "copying the core: %m");
	fcntl(relay->feed[1], F_SETFL, O_NONBLOCK);
	fcntl(relay->wake[1], F_SETFL, O_NONBLOCK);
	return EP_OK;
}

void ep_relay_deinit(struct ep_relay *relay)
{
	close_end(&relay->stream);
	close_end(&relay->memory);
	for (int i = 0; i < 2; i++) {
		close_end(&relay->feed[i]);
		close_end(&relay->wake[i]);
	}
}

void ep_relay_keep(struct ep_relay *relay, enum ep_relay_end end)
{
	close_end(&relay->feed[1]);
	close_end(&relay->wake[1]);
	if (end == EP_RELAY_FORWARDER) {
		close_end(&relay->feed[0]);
		return;
	}
	close_end(&relay->wake[0]);
	close_end(&relay->memory);
	close_end(&relay->stream);
}

/* ---- the copy ---- */

static uint64_t stored(const struct ep_relay *relay)
{
	struct stat st;

	return fstat(relay->memory, &st) == 0 ? (uint64_t)st.st_size : 0;
}

/* More of the stream into memory. */
static void store(struct ep_relay *relay, uint64_t at)
{
	uint8_t bytes[STEP];
	ssize_t n;

	if (fallocate(relay->memory, FALLOC_FL_KEEP_SIZE, (off_t)at, STEP)) {
		relay->most = at;
		return;
	}
	n = read(relay->stream, bytes, sizeof(bytes));
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	relay->ended = n <= 0;
	if (n > 0 && pwrite(relay->memory, bytes, (size_t)n, (off_t)at) == n &&
	    write(relay->wake[1], "", 1) < 0)
		return; /* it has not read what woke it before */
}

static void feed(struct ep_relay *relay)
{
	off_t at = (off_t)relay->fed;
	ssize_t n = sendfile(relay->feed[1], relay->memory, &at, STEP);

	if (n > 0)
		relay->fed += (uint64_t)n;
	else if (n < 0 && errno != EAGAIN && errno != EINTR)
		close_end(&relay->feed[1]);
}

static int milliseconds(uint64_t until)
{
	uint64_t now = ep_relay_now();

	return now >= until ? 0 : (int)((until - now) / 1000000 + 1);
}

/* False: nothing is left to do. */
static bool step(struct ep_relay *relay, bool ahead, uint64_t until)
{
	uint64_t have = stored(relay);
	bool more = !relay->ended && have < relay->most;
	struct pollfd wait[2] = {
		{.fd = more && (ahead || relay->fed == have) ? relay->stream : -1,
		 .events = POLLIN},
		{.fd = relay->feed[1], .events = relay->fed < have ? POLLOUT : 0},
	};
	int left = milliseconds(until);

	if (!more)
		close_end(&relay->wake[1]);
	if (left == 0 || (!more && relay->fed == have))
		return false;
	if (poll(wait, 2, left) <= 0)
		return true;
	if (wait[1].revents & POLLERR)
		return false;
	if (wait[1].revents)
		feed(relay);
	if (wait[0].revents)
		store(relay, have);
	return relay->feed[1] >= 0;
}

void ep_relay_run(struct ep_relay *relay, bool ahead, uint64_t until)
{
	while (relay->feed[1] >= 0 && step(relay, ahead, until))
		;
	close_end(&relay->feed[1]);
	close_end(&relay->wake[1]);
}

/* ---- the forwarder ---- */

static int write_all(int out, const uint8_t *bytes, size_t size)
{
	while (size) {
		ssize_t n = write(out, bytes, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		bytes += n;
		size -= (size_t)n;
	}
	return 0;
}

/* A hole stays one; the file's end is set when all is there. */
static int write_sparse(int out, const uint8_t *bytes, size_t size)
{
	static const uint8_t zeroes[PAGE];
	size_t from = 0;

	for (size_t at = 0, page; at < size; at += page) {
		page = size - at < PAGE ? size - at : PAGE;
		if (memcmp(bytes + at, zeroes, page) != 0)
			continue;
		if (write_all(out, bytes + from, at - from) != 0 ||
		    lseek(out, (off_t)page, SEEK_CUR) < 0)
			return -1;
		from = at + page;
	}
	return write_all(out, bytes + from, size - from);
}

static int put(int out, bool sparse, const uint8_t *bytes, size_t size)
{
	return sparse ? write_sparse(out, bytes, size) : write_all(out, bytes, size);
}

/* Waits until there is more than `sent` in memory. False: there will not be. */
static bool stored_beyond(struct ep_relay *relay, uint64_t sent)
{
	char woken[64];
	ssize_t n = 1;

	while (stored(relay) <= sent) {
		if (n == 0)
			return false;
		n = read(relay->wake[0], woken, sizeof(woken));
		if (n < 0 && errno != EINTR)
			n = 0;
	}
	return true;
}

static int stored_forward(struct ep_relay *relay, int out, bool sparse, uint8_t *buffer,
			  uint64_t *bytes)
{
	while (stored_beyond(relay, *bytes)) {
		ssize_t n = pread(relay->memory, buffer, CHUNK, (off_t)*bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 || put(out, sparse, buffer, (size_t)n) != 0)
			return -1;
		*bytes += (uint64_t)n;
	}
	return 0;
}

/* Pages that are in a pipe already need no copying. False: this cannot be done here, and nothing
 * was. */
static bool splice_rest(struct ep_relay *relay, int out, uint64_t *bytes, int *rc)
{
	ssize_t n;

	*rc = 0;
	do {
		n = splice(relay->stream, NULL, out, NULL, CHUNK, SPLICE_F_MOVE);
		if (n > 0)
			*bytes += (uint64_t)n;
		if (n < 0 && errno == EINVAL)
			return false;
		if (n < 0 && errno != EINTR)
			*rc = -1;
	} while (n > 0 || (n < 0 && errno == EINTR));
	return true;
}

static int rest_forward(struct ep_relay *relay, int out, bool sparse, uint8_t *buffer,
			uint64_t *bytes)
{
	for (;;) {
		size_t got = 0;
		ssize_t n = 1;

		while (got < CHUNK && n) {
			n = read(relay->stream, buffer + got, CHUNK - got);
			if (n < 0 && errno != EINTR)
				return -1;
			got += n > 0 ? (size_t)n : 0;
		}
		if (put(out, sparse, buffer, got) != 0)
			return -1;
		*bytes += got;
		if (n == 0)
			return sparse ? ftruncate(out, (off_t)*bytes) : 0;
	}
}

int ep_relay_forward(struct ep_relay *relay, int out, uint64_t *bytes, struct ep_err *err)
{
	static uint8_t buffer[CHUNK]; /* no want of memory stops the core */
	bool sparse = lseek(out, 0, SEEK_CUR) >= 0;
	int rc = stored_forward(relay, out, sparse, buffer, bytes);

	if (rc == 0 && (sparse || !splice_rest(relay, out, bytes, &rc)))
		rc = rest_forward(relay, out, sparse, buffer, bytes);
	return rc == 0 ? EP_OK : ep_fail(err, EP_E_IO, *bytes, "%m");
}
