/* SPDX-License-Identifier: BSD-2-Clause */
/* command.c: what a compiler command line is going to do. */
#include "cli/wrapper/command.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* clang-format off */

/* Options whose value is the next word. Those that may also have it attached (-Idir, -ofile) are
 * here by their bare form only. */
static const char *const take_next[] = {
	"-o", "-x", "-I", "-D", "-U", "-L", "-l", "-T", "-u", "-z", "-e", "-h", "-A", "-B", "-F",
	"-G", "-b", "-V", "-include", "-imacros", "-isystem", "-iquote", "-idirafter", "-iprefix",
	"-iwithprefix", "-iwithprefixbefore", "-isysroot", "-imultilib", "-imultiarch",
	"-iframework", "-iframeworkwithsysroot", "-include-pch", "-ivfsoverlay", "-MF", "-MT",
	"-MQ", "-MJ", "-Xlinker", "-Xassembler", "-Xpreprocessor", "-Xclang", "-Xanalyzer",
	"-Xopenmp-target", "-mllvm", "-aux-info", "-dumpbase", "-dumpbase-ext", "-dumpdir",
	"-wrapper", "-specs", "-arch", "-target", "-framework", "-gcc-toolchain",
	"-serialize-diagnostics", "--param", "--sysroot", "--output", "--language", "--include",
	"--include-directory", "--define-macro", "--undefine-macro", "--library-directory",
	"--specs", "--config", "--for-linker", "--force-link", "--dumpbase", "--dumpdir",
	"--serialize-diagnostics",
};

/* The compiler only talks about itself. A '*' at the end: whatever begins so. */
static const char *const queries[] = {
	"-###", "-dumpversion", "-dumpfullversion", "-dumpmachine", "-dumpspecs", "--version",
	"--help", "--target-help", "-help", "-cc1", "-cc1as", "-print*", "--print*", "--help=*",
	"--autocomplete=*",
};

struct flag {
	const char *word;
	size_t offset; /* of the bool in struct ep_build_command */
	bool value;
};

#define FLAG(word, field, value)                                \
	{                                                       \
		word, offsetof(struct ep_build_command, field), value \
	}

static const struct flag flags[] = {
	FLAG("-E", preprocess, true),
	FLAG("--preprocess", preprocess, true),
	FLAG("-M", preprocess, true),
	FLAG("-MM", preprocess, true),
	FLAG("--dependencies", preprocess, true),
	FLAG("--user-dependencies", preprocess, true),
	FLAG("-fsyntax-only", check, true),
	FLAG("--analyze", check, true),
	FLAG("-S", assemble_only, true),
	FLAG("--assemble", assemble_only, true),
	FLAG("-c", compile_only, true),
	FLAG("--compile", compile_only, true),
	FLAG("-emit-ast", compile_only, true),
	FLAG("--precompile", compile_only, true),
	FLAG("-r", relocatable, true),
	FLAG("--relocatable", relocatable, true),
	FLAG("-shared", shared, true),
	FLAG("--shared", shared, true),
	FLAG("-static", static_, true),
	FLAG("--static", static_, true),
	FLAG("-static-pie", static_pie, true),
	FLAG("-static-libgcc", static_libgcc, true),
	FLAG("-nostdlib", no_libc, true),
	FLAG("--no-standard-libraries", no_libc, true),
	FLAG("-nodefaultlibs", no_libc, true),
	FLAG("-nolibc", no_libc, true),
	FLAG("-ffreestanding", freestanding, true),
	FLAG("-fhosted", freestanding, false),
	FLAG("-fno-hosted", freestanding, true),
	FLAG("-fno-freestanding", freestanding, false),
	FLAG("-mkernel", freestanding, true),
	FLAG("-m32", other_machine, true),
	FLAG("-mx32", other_machine, true),
	FLAG("-m16", other_machine, true),
	FLAG("-m64", other_machine, false),
	FLAG("-flto", lto, true),
	FLAG("-fno-lto", lto, false),
	FLAG("-ffat-lto-objects", fat_lto, true),
	FLAG("-fno-fat-lto-objects", fat_lto, false),
	FLAG("-finstrument-functions", instrumented, true),
	FLAG("-finstrument-functions", unwanted, false),
	FLAG("-finstrument-functions-after-inlining", instrumented, true),
	FLAG("-fno-instrument-functions", unwanted, true),
	FLAG("-pg", profiled, true),
	FLAG("-p", profiled, true),
	FLAG("--profile", profiled, true),
	FLAG("-mfentry", fentry, true),
	FLAG("-mno-fentry", fentry, false),
	FLAG("-fxray-instrument", sleds, true),
	FLAG("-fno-xray-instrument", sleds, false),
	FLAG("-fno-xray-instrument", sledless, true),
	FLAG("-fxray-instrument", sledless, false),
};

static const char *const c_suffixes[] = {
	"c", "i", "ii", "C", "cc", "cp", "cxx", "cpp", "CPP", "c++", "m", "mi", "mm", "M", "mii",
	"cppm", "ixx", "cu", "c++m", "cxxm", "ccm",
};

static const char *const header_suffixes[] = {
	"h", "H", "hh", "hp", "hxx", "hpp", "HPP", "h++", "tcc",
};

/* clang-format on */

static bool in(const char *word, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t length = strlen(list[i]);

		if (list[i][length - 1] == '*' ? !strncmp(word, list[i], length - 1)
					       : !strcmp(word, list[i]))
			return true;
	}
	return false;
}

static bool begins(const char *word, const char *with)
{
	return !strncmp(word, with, strlen(with));
}

static void set_flag(struct ep_build_command *command, const char *word)
{
	for (size_t i = 0; i < COUNT(flags); i++)
		if (!strcmp(word, flags[i].word))
			*(bool *)((char *)command + flags[i].offset) = flags[i].value;
}

static void add_source(struct ep_build_command *command, const char *word)
{
	command->c_sources++;
	ep_words_add(&command->sources, word);
}

/* What -x says, or what the name's end says when -x says nothing. */
static void count_input(struct ep_build_command *command, const char *word, const char *language)
{
	const char *dot = strrchr(word, '.');

	if (word[0] == '@') /* a response file that isn't there */
		return;
	command->inputs++;
	if (language) {
		if (strstr(language, "-header"))
			command->headers++;
		else if (begins(language, "c") || begins(language, "obj") ||
			 !strcmp(language, "ir"))
			add_source(command, word);
		return;
	}
	if (!dot || strchr(dot, '/'))
		return;
	if (in(dot + 1, c_suffixes, COUNT(c_suffixes)))
		add_source(command, word);
	command->headers += in(dot + 1, header_suffixes, COUNT(header_suffixes));
}

static bool is_object(const char *word, size_t length)
{
	return *word != '-' && (memmem(word, length, ".o", 2) || memmem(word, length, ".a", 2) ||
				memmem(word, length, ".so", 3));
}

/* -Wl,a,b: files among them are inputs, and -r makes no executable. */
static void read_linker_words(struct ep_build_command *command, const char *words)
{
	while (*words) {
		size_t length = strcspn(words, ",");

		if (is_object(words, length))
			command->inputs++;
		if ((length == 2 && begins(words, "-r")) || (length == 2 && begins(words, "-i")) ||
		    (length == 13 && begins(words, "--relocatable")))
			command->relocatable = true;
		words += length + (words[length] == ',');
	}
}

static bool machine_is_other(const char *triple)
{
	return !begins(triple, "x86_64") && !begins(triple, "amd64");
}

/* Which functions get sleds, and how. The driver passes these on beside its own -fxray-instrument
 * only. */
static bool is_xray_choice(const char *word)
{
	static const char *const choices[] = {
		"-fxray-instruction-threshold=*",
		"-fxray-ignore-loops",
		"-fxray-always-instrument=*",
		"-fxray-never-instrument=*",
		"-fxray-attr-list=*",
		"-fxray-function-groups=*",
		"-fxray-selected-function-group=*",
		"-fno-xray-function-index",
		"-fxray-always-emit-customevents",
		"-fxray-always-emit-typedevents",
	};

	return in(word, choices, COUNT(choices));
}

/* An option that is no plain flag. `next` is the word behind it, "" at the end. */
static void read_option(struct ep_build_command *command, const char *word, const char *next)
{
	if (begins(word, "-Wl,"))
		read_linker_words(command, word + 4);
	else if (!strcmp(word, "-Xlinker") || !strcmp(word, "--for-linker"))
		read_linker_words(command, next);
	else if (begins(word, "--for-linker="))
		read_linker_words(command, word + 13);
	else if (begins(word, "--target="))
		command->other_machine = machine_is_other(word + 9);
	else if (begins(word, "-flto="))
		command->lto = true;
	else if (begins(word, "-fsanitize="))
		command->sanitized = true;
	else if (!strcmp(word, "-Xclang") && !strcmp(next, "-fxray-instrument"))
		command->sleds = true;
	else if (is_xray_choice(word))
		ep_words_add(&command->xray, word);
	else if (!strcmp(word, "-target"))
		command->other_machine = machine_is_other(next);
	else if (!strcmp(word, "-o") || !strcmp(word, "--output"))
		command->output = next;
	else if (begins(word, "--output="))
		command->output = word + 9;
	else if (begins(word, "-o") && word[2])
		command->output = word + 2;
	else if (begins(word, "-masm="))
		command->intel = !strcmp(word + 6, "intel");
	else if (begins(word, "-mfentry-name=") || begins(word, "-minstrument-return=") ||
		 !strcmp(word, "-mnop-mcount"))
		command->mcount = word;
	else if (begins(word, "-fpatchable-function-entry="))
		command->one_nop = strtol(word + 27, NULL, 0) == 1;
	else if (begins(word, "-mfunction-return="))
		command->thunks = strcmp(word + 18, "keep") != 0;
	else if (begins(word, "-l") && (word[2] || *next))
		command->inputs++;
	else
		set_flag(command, word);
}

/* The language that `word` sets, NULL if it sets none. */
static const char *language_of(const char *word, const char *next)
{
	if (!strcmp(word, "-x") || !strcmp(word, "--language"))
		return next;
	if (begins(word, "--language="))
		return word + 11;
	/* Joined: -xc. Not clang's -xHost and the like, which gcc lacks. */
	if (begins(word, "-x"))
		return word + 2;
	return NULL;
}

void ep_build_command_read(struct ep_build_command *command, const struct ep_words *words)
{
	const char *language = NULL;

	*command = (struct ep_build_command){0};
	for (size_t i = 0; i < words->count; i++) {
		const char *word = words->list[i];
		const char *next = i + 1 < words->count ? words->list[i + 1] : "";
		const char *named;

		if (word[0] != '-' || !word[1]) {
			count_input(command, word, language);
			continue;
		}
		command->query |= in(word, queries, COUNT(queries));
		named = language_of(word, next);
		if (named)
			language = strcmp(named, "none") ? named : NULL;
		else
			read_option(command, word, next);
		i += in(word, take_next, COUNT(take_next));
	}
	/* Without inputs the compiler can only talk: -v, -Wl,--version, an error. */
	command->query |= command->inputs == 0;
}

bool ep_build_command_compiles(const struct ep_build_command *command)
{
	return !command->query && !command->preprocess && !command->check && command->c_sources > 0;
}

bool ep_build_command_links(const struct ep_build_command *command)
{
	return !command->query && !command->preprocess && !command->check &&
	       !command->assemble_only && !command->compile_only && !command->relocatable &&
	       command->inputs > command->headers;
}
