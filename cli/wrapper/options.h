/* SPDX-License-Identifier: BSD-2-Clause */
/* options.h: the wrapper's own options, all of the form -epitaph-NAME[=VALUE], on the command line
 * itself: a response file goes to the compiler as it is. Those of the assembly filter also as the
 * funtrace project spells them. */
#ifndef EPITAPH_WRAPPER_OPTIONS_H
#define EPITAPH_WRAPPER_OPTIONS_H

#include <stdbool.h>

#include "cli/wrapper/words.h"

enum ep_method {
	EP_METHOD_DEFAULT, /* pg with gcc, after-inlining with clang */
	EP_METHOD_PG,
	EP_METHOD_FINSTRUMENT,
	EP_METHOD_AFTER_INLINING,
	EP_METHOD_XRAY,
};

enum ep_runtime {
	EP_RUNTIME_STATIC, /* into executables; shared libraries take none */
	EP_RUNTIME_SHARED,
	EP_RUNTIME_NONE,
};

struct ep_options {
	enum ep_method method;
	enum ep_runtime runtime;
	struct ep_words filter; /* for our assembler (filtering.h) */
};

/* As -epitaph-method= has it. */
const char *ep_method_name(enum ep_method method);

/* True when `word` is one of ours; then it is in *options (or ep_verbose). An unknown -epitaph-
 * option or value ends the wrapper with a message. */
bool ep_options_take(struct ep_options *options, const char *word);

#endif
