/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sleds.c: linked into what may have XRay sleds, executables too, and not into the runtime: tells
 * the runtime of the process, if there is one, where they are. Everything is weak: a module works
 * without a runtime, and without sleds.
 */
#include "runtime/dso/sleds.h"

#define HIDDEN __attribute__((visibility("hidden")))

#pragma weak epitaph_sleds_loaded
#pragma weak epitaph_sleds_unloading

/* The linker's names for the section. */
extern const struct ep_sled begin[] __asm__("__start_xray_instr_map") __attribute__((weak)) HIDDEN;
extern const struct ep_sled end[] __asm__("__stop_xray_instr_map") __attribute__((weak)) HIDDEN;

/* kit/sledhooks.S */
extern const char to_entry[] __asm__("epitaph_to_sled_entry") HIDDEN;
extern const char to_return[] __asm__("epitaph_to_sled_return") HIDDEN;

static struct ep_sleds sleds = {begin, end, to_entry, to_return, 0, 0};

static void loaded(void)
{
	if (epitaph_sleds_loaded && sleds.begin)
		epitaph_sleds_loaded(&sleds);
}

/* Before the module's own constructors, whatever their priority. */
__attribute__((section(".init_array.00000"), used)) static void (*const first)(void) = loaded;

__attribute__((destructor(101))) static void unloading(void)
{
	if (epitaph_sleds_unloading && sleds.begin)
		epitaph_sleds_unloading(&sleds);
}
