/* SPDX-License-Identifier: BSD-2-Clause */
/* sanitizer.c: which sanitizer is in a program, and what it does to its cores. */
#include "cli/common/sanitizer.h"

#include <stddef.h>
#include <string.h>

static const struct ep_sanitizer sanitizers[] = {
	{"AddressSanitizer", "__asan_init", "ASAN_OPTIONS=", false},
	{"ThreadSanitizer", "__tsan_init", "TSAN_OPTIONS=", false},
	{"MemorySanitizer", "__msan_init", "MSAN_OPTIONS=", false},
	{"HWAddressSanitizer", "__hwasan_init", "HWASAN_OPTIONS=", false},
	{"LeakSanitizer", "__lsan_init", "LSAN_OPTIONS=", false},
	{"UndefinedBehaviorSanitizer", "__ubsan_get_current_report_data", "UBSAN_OPTIONS=", true},
};

const struct ep_sanitizer *ep_sanitizer_of_symbol(const char *symbol, bool defined)
{
	for (size_t i = 0; i < sizeof(sanitizers) / sizeof(*sanitizers); i++)
		if (!strcmp(symbol, sanitizers[i].symbol) && (defined || !sanitizers[i].defined))
			return &sanitizers[i];
	return NULL;
}

/* The last value given for a flag: NAME=VALUE, with colons, commas or blanks between. -1: none. */
static int flag_value(const char *options, const char *name)
{
	size_t length = strlen(name), word;
	int value = -1;

	for (; *options; options += word) {
		options += strspn(options, ":, \t\n");
		word = strcspn(options, ":, \t\n");
		if (word > length + 1 && !strncmp(options, name, length) && options[length] == '=')
			value = options[length + 1] == '1' || options[length + 1] == 't' ||
				options[length + 1] == 'y';
	}
	return value;
}

bool ep_sanitizer_leaves_core(const char *options)
{
	return flag_value(options, "disable_coredump") == 0 &&
	       flag_value(options, "abort_on_error") == 1;
}
