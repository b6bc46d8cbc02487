/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * catch.c: epitaph catch, the kernel's handler of crashes: a process takes the
 * snapshot, while the kernel holds the one that crashed, and another passes the
 * stream on to whom it went before. Whatever happens to one of the two, the
 * other is whole.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/catch.h"
#include "cli/commands.h"
#include "cli/say.h"
#include "coredump/extract.h"
#include "coredump/onward.h"
#include "coredump/procfile.h"
#include "coredump/remains.h"
#include "coredump/store.h"

#define SNAPSHOT_SECONDS 10           /* it takes milliseconds */
#define SNAPSHOT_MEMORY  (1ull << 30) /* address space; it takes megabytes */

/* ---- the snapshot ---- */

static int snapshot_write(const struct ep_store *store, struct ep_source *held,
			  const struct ep_crash *crash, const char *path,
			  struct ep_err *err)
{
	struct ep_extract_options options = EP_EXTRACT_DEFAULTS;
	struct ep_root_found found;
	char root[32];
	int rc;

	/* Its paths are those of its own root, which ends with it. */
	snprintf(root, sizeof(root), "/proc/%d/root", (int)crash->pid);
	rc = ep_source_set_files(held, NULL, root, err);
	rc = rc ? rc : ep_root_find(held, &found, err);
	if (rc)
		return rc;
	ep_remains_add(held, &found);
	options.redact = store->redact;
	options.ended = crash->seen;
	return ep_extract(held, &found, path, &options, NULL, err);
}

/* In a process of its own: what goes wrong there must not cost the core. */
static void snapshot_run(const struct ep_store *store,
			 const struct ep_crash *crash, struct ep_source *held)
{
	struct rlimit memory = {SNAPSHOT_MEMORY, SNAPSHOT_MEMORY};
	struct ep_err err = {0};
	char path[PATH_MAX];
	int rc;

	alarm(SNAPSHOT_SECONDS);
	setrlimit(RLIMIT_AS, &memory);
	rc = ep_store_name(store, crash, path, &err);
	rc = rc ? rc : snapshot_write(store, held, crash, path, &err);
	rc = rc ? rc : ep_store_keep(store, crash, path, &err);
	if (rc)
		ep_store_log(store, crash, err.text);
	_exit(rc != EP_OK);
}

static pid_t snapshot_begin(const struct ep_store *store,
			    const struct ep_crash *crash,
			    struct ep_source *held)
{
	pid_t child = fork();

	if (child == 0)
		snapshot_run(store, crash, held);
	return child;
}

static void snapshot_await(const struct ep_store *store,
			   const struct ep_crash *crash, pid_t child)
{
	int status = 0;

	if (child > 0)
		waitpid(child, &status, 0);
	if (child < 0 || !WIFEXITED(status))
		ep_store_log(store, crash,
			     "no snapshot: it took too long, or too much");
}

/* With a limit of handlers (core(5)) the kernel holds the process until nobody
 * has the stream open any more. Without, only while there is more to write. */
static bool is_held_to_the_end(void)
{
	char limit[16];

	ep_procfile_line("/proc/sys/kernel/core_pipe_limit", limit,
			 sizeof(limit));
	return strtoul(limit, NULL, 10) > 0;
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

void ep_catch_crash(const struct ep_store *store, struct ep_crash *crash,
		    int stream)
{
	struct ep_source *held = NULL;
	struct ep_err err = {0};
	bool together = is_held_to_the_end();
	pid_t child = 0;
	int rc = ep_source_open_held(&held, stream, crash->pid, &err);

	if (rc)
		ep_store_log(store, crash, err.text);
	if (!held)
		return;
	if (rc == EP_OK)
		ep_crash_settle(crash, held);
	if (rc == EP_OK)
		child = snapshot_begin(store, crash, held);
	if (rc == EP_OK && !together)
		snapshot_await(store, crash, child);
	if (ep_onward(held, crash, store->previous, store->uses_pid,
		      store->seconds, &err))
		ep_store_log(store, crash, err.text);
	if (rc == EP_OK && together)
		snapshot_await(store, crash, child);
	ep_source_close(held);
}

static int handle(char *const *words, int count)
{
	struct ep_store store;
	struct ep_crash crash;
	struct ep_err err = {0};

	ep_catch_settle();
	ep_store_load(&store, words[0], &err);
	if (ep_crash_read(&crash, words + 1, count - 1, &err)) {
		ep_say("%s", err.text);
		ep_store_log(&store, &crash, err.text);
		return EP_EXIT_USAGE;
	}
	ep_catch_crash(&store, &crash, fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
	return EP_EXIT_COMPLETE;
}

/* ---- the command ---- */

static int run(const struct ep_arguments *arguments)
{
	if (ep_argument_given(arguments, "install"))
		return ep_catch_install(arguments);
	if (ep_argument_given(arguments, "uninstall"))
		return ep_catch_uninstall(arguments);
	if (ep_argument_given(arguments, "listen"))
		return ep_catch_listen(arguments,
				       ep_argument(arguments, "listen"));
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
	{"redact", 0, "WORDS",
	 "what snapshots leave out, as extract does: cmdline, paths, notes, "
	 "stacks, registers, or all; cores go on as they are"},
	{"no-stacks", 0, NULL, "the same as --redact=stacks"},
	{"timeout", 0, "SECONDS",
	 "give up on the handler before when nothing moved for so long (30)"},
	{NULL, 0, NULL, NULL},
};

const struct ep_command ep_command_catch = {
	.name = "catch",
	.operands = "[DIR PID TID SIGNAL TIME DUMPABLE LIMIT]",
	.operands_min = 0,
	.operands_max = 8,
	.summary = "the kernel's handler of crashes: a snapshot of each, and "
		   "the handler before",
	.description =
		"With --install it becomes the handler that the kernel starts "
		"when a process dies with a core (kernel.core_pattern). It "
		"takes a snapshot from the process itself, which the kernel "
		"holds meanwhile, and passes the core on, unchanged, to "
		"the handler, socket or file that was there before. A core "
		"that is refused or cut (ulimit -c, disk full) does not cost "
		"the snapshot.\n\n"
		"Snapshots belong to the user whose process crashed; those of "
		"setuid programs to root. epitaph list shows them. What went "
		"wrong stands in DIR/log.\n\n"
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
