/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tracing.c: the words that make a compiler command one of a traced build.
 *
 * gcc's -pg must not be seen by the driver: it would link gprof's start-up (gcrt1.o writes
 * gmon.out) and refuse -fomit-frame-pointer. A specs file hands it to the compiler proper alone,
 * also when the link step compiles (-flto).
 */
#include "cli/wrapper/tracing.h"

#include <string.h>

#include "cli/wrapper/exports.h"
#include "cli/wrapper/filtering.h"
#include "cli/wrapper/mentions.h"
#include "cli/wrapper/say.h"
#include "runtime/lib/interpose.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const char *const hooks[] = {"__fentry__", "__return__", "__cyg_profile_func_enter",
				    "__cyg_profile_func_exit"};

/* Those that programs have for themselves, too (kit/own.S). */
static const char *const own_hooks[] = {"__cyg_profile_func_enter", "__cyg_profile_func_exit"};

/* Functions that the runtime stands in front of (runtime/lib/interpose.h). */
static const char *const interposed[] = {
#define EP_NAME(name) #name,
	EP_INTERPOSED(EP_NAME)
#undef EP_NAME
};

static const char *const contexts[] = {
#define EP_NAME(name) #name,
	EP_INTERPOSED_CONTEXTS(EP_NAME) EP_INTERPOSED_GIVEN(EP_NAME)
#undef EP_NAME
};

static const char *const languages[] = {
#define EP_NAME(name) #name,
	EP_INTERPOSED_LANGUAGES(EP_NAME)
#undef EP_NAME
};

/* What the command asks for, or what the compiler's family has. */
static enum ep_method method_asked(const struct ep_tracing *tracing)
{
	enum ep_method method = tracing->options.method;

	if (method == EP_METHOD_DEFAULT) {
		static const enum ep_method defaults[] = {
			[EP_FAMILY_GCC] = EP_METHOD_PG,
			[EP_FAMILY_CLANG] = EP_METHOD_AFTER_INLINING,
			[EP_FAMILY_OTHER] = EP_METHOD_FINSTRUMENT,
		};
		return defaults[tracing->family];
	}
	if (method == EP_METHOD_PG && tracing->family != EP_FAMILY_GCC)
		ep_die("-epitaph-method=pg needs gcc: clang has no hook at returns with it");
	if (method == EP_METHOD_AFTER_INLINING && tracing->family != EP_FAMILY_CLANG)
		ep_die("-epitaph-method=after-inlining needs clang; gcc's method pg is after "
		       "inlining too");
	if (method == EP_METHOD_XRAY && tracing->family != EP_FAMILY_CLANG)
		ep_die("-epitaph-method=xray needs clang: gcc makes no sleds");
	if (method == EP_METHOD_XRAY && tracing->options.filter.count)
		ep_die("-epitaph-method=xray takes no lists and no threshold: the filter knows "
		       "hooks, not sleds");
	return method;
}

/* The flag by which the program itself has what the method would need; NULL: it is free. */
static const char *taken_by(const struct ep_tracing *tracing, enum ep_method method)
{
	const struct ep_build_command *command = &tracing->command;
	const char *mcount = command->profiled ? "-pg"
			     : command->fentry ? "-mfentry"
					       : command->mcount;

	switch (method) {
	case EP_METHOD_PG:
		return mcount;
	case EP_METHOD_AFTER_INLINING:
		/* clang has one hook after inlining. */
		if (command->profiled)
			return "-pg";
		return command->instrumented ? "-finstrument-functions" : NULL;
	case EP_METHOD_FINSTRUMENT:
		return command->instrumented ? "-finstrument-functions" : NULL;
	case EP_METHOD_XRAY:
		/* Who asks for sleds both ways means the same ones. */
		if (command->sleds && tracing->options.method != EP_METHOD_XRAY)
			return "-fxray-instrument";
		return tracing->options.filter.count ? "a list or a threshold" : NULL;
	default:
		return NULL;
	}
}

/*
 * The method that is used: the one that is asked for, else the first that the program has not taken
 * for itself. EP_METHOD_DEFAULT: there is none.
 */
static enum ep_method method_of(const struct ep_tracing *tracing)
{
	static const enum ep_method of_gcc[] = {EP_METHOD_PG, EP_METHOD_FINSTRUMENT},
				    of_clang[] = {EP_METHOD_AFTER_INLINING, EP_METHOD_FINSTRUMENT,
						  EP_METHOD_XRAY},
				    of_others[] = {EP_METHOD_FINSTRUMENT};
	static const struct {
		const enum ep_method *list;
		size_t count;
	} families[] = {
		[EP_FAMILY_GCC] = {of_gcc, COUNT(of_gcc)},
		[EP_FAMILY_CLANG] = {of_clang, COUNT(of_clang)},
		[EP_FAMILY_OTHER] = {of_others, COUNT(of_others)},
	};
	enum ep_method asked = method_asked(tracing);

	if (!taken_by(tracing, asked))
		return asked;
	for (size_t i = 0; i < families[tracing->family].count; i++)
		if (!taken_by(tracing, families[tracing->family].list[i]))
			return families[tracing->family].list[i];
	return EP_METHOD_DEFAULT;
}

/* What of the program's own is in the way of what was asked for, and what becomes of it. */
static void say_taken(const struct ep_tracing *tracing, enum ep_method method)
{
	const struct ep_build_command *command = &tracing->command;
	enum ep_method asked = method_asked(tracing);

	if (method == EP_METHOD_DEFAULT)
		ep_warn("%s is the program's own, and no other method is free: its calls of "
			"__cyg_profile_func_enter and _exit are recorded, unless it has such "
			"functions itself; build without one of its flags to have both",
			taken_by(tracing, asked));
	else if (method != asked && tracing->options.method != EP_METHOD_DEFAULT)
		ep_warn("%s is the program's own: method %s, not %s", taken_by(tracing, asked),
			ep_method_name(method), ep_method_name(asked));
	else if (method != asked)
		ep_note("%s is the program's own: method %s, not %s", taken_by(tracing, asked),
			ep_method_name(method), ep_method_name(asked));
	if (command->profiled && command->fentry)
		ep_warn("-mfentry: __fentry__ is a hook of the runtime's; %s",
			tracing->family == EP_FAMILY_GCC
				? "-pg calls mcount here, with the same gmon.out"
				: "its calls are recorded without returns; build without it");
	if (command->one_nop)
		ep_warn("-fpatchable-function-entry=1 marks each function as DOFUNTRACE does, and "
			"EPITAPH_BUDGET takes none out; with 2 or more it does");
}

/* For the compiler proper: the driver would link compiler-rt's runtime, and clang 14 and 19 spell
 * what keeps it from that differently. Any function that has an instruction is long enough, unless
 * the program's own flags, which come last, say otherwise. */
static void add_xray(const struct ep_build_command *command, struct ep_words *words)
{
	static const char *const for_cc1[] = {"-fxray-instrument", "-fxray-instruction-threshold=1",
					      "-fxray-instrumentation-bundle=function"};

	for (size_t i = 0; i < COUNT(for_cc1); i++) {
		ep_words_add(words, "-Xclang");
		ep_words_add(words, for_cc1[i]);
	}
	for (size_t i = 0; i < command->xray.count; i++) {
		ep_words_add(words, "-Xclang");
		ep_words_add(words, command->xray.list[i]);
	}
}

/* Whether code may be given hooks at all. */
static bool may_trace(const struct ep_build_command *command, enum ep_method method)
{
	if (command->other_machine)
		ep_note("not traced: the target is not x86-64");
	else if (command->freestanding)
		ep_note("not traced: freestanding");
	else if (command->unwanted)
		ep_note("not traced: -fno-instrument-functions");
	else if (command->sledless && method == EP_METHOD_XRAY)
		ep_note("not traced: -fno-xray-instrument");
	else
		return true;
	return false;
}

void ep_tracing_look(struct ep_tracing *tracing)
{
	const struct ep_build_command *command = &tracing->command;
	unsigned mentioned;

	if (!ep_build_command_compiles(command) || command->other_machine ||
	    command->freestanding || command->unwanted || method_of(tracing) == EP_METHOD_XRAY)
		return;
	mentioned = ep_mentions_find(tracing->user, &command->sources);
	if (!mentioned)
		return;
	if (!ep_filtering_works(tracing)) {
		ep_warn("hooks may change what functions with attribute naked, interrupt or "
			"no_caller_saved_registers must keep, and cannot be taken out here (-flto, "
			"clang's -masm=intel, a fixed assembler): mark these functions NOFUNTRACE");
		return;
	}
	ep_note("a source has functions that are naked, interrupt handlers or keep all registers: "
		"their hooks are taken out");
	ep_words_addf(&tracing->options.filter, "--epitaph-conventions=%u", mentioned);
}

void ep_tracing_before(const struct ep_tracing *tracing, struct ep_words *words)
{
	const struct ep_build_command *command = &tracing->command;
	bool compiles = command->c_sources || command->headers;
	enum ep_method method;

	if (command->query)
		return;
	if (command->c_sources || command->headers) {
		ep_words_add(words, "-idirafter");
		ep_words_add(words, tracing->kit.include);
	}
	if (command->preprocess || command->check || !may_trace(command, tracing->options.method))
		return;
	ep_filtering_before(tracing, words);
	method = method_of(tracing);
	if (compiles)
		say_taken(tracing, method);
	/* Also at a link: with -flto that is where gcc makes the code. */
	if (method == EP_METHOD_PG)
		ep_words_addf(words, "-specs=%s", tracing->kit.pg_specs);
	else if (!compiles)
		return; /* clang would warn that the flag is unused */
	else if (method == EP_METHOD_XRAY)
		add_xray(command, words);
	else if (method == EP_METHOD_AFTER_INLINING)
		ep_words_add(words, "-finstrument-functions-after-inlining");
	else if (method == EP_METHOD_FINSTRUMENT)
		ep_words_add(words, "-finstrument-functions");
	if (method == EP_METHOD_AFTER_INLINING || method == EP_METHOD_FINSTRUMENT) {
		/* What the program has of these names is not called by what records. */
		ep_words_add(words, "-D__cyg_profile_func_enter=epitaph_own_func_enter");
		ep_words_add(words, "-D__cyg_profile_func_exit=epitaph_own_func_exit");
	}
}

/* A word for the linker as it is: -Wl, would split it at commas. */
static void add_linker_word(struct ep_words *words, const char *word)
{
	ep_words_add(words, "-Xlinker");
	ep_words_add(words, word);
}

/* What an executable offers to the shared libraries that it loads: the hooks, the public functions,
 * and the interposers, which the dynamic linker must find before the C library's. */
static void add_exports(const struct ep_tracing *tracing, struct ep_words *words)
{
	add_linker_word(words, tracing->kit.interpose);
	for (size_t i = 0; i < COUNT(hooks); i++)
		ep_words_addf(words, "-Wl,--export-dynamic-symbol=%s", hooks[i]);
	ep_words_add(words, "-Wl,--export-dynamic-symbol=epitaph_*");
	for (size_t i = 0; i < COUNT(interposed); i++)
		ep_words_addf(words, "-Wl,--export-dynamic-symbol=%s", interposed[i]);
}

static void add_wraps(struct ep_words *words, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		ep_words_addf(words, "-Wl,--wrap=%s", names[i]);
}

/* What comes from archives is not there for the dynamic linker to find. */
static void add_wrapped(const struct ep_tracing *tracing, struct ep_words *words)
{
	add_linker_word(words, tracing->kit.wrapped);
	add_wraps(words, interposed, EP_REAL_WRAPPED);
}

/* Nothing is loaded later, but IFUNC resolvers run before hooks can work. Of weak ones the first
 * counts: these, not the runtime's. */
static void add_early(const struct ep_tracing *tracing, struct ep_words *words)
{
	add_linker_word(words, tracing->kit.early);
	/* gcc asks for it where there is a dynamic linker; here the runtime looks functions up. */
	add_linker_word(words, "--eh-frame-hdr");
	add_wraps(words, hooks, COUNT(hooks));
}

/* What others may have put in front of ours: the C library of an untraced program, a sanitizer that
 * is linked statically. */
static void add_contexts(const struct ep_tracing *tracing, struct ep_words *words)
{
	add_linker_word(words, tracing->kit.jumps);
	add_wraps(words, contexts, COUNT(contexts));
	/* An unwinder of its own is not the one that we know. */
	if (!tracing->command.static_libgcc)
		add_wraps(words, languages, COUNT(languages));
}

/* As an object: --exclude-libs would hide what comes from an archive. */
static void add_static(const struct ep_tracing *tracing, struct ep_words *words)
{
	bool all_static = tracing->command.static_ || tracing->command.static_pie;

	if (all_static)
		add_early(tracing, words);
	add_linker_word(words, tracing->kit.runtime);
	add_linker_word(words, tracing->kit.keeps);
	add_linker_word(words, tracing->kit.own);
	if (all_static) {
		add_wrapped(tracing, words);
		return;
	}
	add_wraps(words, own_hooks, COUNT(own_hooks));
	add_exports(tracing, words);
	if (tracing->command.static_libgcc)
		add_wrapped(tracing, words);
	else if (tracing->command.sanitized)
		add_contexts(tracing, words);
}

/* By its full path, and with that in the run path: the program runs from where it was built, and
 * elsewhere with the library installed. */
static void add_shared(const struct ep_tracing *tracing, struct ep_words *words)
{
	add_linker_word(words, "--push-state");
	add_linker_word(words, "--no-as-needed");
	add_linker_word(words, tracing->kit.shared);
	add_linker_word(words, "--pop-state");
	add_linker_word(words, "-rpath");
	add_linker_word(words, tracing->kit.lib);
	add_contexts(tracing, words);
}

/* The hooks are in another file of the process. */
static void add_hooks(const struct ep_tracing *tracing, struct ep_words *words)
{
	add_linker_word(words, tracing->kit.hooks);
	add_linker_word(words, tracing->kit.own);
	add_wraps(words, hooks, COUNT(hooks));
}

/* An executable whose functions libraries look for; others have no runtime, or one that they can't
 * hide. */
static bool is_offering(const struct ep_tracing *tracing)
{
	const struct ep_build_command *command = &tracing->command;

	return ep_build_command_links(command) && !command->other_machine &&
	       !command->freestanding && !command->shared && !command->no_libc &&
	       !command->static_ && !command->static_pie &&
	       tracing->options.runtime == EP_RUNTIME_STATIC;
}

void ep_tracing_user(const struct ep_tracing *tracing, const struct ep_words *user,
		     struct ep_words *words)
{
	const char *names[COUNT(hooks) + 1 + COUNT(interposed)];
	const struct ep_words *xray = &tracing->command.xray;
	struct ep_words kept = {0};
	size_t count = 0;

	/* What add_xray hands on the driver would call unused, which -Werror refuses. */
	for (size_t i = 0; i < user->count; i++) {
		bool handed_on = false;

		for (size_t n = 0; tracing->options.method == EP_METHOD_XRAY && n < xray->count;
		     n++)
			handed_on |= !strcmp(user->list[i], xray->list[n]);
		if (!handed_on)
			ep_words_add(&kept, user->list[i]);
	}
	user = &kept;
	if (is_offering(tracing)) {
		for (size_t i = 0; i < COUNT(hooks); i++)
			names[count++] = hooks[i];
		names[count++] = "epitaph_*";
		for (size_t i = 0; i < COUNT(interposed); i++)
			names[count++] = interposed[i];
		ep_exports_keep(user, tracing->user, names, count, words);
		return;
	}
	for (size_t i = 0; i < user->count; i++)
		ep_words_add(words, user->list[i]);
}

static void add_runtime(const struct ep_tracing *tracing, struct ep_words *words)
{
	const struct ep_build_command *command = &tracing->command;
	enum ep_runtime runtime = tracing->options.runtime;

	/* What it links may have been compiled with sleds, also where this command has not the
	 * option. Not where sleds are the program's own. */
	if (tracing->family == EP_FAMILY_CLANG && (command->shared || !command->no_libc) &&
	    (!command->sleds || tracing->options.method == EP_METHOD_XRAY))
		add_linker_word(words, tracing->kit.sleds);
	if (command->no_libc && !command->shared) {
		ep_note("no runtime: linked without the C library");
		add_linker_word(words, tracing->kit.stub);
		add_linker_word(words, tracing->kit.own);
		return;
	}
	if (runtime == EP_RUNTIME_SHARED && !command->static_ && !command->static_pie) {
		add_hooks(tracing, words);
		add_linker_word(words, tracing->kit.keeps);
		add_shared(tracing, words);
	} else if (runtime != EP_RUNTIME_NONE && !command->shared) {
		add_static(tracing, words);
	} else {
		/* A library's comes after the hooks, which have its names, weakly. */
		if (!command->shared)
			add_linker_word(words, tracing->kit.own);
		ep_note("no runtime in this %s", command->shared ? "shared library" : "executable");
	}
	if (!command->shared)
		return;
	add_linker_word(words, tracing->kit.registrar);
	if (runtime == EP_RUNTIME_SHARED)
		return;
	add_linker_word(words, tracing->kit.keeps);
	add_hooks(tracing, words);
}

void ep_tracing_after(const struct ep_tracing *tracing, struct ep_words *words)
{
	const struct ep_build_command *command = &tracing->command;

	ep_filtering_after(tracing, words);
	if (ep_build_command_compiles(command) && !command->other_machine &&
	    !command->freestanding && !command->unwanted) {
		/* Last: a precompiled header must come first. */
		if (command->instrumented && method_of(tracing) != EP_METHOD_DEFAULT) {
			ep_words_add(words, "-include");
			ep_words_add(words, tracing->kit.own_header);
		}
		if (command->profiled && command->fentry && tracing->family == EP_FAMILY_GCC)
			ep_words_add(words, "-mno-fentry");
	}
	if (!ep_build_command_links(&tracing->command) || tracing->command.other_machine ||
	    tracing->command.freestanding)
		return;
	add_runtime(tracing, words);
	/* A hook bound at its first call would come back through the dynamic linker, which clobbers
	 * r10: a live register at __return__. */
	add_linker_word(words, "-z");
	add_linker_word(words, "now");
}
