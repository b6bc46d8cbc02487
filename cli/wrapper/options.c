/* SPDX-License-Identifier: BSD-2-Clause */
/* options.c: the wrapper's own options. */
#include "cli/wrapper/options.h"

#include <string.h>

#include "cli/wrapper/say.h"

static const char *const methods[] = {
	[EP_METHOD_DEFAULT] = "default",
	[EP_METHOD_PG] = "pg",
	[EP_METHOD_FINSTRUMENT] = "finstrument",
	[EP_METHOD_AFTER_INLINING] = "after-inlining",
	[EP_METHOD_XRAY] = "xray",
};

static const char *const runtimes[] = {
	[EP_RUNTIME_STATIC] = "static",
	[EP_RUNTIME_SHARED] = "shared",
	[EP_RUNTIME_NONE] = "none",
};

const char *ep_method_name(enum ep_method method)
{
	return methods[method];
}

/* The index of `value` in `names`, -1 if it isn't there. */
static int find(const char *const *names, int count, const char *value)
{
	for (int i = 0; i < count; i++)
		if (!strcmp(names[i], value))
			return i;
	return -1;
}

/* The text behind `prefix`, NULL if `word` doesn't begin with it. */
static const char *after(const char *word, const char *prefix)
{
	size_t length = strlen(prefix);

	return strncmp(word, prefix, length) ? NULL : word + length;
}

/* What funtrace's -funtrace-NAME has in common with ours. */
static const char *const filtering[] = {"no-trace=", "do-trace=", "instr-thresh=", "ignore-loops"};

static bool parse_filtering(struct ep_options *options, const char *word)
{
	const char *name = after(word, "-epitaph-");
	size_t count = sizeof filtering / sizeof *filtering;

	if (!name)
		name = after(word, "-funtrace-");
	for (size_t i = 0; i < count; i++) {
		const char *value = after(name, filtering[i]);

		if (!value)
			continue;
		if (!*value != (i == count - 1))
			ep_die(i == count - 1 ? "%s: takes no value" : "%s: the value is missing",
			       word);
		ep_words_addf(&options->filter, "--epitaph-%s", name);
		return true;
	}
	return false;
}

bool ep_options_take(struct ep_options *options, const char *word)
{
	const char *value;
	int found;

	if (!after(word, "-epitaph-") && !after(word, "-funtrace-"))
		return false;
	if (parse_filtering(options, word))
		return true;
	if (!strcmp(word, "-epitaph-verbose") || !strcmp(word, "-funtrace-verbose")) {
		ep_verbose = true;
		return true;
	}
	if ((value = after(word, "-epitaph-method="))) {
		found = find(methods, sizeof(methods) / sizeof(*methods), value);
		if (found < 0)
			ep_die("%s: the method is pg, finstrument, after-inlining or xray", word);
		options->method = (enum ep_method)found;
		return true;
	}
	if ((value = after(word, "-epitaph-runtime="))) {
		found = find(runtimes, 3, value);
		if (found < 0)
			ep_die("%s: the runtime is static, shared or none", word);
		options->runtime = (enum ep_runtime)found;
		return true;
	}
	ep_die("%s: no such option; there are -epitaph-method=, -runtime=, -no-trace=, -do-trace=, "
	       "-instr-thresh=, -ignore-loops and -verbose",
	       word);
}
