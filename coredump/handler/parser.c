/* SPDX-License-Identifier: BSD-2-Clause */
/* parser.c: it has the rights of who crashed, or fewer, and nothing but its descriptors. Only here
 * memory may run out (alloc.h): the process ends, and whoever waits for it goes on. */
#include "coredump/handler/parser.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coredump/extract/extract.h"
#include "coredump/files/held.h"
#include "coredump/find/leftover.h"
#include "coredump/find/root.h"
#include "coredump/handler/confine.h"
#include "coredump/kinds/open.h"
#include "coredump/util/alloc.h"

#define MEMORY  (UINT64_C(1) << 30) /* bytes of address space; it takes megabytes */
#define SECONDS 10u                 /* or the store's, if that is less; it takes milliseconds */

static_assert(EP_HELD_HEAD > EP_RELAY_MOST, "a step of the relay's comes on top");

/* ---- the parser ---- */

static int snapshot_write(const struct ep_store *store, const struct ep_crash *crash,
			  const struct ep_held *held, int core, int out, struct ep_err *err)
{
	struct ep_extract_options options = EP_EXTRACT_DEFAULTS;
	struct ep_source *source;
	struct ep_root_found found;
	int rc = ep_source_open_held(&source, core, held, err);

	if (rc)
		return rc;
	rc = ep_root_find(source, &found, err);
	if (rc)
		return rc;
	ep_leftover_add(source, &found);
	options.pages.redact = store->redact;
	options.ended = crash->seen;
	return ep_extract_into(source, &found, out, "the snapshot", &options, err);
}

/* Whose ids mean the same here: not those of another user namespace's. */
static void confinement_fill(struct ep_confinement *confinement, const struct ep_store *store,
			     const struct ep_crash *crash)
{
	bool known = !crash->foreign && ep_crash_is_users_own(crash);

	*confinement = (struct ep_confinement){
		.uid = known ? crash->uid : EP_NOBODY,
		.gid = known ? crash->gid : EP_NOBODY,
		.memory = MEMORY,
		.file = store->most_bytes,
		.seconds = SECONDS,
	};
}

/* What it opens here it opens as root; from ep_confine on it reads. */
static _Noreturn void parser_run(const struct ep_store *store, const struct ep_crash *crash,
				 struct ep_relay *relay, int out, int said)
{
	int keep[] = {relay->feed[0], out, said, crash->proc};
	struct ep_confinement confinement;
	struct ep_held held;
	struct ep_err err = {0};
	int rc, core = relay->feed[0];

	ep_confine_descriptors(keep, sizeof(keep) / sizeof(*keep));
	rc = ep_held_open(&held, crash->proc, crash->inner_pid, &err);
	close(crash->proc);
	confinement_fill(&confinement, store, crash);
	rc = rc ? rc : ep_confine(&confinement, &err);
	rc = rc ? rc : snapshot_write(store, crash, &held, core, out, &err);
	if (rc && write(said, err.text, strlen(err.text)) < 0)
		_exit(2);
	_exit(rc != EP_OK);
}

/* ---- who waits for it ---- */

int ep_parser_begin(struct ep_parser *parser, const struct ep_store *store,
		    const struct ep_crash *crash, struct ep_relay *relay, struct ep_err *err)
{
	int ends[2], rc;

	*parser = (struct ep_parser){.process = -1, .said = -1};
	rc = ep_store_make_room(store, err);
	rc = rc ? rc : ep_store_name(store, crash, parser->path, err);
	rc = rc ? rc : ep_output_open(&parser->output, parser->path, false, err);
	if (rc)
		return rc;
	if (pipe2(ends, O_CLOEXEC) != 0) {
		ep_output_abandon(&parser->output);
		return ep_fail(err, EP_E_IO, 0, "no snapshot: %m");
	}
	parser->seconds = store->seconds && store->seconds < SECONDS ? store->seconds : SECONDS;
	parser->until = ep_relay_now() + parser->seconds * UINT64_C(1000000000);
	parser->process = fork();
	if (parser->process == 0)
		parser_run(store, crash, relay, parser->output.fd, ends[1]);
	close(ends[1]);
	parser->said = ends[0];
	return EP_OK;
}

/* What it said, if it did: a stranger may have had its way with it. */
static int failure(int said, struct ep_err *err)
{
	char text[512];
	ssize_t n = read(said, text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = '\0';
	return ep_fail(err, EP_E_IO, 0, "%s", n > 0 ? text : "no snapshot: it gave no reason");
}

static int verdict(const struct ep_parser *parser, int status, bool late, struct ep_err *err)
{
	if (late)
		return ep_fail(err, EP_E_IO, 0, "no snapshot: it took more than %u seconds",
			       parser->seconds);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return EP_OK;
	if (WIFEXITED(status) && WEXITSTATUS(status) == EP_EXIT_MEMORY)
		return ep_fail(err, EP_E_IO, 0, "no snapshot: out of memory");
	if (WIFEXITED(status))
		return failure(parser->said, err);
	if (WTERMSIG(status) == SIGSYS)
		return ep_fail(err, EP_E_IO, 0,
			       "no snapshot: what reads the core did what it may not, and was "
			       "stopped (SIGSYS)");
	return ep_fail(err, EP_E_IO, 0, "no snapshot: what reads the core died of SIG%s",
		       sigabbrev_np(WTERMSIG(status)) ? sigabbrev_np(WTERMSIG(status)) : "?");
}

int ep_parser_end(struct ep_parser *parser, bool late, const struct ep_store *store,
		  const struct ep_crash *crash, struct ep_err *err)
{
	int status = -1, rc;

	if (parser->process < 0) {
		rc = ep_fail(err, EP_E_IO, 0, "no snapshot: no process");
	} else {
		ep_relay_reap(parser->process, late, &status);
		rc = verdict(parser, status, late, err);
	}
	close(parser->said);
	parser->process = parser->said = -1;
	if (rc) {
		ep_output_abandon(&parser->output);
		return rc;
	}
	rc = ep_output_commit(&parser->output, err);
	return rc ? rc : ep_store_keep(store, crash, parser->path, err);
}
