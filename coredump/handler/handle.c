/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * handle.c: a process takes the snapshot, while the kernel holds the one that crashed, and another
 * passes the stream on to the previous handler (relay.h says who has which rights). Whatever
 * happens to one of the two, the other is whole; and here, between them, nothing is allocated that
 * the core could not go on without.
 */
#include "coredump/handler/handle.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coredump/handler/forward.h"
#include "coredump/handler/parser.h"

/* ---- both processes ---- */

struct handling {
	const struct ep_store *store;
	const struct ep_crash *crash;
	struct ep_relay relay;
	struct ep_parser parser;
	struct ep_forward forward;
	uint64_t look; /* CLOCK_MONOTONIC, ns: when to see whether the core moves */
};

static void log_failure(const struct handling *h, int rc, const struct ep_err *err)
{
	if (rc)
		ep_store_log(h->store, h->crash, err->text);
}

static void parser_begin(struct handling *h)
{
	struct ep_err err = {0};

	/* Of who is not known nothing is read. */
	if (h->crash->proc >= 0)
		log_failure(h, ep_parser_begin(&h->parser, h->store, h->crash, &h->relay, &err),
			    &err);
	/* Its end is its own: when it is closed there, nothing is wanted. */
	close(h->relay.feed[0]);
	h->relay.feed[0] = -1;
}

static void parser_end(struct handling *h, bool late)
{
	struct ep_err err = {0};

	log_failure(h, ep_parser_end(&h->parser, late, h->store, h->crash, &err), &err);
}

static void look_later(struct handling *h)
{
	h->look = h->store->seconds ? ep_relay_now() + h->store->seconds * UINT64_C(1000000000)
				    : UINT64_MAX;
}

static void forward_begin(struct handling *h)
{
	struct ep_err err = {0};

	if (h->store->previous[0] == '\0')
		return;
	log_failure(h,
		    ep_forward_begin(&h->forward, &h->relay, h->crash, h->store->previous,
				     h->store->uses_pid, &err),
		    &err);
	look_later(h);
}

static void forward_end(struct handling *h, bool stalled)
{
	struct ep_err err = {0};

	log_failure(
		h,
		ep_forward_end(&h->forward, stalled, h->store->previous, h->store->seconds, &err),
		&err);
}

static int milliseconds_to(uint64_t until, uint64_t now)
{
	uint64_t left = until > now ? (until - now) / 1000000 + 1 : 0;

	return left > 60000 ? 60000 : (int)left;
}

/* Until both have ended, or had to be. */
static void await(struct handling *h)
{
	while (h->parser.said >= 0 || h->forward.ended >= 0) {
		struct pollfd wait[2] = {{.fd = h->parser.said}, {.fd = h->forward.ended}};
		uint64_t now = ep_relay_now(), until = UINT64_MAX;

		if (h->parser.said >= 0)
			until = h->parser.until;
		if (h->forward.ended >= 0 && h->look < until)
			until = h->look;
		poll(wait, 2, milliseconds_to(until, now));
		now = ep_relay_now();
		if (h->parser.said >= 0 && (wait[0].revents || now >= h->parser.until))
			parser_end(h, !wait[0].revents);
		if (h->forward.ended >= 0 && wait[1].revents) {
			forward_end(h, false);
		} else if (h->forward.ended >= 0 && now >= h->look) {
			if (ep_forward_stalls(&h->forward))
				forward_end(h, true);
			look_later(h);
		}
	}
}

/* ---- the handler ---- */

/* The kernel starts it with nothing but stdin. */
void ep_handle_settle(void)
{
	int null = open("/dev/null", O_RDWR);

	while (null >= 0 && null <= 2)
		null = dup(null);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	umask(077);
}

void ep_handle_crash(const struct ep_store *store, const struct ep_crash *crash, int stream)
{
	struct handling h = {.store = store,
			     .crash = crash,
			     .parser = {.process = -1, .said = -1},
			     .forward = {.process = -1, .ended = -1}};
	struct ep_err err = {0};
	bool together = ep_store_pipe_limit() > 0;

	log_failure(&h, ep_relay_init(&h.relay, stream, &err), &err);
	/* First who passes it on: the process is held for that. */
	if (together)
		forward_begin(&h);
	parser_begin(&h);
	ep_relay_run(&h.relay, h.forward.process > 0, h.parser.until);
	if (!together) {
		await(&h);
		forward_begin(&h);
	}
	await(&h);
	ep_relay_deinit(&h.relay);
}
