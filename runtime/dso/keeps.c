/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * keeps.c: linked into every traced object. Tells the process's runtime, if there is one, which
 * of the object's functions are to stay traced (runtime/budget/keep.h).
 */
#include <stdint.h>

#include "runtime/dso/registrar.h"

#pragma weak epitaph_dso_keeps

/* The linker's names for the section's ends; weak: there may be none. */
extern const uint64_t from[] __asm__("__start___patchable_function_entries")
	__attribute__((weak, visibility("hidden")));
extern const uint64_t to[] __asm__("__stop___patchable_function_entries")
	__attribute__((weak, visibility("hidden")));

__attribute__((constructor(101))) static void come(void)
{
	if (from && epitaph_dso_keeps)
		epitaph_dso_keeps(from, to);
}

__attribute__((destructor(101))) static void go(void)
{
	if (from && epitaph_dso_keeps)
		epitaph_dso_keeps(from, from);
}
