/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * main.c: epitaph-cc and epitaph-c++ run a compiler so that what it makes is traced. The wrapper
 * adds words to the command line and becomes the compiler: diagnostics, exit status and death are
 * the compiler's own.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/wrapper/followup.h"
#include "cli/wrapper/response.h"
#include "cli/wrapper/say.h"
#include "cli/wrapper/tracing.h"

static bool is_cxx(const char *name)
{
	size_t length = strlen(name);

	return length >= 2 && !strcmp(name + length - 2, "++");
}

/* The user's words without ours. */
static void parse_options(struct ep_options *options, int argc, char **argv, struct ep_words *user)
{
	for (int i = 1; i < argc; i++)
		if (!ep_options_take(options, argv[i]))
			ep_words_add(user, argv[i]);
}

/* The runtime stands on glibc: with musl a program would link, and record nothing. */
static void refuse_musl(const struct ep_words *compiler)
{
	const char *last = compiler->list[compiler->count - 1];
	const char *base = strrchr(last, '/');

	if (strstr(base ? base + 1 : last, "musl"))
		ep_die("%s: the runtime needs glibc, it can't work with musl", last);
}

int main(int argc, char **argv)
{
	struct ep_tracing tracing = {0};
	struct ep_words user = {0}, flat = {0}, words = {0}, compiler = {0};
	bool cxx = argc > 0 && is_cxx(argv[0]);
	int failed;

	ep_tool = cxx ? "epitaph-c++" : "epitaph-cc";
	parse_options(&tracing.options, argc, argv, &user);
	ep_compiler_words(cxx, &words);
	/* Its own list: `words` grows, and its list moves then. */
	for (size_t i = 0; i < words.count; i++)
		ep_words_add(&compiler, words.list[i]);
	tracing.compiler = &compiler;
	ep_response_expand(&user, &flat);
	tracing.user = &flat;
	ep_build_command_read(&tracing.command, &flat);
	if (!tracing.command.query) {
		refuse_musl(&words);
		ep_kit_find(&tracing.kit);
		tracing.family = ep_compiler_family(&words);
	}
	if (!tracing.command.query)
		ep_tracing_look(&tracing);
	ep_tracing_before(&tracing, &words);
	ep_tracing_user(&tracing, &user, &words);
	ep_tracing_after(&tracing, &words);
	if (ep_verbose)
		ep_words_print(&words);
	if (ep_followup_wanted(&tracing))
		ep_followup_run(&tracing, &words);
	execvp(words.list[0], words.list);
	failed = errno;
	fprintf(stderr, "%s: error: %s: %s\n", ep_tool, words.list[0], strerror(failed));
	_exit(failed == ENOENT ? 127 : 126); /* as a shell has it */
}
