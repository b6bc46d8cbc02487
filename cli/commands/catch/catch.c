/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * catch.c: epitaph catch, the kernel's handler of crashes: a process takes the snapshot, while the
 * kernel holds the one that crashed, and another passes the stream on to whom it went before
 * (relay.h says who has which rights). Whatever happens to one of the two, the other is whole.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/commands/catch/catch.h"
#include "cli/common/commands.h"
#include "cli/common/say.h"
#include "coredump/handler/forward.h"
#include "coredump/files/procfile.h"
#include "coredump/handler/store.h"

#define SNAPSHOT_SECONDS 10           /* it takes milliseconds */
#define SNAPSHOT_MEMORY  (1ull << 30) /* address space; it takes megabytes */

/* ---- both processes ---- */

struct handling {
	const struct ep_store *store;
	const struct ep_crash *crash;
	struct ep_relay relay;
	struct ep_catch_snapshot snapshot;
	struct ep_forward onward;
	uint64_t look; /* CLOCK_MONOTONIC, ns: when to see whether the core
			  moves */
};

static void say(const struct handling *h, int rc, const struct ep_err *err)
{
	if (rc)
		ep_store_log(h->store, h->crash, err->text);
}

static void snapshot_begin(struct handling *h)
{
	struct ep_err err = {0};

	/* Of who is not known nothing is read. */
	if (h->crash->proc >= 0)
		say(h, ep_catch_snapshot_begin(&h->snapshot, h->store, h->crash, &h->relay, &err),
		    &err);
	/* Its end is its own: when it is closed there, nothing is wanted. */
	close(h->relay.feed[0]);
	h->relay.feed[0] = -1;
}

static void snapshot_end(struct handling *h, bool late)
{
	struct ep_err err = {0};

	say(h, ep_catch_snapshot_end(&h->snapshot, late, h->store, h->crash, &err), &err);
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
	say(h,
	    ep_forward_begin(&h->onward, &h->relay, h->crash, h->store->previous,
			     h->store->uses_pid, &err),
	    &err);
	look_later(h);
}

static void forward_end(struct handling *h, bool stalled)
{
	struct ep_err err = {0};

	say(h, ep_forward_end(&h->onward, stalled, h->store->previous, h->store->seconds, &err),
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
	while (h->snapshot.said >= 0 || h->onward.ended >= 0) {
		struct pollfd wait[2] = {{.fd = h->snapshot.said}, {.fd = h->onward.ended}};
		uint64_t now = ep_relay_now(), until = UINT64_MAX;

		if (h->snapshot.said >= 0)
			until = h->snapshot.until;
		if (h->onward.ended >= 0 && h->look < until)
			until = h->look;
		poll(wait, 2, milliseconds_to(until, now));
		now = ep_relay_now();
		if (h->snapshot.said >= 0 && (wait[0].revents || now >= h->snapshot.until))
			snapshot_end(h, !wait[0].revents);
		if (h->onward.ended >= 0 && wait[1].revents) {
			forward_end(h, false);
		} else if (h->onward.ended >= 0 && now >= h->look) {
			if (ep_forward_stalls(&h->onward))
				forward_end(h, true);
			look_later(h);
		}
	}
}

/* With a limit of handlers (core(5)) the kernel holds the process until nobody has the stream open
 * any more. Without, 0, only while there is more to write.
 */
static unsigned long pipe_limit(void)
{
	char limit[16];

	ep_procfile_line("/proc/sys/kernel/core_pipe_limit", limit, sizeof(limit));
	return strtoul(limit, NULL, 10);
}

/* That the kernel, or our server, lets crash at once. */
static unsigned handlers_most(void)
{
	unsigned long limit = pipe_limit();

	return limit && limit < EP_CATCH_AT_ONCE ? (unsigned)limit : EP_CATCH_AT_ONCE;
}

/* ---- the handler ---- */

/* The kernel starts it with nothing but stdin. */
void ep_catch_settle(void)
{
	int null = open("/dev/null", O_RDWR);

	while (null >= 0 && null <= 2)
		null = dup(null);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	umask(077);
}

void ep_catch_crash(const struct ep_store *store, const struct ep_crash *crash, int stream)
{
	struct handling h = {.store = store,
			     .crash = crash,
			     .snapshot = {.process = -1, .said = -1},
			     .onward = {.process = -1, .ended = -1}};
	struct ep_err err = {0};
	bool together = pipe_limit() > 0;
	int rc;

	rc = ep_store_enter(store, crash, handlers_most(), &err);
	say(&h, rc, &err);
	if (rc) {
		close(stream);
		return;
	}
	say(&h, ep_relay_init(&h.relay, stream, &err), &err);
	/* First who passes it on: the process is held for that. */
	if (together)
		forward_begin(&h);
	snapshot_begin(&h);
	ep_relay_run(&h.relay, h.onward.process > 0, h.snapshot.until);
	if (!together) {
		await(&h);
		forward_begin(&h);
	}
	await(&h);
	ep_relay_deinit(&h.relay);
}

static int handle(char *const *words, int count)
{
	struct ep_store store;
	struct ep_crash crash;
	struct ep_err err = {0};
	int stream = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3), rc;

	/* So that it is closed where it is closed. */
	close(STDIN_FILENO);
	ep_catch_settle();
	if (ep_store_load(&store, words[0], &err) < 0) {
		ep_say("%s", err.text);
		return EP_EXIT_UNREADABLE;
	}
	rc = ep_crash_read(&crash, words + 1, count - 1, &err);
	if (rc) {
		ep_say("%s", err.text);
		ep_store_log(&store, &crash, err.text);
	}
	if (rc < 0)
		return EP_EXIT_USAGE;
	ep_catch_crash(&store, &crash, stream);
	ep_crash_close(&crash);
	return rc ? EP_EXIT_NOTHING : EP_EXIT_COMPLETE;
}

/* ---- the command ---- */

static int run(const struct ep_arguments *arguments)
{
	if (ep_argument_given(arguments, "install"))
		return ep_catch_install(arguments);
	if (ep_argument_given(arguments, "uninstall"))
		return ep_catch_uninstall(arguments);
	if (ep_argument_given(arguments, "listen"))
		return ep_catch_listen(arguments, ep_argument(arguments, "listen"));
	if (arguments->operand_count == 0)
		return ep_catch_status(arguments);
	return handle(arguments->operands, arguments->operand_count);
}

static const struct ep_option options[] = {
	{"install", 0, NULL,
	 "make it the kernel's handler; what kernel.core_pattern names now "
	 "gets each core as before"},
	{"uninstall", 0, NULL, "put back what was there before"},
	{"listen", 0, "SOCKET",
	 "serve that socket, to which Linux sends cores since 6.16, or the one "
	 "that systemd passes; with --install: let the kernel use it"},
	{"store", 0, "DIR", "where snapshots go (" EP_STORE_DEFAULT ")"},
	{"max-files", 0, "N", "keep the latest N snapshots (100)"},
	{"max-size", 0, "BYTES", "and no more than that in all (2G)"},
	{"keep-free", 0, "BYTES",
	 "no snapshot where less would be free on the file system (1G, and no "
	 "more than a tenth of it)"},
	{"redact", 0, "WORDS",
	 "what snapshots leave out, as extract does: cmdline, paths, notes, "
	 "stacks, registers, or all; cores go on as they are"},
	{"no-stacks", 0, NULL, "the same as --redact=stacks"},
	{"timeout", 0, "SECONDS",
	 "give up on the handler before when nothing moved for so long (30), "
	 "and on a snapshot after 10 s, or after this if it is less"},
	{NULL, 0, NULL, NULL},
};

const struct ep_command ep_command_catch = {
	.name = "catch",
	.operands = "[DIR PID TID SIGNAL TIME DUMPABLE LIMIT ...]",
	.operands_min = 0,
	.operands_max = 11,
	.summary = "the kernel's handler of crashes: a snapshot of each, and "
		   "the handler before",
	.description = "With --install it becomes the handler that the kernel starts "
		       "when a process dies with a core (kernel.core_pattern). It "
		       "takes a snapshot from the process itself, which the kernel "
		       "holds meanwhile, and passes the core on, unchanged, to "
		       "the handler, socket or file that was there before. A core "
		       "that is refused or cut (ulimit -c, disk full) does not cost "
		       "the snapshot.\n\n"
		       "Snapshots are root's; the user whose process crashed may read "
		       "them, but not those of setuid programs and the like. epitaph "
		       "list shows them. What went wrong stands in DIR/log.\n\n"
		       "Since Linux 6.16 the kernel may send cores to a socket "
		       "instead: with --listen a server that stays takes them, which "
		       "needs no program to be started by a kernel. Start it first "
		       "(docs/catch.md has a unit for systemd), then run --install "
		       "--listen with the same socket. It is for root only, and "
		       "turns away who does not crash.\n\n"
		       "Without options: whether it is installed, and what it does. "
		       "The operands are the kernel's.",
	.options = options,
	.run = run,
};
