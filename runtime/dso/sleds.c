/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sleds.c: linked into what may have XRay sleds, executables too, and not into the runtime: tells
 * the runtime of the process, if there is one, where they are. Everything is weak: a module works
 * without a runtime, and without sleds.
 */
#include "runtime/dso/sleds.h"

#pragma weak epitaph_sleds_loaded
#pragma weak epitaph_sleds_unloading

/* kit/sledhooks.S: of this module, filled by the linker. */
extern struct ep_sleds epitaph_own_sleds __attribute__((visibility("hidden")));

static void loaded(void)
{
	if (epitaph_sleds_loaded && epitaph_own_sleds.begin)
		epitaph_sleds_loaded(&epitaph_own_sleds);
}

/* Before the module's own constructors, whatever their priority. */
__attribute__((section(".init_array.00000"), used)) static void (*const first)(void) = loaded;

__attribute__((destructor(101))) static void unloading(void)
{
	if (epitaph_sleds_unloading && epitaph_own_sleds.begin)
		epitaph_sleds_unloading(&epitaph_own_sleds);
}
