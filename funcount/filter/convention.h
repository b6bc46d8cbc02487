/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * convention.h: functions whose hooks would change what they must not: the compiler's call of a
 * hook is not by the function's own convention. Told from assembly, which does not name
 * conventions, but shows what they demand.
 */
#ifndef EPITAPH_FILTER_CONVENTION_H
#define EPITAPH_FILTER_CONVENTION_H

#include "funcount/filter/assembly.h"

/* What the source says somewhere: which of them there may be. */
#define EP_CONVENTION_NAKED     1u /* attribute naked: the program's assembly is all of it */
#define EP_CONVENTION_INTERRUPT 2u /* attribute interrupt: ends with iret */
#define EP_CONVENTION_KEEPS     4u /* attribute no_caller_saved_registers */

/* For each function of the assembly why it may have no hooks; NULL: nothing is known against them.
 * Texts are static; the list is the caller's to free. */
const char **ep_conventions_find(const struct ep_assembly *assembly, unsigned mentioned);

/* `why` is a naked function's: all that the compiler wrote into it is a hook's. */
bool ep_convention_is_naked(const char *why);

#endif
