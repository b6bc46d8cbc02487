/* SPDX-License-Identifier: BSD-2-Clause */
/* filtering.c: the assembly filter's part in a compiler's command. */
#include "cli/wrapper/filtering.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/wrapper/say.h"

static const char *after(const char *word, const char *prefix)
{
	size_t length = strlen(prefix);

	return strncmp(word, prefix, length) ? NULL : word + length;
}

static void read_list(struct ep_list *list, const char *path)
{
	struct ep_err err;

	if (ep_list_read(list, path, &err))
		ep_die("%s", err.text);
}

static unsigned read_threshold(const char *text)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (text[strspn(text, "0123456789")] || !*text || number > UINT_MAX)
		ep_die("%s: the threshold is a number of instructions", text);
	return (unsigned)number;
}

bool ep_filtering_parse(struct ep_rules *rules, const char *word)
{
	const char *value;

	if ((value = after(word, "--epitaph-no-trace=")))
		read_list(&rules->no_trace, value);
	else if ((value = after(word, "--epitaph-do-trace=")))
		read_list(&rules->do_trace, value);
	else if ((value = after(word, "--epitaph-instr-thresh=")))
		rules->threshold = read_threshold(value);
	else if (!strcmp(word, "--epitaph-ignore-loops"))
		rules->ignore_loops = true;
	else if ((value = after(word, "--epitaph-conventions=")))
		rules->conventions = read_threshold(value);
	else if (!strcmp(word, "--epitaph-thunks"))
		rules->thunks = true;
	else
		return false;
	return true;
}

/* It may be another assembler's command: only what makes code of C, or links what may have been
 * compiled for -flto. */
static bool wanted(const struct ep_tracing *tracing)
{
	const struct ep_build_command *command = &tracing->command;

	/* An object of -flto has no code yet, and remembers the options: at the link, gcc would
	 * warn that those of different lists differ. */
	if (command->lto && !command->fat_lto && !ep_build_command_links(command))
		return false;
	return tracing->options.filter.count &&
	       (ep_build_command_compiles(command) ||
		(tracing->family != EP_FAMILY_CLANG && ep_build_command_links(command)));
}

/* GNU as does not read all of what clang writes in that syntax. */
static void refuse_intel(const struct ep_tracing *tracing)
{
	if (tracing->command.intel && tracing->family == EP_FAMILY_CLANG)
		ep_die("hooks can't be taken out with clang's -masm=intel: only its own assembler "
		       "reads it; build without, or switch functions off while it runs "
		       "(epitaph_untrace)");
}

static void refuse_lto(const struct ep_tracing *tracing)
{
	if (tracing->command.lto && tracing->family == EP_FAMILY_CLANG)
		ep_die("hooks can't be taken out with clang's -flto: the linker makes the code, "
		       "and no assembly that could be filtered; build without -flto, or switch "
		       "functions off while it runs (epitaph_untrace)");
}

/* What the compiler answers to -print-prog-name=as with the user's -B, and with ours before
 * them. */
static void ask_assembler(const struct ep_tracing *tracing, bool ours, char line[PATH_MAX])
{
	const struct ep_words *user = tracing->user;
	struct ep_words question = {0};

	for (size_t i = 0; i < tracing->compiler->count; i++)
		ep_words_add(&question, tracing->compiler->list[i]);
	if (ours)
		ep_words_addf(&question, "-B%s/", tracing->kit.assembler);
	for (size_t i = 0; i < user->count; i++) {
		if (strncmp(user->list[i], "-B", 2))
			continue;
		ep_words_add(&question, user->list[i]);
		if (!user->list[i][2] && i + 1 < user->count)
			ep_words_add(&question, user->list[++i]);
	}
	ep_compiler_ask(&question, "-print-prog-name=as", line, PATH_MAX);
}

/* The assembler that the compiler would run without us. False: it was built to run that one. */
static bool ask_real(const struct ep_tracing *tracing, char line[PATH_MAX])
{
	char with_ours[PATH_MAX];

	ask_assembler(tracing, false, line);
	if (line[0] != '/')
		return true;
	ask_assembler(tracing, true, with_ours);
	return strcmp(line, with_ours) != 0;
}

bool ep_filtering_works(const struct ep_tracing *tracing)
{
	char line[PATH_MAX];

	return !tracing->command.lto &&
	       !(tracing->command.intel && tracing->family == EP_FAMILY_CLANG) &&
	       ask_real(tracing, line);
}

static void find_real(const struct ep_tracing *tracing, char line[PATH_MAX])
{
	if (!ask_real(tracing, line))
		ep_die("%s always runs %s: no filter can stand before it; switch functions "
		       "off while it runs (epitaph_untrace)",
		       tracing->compiler->list[0], line);
}

void ep_filtering_before(const struct ep_tracing *tracing, struct ep_words *words)
{
	if (!tracing->options.filter.count)
		return;
	refuse_lto(tracing);
	if (!wanted(tracing))
		return;
	refuse_intel(tracing);
	ep_words_addf(words, "-B%s/", tracing->kit.assembler);
}

static uint64_t add_pattern(uint64_t sum, const struct ep_list *list)
{
	for (size_t i = 0; i < list->patterns.count; i++) {
		const char *at = list->patterns.list[i].text;

		do
			sum = (sum ^ (unsigned char)*at) * 1099511628211U;
		while (*at++);
	}
	return sum;
}

/* Of what the lists say; FNV-1a. */
static uint64_t checksum(const struct ep_words *filter)
{
	struct ep_rules rules = {0};

	for (size_t i = 0; i < filter->count; i++)
		ep_filtering_parse(&rules, filter->list[i]);
	return add_pattern(add_pattern(14695981039346656037U, &rules.no_trace), &rules.do_trace);
}

/* As it is: -Wa, would split it at commas. */
static void add_assembler_word(struct ep_words *words, const char *word)
{
	ep_words_add(words, "-Xassembler");
	ep_words_add(words, word);
}

void ep_filtering_after(const struct ep_tracing *tracing, struct ep_words *words)
{
	const struct ep_words *filter = &tracing->options.filter;
	char real[PATH_MAX];

	if (!wanted(tracing))
		return;
	for (size_t i = 0; i < filter->count; i++)
		add_assembler_word(words, filter->list[i]);
	if (tracing->command.thunks)
		add_assembler_word(words, "--epitaph-thunks");
	if (ep_verbose)
		add_assembler_word(words, "--epitaph-verbose");
	ep_words_add(words, "-Xassembler");
	ep_words_addf(words, "--epitaph-lists=%016" PRIx64, checksum(filter));
	find_real(tracing, real);
	ep_words_add(words, "-Xassembler");
	ep_words_addf(words, "--epitaph-as=%s", real[0] ? real : "as");
	/* gcc runs no other; clang would take its own. */
	if (tracing->family == EP_FAMILY_CLANG)
		ep_words_add(words, "-fno-integrated-as");
}
