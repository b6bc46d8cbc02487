/* SPDX-License-Identifier: BSD-2-Clause */
/* compiler.c: which compiler the wrapper runs, and of which family it is. */
#include "cli/wrapper/compiler.h"

#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/wrapper/say.h"

extern char **environ;

/* A wrapper that runs itself would never end. */
static void refuse_self(const char *name)
{
	const char *path = getenv("PATH");
	char self[PATH_MAX], real[PATH_MAX], tried[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

	if (length < 0)
		return;
	self[length] = 0;
	if (strchr(name, '/')) {
		if (realpath(name, real) && !strcmp(real, self))
			ep_die("%s is this wrapper itself", name);
		return;
	}
	while (path && *path) {
		int part = (int)strcspn(path, ":");

		if (snprintf(tried, sizeof tried, "%.*s/%s", part, path, name) <
			    (int)sizeof tried &&
		    !access(tried, X_OK)) {
			if (realpath(tried, real) && !strcmp(real, self))
				ep_die("%s is this wrapper itself", tried);
			return;
		}
		path += part + (path[part] == ':');
	}
}

void ep_compiler_words(bool cxx, struct ep_words *words)
{
	const char *said = getenv(cxx ? "EPITAPH_CXX" : "EPITAPH_CC");

	if (said)
		ep_words_split(words, said);
	if (!words->count)
		ep_words_add(words, cxx ? "g++" : "gcc");
	refuse_self(words->list[0]);
}

/* `name` is `stem`, maybe after a target and before a version: x86_64-linux-gnu-gcc-12. */
static bool named(const char *name, const char *stem)
{
	const char *base = strrchr(name, '/');
	const char *at = strstr(base ? base + 1 : name, stem);
	size_t length = strlen(stem);

	if (!at)
		return false;
	if (at != name && at[-1] != '/' && at[-1] != '-')
		return false;
	return !at[length + strspn(at + length, "-.0123456789")];
}

/* What the compiler answers to `question`, at most `size` - 1 bytes. */
static void ask(const struct ep_words *words, const char *question, char *text, size_t size)
{
	struct ep_words command = {0};
	posix_spawn_file_actions_t actions;
	size_t length = 0;
	int ends[2], status;
	ssize_t got = 0;
	pid_t pid;

	text[0] = 0;
	for (size_t i = 0; i < words->count; i++)
		ep_words_add(&command, words->list[i]);
	ep_words_add(&command, question);
	if (pipe2(ends, O_CLOEXEC))
		return;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	status = posix_spawnp(&pid, command.list[0], &actions, NULL, command.list, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	while (!status && length < size - 1 &&
	       (got = read(ends[0], text + length, size - 1 - length)) > 0)
		length += (size_t)got;
	text[length] = 0;
	close(ends[0]);
	if (!status)
		waitpid(pid, NULL, 0);
}

enum ep_family ep_compiler_family(const struct ep_words *words)
{
	const char *last = words->list[words->count - 1];
	char text[4096];

	if (named(last, "clang") || named(last, "clang++"))
		return EP_FAMILY_CLANG;
	if (named(last, "gcc") || named(last, "g++"))
		return EP_FAMILY_GCC;
	ask(words, "--version", text, sizeof text);
	if (strstr(text, "clang"))
		return EP_FAMILY_CLANG;
	if (strstr(text, "Free Software Foundation"))
		return EP_FAMILY_GCC;
	return EP_FAMILY_OTHER;
}

void ep_compiler_ask(const struct ep_words *words, const char *question, char *line, size_t size)
{
	ask(words, question, line, size);
	line[strcspn(line, "\n")] = 0;
}
