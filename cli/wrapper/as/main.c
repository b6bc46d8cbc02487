/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * main.c: the `as` that a compiler finds before its own when functions shall lose their hooks. It
 * takes them out of the assembly and becomes the real assembler, which reads what is left from its
 * standard input. Where there is nothing to take out, the real one gets the very words that came.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/wrapper/filtering.h"
#include "cli/wrapper/say.h"
#include "funcount/filter/filter.h"
#include "coredump/util/readfile.h"

struct job {
	struct ep_rules rules;
	struct ep_words words; /* for the real assembler, its name first */
	const char *real;      /* NULL, "as": to be looked for in PATH */
	size_t input;          /* the word that names the input; 0: none */
	size_t inputs;
};

/* Options of GNU as whose value is the next word (as manual, "Overview"). */
static const char *const take_next[] = {
	"-o",   "-I",      "-D",      "--defsym", "-defsym",
	"--MD", "--march", "--mtune", "-K",       "--debug-prefix-map"};

static bool takes_next(const char *word)
{
	for (size_t i = 0; i < sizeof take_next / sizeof *take_next; i++)
		if (!strcmp(word, take_next[i]))
			return true;
	return false;
}

/* One of ours, or a word for the real assembler. */
static void parse_word(struct job *job, const char *word)
{
	if (!strncmp(word, "--epitaph-as=", 13))
		job->real = word + 13;
	else if (!strcmp(word, "--epitaph-verbose"))
		ep_verbose = true;
	else if (strncmp(word, "--epitaph-lists=", 16) && !ep_filtering_parse(&job->rules, word))
		ep_words_add(&job->words, word);
}

static void read_words(struct job *job, int argc, char **argv)
{
	ep_words_add(&job->words, "as");
	for (int i = 1; i < argc; i++)
		parse_word(job, argv[i]);
	for (size_t i = 1; i < job->words.count; i++) {
		const char *word = job->words.list[i];

		if (takes_next(word)) {
			i++;
		} else if (word[0] != '-' || !strcmp(word, "--")) {
			job->input = i;
			job->inputs++;
		}
	}
}

/* ---- the real assembler ---- */

static bool is_self(const char *path)
{
	char self[PATH_MAX], real[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

	if (length < 0 || !realpath(path, real))
		return false;
	self[length] = 0;
	return !strcmp(self, real);
}

/* The first `as` in the directories of `list` that isn't this program, in
 * *out. */
static bool find_in(const char *list, char out[PATH_MAX])
{
	while (list && *list) {
		int part = (int)strcspn(list, ":");

		if (part && snprintf(out, PATH_MAX, "%.*s/as", part, list) < PATH_MAX &&
		    !access(out, X_OK) && !is_self(out))
			return true;
		list += part + (list[part] == ':');
	}
	return false;
}

__attribute__((noreturn)) static void become_real(struct job *job)
{
	char path[PATH_MAX];

	if (job->real && strchr(job->real, '/') && !is_self(job->real))
		snprintf(path, sizeof path, "%s", job->real);
	else if (!find_in(getenv("PATH"), path))
		ep_die("no assembler (as) is found in PATH");
	job->words.list[0] = path;
	execvp(path, job->words.list);
	ep_die("%s: %s", path, strerror(errno));
}

/* ---- the filter ---- */

static void remove_word(struct ep_words *words, size_t at)
{
	memmove(words->list + at, words->list + at + 1, (words->count - at) * sizeof *words->list);
	words->count--;
}

/* What is left becomes the standard input. */
static void feed(struct job *job, const struct ep_filter *filter)
{
	int fd = memfd_create("assembly", MFD_CLOEXEC), copy;
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

	if (!out)
		ep_die("memfd_create: %m");
	ep_filter_write(filter, out);
	if (fflush(out) || ferror(out))
		ep_die("the filtered assembly cannot be written: %m");
	copy = dup2(fd, 0);
	if (copy < 0 || lseek(0, 0, SEEK_SET))
		ep_die("the filtered assembly cannot be read: %m");
	if (job->input)
		remove_word(&job->words, job->input);
}

/* What people call the file: the source, not the compiler's temporary. */
static void report(const struct job *job, const struct ep_filter *filter)
{
	struct ep_piece source = filter->assembly.source;
	char name[PATH_MAX];

	if (source.size)
		snprintf(name, sizeof name, "%.*s", (int)source.size, source.at);
	else
		snprintf(name, sizeof name, "%s", job->input ? job->words.list[job->input] : "-");
	ep_filter_report(filter, &job->rules, ep_tool, name, ep_verbose, stderr);
	ep_note("%s: %u functions lose their hooks", name, filter->stripped);
}

int main(int argc, char **argv)
{
	struct job job = {0};
	struct ep_filter filter;
	struct ep_err err;
	const char *path;
	size_t size;
	char *text;

	read_words(&job, argc, argv);
	if (!ep_rules_given(&job.rules))
		become_real(&job);
	if (job.inputs > 1) {
		fprintf(stderr, "%s: warning: not filtered: several inputs are one object\n",
			ep_tool);
		become_real(&job);
	}
	path = job.input ? job.words.list[job.input] : NULL;
	if (path && !strcmp(path, "--"))
		path = NULL;
	/* What can't be read is the real one's to complain of. */
	if (path && access(path, R_OK))
		become_real(&job);
	if (ep_file_read_all(&text, &size, NULL, path, EP_ASSEMBLY_MAX, &err) ||
	    ep_filter_decide(&filter, &job.rules, text, size, &err))
		ep_die("%s", err.text);
	report(&job, &filter);
	if (filter.stripped || !path)
		feed(&job, &filter);
	become_real(&job);
}
