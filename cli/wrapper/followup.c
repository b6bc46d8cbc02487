/* SPDX-License-Identifier: BSD-2-Clause */
/* followup.c: the compiler as a child, and what comes after it. */
#include "cli/wrapper/followup.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/wrapper/filtering.h"
#include "cli/wrapper/say.h"
#include "coredump/util/alloc.h"
#include "coredump/util/readfile.h"
#include "funcount/filter/filter.h"

extern char **environ;

static bool writes_assembly(const struct ep_build_command *command)
{
	return command->assemble_only && ep_build_command_compiles(command);
}

static bool has_lists(const struct ep_words *filter)
{
	for (size_t i = 0; i < filter->count; i++)
		if (strstr(filter->list[i], "-trace="))
			return true;
	return false;
}

static bool links_with_lists(const struct ep_tracing *tracing)
{
	return ep_build_command_links(&tracing->command) && !tracing->command.other_machine &&
	       has_lists(&tracing->options.filter) && !access(tracing->kit.epitaph, X_OK);
}

bool ep_followup_wanted(const struct ep_tracing *tracing)
{
	return tracing->options.filter.count &&
	       (writes_assembly(&tracing->command) || links_with_lists(tracing));
}

/* ---- the compiler ---- */

/* Starts it; its standard output is `out` (-1: ours). */
static pid_t start(const struct ep_words *words, int out)
{
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int failed;

	posix_spawn_file_actions_init(&actions);
	if (out >= 0)
		posix_spawn_file_actions_adddup2(&actions, out, 1);
	failed = posix_spawnp(&pid, words->list[0], &actions, NULL, words->list, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (!failed)
		return pid;
	fprintf(stderr, "%s: error: %s: %s\n", ep_tool, words->list[0], strerror(failed));
	_exit(failed == ENOENT ? 127 : 126);
}

/* Returns once the child ended well; else ends as it did. */
static void finish(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			ep_die("waitpid: %m");
	if (WIFSIGNALED(status)) {
		signal(WTERMSIG(status), SIG_DFL);
		kill(getpid(), WTERMSIG(status));
		_exit(128 + WTERMSIG(status));
	}
	if (WEXITSTATUS(status))
		_exit(WEXITSTATUS(status));
}

/* ---- assembly ---- */

static void read_rules(const struct ep_tracing *tracing, struct ep_rules *rules)
{
	for (size_t i = 0; i < tracing->options.filter.count; i++)
		ep_filtering_parse(rules, tracing->options.filter.list[i]);
}

/* The text at `path` (NULL: the pipe on standard input). */
static void decide(struct ep_filter *filter, const struct ep_tracing *tracing, const char *path,
		   const char *called)
{
	struct ep_rules rules = {0};
	struct ep_err err;
	size_t size;
	char *text;

	read_rules(tracing, &rules);
	if (ep_file_read_all(&text, &size, NULL, path, EP_ASSEMBLY_MAX, &err) ||
	    ep_filter_decide(filter, &rules, text, size, &err))
		ep_die("%s", err.text);
	ep_filter_report(filter, &rules, ep_tool, called, ep_verbose, stderr);
}

/* Written aside and renamed: whole, or what the compiler wrote. */
static void filter_file(const struct ep_tracing *tracing, const char *path)
{
	struct ep_filter filter;
	struct stat facts;
	char *aside;
	FILE *out;
	int fd;

	if (stat(path, &facts) || !S_ISREG(facts.st_mode)) {
		ep_note("%s: not filtered: no file", path);
		return;
	}
	decide(&filter, tracing, path, path);
	aside = ep_asprintf("%s.XXXXXX", path);
	fd = mkostemp(aside, O_CLOEXEC);
	out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!out)
		ep_die("%s: %m", aside);
	ep_filter_write(&filter, out);
	if (ferror(out) || fchmod(fd, facts.st_mode & 07777) || fclose(out) ||
	    rename(aside, path)) {
		unlink(aside);
		ep_die("%s: %m", path);
	}
}

/* What the compiler calls the assembly of a source: its last part, .s for what is behind the last
 * dot. */
static void filter_source(const struct ep_tracing *tracing, const char *source)
{
	const char *slash = strrchr(source, '/');
	const char *name = slash ? slash + 1 : source;
	const char *dot = strrchr(name, '.');
	int length = dot ? (int)(dot - name) : (int)strlen(name);

	filter_file(tracing, ep_asprintf("%.*s.s", length, name));
}

static void filter_pipe(const struct ep_tracing *tracing, const struct ep_words *words)
{
	struct ep_filter filter;
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		ep_die("pipe2: %m");
	pid = start(words, ends[1]);
	close(ends[1]);
	if (dup2(ends[0], 0) < 0)
		ep_die("dup2: %m");
	decide(&filter, tracing, NULL, "-");
	ep_filter_write(&filter, stdout);
	if (fflush(stdout) || ferror(stdout))
		ep_die("-: %m");
	finish(pid);
}

static void run_assembly(const struct ep_tracing *tracing, const struct ep_words *words)
{
	const struct ep_build_command *command = &tracing->command;

	if (command->output && !strcmp(command->output, "-")) {
		filter_pipe(tracing, words);
		return;
	}
	finish(start(words, -1));
	if (command->output) {
		filter_file(tracing, command->output);
		return;
	}
	for (size_t i = 0; i < command->sources.count; i++)
		filter_source(tracing, command->sources.list[i]);
}

/* ---- names of no function ---- */

/* epitaph exclude --check knows; what it says is a warning, and no reason for a link to
 * fail. */
static void check_names(const struct ep_tracing *tracing)
{
	const struct ep_words *filter = &tracing->options.filter;
	const char *output = tracing->command.output;
	struct ep_words words = {0};
	bool lists = false;
	int status;
	pid_t pid;

	ep_words_add(&words, tracing->kit.epitaph);
	ep_words_add(&words, "exclude");
	ep_words_addf(&words, "--check=%s", output ? output : "a.out");
	ep_words_add(&words, "--");
	for (size_t i = 0; i < filter->count; i++) {
		if (!strstr(filter->list[i], "-trace="))
			continue;
		ep_words_add(&words, strchr(filter->list[i], '=') + 1);
		lists = true;
	}
	if (lists && !posix_spawn(&pid, words.list[0], NULL, NULL, words.list, environ))
		waitpid(pid, &status, 0);
}

void ep_followup_run(const struct ep_tracing *tracing, const struct ep_words *words)
{
	if (writes_assembly(&tracing->command)) {
		run_assembly(tracing, words);
	} else {
		finish(start(words, -1));
		check_names(tracing);
	}
	_exit(0);
}
