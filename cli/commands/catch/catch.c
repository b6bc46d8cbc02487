/* SPDX-License-Identifier: BSD-2-Clause */
/* catch.c: epitaph catch, the kernel's handler of crashes, as the kernel starts it (handle.h); its
 * other options have files of their own. */
#include <fcntl.h>
#include <unistd.h>

#include "cli/commands/catch/catch.h"
#include "cli/common/commands.h"
#include "cli/common/say.h"
#include "coredump/handler/handle.h"
#include "coredump/util/number.h"

#define OPERANDS 12 /* DIR, ten of the kernel's, and one of the gate's */

/* ---- the handler ---- */

/* The last word is the place's descriptor, where the gate has taken one (gate/main.c). It stays
 * open until this process ends. */
static bool place_take(const struct ep_store *store, const struct ep_crash *crash,
		       char *const *words, int count)
{
	struct ep_err err = {0};
	uint64_t number;
	int place;

	if (count == OPERANDS && ep_number_parse(words[count - 1], 3, INT32_MAX, &number))
		return fcntl((int)number, F_SETFD, FD_CLOEXEC) == 0;
	if (ep_store_enter(store, crash->account, &place, &err) == EP_OK)
		return true;
	ep_store_log(store, crash, err.text);
	return false;
}

static int handle(char *const *words, int count)
{
	struct ep_store store;
	struct ep_crash crash;
	struct ep_err err = {0};
	int stream = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3), rc;

	/* So that it is closed where it is closed. */
	close(STDIN_FILENO);
	ep_handle_settle();
	if (ep_store_load(&store, words[0], &err) < 0) {
		ep_say("%s", err.text);
		return EP_EXIT_UNREADABLE;
	}
	rc = ep_crash_read(&crash, words + 1, count - 1, &err);
	if (rc)
		ep_store_log(&store, &crash, err.text);
	if (rc >= 0 && place_take(&store, &crash, words, count))
		ep_handle_crash(&store, &crash, stream);
	ep_crash_close(&crash);
	if (rc)
		ep_say("%s", err.text);
	if (rc < 0)
		return EP_EXIT_USAGE;
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
	 "make it the kernel's handler; what kernel.core_pattern names now gets each core as "
	 "before"},
	{"uninstall", 0, NULL, "put back what was there before"},
	{"listen", 0, "SOCKET",
	 "serve that socket, to which Linux sends cores since 6.16, or the one that systemd "
	 "passes; with --install: let the kernel use it"},
	{"store", 0, "DIR", "where snapshots go (" EP_STORE_DEFAULT ")"},
	{"max-files", 0, "N", "keep the latest N snapshots (100)"},
	{"max-size", 0, "BYTES", "and no more than that in all (2G)"},
	{"keep-free", 0, "BYTES",
	 "no snapshot where less would be free on the file system (1G, and no more than a tenth of "
	 "it)"},
	{"redact", 0, "WORDS",
	 "what snapshots leave out, as extract does: cmdline, paths, notes, stacks, registers, or "
	 "all; cores go on as they are"},
	{"no-stacks", 0, NULL, "the same as --redact=stacks"},
	{"timeout", 0, "SECONDS",
	 "give up on the previous handler when nothing moved for so long (30), and on a snapshot "
	 "after 10 s, or after this if it is less"},
	{NULL, 0, NULL, NULL},
};

const struct ep_command ep_command_catch = {
	.name = "catch",
	.operands = "[DIR PID TID SIGNAL TIME DUMPABLE LIMIT ...]",
	.operands_min = 0,
	.operands_max = OPERANDS,
	.summary = "the kernel's handler of crashes: a snapshot of each, then the previous handler",
	.example = "catch --install",
	.description =
		"With --install it becomes the handler that the kernel starts when a process dies "
		"with a core (kernel.core_pattern). It takes a snapshot from the process itself, "
		"which the kernel holds meanwhile, and passes the core on, unchanged, to the "
		"handler, socket or file that was there before. A core that is refused or cut "
		"(ulimit -c, disk full) does not cost the snapshot.\n\n"
		"Snapshots are root's; the user whose process crashed may read them, but not those "
		"of setuid programs and the like. epitaph list shows them. What went wrong stands "
		"in DIR/log.\n\n"
		"Since Linux 6.16 the kernel may send cores to a socket instead: with --listen a "
		"server that stays takes them, which needs no program to be started by a kernel. "
		"Start it first (docs/catch.md has a unit for systemd), then run --install "
		"--listen with the same socket. It is for root only, and turns away who does not "
		"crash.\n\n"
		"Without options: whether it is installed, and what it does. The operands are the "
		"kernel's.",
	.options = options,
	.run = run,
};
