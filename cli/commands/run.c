/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run.c: epitaph run: one command to run a traced program and to read what it leaves when it dies
 * of a signal. The program is a child in the same process group, with the same terminal; its exit
 * status is ours.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/common/commands.h"
#include "cli/common/say.h"
#include "coredump/files/procfile.h"
#include "coredump/kinds/open.h"
#include "runtime/settings/settings_list.h"

#define STATUS_NOT_FOUND 127 /* as a shell has them */
#define STATUS_NOT_RUN   126
#define STATUS_SIGNAL    128

#define PLACE_LONGEST 1024 /* bytes of the directory of temporary files */

struct run {
	char directory[PLACE_LONGEST + 32]; /* of temporary files; "" none */
	bool own_file;                      /* the arena's file is a temporary one */
	bool cores;                         /* the kernel writes cores to files */
	bool own_core;                      /* it would not have without us */
	struct timespec begun, ended;
	pid_t child;
	int status;            /* as waitpid has it */
	char source[PATH_MAX]; /* what it left when it died; "" nothing */
	bool source_is_core;
};

#define VARIABLE(variable, set, otherwise, values, option, ...) {option, variable},
#define OPTION(variable, set, otherwise, values, option, letter, metavar, page, text) \
	{option, letter, metavar, variable ": " text},

/* Each setting of the runtime is an option of ours. */
static const struct {
	const char *option, *variable;
} settings[] = {EP_SETTINGS(VARIABLE)};

/* ---- before ---- */

static bool set_pair(const char *pair)
{
	char name[128];
	size_t length = strcspn(pair, "=");

	if (!pair[length] || length == 0 || length > sizeof(name) - 16)
		return false;
	snprintf(name, sizeof(name), "EPITAPH_%.*s", (int)length, pair);
	return setenv(name, pair + length + 1, 1) == 0;
}

static int set_environment(const struct ep_arguments *arguments)
{
	for (size_t i = 0; i < arguments->given_count; i++) {
		const struct ep_given *given = &arguments->given[i];

		for (size_t k = 0; k < sizeof(settings) / sizeof(*settings); k++)
			if (!strcmp(given->option->name, settings[k].option))
				setenv(settings[k].variable, given->value, 1);
		if (strcmp(given->option->name, "set") || set_pair(given->value))
			continue;
		ep_say("run: --set=%s: it takes NAME=VALUE, RING=64K for EPITAPH_RING",
		       given->value);
		return EP_EXIT_USAGE;
	}
	return 0;
}

/* A place for what is only wanted until the report is printed. */
static void make_directory(struct run *run)
{
	const char *places[] = {getenv("TMPDIR"), "/dev/shm", "/tmp"};

	for (int i = 0; i < 3; i++) {
		if (!places[i] || places[i][0] != '/' || strlen(places[i]) > PLACE_LONGEST)
			continue;
		snprintf(run->directory, sizeof(run->directory), "%s/epitaph-run.XXXXXX",
			 places[i]);
		if (mkdtemp(run->directory))
			return;
	}
	run->directory[0] = '\0';
	ep_say("run: no temporary directory: %m");
}

static void read_pattern(char *out, size_t size)
{
	ep_procfile_line("/proc/sys/kernel/core_pattern", out, size);
}

/* Cores where they can be had, else a snapshot; and always a file, for what leaves neither. */
static void prepare(struct run *run)
{
	char pattern[256], path[PLACE_LONGEST + 64];
	struct rlimit limit = {0, 0};

	read_pattern(pattern, sizeof(pattern));
	getrlimit(RLIMIT_CORE, &limit);
	run->cores = pattern[0] && pattern[0] != '|' && limit.rlim_max > 0;
	run->own_core = limit.rlim_cur == 0;
	make_directory(run);
	if (!run->directory[0])
		return;
	if (!getenv("EPITAPH_FILE")) {
		snprintf(path, sizeof(path), "%s/arena.%%p", run->directory);
		setenv("EPITAPH_FILE", path, 1);
		run->own_file = true;
	}
	if (run->cores || getenv("EPITAPH_ON_CRASH"))
		return;
	setenv("EPITAPH_ON_CRASH", "snapshot", 1);
	if (!getenv("EPITAPH_OUTPUT")) {
		snprintf(path, sizeof(path), "%s/crash.%%p.%%n", run->directory);
		setenv("EPITAPH_OUTPUT", path, 1);
	}
}

/* ---- while it runs ---- */

static volatile pid_t forward_to;

/* What the terminal sends goes to the child as well: only what somebody sent to us alone is handed
 * on. */
static void forward(int signal, siginfo_t *info, void *context)
{
	int saved = errno;

	(void)context;
	if (info->si_code <= 0 && forward_to > 0)
		kill(forward_to, signal);
	errno = saved;
}

static const int forwarded[] = {SIGINT,  SIGQUIT, SIGTERM, SIGHUP,
				SIGUSR1, SIGUSR2, SIGALRM, SIGCONT};
#define FORWARDED (sizeof(forwarded) / sizeof(*forwarded))

static void run_child(const struct run *run, char *const *words)
{
	struct rlimit limit;
	int error;

	/* epitaph ignores it, the program need not. */
	signal(SIGPIPE, SIG_DFL);
	if (run->cores && getrlimit(RLIMIT_CORE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_CORE, &limit);
	}
	execvp(words[0], words);
	error = errno;
	ep_say("run: %s: %s", words[0], strerror(error));
	_exit(error == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_RUN);
}

static void restore(const struct sigaction *before, const sigset_t *mask)
{
	for (size_t i = 0; i < FORWARDED; i++)
		sigaction(forwarded[i], &before[i], NULL);
	sigprocmask(SIG_SETMASK, mask, NULL);
}

static bool spawn(struct run *run, char *const *words)
{
	struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART};
	struct sigaction before[FORWARDED];
	sigset_t all, mask;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &mask);
	action.sa_sigaction = forward;
	for (size_t i = 0; i < FORWARDED; i++)
		sigaction(forwarded[i], &action, &before[i]);
	clock_gettime(CLOCK_REALTIME, &run->begun);
	run->child = fork();
	if (run->child == 0) {
		restore(before, &mask);
		run_child(run, words);
	}
	forward_to = run->child;
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return run->child > 0;
}

/* When it ended is noted before it is reaped: its pid is its own until then. */
static void wait_for(struct run *run)
{
	siginfo_t info;

	while (waitid(P_PID, (id_t)run->child, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
		;
	clock_gettime(CLOCK_REALTIME, &run->ended);
	forward_to = 0;
	while (waitpid(run->child, &run->status, 0) < 0 && errno == EINTR)
		;
}

/* ---- what it left ---- */

static bool is_its_core(const struct run *run, const char *path)
{
	struct ep_source *source;
	struct stat st;
	bool its;

	if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_mtim.tv_sec < run->begun.tv_sec ||
	    ep_source_open_core(&source, path, NULL))
		return false;
	its = ep_source_pid(source) == run->child;
	ep_source_close(source);
	return its;
}

/* What the pattern's codes mean is left to the core itself, which knows its pid: any new core of
 * the pattern's directory is looked at. */
static void find_core(struct run *run)
{
	char pattern[256], *slash;
	const char *directory = ".";
	struct dirent *entry;
	DIR *list;

	read_pattern(pattern, sizeof(pattern));
	slash = strrchr(pattern, '/');
	if (slash) {
		*slash = '\0';
		directory = *pattern ? pattern : "/";
	}
	list = opendir(directory);
	while (list && !run->source[0] && (entry = readdir(list))) {
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
		if (is_its_core(run, path)) {
			snprintf(run->source, sizeof(run->source), "%s", path);
			run->source_is_core = true;
		}
	}
	if (list)
		closedir(list);
}

/* The newest file of ours whose name begins so. */
static void find_own(struct run *run, const char *kind)
{
	struct timespec newest = {0, 0};
	struct dirent *entry;
	char name[64];
	DIR *list = opendir(run->directory);

	snprintf(name, sizeof(name), "%s.%d", kind, (int)run->child);
	while (list && (entry = readdir(list))) {
		char path[PATH_MAX];
		struct stat st;
		size_t length = strlen(name);

		if (strncmp(entry->d_name, name, length) ||
		    (entry->d_name[length] && entry->d_name[length] != '.'))
			continue;
		snprintf(path, sizeof(path), "%s/%s", run->directory, entry->d_name);
		if (stat(path, &st) != 0 || st.st_mtim.tv_sec < newest.tv_sec ||
		    (st.st_mtim.tv_sec == newest.tv_sec && st.st_mtim.tv_nsec < newest.tv_nsec))
			continue;
		newest = st.st_mtim;
		snprintf(run->source, sizeof(run->source), "%s", path);
	}
	if (list)
		closedir(list);
}

/* The user's own EPITAPH_FILE, where %p is all that it needs. */
static void find_named(struct run *run)
{
	const char *from = getenv("EPITAPH_FILE");
	char *to = run->source;
	char *end = to + sizeof(run->source) - 16;

	for (; *from && to < end; from++)
		if (from[0] == '%' && from[1] == 'p') {
			to += sprintf(to, "%d", (int)run->child);
			from++;
		} else {
			*to++ = *from;
		}
	*to = '\0';
	if (access(run->source, R_OK) != 0)
		run->source[0] = '\0';
}

static void find_source(struct run *run)
{
	if (run->cores && WCOREDUMP(run->status))
		find_core(run);
	if (!run->source[0] && run->directory[0])
		find_own(run, "crash");
	if (!run->source[0] && run->own_file)
		find_own(run, "arena");
	if (!run->source[0] && !run->own_file && getenv("EPITAPH_FILE"))
		find_named(run);
}

/* Neither it nor a child of it made an arena. */
static bool left_nothing(const struct run *run)
{
	struct dirent *entry;
	bool nothing = true;
	DIR *list;

	if (!run->own_file || (getenv("EPITAPH") && strcmp(getenv("EPITAPH"), "off") == 0))
		return false;
	list = opendir(run->directory);
	while (list && (entry = readdir(list)))
		nothing = nothing && entry->d_name[0] == '.';
	if (list)
		closedir(list);
	return nothing;
}

/* ---- after ---- */

/* By a process of its own, which writes to stderr: stdout is the program's. */
static void print_report(const struct run *run)
{
	char ended[40];
	pid_t child;

	snprintf(ended, sizeof(ended), "--ended=%lld.%09ld", (long long)run->ended.tv_sec,
		 run->ended.tv_nsec);
	child = fork();
	if (child == 0) {
		dup2(STDERR_FILENO, STDOUT_FILENO);
		execl("/proc/self/exe", "epitaph", "report", ended, "--", run->source,
		      (char *)NULL);
		_exit(1);
	}
	while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
}

static void remove_directory(const char *path)
{
	struct dirent *entry;
	DIR *list = opendir(path);

	while (list && (entry = readdir(list))) {
		char file[PATH_MAX];

		snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
		unlink(file);
	}
	if (list)
		closedir(list);
	rmdir(path);
}

static void clean_up(const struct run *run, bool keep)
{
	if (keep) {
		ep_say("kept: %s", run->source[0] ? run->source : run->directory);
		if (run->directory[0])
			rmdir(run->directory); /* empty, with files elsewhere */
		return;
	}
	if (run->source_is_core && run->own_core)
		unlink(run->source);
	else if (run->source_is_core)
		ep_say("the core is %s", run->source);
	if (run->directory[0])
		remove_directory(run->directory);
}

static int run_program(const struct ep_arguments *arguments)
{
	struct run run = {.child = 0};
	char *const *words = arguments->operands;
	int result = set_environment(arguments);

	if (result)
		return result;
	prepare(&run);
	if (!spawn(&run, words)) {
		ep_say("run: %m");
		clean_up(&run, false);
		return STATUS_NOT_RUN;
	}
	wait_for(&run);
	if (WIFSIGNALED(run.status))
		find_source(&run);
	if (run.source[0])
		print_report(&run);
	else if (left_nothing(&run) && WEXITSTATUS(run.status) < 126)
		ep_say("run: %s is not traced: build it with epitaph-cc (preloading the runtime "
		       "adds no hooks)",
		       words[0]);
	clean_up(&run, ep_argument_given(arguments, "keep"));
	return WIFSIGNALED(run.status) ? STATUS_SIGNAL + WTERMSIG(run.status)
				       : WEXITSTATUS(run.status);
}

static const struct ep_option options[] = {
	{"keep", 'k', NULL, "keep the core, snapshot or arena file that the report was made of"},
	{"set", 's', "NAME=VALUE",
	 "any setting of the runtime: EPITAPH_NAME=VALUE; may be given several times"},
	EP_SETTINGS(OPTION){NULL, 0, NULL, NULL},
};

const struct ep_command ep_command_run = {
	.name = "run",
	.operands = "[--] PROGRAM [ARGUMENT...]",
	.operands_min = 1,
	.operands_max = INT_MAX,
	.rest = true,
	.summary = "run a traced program, and report when it dies of a signal",
	.example = "run ./server --port=80",
	.description =
		"Sets the environment of the runtime and the core limit, runs the program, and "
		"prints the report on standard error when it dies of a signal: from its core, from "
		"the snapshot that it wrote while it died where cores are not to be had, or from "
		"the file that its trace lay in (SIGKILL, out of memory). So EPITAPH_FILE, unless "
		"it is set, is a temporary file here, and EPITAPH_ON_CRASH is snapshot where cores "
		"are not to be had.\n"
		"\n"
		"The program has the same terminal, descriptors and process group; signals sent to "
		"epitaph are handed on. The exit status is the program's as a shell gives it: 128 "
		"and the signal's number when it died of one, 127 when it was not found. Temporary "
		"files lie in TMPDIR, else in /dev/shm, else in /tmp; they are removed, also a "
		"core that there would have been none of (ulimit -c 0), unless --keep is given.",
	.options = options,
	.run = run_program,
};
