/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * registrar.c: linked into every traced shared library, not into the runtime. Tells the runtime of
 * the process, if there is one, that the library came and that it goes. Everything is weak: the
 * library works without a runtime.
 */
#include "runtime/dso/registrar.h"

#pragma weak epitaph_dso_loaded
#pragma weak epitaph_dso_unloading

__attribute__((constructor(101))) static void loaded(void)
{
	if (epitaph_dso_loaded)
		epitaph_dso_loaded();
}

__attribute__((destructor(101))) static void unloading(void)
{
	if (epitaph_dso_unloading)
		epitaph_dso_unloading();
}
