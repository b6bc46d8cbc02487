/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * budget_run.c: epitaph budget run: runs a command whose traced processes count their calls, and
 * files what they counted under the test's name. Between the command and whoever started it nothing
 * changes: its streams are its own, and we end as it did.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/commands/budget/budget.h"
#include "cli/common/commands.h"
#include "cli/common/say.h"
#include "coredump/util/alloc.h"

/* A process writes the first when it ends by itself; the second holds the same also when it was
 * killed. */
#define COUNTS ".counts"
#define ARENA  ".arena"

static volatile sig_atomic_t child; /* for the handler */

/* ---- the command --------------------------------------------------------- */

/* What a shell would do with it comes to the command, not to us. */
static void forward(int signal)
{
	if (child > 0)
		kill((pid_t)child, signal);
}

static const int forwarded[] = {SIGHUP, SIGTERM, SIGUSR1, SIGUSR2};
static const int from_terminal[] = {SIGINT, SIGQUIT}; /* it gets its own */

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static void signals_forward(void)
{
	struct sigaction action = {.sa_handler = forward};

	for (size_t i = 0; i < COUNT(forwarded); i++)
		sigaction(forwarded[i], &action, NULL);
	action.sa_handler = SIG_IGN;
	for (size_t i = 0; i < COUNT(from_terminal); i++)
		sigaction(from_terminal[i], &action, NULL);
}

/* In the child, before anything was changed but SIGPIPE by ep_main. */
static void exec_command(char *const *words, const char *pattern, bool traced)
{
	char counts[PATH_MAX + 16], arena[PATH_MAX + 16];
	int status;

	snprintf(counts, sizeof(counts), "%s" COUNTS, pattern);
	snprintf(arena, sizeof(arena), "%s" ARENA, pattern);

	signal(SIGPIPE, SIG_DFL);
	setenv("EPITAPH_MODE", traced ? "trace" : "count", 1);
	if (!traced)
		setenv("EPITAPH_OUTPUT", counts, 1);
	setenv("EPITAPH_FILE", arena, 1);
	/* They are ours to remove, however many were killed. */
	setenv("EPITAPH_FILE_KEEP", "10000", 1);
	setenv("EPITAPH_FILE_KEEP_SIZE", "1024G", 1);
	execvp(words[0], words);
	status = errno == ENOENT ? 127 : 126;
	ep_say("%s: %s", words[0], strerror(errno));
	_exit(status);
}

/* A wait status; -1: it could not be run, which was printed. */
static int run_command(char *const *words, const char *pattern, bool traced)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		exec_command(words, pattern, traced);
	if (pid < 0) {
		ep_say("fork: %s", strerror(errno));
		return -1;
	}
	child = (sig_atomic_t)pid;
	signals_forward();
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	child = 0;
	return status;
}

/* Ends as the command did; by its signal too, so that ctest and the like see the crash. No second
 * core is written over the first. */
static int end_as(int status)
{
	struct rlimit none = {0, 0};

	if (status < 0)
		return EP_EXIT_UNREADABLE;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	fflush(stdout);
	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_DUMPABLE, 0);
	signal(WTERMSIG(status), SIG_DFL);
	kill(getpid(), WTERMSIG(status));
	return 128 + WTERMSIG(status);
}

/* ---- what it counted ----------------------------------------------------- */

/* A folder of our own, and the pattern for the processes' files in it, in which a % of the folder's
 * name is doubled. */
static int make_folder(char folder[PATH_MAX], char pattern[PATH_MAX])
{
	const char *temporary = getenv("TMPDIR");
	size_t used = 0;

	if (snprintf(folder, PATH_MAX, "%s/epitaph-budget.XXXXXX",
		     temporary && *temporary ? temporary : "/tmp") >= PATH_MAX / 2 ||
	    !mkdtemp(folder)) {
		ep_say("%s: %s", folder, strerror(errno));
		return EP_EXIT_UNREADABLE;
	}
	for (const char *at = folder; *at; at++) {
		pattern[used++] = *at;
		if (*at == '%')
			pattern[used++] = '%';
	}
	snprintf(pattern + used, PATH_MAX - used, "/%%p.%%n");
	return 0;
}

/* A run that is there already came by its other file. */
static void add_counts(struct ep_result *result, const struct ep_counts *more)
{
	struct ep_err err = {0};
	int rc = ep_counts_merge(result->counts, more, &err);

	if (rc == EP_E_MISMATCH)
		return;
	result->processes++;
	for (size_t i = 0; i < more->runs.count; i++)
		result->lost += more->runs.list[i].lost;
	if (rc) {
		ep_say("%s: %s", result->name, err.text);
		result->lost++;
	}
}

static void add_file(struct ep_result *result, const char *path)
{
	struct ep_counts *more;
	struct ep_err err = {0};

	if (ep_counts_load(&more, path, &err)) {
		ep_say("%s: a process's counts are left out: %s", result->name, err.text);
		result->lost++;
		return;
	}
	add_counts(result, more);
	ep_counts_destroy(more);
}

static bool is_counts(const char *name)
{
	size_t length = strlen(name), ending = strlen(COUNTS);

	return length > ending && !strcmp(name + length - ending, COUNTS);
}

/* Of one kind: counts, or whatever else the processes left. */
static void collect_kind(struct ep_result *result, const char *folder, bool counts)
{
	DIR *open = opendir(folder);
	struct dirent *entry;
	char path[PATH_MAX];

	while (open && (entry = readdir(open))) {
		if (entry->d_name[0] == '.' || is_counts(entry->d_name) != counts ||
		    snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) >= PATH_MAX)
			continue;
		add_file(result, path);
		unlink(path);
	}
	if (open)
		closedir(open);
}

/* Counts first: they know how long the process ran. Leaves no folder. */
static void collect(struct ep_result *result, const char *folder)
{
	collect_kind(result, folder, true);
	collect_kind(result, folder, false);
	rmdir(folder);
}

/* ---- what it traced ------------------------------------------------------ */

static void observe_file(struct ep_observed *observed, const char *name, const char *path)
{
	struct ep_err err = {0};

	if (!ep_observed_add_file(observed, path, &err))
		return;
	ep_say("%s: a process's trace is left out: %s", name, err.text);
	observed->lost++;
}

/* Leaves no folder. */
static void observe(struct ep_observed *observed, const char *name, const char *folder)
{
	DIR *open = opendir(folder);
	struct dirent *entry;
	char path[PATH_MAX];

	while (open && (entry = readdir(open))) {
		if (entry->d_name[0] == '.' ||
		    snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) >= PATH_MAX)
			continue;
		observe_file(observed, name, path);
		unlink(path);
	}
	if (open)
		closedir(open);
	rmdir(folder);
}

static void file_observed(const char *name, const char *folder,
			  const struct ep_arguments *arguments)
{
	struct ep_observed observed = {.runs = 1, .history = INFINITY};
	struct ep_err err = {0};

	observe(&observed, name, folder);
	if (!observed.processes)
		ep_say("%s: no process left a trace: is it built with epitaph-cc?", name);
	else if (ep_results_observe(ep_budget_folder(arguments), name, &observed,
				    ep_argument_given(arguments, "add"), &err))
		ep_say("%s: not filed: %s", name, err.text);
}

static void file_result(struct ep_result *result, const struct ep_arguments *arguments)
{
	const char *folder = ep_budget_folder(arguments);
	struct ep_err err = {0};

	if (!result->processes) {
		ep_say("%s: no process counted its calls: is it built with epitaph-cc?",
		       result->name);
		return;
	}
	if (ep_results_put(folder, result, ep_argument_given(arguments, "add"), &err))
		ep_say("%s: not filed: %s", result->name, err.text);
}

/* ---- the command line ---------------------------------------------------- */

/* Of a run that counted. */
static void file_counts(const char *name, uint64_t units, int status, const char *folder,
			const struct ep_arguments *arguments)
{
	struct ep_result result = {
		.name = ep_strdup(name),
		.counts = ep_counts_create(),
		.runs = 1,
		.units = units,
	};

	if (status >= 0)
		result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	collect(&result, folder);
	file_result(&result, arguments);
	ep_result_deinit(&result);
}

static int budget_run_run(const struct ep_arguments *arguments)
{
	bool traced = ep_argument_given(arguments, "traced");
	const char *name = ep_argument(arguments, "test");
	char folder[PATH_MAX], pattern[PATH_MAX];
	uint64_t units = 0;
	int status =
		ep_argument_number(arguments, "units", 1, UINT64_MAX, "a number from 1", &units);

	if (status)
		return status;
	if (!name || !*name) {
		ep_say("budget run: --test=NAME says what the result is filed under");
		return EP_EXIT_USAGE;
	}
	status = make_folder(folder, pattern);
	if (status)
		return status;
	status = run_command(arguments->operands, pattern, traced);
	if (traced)
		file_observed(name, folder, arguments);
	else
		file_counts(name, units, status, folder, arguments);
	return end_as(status);
}

static const struct ep_option options[] = {
	{"test", 't', "NAME", "what the result is filed under"},
	{"results", 'r', "DIR", "file it in DIR (epitaph-results, or $EPITAPH_BUDGET_RESULTS)"},
	{"units", 'u', "N", "units of work that the command does"},
	{"add", 'a', NULL, "add to an earlier result of that name"},
	{"traced", 0, NULL,
	 "trace instead of counting: file how far back the rings went, and what was lost, beside "
	 "the counts"},
	{NULL, 0, NULL, NULL},
};

const struct ep_command ep_command_budget_run = {
	.name = "budget run",
	.operands = "--test NAME -- COMMAND...",
	.operands_min = 1,
	.operands_max = INT_MAX,
	.summary = "run a test, and count the calls of its processes",
	.example = "budget run --test=parse -- ./test-parse",
	.description =
		"Runs the command with EPITAPH_MODE=count, adds up the counts of all its processes "
		"that were built with epitaph-cc, and files them under NAME in a folder of "
		"results, for epitaph budget check. Streams, exit status and death by a signal are "
		"the command's own; several may run at once.\n\n"
		"With --traced it runs traced, with the environment's EPITAPH_RING and the like, "
		"and what is filed is what was seen: the history of the shortest ring that was "
		"written over, and events known to be lost. budget check prints both, and judges "
		"by neither: they are of a clock, and of this machine.\n\n"
		"It is a launcher: for ctest as TEST_LAUNCHER, CROSSCOMPILING_EMULATOR or in "
		"add_test, for Automake's tests as LOG_COMPILER; docs/overhead.md has both.",
	.options = options,
	.run = budget_run_run,
};
