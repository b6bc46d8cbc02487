/* SPDX-License-Identifier: BSD-2-Clause */
/* tracing.h: the words that make a compiler command one of a traced build. */
#ifndef EPITAPH_WRAPPER_TRACING_H
#define EPITAPH_WRAPPER_TRACING_H

#include "cli/wrapper/command.h"
#include "cli/wrapper/compiler.h"
#include "cli/wrapper/kit.h"
#include "cli/wrapper/options.h"

/* Everything that decides. */
struct ep_tracing {
	struct ep_build_command command;
	struct ep_options options;
	struct ep_kit kit;
	enum ep_family family;
	const struct ep_words *compiler; /* how it is called */
	const struct ep_words *user;     /* its words, response files expanded */
};

/* Looks whether the sources have functions whose hooks must go (mentions.h), and has the filter
 * take them out. */
void ep_tracing_look(struct ep_tracing *tracing);

/* Words that go before the user's: a later flag of the user's wins. Ends the wrapper when the
 * compiler doesn't have the method. */
void ep_tracing_before(const struct ep_tracing *tracing, struct ep_words *words);

/* The user's own, response files not expanded: as they are, but for version scripts that would hide
 * the runtime. */
void ep_tracing_user(const struct ep_tracing *tracing, const struct ep_words *user,
		     struct ep_words *words);

/* Words that go behind the user's: what is linked. */
void ep_tracing_after(const struct ep_tracing *tracing, struct ep_words *words);

#endif
