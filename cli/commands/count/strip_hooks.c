/* SPDX-License-Identifier: BSD-2-Clause */
/* strip_hooks.c: epitaph strip-hooks: a linked file whose functions lose their hooks, and the way
 * back. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "cli/common/commands.h"
#include "cli/common/say.h"
#include "coredump/files/output.h"
#include "coredump/util/readfile.h"
#include "funcount/strip/strip.h"

#define FILE_MAX      ((size_t)8 << 30)
#define UNMATCHED_MAX 5 /* names that are printed one by one */

struct file {
	const char *path;
	char *bytes;
	size_t size;
	struct stat facts;
};

static int fail(const char *path, const struct ep_err *err)
{
	ep_say("%s: %s", path, err->text);
	return err->code == EP_END ? EP_EXIT_NOTHING : EP_EXIT_UNREADABLE;
}

static int read_rules(struct ep_rules *rules, const struct ep_arguments *arguments)
{
	const char *threshold = ep_argument(arguments, "threshold");
	struct ep_err err;

	for (size_t i = 0; i < arguments->given_count; i++) {
		const struct ep_given *given = &arguments->given[i];
		struct ep_list *list = !strcmp(given->option->name, "no-trace")   ? &rules->no_trace
				       : !strcmp(given->option->name, "do-trace") ? &rules->do_trace
										  : NULL;

		if (list && ep_list_read(list, given->value, &err)) {
			ep_say("%s", err.text);
			return EP_EXIT_UNREADABLE;
		}
	}
	rules->ignore_loops = ep_argument_given(arguments, "ignore-loops");
	if (!threshold)
		return EP_EXIT_COMPLETE;
	if (!*threshold || strlen(threshold) > 9 || threshold[strspn(threshold, "0123456789")]) {
		ep_say("--threshold %s: a number of instructions", threshold);
		return EP_EXIT_USAGE;
	}
	rules->threshold = (unsigned)atoi(threshold);
	return EP_EXIT_COMPLETE;
}

static int read_file(struct file *file, const char *path)
{
	struct ep_err err;

	file->path = path;
	if (ep_file_read_all(&file->bytes, &file->size, &file->facts, path, FILE_MAX, &err)) {
		ep_say("%s", err.text);
		return EP_EXIT_UNREADABLE;
	}
	return EP_EXIT_COMPLETE;
}

/* Rights that a file gives (set-uid, set-gid) are its owner's: they stay where owner and group do,
 * which in its own place is tried. */
static bool rights_keep(const struct file *file, int fd, bool in_place)
{
	mode_t mode = file->facts.st_mode & 07777;
	struct stat now;

	if (in_place && fchown(fd, file->facts.st_uid, file->facts.st_gid) && errno != EPERM)
		return false;
	if (fstat(fd, &now) != 0)
		return false;
	if (now.st_uid != file->facts.st_uid || now.st_gid != file->facts.st_gid)
		mode &= 01777;
	return fchmod(fd, mode) == 0;
}

/* A new file has none (capabilities(7)), which is the safe side. */
static void warn_capabilities(const struct file *file, const char *path)
{
	if (getxattr(file->path, "security.capability", NULL, 0) > 0)
		ep_say("%s: without the capabilities of %s: setcap(8) gives them again", path,
		       file->path);
}

/* To -o, else in the file's own place; whole or not at all. A program that runs from it keeps the
 * old one. */
static int write_file(const struct file *file, const struct ep_arguments *arguments,
		      const uint8_t *bytes, size_t size)
{
	const char *path = ep_argument(arguments, "output");
	struct ep_output output;
	struct ep_err err;
	size_t done = 0;
	ssize_t wrote = 0;

	warn_capabilities(file, path ? path : file->path);
	if (ep_output_open(&output, path ? path : file->path, true, &err)) {
		ep_say("%s", err.text);
		return EP_EXIT_UNREADABLE;
	}
	while (done < size && (wrote = write(output.fd, bytes + done, size - done)) > 0)
		done += (size_t)wrote;
	if (done < size || (!output.direct && !rights_keep(file, output.fd, !path))) {
		ep_say("%s: %m", output.path);
		ep_output_abandon(&output);
		return EP_EXIT_UNREADABLE;
	}
	if (ep_output_commit(&output, &err)) {
		ep_say("%s", err.text);
		return EP_EXIT_UNREADABLE;
	}
	return EP_EXIT_COMPLETE;
}

/* ---- what is printed ---- */

static void print_list(const struct ep_strip *strip, const struct ep_rules *rules)
{
	char why[1024];

	printf("%-10s %5s %12s  %s\n", "", "hooks", "instructions", "function");
	for (size_t i = 0; i < strip->count; i++) {
		const struct ep_strip_function *function = &strip->functions[i];
		const struct ep_subject subject = {.instructions = function->instructions};

		if (!function->hooks)
			continue;
		ep_rule_verdict_text(&function->verdict, rules, &subject, why, sizeof why);
		printf("%-10s %5u %11u%s  %s  (%s)\n",
		       function->stripped     ? "not traced"
		       : function->refused[0] ? "left"
					      : "traced",
		       function->hooks, function->instructions, function->loop ? "*" : " ",
		       function->name, function->refused[0] ? function->refused : why);
	}
}

/* Names of a list that are no function's; functions that were inlined everywhere have none
 * either. */
static void warn_unmatched(const struct ep_list *list, const char *path)
{
	size_t missing = 0;

	for (size_t i = 0; i < list->patterns.count; i++) {
		const struct ep_pattern *one = &list->patterns.list[i];

		if (one->matched || (i && !strcmp(one->text, list->patterns.list[i - 1].text)))
			continue;
		if (missing++ < UNMATCHED_MAX)
			ep_say("%s:%u: %s is no function of %s", ep_list_file(list, one), one->line,
			       one->text, path);
	}
	if (missing > UNMATCHED_MAX)
		ep_say("… and %zu more", missing - UNMATCHED_MAX);
	if (missing)
		ep_say("%zu of %zu names are no function of %s: misspelt, inlined everywhere, or "
		       "not linked",
		       missing, list->patterns.count, path);
}

static int warn(const struct ep_strip *strip, const struct ep_rules *rules, const char *path,
		bool check)
{
	if (strip->locals || !check) {
		warn_unmatched(&rules->no_trace, path);
		warn_unmatched(&rules->do_trace, path);
	}
	if (!strip->locals)
		ep_say("%s: it has no .symtab: functions that it doesn't export have no names here",
		       path);
	for (size_t i = 0; i < strip->count; i++)
		if (strip->functions[i].refused[0])
			ep_say("%s keeps its hooks: %s", strip->functions[i].name,
			       strip->functions[i].refused);
	return strip->refused ? EP_EXIT_PARTIAL : EP_EXIT_COMPLETE;
}

/* ---- the command ---- */

static int strip_file(const struct file *file, const struct ep_arguments *arguments,
		      struct ep_strip *strip)
{
	struct ep_err err;
	uint8_t *bytes;
	size_t size;
	int status;

	if (ep_strip_write(&bytes, &size, (const uint8_t *)file->bytes, file->size, &strip->patches,
			   &err))
		return fail(file->path, &err);
	status = write_file(file, arguments, bytes, size);
	free(bytes);
	if (!status)
		printf("%u functions lose %zu hooks; the build-id stays the file's old one\n",
		       strip->stripped, strip->patches.count);
	return status;
}

static int decide(const struct file *file, const struct ep_arguments *arguments,
		  struct ep_rules *rules)
{
	bool list = ep_argument_given(arguments, "list");
	bool check = ep_argument_given(arguments, "check");
	struct ep_strip strip;
	struct ep_err err;
	int status = EP_EXIT_COMPLETE, warned;

	if (ep_strip_decide(&strip, (const uint8_t *)file->bytes, file->size, rules, list, &err))
		return fail(file->path, &err);
	warned = warn(&strip, rules, file->path, check);
	if (list) {
		print_list(&strip, rules);
	} else if (!strip.hooks && !check) {
		ep_say("%s: it calls no hooks", file->path);
		status = EP_EXIT_NOTHING;
	} else if (!check) {
		status = strip_file(file, arguments, &strip);
	}
	ep_strip_deinit(&strip);
	return status ? status : warned;
}

/* *file becomes what it was before its hooks were stripped. EP_END: they
 * weren't. */
static int put_back(struct file *file, struct ep_err *err)
{
	uint8_t *bytes;
	size_t size;
	int rc = ep_strip_restore(&bytes, &size, (const uint8_t *)file->bytes, file->size, err);

	if (rc)
		return rc;
	free(file->bytes);
	file->bytes = (char *)bytes;
	file->size = size;
	return EP_OK;
}

static int run_on(struct file *file, const struct ep_arguments *arguments, struct ep_rules *rules)
{
	struct ep_err err;
	int rc = put_back(file, &err);

	if (rc && rc != EP_END)
		return fail(file->path, &err);
	if (!ep_argument_given(arguments, "restore"))
		return decide(file, arguments, rules);
	if (rc)
		return fail(file->path, &err);
	return write_file(file, arguments, (const uint8_t *)file->bytes, file->size);
}

static int strip_hooks_run(const struct ep_arguments *arguments)
{
	bool restore = ep_argument_given(arguments, "restore");
	struct ep_rules rules = {0};
	struct file file = {0};
	int status = read_rules(&rules, arguments);

	if (!status && restore == ep_rules_given(&rules) && !ep_argument_given(arguments, "list")) {
		ep_say(restore ? "--restore takes no lists: it puts all hooks back"
			       : "say which: --no-trace=FILE or --threshold=N, --list to see all, "
				 "--restore to put back");
		status = EP_EXIT_USAGE;
	}
	if (!status)
		status = read_file(&file, arguments->operands[0]);
	if (!status)
		status = run_on(&file, arguments, &rules);
	free(file.bytes);
	ep_rules_deinit(&rules);
	return status;
}

static const struct ep_option options[] = {
	{"no-trace", 'n', "FILE",
	 "strip the functions that FILE lists: names as the linker has them, # comments, globs; "
	 "may be given several times"},
	{"do-trace", 'd', "FILE", "strip none that FILE lists; may be given several times"},
	{"threshold", 't', "N",
	 "strip functions of fewer than N instructions, unless they have a loop"},
	{"ignore-loops", 0, NULL, "also if they have one"},
	{"output", 'o', "FILE", "write FILE, and leave PROGRAM as it is"},
	{"restore", 'r', NULL, "put back what was stripped"},
	{"list", 'l', NULL,
	 "print the functions with hooks and what would become of each (* has a loop); write "
	 "nothing"},
	{"check", 0, NULL, "only warn of names that are no function's; write nothing"},
	{NULL, 0, NULL, NULL},
};

const struct ep_command ep_command_strip_hooks = {
	.name = "strip-hooks",
	.operands = "PROGRAM",
	.operands_min = 1,
	.operands_max = 1,
	.summary = "take hooks out of a linked program, and put them back",
	.example = "strip-hooks --no-trace=no-trace.list -o server.quick server",
	.description = "Patches an executable or a shared library so that some of its functions "
		       "are not traced: for an experiment without a rebuild. Each call of a hook "
		       "becomes a nop, a jump to one a return; all hooks of a function go, or "
		       "none. Functions that are not understood are left as they are, and named. "
		       "The options are those of epitaph-cc.\n\n"
		       "The file is replaced as a whole: programs that run from it go on with the "
		       "old one. What was there is kept in a section of it, from which --restore "
		       "makes the very bytes of before. A file that was stripped already is put "
		       "back first, so that what comes out depends on these options only.\n\n"
		       "Addresses and the build-id do not change: cores of the program are read "
		       "with either file. Status 1: functions were left against the lists.",
	.options = options,
	.run = strip_hooks_run,
};
